// dma_write: random writes of 1..256 bytes to any byte, several awaited; random latency and stalls
// of address, data and answer; lines that answer with an error.
// - every burst carries exactly its bytes: address, strobes and data;
// - sent comes with the last beat; done in order with the last answer, the tag and the error of its
//   write and no other;
// - 33 cycles for 256 bytes, whatever the latency of the answers.
#include "Vdma_write.h"
#include "axi_memory.h"

namespace {

struct Write {
  uint64_t addr;
  unsigned bytes, tag;
  std::vector<uint8_t> data;
  uint64_t next;  // byte that the next burst begins with
  uint64_t end() const { return addr + bytes; }
};

struct Test : tb::Bench<Vdma_write> {
  tb::Store store;
  tb::WriteMemory memory{store, random};
  std::deque<Write> leaving, awaited;  // not all in memory's hands; not done
  unsigned finished = 0, errors = 0;
  bool sending = false;

  using Bench::Bench;

  void check_burst(const tb::WriteMemory::Burst& b) {
    CHECK(!leaving.empty(), "a burst that nobody asked for");
    Write& w = leaving.front();
    CHECK(b.addr == (w.next & ~7ull), "burst at %llx, expected %llx", (unsigned long long)b.addr, (unsigned long long)w.next);
    uint64_t end = std::min<uint64_t>(w.end(), (w.next | 63) + 1);
    CHECK(b.beats.size() == (end + 7) / 8 - w.next / 8, "%zu beats", b.beats.size());
    for (uint64_t a = b.addr; a < b.addr + 8 * b.beats.size(); ++a) {
      const auto& beat = b.beats[(a - b.addr) / 8];
      bool mine = a >= w.next && a < end;
      CHECK((beat.strobes >> a % 8 & 1) == mine, "strobe of %llx: %u", (unsigned long long)a, !mine);
      CHECK(!mine || uint8_t(beat.data >> a % 8 * 8) == w.data[a - w.addr], "byte %llx", (unsigned long long)a);
    }
    w.next = end;
    if (end == w.end()) leaving.pop_front();
  }

  void step(unsigned start, bool whole) {
    memory.drive(top);
    top.start = 0;
    settle();
    Write w{whole ? random.below(1 << 20) * 256 : random.next() >> 8, unsigned(whole ? 256 : 1 + random.below(random.percent(50) ? 256 : 20)),
            unsigned(random.below(2)), {}, 0};
    w.next = w.addr;
    top.start = top.ready && random.percent(start);
    top.addr = w.addr, top.bytes = w.bytes, top.tag = w.tag;
    if (sending) {
      const Write& now = awaited.back();
      uint64_t q = tb::Store::hash(now.addr + top.src_index);  // bytes behind the last are nobody's
      for (unsigned k = 0; k < 8 && top.src_index * 8 + k < now.bytes; ++k)
        q = (q & ~(0xffull << 8 * k)) | uint64_t(now.data[top.src_index * 8 + k]) << 8 * k;
      top.src_data = q;
    }
    settle();
    bool sent = top.sent, started = top.start;
    CHECK(!sent || sending, "sent, and nothing was");
    if (top.done) {
      CHECK(!awaited.empty(), "nothing was awaited");
      const Write& now = awaited.front();
      bool bad = store.bad(now.addr, now.bytes);
      CHECK(top.done_tag == now.tag && top.error == bad, "tag %u error %u, expected %u %u", top.done_tag, top.error, now.tag, bad);
      CHECK(awaited.size() > 1 || !sending, "done before it was sent");
      errors += bad, ++finished;
    }
    CHECK(top.busy == !awaited.empty(), "busy %u, %zu writes", top.busy, awaited.size());
    if (top.done) awaited.pop_front();
    memory.clock(top);
    for (const auto& b : memory.done) check_burst(b);
    memory.done.clear();
    CHECK(!sent || leaving.empty(), "sent, and %zu writes have not left", leaving.size());
    if (sent) sending = false;
    if (started) {
      for (unsigned i = 0; i < w.bytes; ++i) w.data.push_back(uint8_t(random.next()));
      leaving.push_back(w), awaited.push_back(w), sending = true;
    }
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
    unsigned start = t.random.mood();
    for (int i = 0; i < 1000; ++i) t.step(start, false), most = std::max(most, t.awaited.size());
    for (int i = 0; !t.awaited.empty(); ++i) {
      CHECK(i < 100000, "stuck with %zu writes", t.awaited.size());
      t.step(0, false);
    }
  }
  CHECK(t.finished > 500 && t.errors > 20 && most == 4, "%u writes, %u errors, %zu under way: the scenario lost its point", t.finished, t.errors, most);

  t.memory.mood = {100, 100, 100, 60};
  t.store.bad_per_1000 = 0;
  for (int i = 0; i < 200; ++i) t.step(100, true);
  unsigned before = t.finished;
  for (int i = 0; i < 3300; ++i) t.step(100, true);
  CHECK(t.finished - before >= 99, "%u writes of 256 bytes in 3300 cycles, expected 100", t.finished - before);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
