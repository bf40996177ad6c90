// crc32: random messages of 1..70 words against zlib; the check value of the standard
// ("123456789" extended to 16 bytes with zeros, computed by zlib too); the bench's own bitwise CRC.
#include <zlib.h>

#include "Vcrc32.h"
#include "tb.h"

static uint32_t design(Vcrc32& t, const std::vector<uint64_t>& quads) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < quads.size(); i += TB_WIDTH / 64) {
    t.crc_in = crc;
    std::memcpy(&t.data, &quads[i], TB_WIDTH / 8);
    t.eval();
    crc = t.crc_out;
  }
  return ~crc;
}

static void compare(Vcrc32& t, const std::vector<uint64_t>& quads) {
  uint32_t want = uint32_t(crc32(0, reinterpret_cast<const Bytef*>(quads.data()), uInt(quads.size() * 8)));
  uint32_t got = design(t, quads);
  CHECK(got == want, "%zu quadwords: %08x, zlib says %08x", quads.size(), got, want);
  CHECK(tb::crc32(quads) == want, "the bench's own CRC is wrong");
  ++tb::cycle;
}

int main(int argc, char** argv) {
  const tb::Arguments arguments(argc, argv);
  tb::Random random{tb::seed};
  Vcrc32 t;
  t.enable = 1;
  compare(t, {0x3837363534333231, 0x39});
  for (int bit = 0; bit < TB_WIDTH; ++bit) {
    std::vector<uint64_t> quads(TB_WIDTH / 64);
    quads[bit / 64] = 1ull << bit % 64;
    compare(t, quads);
  }
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint64_t> quads((1 + random.below(70)) * (TB_WIDTH / 64));
    for (uint64_t& q : quads) q = random.next();
    compare(t, quads);
    // Disabled, the output is 0 whatever the inputs: the logic behind it sees no change while
    // nothing moves.
    t.enable = 0;
    t.eval();
    CHECK(t.crc_out == 0, "disabled, but the output is %08x", t.crc_out);
    t.enable = 1;
  }
}
