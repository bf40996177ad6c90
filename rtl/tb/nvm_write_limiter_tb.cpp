// nvm_write_limiter: random bursts, random stalls on both sides, ranges that overlap and change
// under way.
// - while a range is in use a burst waits for a cycle, and then exactly as long as one of its
//   ranges has no room, one that was shown stays, its data follows it;
// - level, bytes written and cycles waited are those of a model in exact arithmetic;
// - under load, ratios of 1/2, 1/8, 3/7 and 1/1 of line rate hold to the burst over 60,000 cycles;
//   rate 0 is taken as 1, so a burst waits for 2^19 cycles at most.
#include "Vnvm_write_limiter.h"
#include "tb.h"

namespace {

constexpr unsigned kRanges = 4;
enum { kFirst, kBehind, kRate, kDepth, kLevel, kWritten, kWaited };

struct Range {
  uint64_t first = 0, behind = 0, rate = 0x10000, depth = 0, written = 0, waited = 0;
  uint64_t level = 0;  // in 1/65536 byte
  // What the block has found out: from the level, the depth and the address of a cycle ago.
  bool used = false, hits = false;
  uint64_t whole = 0, room = 0;
  bool empty = true;
  uint64_t entered = 0;  // bytes that entered in the cycle before
  bool counted = false;  // some did in the one before that
  bool hit(uint64_t a) const { return a >= first && a < behind; }
  bool fits(uint64_t bytes) const { return (empty || bytes <= room) && entered == 0 && !counted; }
  bool busy() const { return level != 0 || !empty || entered != 0 || counted; }
  void edge(uint64_t addr, uint64_t enters) {
    used = first < behind, hits = hit(addr);
    whole = (level + 0xffff) >> 16, empty = level == 0;
    room = whole < depth ? (depth - whole) / 8 * 8 : 0;
    counted = entered != 0, written += entered;
    level = level + (entered << 16) - std::min(level + (entered << 16), rate * 8);
    entered = enters;
  }
};

struct Burst {
  uint64_t addr;
  unsigned beats;
};

// What a slave waits for before it asserts a READY; AXI allows each (A3.3.1).
enum Order { kAnyOrder, kAddressAfterData, kDataAfterAddress };

struct Test : tb::Bench<Vnvm_write_limiter> {
  Range range[kRanges];
  std::deque<Burst> addresses, data;  // whose address, whose data comes next
  unsigned beat = 0;
  bool aw_offered = false, w_offered = false, shown = false, open = false, stood = false;
  bool data_gone = false;  // all data of the burst has been taken, its address has not
  Order order = kAnyOrder;
  bool data_seen = false, address_seen = false;  // at the slave, in the cycle before
  uint64_t passed = 0, blocked_cycles = 0;

  Test(int argc, char** argv) : Bench(argc, argv) {}

  void offer(const Burst& b) { addresses.push_back(b), data.push_back(b); }

  void settings(unsigned r, unsigned which, uint64_t value) {
    top.wr_valid = 1, top.wr_range = r, top.wr_which = which, top.wr_data = value;
    if (which == kRate && value == 0) value = 1;
    uint64_t* fields[] = {&range[r].first, &range[r].behind, &range[r].rate, &range[r].depth};
    pending = fields[which], pending_value = value;
  }

  uint64_t read(unsigned r, unsigned which) {
    top.rd_range = r, top.rd_which = which;
    settle();
    return top.rd_value;
  }

  void step(unsigned aw, unsigned w, unsigned ready) {
    aw_offered = !addresses.empty() && (aw_offered || random.percent(aw));
    top.s_awvalid = aw_offered;
    if (aw_offered) top.s_awaddr = addresses.front().addr, top.s_awlen = addresses.front().beats - 1;
    // Data comes with or after its address.
    bool may = !data.empty() && !data_gone && (data.size() > addresses.size() || aw_offered);
    w_offered = may && (w_offered || random.percent(w));
    top.s_wvalid = w_offered;
    top.s_wlast = may && beat + 1 == data.front().beats;
    top.m_awready = random.percent(ready) && (order != kAddressAfterData || data_seen);
    top.m_wready = random.percent(ready) && (order != kDataAfterAddress || open || address_seen);
    settle();
    data_seen = top.m_wvalid, address_seen = top.m_awvalid;

    bool data_was_gone = data_gone;
    uint64_t bytes = aw_offered ? 8 * addresses.front().beats : 0, addr = top.s_awaddr;
    bool used = false, blocked = false;
    for (Range& r : range) used = used || r.used, blocked = blocked || (r.hits && !r.fits(bytes));
    bool pass = aw_offered && !open && (!used || (stood && !blocked) || shown), aw_take = pass && top.m_awready;
    CHECK(top.m_awvalid == pass, "address passes %u, expected %u", top.m_awvalid, pass);
    CHECK((top.s_awvalid && top.s_awready) == aw_take, "address taken %u, expected %u", top.s_awready, aw_take);
    bool w_pass = w_offered && (open || (pass && !data_gone)), w_take = w_pass && top.m_wready;
    CHECK(top.m_wvalid == w_pass, "data passes %u, expected %u", top.m_wvalid, w_pass);
    CHECK((top.s_wvalid && top.s_wready) == w_take, "data taken %u, expected %u", top.s_wready, w_take);
    bool draining = false;
    for (Range& r : range) draining = draining || r.busy();
    CHECK(top.active == (aw_take || w_take || draining || changed != 0), "active %u", top.active);
    changed = changed << 1 & 2 | (pending != nullptr);

    blocked_cycles += stood && blocked;
    for (Range& r : range) {
      if (stood && r.hits && !r.fits(bytes)) ++r.waited;
      r.edge(addr, aw_take && stood && r.hits ? bytes : 0);
    }
    bool last = w_take && top.s_wlast;
    shown = pass && !aw_take, stood = aw_offered && !aw_take;
    data_gone = !aw_take && (data_gone || (last && !open));
    open = last || data_was_gone ? false : open || aw_take;
    if (aw_take) addresses.pop_front(), aw_offered = false, ++passed;
    if (w_take) w_offered = false, beat = last ? 0 : beat + 1;
    if (last) data.pop_front();
    edge();
    if (pending) *pending = pending_value, pending = nullptr;
    top.wr_valid = 0;
  }

  void compare() {
    for (unsigned r = 0; r < kRanges; ++r) {
      const Range& m = range[r];
      uint64_t want[] = {m.first, m.behind, m.rate, m.depth, m.whole, m.written, m.waited, 0};
      for (unsigned i = 0; i < 8; ++i) {
        uint64_t got = read(r, i);
        CHECK(got == want[i], "range %u, register %u: %llu, expected %llu", r, i, (unsigned long long)got, (unsigned long long)want[i]);
      }
    }
  }

  Burst any() { return {random.below(4096) * 8, 1 + unsigned(random.below(8))}; }

 private:
  uint64_t* pending = nullptr;
  uint64_t pending_value = 0;
  unsigned changed = 0;
};

void change_something(Test* t) {
  static const uint64_t rates[] = {0x10000, 0x8000, 0x2000, 28087, 1, 0};
  unsigned r = t->random.below(kRanges), which = t->random.below(4);
  // Borders lie anywhere, also within a burst, which belongs to the range of its first address.
  uint64_t low = t->random.below(400) * 64, high = low + t->random.below(200) * 64;
  if (t->random.percent(50)) low += t->random.below(64), high += t->random.below(64);
  uint64_t values[] = {low, high, rates[t->random.below(6)], t->random.below(600)};
  t->settings(r, which, values[which]);
}

// A slave may wait for WVALID before it asserts AWREADY, so WVALID must not wait for AWREADY.
void dependent_slave(Test* t) {
  for (Order order : {kAddressAfterData, kDataAfterAddress}) {
    t->order = order;
    uint64_t want = t->passed + 20;
    for (int i = 0; i < 20; ++i) t->offer(t->any());
    for (int i = 0; !t->data.empty(); ++i) {
      CHECK(i < 2000, "deadlock: AWVALID %u, WVALID %u; %zu bursts left with a slave that asserts %s", t->top.m_awvalid,
            t->top.m_wvalid, t->data.size(), order == kAddressAfterData ? "AWREADY after WVALID" : "WREADY after AWVALID");
      t->step(100, 100, 100);
    }
    CHECK(t->passed == want, "%llu bursts passed, expected %llu", (unsigned long long)t->passed, (unsigned long long)want);
  }
  t->order = kAnyOrder;
}

void random_traffic(Test* t) {
  for (int phase = 0; phase < 200; ++phase) {
    t->order = Order(t->random.below(3));
    unsigned aw = t->random.mood(), w = t->random.mood(), ready = t->random.mood();
    for (int i = 0; i < 400; ++i) {
      if (t->addresses.size() < 4) t->offer(t->any());
      if (t->random.percent(phase % 3 == 0 ? 10 : 1)) change_something(t);
      // A burst that stands at the master must stay even when its range shrinks under it.
      if (t->shown && t->random.percent(20)) t->settings(t->random.below(kRanges), kDepth, t->random.below(64));
      t->step(aw, w, ready);
    }
    t->compare();
  }
  t->order = kAnyOrder;
  CHECK(t->passed > 2000 && t->blocked_cycles > 2000, "%llu bursts, %llu cycles blocked: the scenario lost its point",
        (unsigned long long)t->passed, (unsigned long long)t->blocked_cycles);
}

void drain(Test* t) {
  for (unsigned r = 0; r < kRanges; ++r) {
    t->settings(r, kRate, 0x10000);
    t->step(100, 100, 100);
    t->settings(r, kBehind, 0);
    t->step(100, 100, 100);
  }
  for (int i = 0; !t->data.empty() || t->top.active; ++i) {
    CHECK(i < 100000, "stuck");
    t->step(100, 100, 100);
  }
}

// Bytes between two moments of uninterrupted load: num/den of 8 bytes a cycle, to the burst.
void long_run(Test* t, uint64_t num, uint64_t den, uint64_t depth) {
  drain(t);
  uint64_t rate = (0x10000 * num + den / 2) / den;
  uint64_t values[] = {0x10000, 0x20000, rate, depth};
  for (unsigned i = 0; i < 4; ++i) t->settings(2, i, values[i]), t->step(100, 100, 100);
  uint64_t from = 0;
  constexpr uint64_t kFill = 4000, kCycles = 60000;
  for (uint64_t i = 0; i < kFill + kCycles; ++i) {
    if (i == kFill) from = t->range[2].written;
    while (t->addresses.size() < 3) t->offer({0x10000 + t->random.below(1024) * 64, 8});
    t->step(100, 100, 100);
  }
  uint64_t got = t->read(2, kWritten) - from;
  double want = 8.0 * kCycles * double(num) / double(den);
  CHECK(got + 64 >= want && got <= want + 64, "%llu/%llu of line rate: %llu bytes, expected %.0f", (unsigned long long)num,
        (unsigned long long)den, (unsigned long long)got, want);
  CHECK(num == den || t->read(2, kWaited) > kCycles / 4, "nothing waited");
  t->compare();
}

// A range with rate 0 would hold all DMA of the node for good, that of other processes and the
// answers of fences included. It is taken as rate 1: a line enters within 2^19 cycles.
void rate_zero(Test* t) {
  constexpr uint64_t kLine = 64 * 0x10000 / 8;
  drain(t);
  uint64_t values[] = {0, 0x1000, 0, 128};
  for (unsigned i = 0; i < 4; ++i) t->settings(0, i, values[i]), t->step(100, 100, 100);
  CHECK(t->read(0, kRate) == 1, "NVM_RATE 0 reads %llu, expected 1", (unsigned long long)t->read(0, kRate));
  uint64_t before = t->range[0].written;
  for (int i = 0; i < 3; ++i) t->offer({0x40, 8});
  t->offer({0x2000, 8});  // to no range: it stands behind the others
  for (int i = 0; i < 2000; ++i) t->step(100, 100, 100);
  CHECK(t->range[0].written - before == 128 && t->addresses.size() == 2 && t->top.active, "rate 0 let %llu bytes in",
        (unsigned long long)(t->range[0].written - before));
  for (uint64_t i = 0; i < kLine && !t->data.empty(); ++i) t->step(100, 100, 100);
  CHECK(t->data.empty(), "rate 0 still holds %zu bursts after %llu cycles", t->data.size(), (unsigned long long)kLine);
}

}  // namespace

static void scenario(Test& t) {
  t.reset();
  dependent_slave(&t);
  rate_zero(&t);
  random_traffic(&t);
  long_run(&t, 1, 2, 256);
  long_run(&t, 1, 8, 4096);
  long_run(&t, 3, 7, 128);  // with room for one burst, it would wait for the whole cycle in which the last has drained
  long_run(&t, 1, 1, 1024);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
