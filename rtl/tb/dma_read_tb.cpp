// dma_read: random reads of 1..256 bytes from any byte, several under way; random latency, stalls
// of address, data and taker; lines that answer with an error.
// - quadwords come in order, with the bytes of their read first and zeros behind the last;
// - done follows the last quadword, in order, with the tag and the error of its read and no other;
// - data streams over a long latency: 33 cycles for 256 bytes.
#include "Vdma_read.h"
#include "axi_memory.h"

namespace {

struct Read {
  uint64_t addr;
  unsigned bytes, tag, seen;
};

struct Test : tb::Bench<Vdma_read> {
  tb::Store store;
  tb::ReadMemory memory{store, random};
  std::deque<Read> reads;
  unsigned finished = 0, errors = 0;

  using Bench::Bench;

  uint64_t expected(const Read& r, unsigned i) {
    uint64_t q = 0;
    for (unsigned k = 0; k < 8 && i * 8 + k < r.bytes; ++k) q |= uint64_t(store.get(r.addr + i * 8 + k)) << 8 * k;
    return q;
  }

  void step(unsigned start, unsigned take, bool whole) {
    memory.drive(top);
    top.start = 0;
    top.take = random.percent(take);
    settle();
    Read r{whole ? random.below(1 << 20) * 256 : random.next() >> 8, unsigned(whole ? 256 : 1 + random.below(random.percent(50) ? 256 : 20)),
           unsigned(random.below(2)), 0};
    top.start = top.ready && random.percent(start);
    top.addr = r.addr, top.bytes = r.bytes, top.tag = r.tag;
    settle();
    if (top.q_valid) {
      CHECK(!reads.empty(), "a quadword that nobody asked for");
      Read& now = reads.front();
      CHECK(top.q_index == now.seen && now.seen * 8 < now.bytes, "quadword %u of %u bytes, expected %u", top.q_index, now.bytes, now.seen);
      CHECK(top.q_data == expected(now, now.seen) || store.bad(now.addr, now.bytes), "%016llx, expected %016llx",
            (unsigned long long)top.q_data, (unsigned long long)expected(now, now.seen));
      ++now.seen;
    }
    if (top.done) {
      CHECK(!reads.empty(), "nothing was under way");
      const Read& now = reads.front();
      bool bad = store.bad(now.addr, now.bytes);
      CHECK(now.seen == (now.bytes + 7) / 8, "done after %u quadwords of %u bytes", now.seen, now.bytes);
      CHECK(top.done_tag == now.tag && top.error == bad, "tag %u error %u, expected %u %u", top.done_tag, top.error, now.tag, bad);
      errors += bad, ++finished;
      reads.pop_front();
    }
    if (top.start) reads.push_back(r);
    memory.clock(top);
    edge();
  }
};

}  // namespace

static void scenario(Test& t) {
  t.store.bad_per_1000 = 20;
  t.reset();
  size_t most = 0;
  for (int phase = 0; phase < 60; ++phase) {
    t.memory.mood = tb::moods(t.random);
    unsigned start = t.random.mood(), take = t.random.mood();
    for (int i = 0; i < 1000; ++i) t.step(start, take, false), most = std::max(most, t.reads.size());
    for (int i = 0; !t.reads.empty(); ++i) {
      CHECK(i < 100000, "stuck with %zu reads", t.reads.size());
      t.step(0, take, false);
    }
  }
  CHECK(t.finished > 500 && t.errors > 20 && most == 4 && t.memory.most > 4, "%u reads, %u errors, %zu and %u under way: the scenario lost its point",
        t.finished, t.errors, most, t.memory.most);

  t.memory.mood = {100, 100, 100, 60};
  t.store.bad_per_1000 = 0;
  for (int i = 0; i < 200; ++i) t.step(100, 100, true);
  unsigned before = t.finished;
  for (int i = 0; i < 3300; ++i) t.step(100, 100, true);
  CHECK(t.finished - before >= 99, "%u reads of 256 bytes in 3300 cycles, expected 100", t.finished - before);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
