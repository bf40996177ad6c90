// link_crc: the CRC of random words against zlib, then the distance of the code. A CRC is affine,
// so an error is missed exactly if the syndromes of its bits cancel:
// - every error of one to six bits, anywhere in a word or its CRC, is detected;
// - so is every burst of at most 32 bits, in the order in which the bits enter the CRC, the CRC's
//   own bits last.
// Disabled, the output is 0 whatever the inputs: the logic behind it sees no change while the wire
// is silent.
#include <zlib.h>

#include <algorithm>

#include "Vlink_crc.h"
#include "tb.h"

namespace {

constexpr unsigned kWordBits = 64 + TB_CTRL_W, kBits = kWordBits + 32;
using Word = std::vector<uint8_t>;  // bytes of data, then of control

uint32_t design(Vlink_crc& t, const Word& word) {
  std::memcpy(&t.data, &word[0], 8);
  std::memcpy(&t.ctrl, &word[8], TB_CTRL_W / 8);
  t.eval();
  return t.crc;
}

Word random_word(tb::Random* random) {
  Word word(kWordBits / 8);
  for (uint8_t& byte : word) byte = uint8_t(random->next());
  return word;
}

void compare(Vlink_crc& t, const Word& word) {
  uint32_t want = uint32_t(crc32(0, word.data(), uInt(word.size()))), got = design(t, word);
  CHECK(got == want, "CRC %08x, zlib computes %08x", got, want);
  ++tb::cycle;
}

// The change of the CRC by an error in each bit, measured on several words: it must not depend on
// the word.
std::vector<uint32_t> syndromes(Vlink_crc& t, tb::Random* random) {
  std::vector<uint32_t> list(kBits);
  for (unsigned bit = 0; bit < kWordBits; ++bit) {
    for (int sample = 0; sample < 20; ++sample) {
      Word word = random_word(random);
      uint32_t good = design(t, word);
      word[bit / 8] ^= uint8_t(1u << bit % 8);
      uint32_t change = design(t, word) ^ good;
      CHECK(sample == 0 || change == list[bit], "bit %u changes the CRC by %08x and by %08x: not a linear code", bit, list[bit], change);
      list[bit] = change;
    }
  }
  for (unsigned bit = 0; bit < 32; ++bit) list[kWordBits + bit] = 1u << bit;
  return list;
}

// Two different sets of at most three bits with the same syndrome would make an error of at most
// six that is missed.
void check_six_bits(const std::vector<uint32_t>& s) {
  std::vector<uint32_t> sums{0};
  for (unsigned i = 0; i < kBits; ++i) {
    sums.push_back(s[i]);
    for (unsigned j = 0; j < i; ++j) {
      sums.push_back(s[i] ^ s[j]);
      for (unsigned k = 0; k < j; ++k) sums.push_back(s[i] ^ s[j] ^ s[k]);
    }
  }
  std::sort(sums.begin(), sums.end());
  auto same = std::adjacent_find(sums.begin(), sums.end());
  CHECK(same == sums.end(), "an error of at most six bits is missed: two sets of at most three have the syndrome %08x", *same);
}

// A burst is missed if the syndromes of 32 bits in a row are not linearly independent.
void check_bursts(const std::vector<uint32_t>& s) {
  for (unsigned first = 0; first + 32 <= kBits; ++first) {
    std::vector<uint32_t> rows(s.begin() + first, s.begin() + first + 32);
    unsigned rank = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      auto pivot = std::find_if(rows.begin() + rank, rows.end(), [&](uint32_t row) { return row >> bit & 1; });
      if (pivot == rows.end()) continue;
      std::swap(*pivot, rows[rank]);
      for (unsigned i = 0; i < 32; ++i) {
        if (i != rank && (rows[i] >> bit & 1)) rows[i] ^= rows[rank];
      }
      ++rank;
    }
    CHECK(rank == 32, "a burst of at most 32 bits from bit %u on is missed", first);
  }
}

}  // namespace

int main(int argc, char** argv) {
  tb::Arguments arguments(argc, argv);
  tb::Random random{tb::seed};
  Vlink_crc t;
  t.enable = 1;
  compare(t, Word(kWordBits / 8));
  for (int i = 0; i < 5000; ++i) {
    compare(t, random_word(&random));
    t.enable = 0;
    CHECK(design(t, random_word(&random)) == 0, "disabled, but the output is %08x", t.crc);
    t.enable = 1;
  }
  std::vector<uint32_t> s = syndromes(t, &random);
  check_six_bits(s);
  check_bursts(s);
}
