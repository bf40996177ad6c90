// link_word.h: words of a link as they stand on the wire, decoded from the layout in link_tx.sv and
// checked without help of the design.
#pragma once

#include <algorithm>
#include <memory>

#include "tb.h"

namespace link_word {

constexpr unsigned bits_for(unsigned values) {  // $clog2
  unsigned bits = 0;
  while ((1u << bits) < values) ++bits;
  return bits;
}

constexpr unsigned kVcs = 2, kVcW = 1, kSlotW = bits_for(kVcs * TB_VC_DEPTH + 1), kSeqW = kSlotW + 1, kCountW = bits_for(TB_VC_DEPTH + 1);
constexpr unsigned kControlW = 6 + kVcW + 2 * kSeqW + kVcs * kCountW;

enum Kind { kHello, kHelloUp, kStatus, kNack, kAnchor, kFlit, kHead, kTail, kHeadTail, kFlitNack, kKinds };

inline const char* name_of(unsigned kind) {
  static const char* const names[] = {"hello", "hello with session", "status word", "nack", "word without a flit", "flit", "head", "tail", "head that is a tail", "flit with nack"};
  return names[kind];
}

struct Word {
  static constexpr unsigned kUserW = TB_VC_DEPTH < 32 ? 64 : 96, kBits = 64 + kUserW;
  uint32_t words[kBits / 32];  // data, control filled up with zeros, CRC

  template <class Wide>
  Word(const Wide& both, unsigned end) {
    for (unsigned i = 0; i < kBits / 32; ++i) words[i] = both[end * kBits / 32 + i];
  }
  uint64_t control() const { return words[2] | (kUserW > 64 ? uint64_t(words[3]) << 32 : 0); }
  uint64_t data() const { return words[0] | uint64_t(words[1]) << 32; }
  uint32_t crc() const { return words[kBits / 32 - 1]; }
  uint32_t expected_crc() const { return tb::crc32({data(), control()}); }
  bool flag(unsigned from_top) const { return control() >> (kControlW - 1 - from_top) & 1; }
  bool hello() const { return flag(0); }
  bool nack() const { return flag(1); }
  bool numbered() const { return flag(2); }
  unsigned seq() const { return unsigned(control() >> (kSeqW + kVcs * kCountW)) & ((1u << kSeqW) - 1); }
  unsigned ack() const { return unsigned(control() >> (kVcs * kCountW)) & ((1u << kSeqW) - 1); }
  Kind kind() const {
    if (hello()) return nack() ? kHelloUp : kHello;
    if (!numbered()) return nack() ? kNack : kStatus;
    if (nack()) return kFlitNack;
    if (!flag(3)) return kAnchor;
    return flag(4) ? (flag(5) ? kHeadTail : kHead) : flag(5) ? kTail : kFlit;
  }
  const char* name() const { return name_of(kind()); }
};

// Chooses the bit to flip in each word, until each bit of each kind of word has been flipped; one
// at a time, since the receiver must count exactly one error more for it.
class EveryBit {
  std::vector<unsigned> bits_[kKinds];
  unsigned patience_, waited_ = 0, receiver_ = 0, bit_ = 0;
  Kind kind_ = kHello;
  bool pending_ = false;
  uint32_t errors_ = 0;

 public:
  EveryBit(bool hellos, tb::Random* random, unsigned patience) : patience_(patience) {
    for (unsigned kind = 0; kind < kKinds; ++kind) {
      if (hellos != (kind <= kHelloUp)) continue;
      for (unsigned bit = 0; bit < Word::kBits; ++bit) bits_[kind].push_back(bit);
      for (unsigned i = Word::kBits; i > 1; --i) std::swap(bits_[kind][i - 1], bits_[kind][random->below(i)]);
    }
  }
  // The bit to flip in a word of this kind that leaves now, or -1; errors: what its receiver has
  // counted.
  int choose(Kind kind, uint32_t errors, unsigned receiver) {
    if (pending_ || bits_[kind].empty()) return -1;
    pending_ = true, waited_ = 0, kind_ = kind, errors_ = errors, receiver_ = receiver, bit_ = bits_[kind].back();
    bits_[kind].pop_back();
    return int(bit_);
  }
  unsigned receiver() const { return receiver_; }
  // Called twice a cycle.
  bool due() { return pending_ && ++waited_ >= 2 * patience_; }
  void check(uint32_t errors) {
    pending_ = false;
    CHECK(errors == errors_ + 1, "bit %u of a %s was flipped: %u CRC errors counted, expected 1", bit_, name_of(kind_), errors - errors_);
  }
  size_t left() const {
    size_t sum = pending_;
    for (const auto& bits : bits_) sum += bits.size();
    return sum;
  }
  const char* missing() const {
    for (unsigned kind = 0; kind < kKinds; ++kind) {
      if (!bits_[kind].empty()) return name_of(kind);
    }
    return name_of(kind_);
  }
};

// A sender must not send a word again whose acknowledgement has arrived: go-back-N starts at the
// oldest word without one. An acknowledgement takes four cycles from the wire to the word that is
// offered.
class RetransmissionCheck {
  static constexpr unsigned kDelay = 4, kMask = (1u << kSeqW) - 1;
  unsigned acked_[kDelay + 1] = {};
  bool held_ = false;  // the word offered now was offered in the cycle before

 public:
  void arrived(const Word& w) {
    if (!w.hello() && w.crc() == w.expected_crc()) acked_[0] = w.ack();
  }
  void offered(const Word& w, unsigned end) {
    if (held_ || w.hello() || !w.numbered()) return;
    CHECK(((w.seq() - acked_[kDelay]) & kMask) < 1u << kSlotW, "end %u: word %u is sent although all before word %u are acknowledged", end, w.seq(), acked_[kDelay]);
  }
  void step(bool held) {
    for (unsigned i = kDelay; i > 0; --i) acked_[i] = acked_[i - 1];
    held_ = held;
  }
};

}  // namespace link_word
