// crc32_sender: packets of 1..33 words and a tail, which wait at random before each, one right
// behind the other or not, against zlib. What stands at data while nothing leaves, and with the
// tail, is noise.
#include <zlib.h>

#include "Vcrc32_sender.h"
#include "tb.h"

int main(int argc, char** argv) {
  const tb::Arguments arguments(argc, argv);
  tb::Random random{tb::seed};
  Vcrc32_sender t;
  auto step = [&](bool send) {
    t.send = send;
    t.clk = 0;
    t.eval();
    t.clk = 1;
    t.eval();
    ++tb::cycle;
  };
  for (int packet = 0; packet < 5000; ++packet) {
    std::vector<uint64_t> words(1 + random.below(33));
    for (uint64_t& word : words) word = random.next();
    uint64_t stamp = random.next() >> 32;
    bool waits = random.below(2) == 0;
    for (size_t i = 0; i < words.size(); ++i) {
      t.head = i == 0;
      t.tail = 0;
      while (waits && random.below(3) == 0) {
        t.data = random.next();
        step(false);
      }
      t.data = words[i];
      step(true);
    }
    words.push_back(stamp << 32);
    uint32_t want = uint32_t(crc32(0, reinterpret_cast<const Bytef*>(words.data()), uInt(words.size() * 8)));
    t.head = 0;
    t.tail = 1;
    t.stamp = uint32_t(stamp);
    do {
      t.data = random.next();
      t.eval();
      CHECK(t.crc == want, "%zu words: %08x, zlib says %08x", words.size(), uint32_t(t.crc), want);
      step(false);
    } while (waits && random.below(3) == 0);
    step(true);
  }
}
