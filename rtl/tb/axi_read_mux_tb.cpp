// axi_read_mux: units that read at random, each with a mood of its own, from a memory with random
// latency and stalls.
// - every unit gets the data of its own bursts, in its order, whatever the others do;
// - up to 16 bursts are under way; a unit that does not take its data holds the others and loses
//   nothing;
// - nobody is passed over: while all ask, all are served equally often.
#include "Vaxi_read_mux.h"
#include "axi_memory.h"

namespace {

struct Burst {
  uint64_t addr;
  unsigned len, beat;
};

struct Test : tb::Bench<Vaxi_read_mux> {
  tb::Store store;
  tb::ReadMemory memory{store, random};
  Burst asks[TB_N] = {};
  bool asking[TB_N] = {};
  std::deque<Burst> open[TB_N];
  unsigned ask[TB_N], take[TB_N], served[TB_N] = {};

  using Bench::Bench;

  void present(int u) {
    if (!asking[u] && random.percent(ask[u])) {
      unsigned at = unsigned(random.below(8));
      asks[u] = {(random.next() >> 8 & ~63ull) + at * 8, unsigned(random.below(8 - at)), 0};
      asking[u] = true;
    }
    top.s_araddr[2 * u] = uint32_t(asks[u].addr), top.s_araddr[2 * u + 1] = uint32_t(asks[u].addr >> 32);
    top.s_arlen = (top.s_arlen & ~(0xffull << 8 * u)) | uint64_t(asks[u].len) << 8 * u;
    top.s_arvalid = (top.s_arvalid & ~(1u << u)) | unsigned(asking[u]) << u;
    top.s_rready = (top.s_rready & ~(1u << u)) | unsigned(random.percent(take[u])) << u;
  }

  void answer(int u) {
    if (top.s_arvalid & top.s_arready & 1u << u) {
      CHECK(top.m_arvalid && top.m_arready && top.m_araddr == asks[u].addr && top.m_arlen == asks[u].len, "unit %d: its address did not reach the memory", u);
      open[u].push_back(asks[u]), asking[u] = false, ++served[u];
    }
    if (top.s_rvalid & top.s_rready & 1u << u) {
      CHECK(!open[u].empty() && top.m_rready, "unit %d: data that it did not ask for", u);
      Burst& b = open[u].front();
      CHECK(memory.data == store.quad(b.addr + 8 * b.beat), "unit %d: data of another", u);
      CHECK(top.m_rlast == (b.beat == b.len), "unit %d: beat %u of %u", u, b.beat, b.len + 1);
      if (b.beat++ == b.len) open[u].pop_front();
    }
  }

  void step() {
    memory.drive(top);
    for (int u = 0; u < TB_N; ++u) present(u);
    settle();
    CHECK((top.s_rvalid & (top.s_rvalid - 1)) == 0, "data for several units");
    for (int u = 0; u < TB_N; ++u) answer(u);
    memory.clock(top);
    edge();
  }

  bool drained() const {
    for (int u = 0; u < TB_N; ++u)
      if (asking[u] || !open[u].empty()) return false;
    return true;
  }
};

}  // namespace

static void scenario(Test& t) {
  t.reset();
  for (int phase = 0; phase < 60; ++phase) {
    t.memory.mood = tb::moods(t.random);
    for (int u = 0; u < TB_N; ++u) t.ask[u] = t.random.mood(), t.take[u] = t.random.mood();
    for (int i = 0; i < 1000; ++i) t.step();
    for (int u = 0; u < TB_N; ++u) t.ask[u] = 0;
    for (int i = 0; !t.drained(); ++i) {
      CHECK(i < 100000, "stuck");
      t.step();
    }
  }
  CHECK(t.memory.most == 16, "%u bursts under way, expected 16", t.memory.most);

  t.memory.mood = {100, 100, 100, 8};
  for (int u = 0; u < TB_N; ++u) t.ask[u] = t.take[u] = 100, t.served[u] = 0;
  for (int i = 0; i < 3000; ++i) t.step();
  for (int u = 0; u < TB_N; ++u) {
    CHECK(t.served[u] > 100 && t.served[u] + 1 >= t.served[0] && t.served[u] <= t.served[0] + 1, "unit %d served %u times, unit 0 %u times", u, t.served[u], t.served[0]);
  }
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
