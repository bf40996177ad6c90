// axi_write_mux: units that write at random, each with a mood of its own, to a memory with random
// latency and stalls.
// - bursts reach the memory whole: address, data and strobes of one unit, in its order;
// - every answer goes to the unit whose burst it is for, in order;
// - up to 16 answers are awaited; a unit that does not take its answer holds the others and loses
//   nothing;
// - nobody is passed over: while all ask, all are served equally often.
#include "Vaxi_write_mux.h"
#include "axi_memory.h"

namespace {

struct Unit {
  tb::WriteMemory::Burst burst;
  bool open = false, addr_done = false;
  size_t beat = 0;
  unsigned ask = 0, data = 0, take = 0, served = 0, awaited = 0;
};

struct Test : tb::Bench<Vaxi_write_mux> {
  tb::Store store;
  tb::WriteMemory memory{store, random};
  Unit units[TB_N];
  bool data_shown[TB_N] = {};
  std::deque<int> owners;                                 // of bursts that memory has, oldest answer first
  std::deque<tb::WriteMemory::Burst> sent[TB_N];

  using Bench::Bench;

  void present(int u) {
    Unit& x = units[u];
    if (!x.open && random.percent(x.ask)) {
      unsigned at = unsigned(random.below(8)), beats = 1 + unsigned(random.below(8 - at));
      // The unit shows in the address, so that the bench knows whose burst memory has got.
      x.burst = {(random.next() >> 16 & ~63ull) + uint64_t(u) * (1ull << 56) + at * 8, {}};
      for (unsigned i = 0; i < beats; ++i) x.burst.beats.push_back({random.next(), uint8_t(random.next()), i + 1 == beats});
      x.open = true, x.addr_done = false, x.beat = 0;
    }
    bool valid = x.open && !x.addr_done, more = x.open && x.beat < x.burst.beats.size();
    data_shown[u] = more && (data_shown[u] || random.percent(x.data));
    set(top.s_awvalid, u, valid), set(top.s_wvalid, u, data_shown[u]), set(top.s_bready, u, random.percent(x.take));
    tb::WriteMemory::Beat b = more ? x.burst.beats[x.beat] : tb::WriteMemory::Beat{random.next(), 0, false};
    top.s_awaddr[2 * u] = uint32_t(x.burst.addr), top.s_awaddr[2 * u + 1] = uint32_t(x.burst.addr >> 32);
    top.s_wdata[2 * u] = uint32_t(b.data), top.s_wdata[2 * u + 1] = uint32_t(b.data >> 32);
    byte(top.s_awlen, u, valid ? unsigned(x.burst.beats.size() - 1) : 0), byte(top.s_wstrb, u, b.strobes), set(top.s_wlast, u, b.last);
  }
  template <class T>
  static void set(T& port, int u, bool on) { port = T((port & ~(1u << u)) | unsigned(on) << u); }
  template <class T>
  static void byte(T& port, int u, unsigned value) { port = T((port & ~(T(0xff) << 8 * u)) | T(value) << 8 * u); }

  void answer(int u) {
    Unit& x = units[u];
    if (top.s_awvalid & top.s_awready & 1u << u) x.addr_done = true;
    if (top.s_wvalid & top.s_wready & 1u << u) ++x.beat, data_shown[u] = false;
    if (x.open && x.addr_done && x.beat == x.burst.beats.size()) x.open = false, ++x.served, ++x.awaited, sent[u].push_back(x.burst);
    if (top.s_bvalid >> u & 1) CHECK(!owners.empty() && owners.front() == u, "unit %d: the answer of another", u);
    if (top.s_bvalid & top.s_bready & 1u << u) CHECK(top.m_bready && x.awaited-- > 0, "unit %d: an answer to nothing", u);
  }

  void step() {
    memory.drive(top);
    for (int u = 0; u < TB_N; ++u) present(u);
    settle();
    bool taken = top.m_bvalid && top.m_bready;
    check_order();
    for (int u = 0; u < TB_N; ++u) answer(u);
    CHECK(!top.m_bvalid || (top.s_bvalid != 0 && (top.s_bvalid & (top.s_bvalid - 1)) == 0), "answer to units %x", top.s_bvalid);
    if (taken) owners.pop_front();
    memory.clock(top);
    for (const auto& b : memory.done) check(b);
    memory.done.clear();
    edge();
  }

  // An address leaves one cycle after it was taken, but not before the data of all earlier bursts:
  // an address never overtakes data.
  void check_order() {
    bool due = begun > addressed && lasts >= addressed;
    CHECK(top.m_awvalid == due, "AWVALID %u; %u bursts begun, %u addresses and %u last beats taken", top.m_awvalid, begun, addressed, lasts);
    begun += (top.s_awvalid & top.s_awready) != 0;
    addressed += top.m_awvalid && top.m_awready;
    lasts += top.m_wvalid && top.m_wready && top.m_wlast;
  }
  unsigned begun = 0, addressed = 0, lasts = 0;

  void check(const tb::WriteMemory::Burst& b) {
    int u = int(b.addr >> 56);
    CHECK(u < TB_N && !sent[u].empty(), "a burst at %llx that no unit sent", (unsigned long long)b.addr);
    const auto& want = sent[u].front();
    CHECK(b.addr == want.addr && b.beats.size() == want.beats.size(), "unit %d: another burst", u);
    for (size_t i = 0; i < b.beats.size(); ++i)
      CHECK(b.beats[i].data == want.beats[i].data && b.beats[i].strobes == want.beats[i].strobes, "unit %d: beat %zu of another", u, i);
    sent[u].pop_front();
    owners.push_back(u);
  }

  bool drained() const {
    for (const Unit& x : units)
      if (x.open || x.awaited > 0) return false;
    return true;
  }
};

}  // namespace

static void scenario(Test& t) {
  t.reset();
  for (int phase = 0; phase < 60; ++phase) {
    t.memory.mood = tb::moods(t.random);
    for (Unit& x : t.units) x.ask = t.random.mood(), x.data = t.random.mood(), x.take = t.random.mood();
    for (int i = 0; i < 1000; ++i) t.step();
    for (Unit& x : t.units) x.ask = 0;
    for (int i = 0; !t.drained(); ++i) {
      CHECK(i < 100000, "stuck");
      t.step();
    }
  }
  CHECK(t.memory.most == 16, "%u answers awaited, expected 16", t.memory.most);

  t.memory.mood = {100, 100, 100, 4};
  for (Unit& x : t.units) x.ask = x.data = x.take = 100, x.served = 0;
  for (int i = 0; i < 3000; ++i) t.step();
  for (int u = 0; u < TB_N; ++u) {
    unsigned a = t.units[u].served, b = t.units[0].served;
    CHECK(a > 100 && a + 1 >= b && a <= b + 1, "unit %d served %u times, unit 0 %u times", u, a, b);
  }
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
