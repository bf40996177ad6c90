// rma_notifier: random notifications of four units into the rings of 16 processes of 1..5 entries;
// software that reads now and then, switches rings off and on; slow memory that fails now and then.
// - every notification is written once, whole and with its number, in its entry, in the order of
//   its unit, and not over one that software has not read; up to DMA_WRITES are under way; a failed
//   write counts as discarded, switches its ring off, and those behind it in the ring are lost; the
//   rate of notifications, whatever the memory's latency;
// - a notification for a ring that is off is discarded, and one whose ring is switched off while it
//   is written; a unit whose ring is full waits and holds nobody else;
// - registers are written at any time but in the cycles in which a write begins or ends; a read
//   pointer ahead of what was or is written, or behind the ring, is refused;
// - a full ring holds for as long as it may, then loses what comes, counts it, and says so before
//   what it takes next;
// - pointers, switches and stall counters read back as the model has them; registers are cleared
//   after reset.
#include <algorithm>
#include <deque>

#include "Vrma_notifier.h"
#include "axi_memory.h"

namespace {

constexpr unsigned kUnits = 4, kRings = 16;

struct Ring {
  uint64_t base = 0, stalls = 0;
  unsigned slots = 0, ctrl = 0, index = 0;
  uint32_t wp = 0, ahead = 0, rp = 0;  // ahead: begun
  bool refused = false, overflowed = false;
  uint32_t stamp = 0, left = 0xffffff, overflows = 0;
  bool enabled() const { return ctrl & NICLOOP_NOTI_CTRL_ENABLE_MASK; }
  bool on() const { return enabled() && slots; }
  bool full() const { return ahead - rp >= slots; }
};

// A write: whose, the ring as it was looked at, and whether it was switched off since.
struct Flight {
  unsigned vpid;
  Ring ring;
  bool lost;
  uint64_t at;  // its last beat left
};

struct Unit {
  bool pending = false;
  unsigned vpid = 0;
  uint64_t words[2] = {};
  uint32_t stamp = 0;
  bool told = false;  // and shows it still, for a cycle
};

struct Test : tb::Bench<Vrma_notifier> {
  tb::Readys readys{random};
  Ring ring[kRings], last[kRings];  // last: as they were in the cycle before
  bool writing = false;        // flying.back() is being sent; those before it wait for their answers
  std::deque<Flight> flying;
  size_t answered = 0;         // of them: the oldest, in the cycle before
  bool answer_bad = false;
  unsigned off_last = kRings, failed_last = kRings;  // switched off in the cycle before, by software or by a failed write
  uint64_t now = 0;
  unsigned latency = 0, most = 0;  // of answers, 0: at random; most that were under way
  bool rp_good = false, coming = false;  // a read pointer: can it be; its write is told, and done in the next cycle
  unsigned sw_read = 0, sw_switch = 0, lost_writes = 0, refused = 0, ahead = 0;
  Unit unit[kUnits];
  bool aw_gone = false;
  uint64_t addr = 0;
  std::vector<uint64_t> burst;
  unsigned errors_percent = 0, favourite = kRings;
  unsigned written = 0, off = 0, failed = 0, stalled_cycles = 0, passed_a_stalled = 0, shuts = 0, strangers = 0, overflows = 0, extras = 0;

  using Bench::Bench;

  // Another domain or an earlier life. A later life cannot be: it may begin before it is looked at.
  uint32_t stranger(uint32_t stamp) {
    return random.percent(50) ? stamp ^ 1u << random.below(16) : stamp - (uint32_t(1 + random.below(3)) << 16);
  }

  void offer(unsigned percent) {
    for (unsigned u = 0; u < kUnits; ++u) {
      Unit& n = unit[u];
      if (!n.pending && !n.told && random.percent(percent)) {
        bool special = favourite < kRings && random.percent(60);
        n = {true, special ? favourite : unsigned(random.below(kRings)), {random.next(), random.next() & ~NICLOOP_RMA_NOTI_SEQ_MASK}};
        n.stamp = random.percent(90) ? ring[n.vpid].stamp : stranger(ring[n.vpid].stamp);
      }
      top.valid = (top.valid & ~(1u << u)) | unsigned(n.pending || n.told) << u;
      n.told = false;
      top.vpid = (top.vpid & ~(15u << 4 * u)) | n.vpid << 4 * u;
      top.stamp[u] = n.stamp;
      for (unsigned i = 0; i < 4; ++i) top.words[4 * u + i] = uint32_t(n.words[i / 2] >> i % 2 * 32);
    }
  }

  void memory(unsigned aw, unsigned w, unsigned b) {
    bool always = aw == 100 && w == 100;
    top.m_awready = random.percent(aw) && readys.address(always), top.m_wready = random.percent(w) && readys.data(always);
    size_t sent = flying.size() - writing;
    top.m_bvalid = sent > answered && (latency ? flying[answered].at + latency <= now : random.percent(b));
    top.m_bresp = random.percent(errors_percent) ? 2 : 0;
  }

  // A write begins in this cycle: it was decided in the one before.
  bool begins() {
    if (writing || !(top.m_awvalid || top.m_wvalid)) return false;
    writing = true;
    flying.push_back({top.at_vpid, last[top.at_vpid], off_last == top.at_vpid || failed_last == top.at_vpid, 0});
    most = std::max(most, unsigned(flying.size()));
    CHECK(flying.size() <= NICLOOP_DMA_WRITES, "%zu under way", flying.size());
    return true;
  }

  void lose(unsigned vpid) {
    for (Flight& f : flying) f.lost = f.lost || f.vpid == vpid;
  }

  // One register access of software, as the register file does it: when the notifier is ready.
  void software(unsigned read_percent, unsigned switch_percent) {
    top.wr_base = top.wr_slots = top.wr_ctrl = top.wr_rp = top.shut = top.wr_hold = 0;
    if (coming) {
      if (!top.rp_ready) return;
      const Ring& x = ring[top.wr_vpid];  // nothing began in the cycle before
      uint32_t v = uint32_t(top.wr_data);
      coming = false, top.wr_rp = 1;
      rp_good = x.ahead - v <= x.slots;
      refused += !rp_good, ahead += rp_good && v != x.rp && v - x.wp - 1 < 8;
      return;
    }
    unsigned r = !flying.empty() && random.percent(15) ? flying.back().vpid : unsigned(random.below(kRings));
    Ring& x = ring[r];
    top.wr_vpid = r;
    if (random.percent(read_percent) && !top.busy) {  // told a cycle before, in which it is compared
      uint32_t v = random.percent(85) ? x.rp + uint32_t(random.below(uint32_t(x.ahead - x.rp) % 8 + 1)) : x.ahead + 3 - uint32_t(random.below(10));
      coming = true, top.wr_data = v;
    } else if (random.percent(switch_percent) && top.wr_ready) {
      unsigned what = random.below(6);
      if (what == 5) { top.wr_hold = 1, top.wr_data = (random.percent(60) ? 0xffffff : random.below(60)) << 32; return; }
      if (what == 4) { top.shut = 1; return; }
      if (what == 0 && !x.enabled()) top.wr_base = 1, top.wr_data = random.next();
      if (what == 1 && !x.enabled()) top.wr_slots = 1, top.wr_data = random.below(6);
      if (what >= 2) top.wr_ctrl = 1, top.wr_data = random.percent(80) ? 1 | random.below(4) << 1 : random.below(8);
    }
  }

  void after_software() {
    Ring& x = ring[top.wr_vpid];
    off_last = top.shut || (top.wr_ctrl && !(top.wr_data & 1)) ? top.wr_vpid : kRings;
    if (off_last != kRings) lose(off_last);
    if (top.wr_hold) x.left = uint32_t(top.wr_data >> 32) & 0xffffff;
    if (top.wr_rp) x.refused = !rp_good;
    if (top.wr_rp && rp_good) x.rp = top.wr_data;
    if (top.wr_base) x.base = top.wr_data & ~15ull;
    if (top.wr_slots) x.slots = top.wr_data;
    if (top.shut) {  // with another domain
      x.ctrl &= NICLOOP_NOTI_CTRL_IRQ_MASK;
      x.stamp = uint32_t(random.next()), top.stamps[top.wr_vpid] = x.stamp, ++shuts;
    }
    if (!top.wr_ctrl) return;
    bool restart = top.wr_data & 1 && !x.enabled();
    x.ctrl = top.wr_data & 7;
    if (!restart) return;
    x.wp = x.ahead = x.rp = x.index = 0, x.refused = x.overflowed = false;
    x.stamp += 1u << 16, top.stamps[top.wr_vpid] = x.stamp;  // another life
  }

  void check_write(const Unit& n, const Ring& x) {
    CHECK(addr == x.base + 16 * x.index, "VPID %u: written to %llx, expected %llx", n.vpid, (unsigned long long)addr,
          (unsigned long long)(x.base + 16 * x.index));
    uint64_t want = n.words[1] | PACK(RMA_NOTI_SEQ, x.ahead + 1);
    CHECK(!x.full(), "VPID %u: a notification that nobody has read is overwritten", n.vpid);
    CHECK(!x.overflowed, "VPID %u: told, and not of what was dropped before", n.vpid);
    CHECK(burst[0] == n.words[0] && burst[1] == want, "VPID %u: %016llx %016llx, expected %016llx %016llx", n.vpid,
          (unsigned long long)burst[0], (unsigned long long)burst[1], (unsigned long long)n.words[0], (unsigned long long)want);
    CHECK(x.on(), "VPID %u: written into a ring that is off", n.vpid);
    CHECK(n.stamp == x.stamp, "VPID %u: written for another life or domain", n.vpid);
  }

  // Unit u is done: its notification is on its way, or nobody wants it.
  void served(unsigned u, bool sent) {
    Unit& n = unit[u];
    Ring& x = ring[n.vpid];
    CHECK(n.pending, "unit %u is done and had nothing to tell", u);
    n.pending = false, n.told = true;
    if (seen.overflow) {
      CHECK(!sent && x.on() && x.full() && x.left == 0 && n.stamp == x.stamp, "VPID %u: dropped, and its ring has room or time", n.vpid);
      ++x.overflows, x.overflowed = true, ++overflows;
      return;
    }
    if (sent) {
      CHECK(flying.back().vpid == n.vpid, "unit %u is done, and what was written is VPID %u's", u, flying.back().vpid);
      check_write(n, flying.back().ring);
      passed_a_stalled += seen.stalled != 0;
      return;
    }
    CHECK(!x.on() || n.stamp != x.stamp, "VPID %u: discarded, and the ring is on", n.vpid);
    strangers += x.on(), ++off;
  }

  // What is written tells of dropped notifications; its unit is not done.
  void check_extra(const Flight& f) {
    const Ring& x = f.ring;
    CHECK(x.overflowed && !x.full() && addr == x.base + 16 * x.index, "VPID %u: tells of dropped ones, and there were none", f.vpid);
    uint64_t want = PACK(RMA_NOTI_SEQ, x.ahead + 1) | PACK(RMA_NOTI_ERROR, NICLOOP_RMA_ERROR_OVERFLOW) | PACK(RMA_NOTI_LAST, 1);
    CHECK(burst[0] == x.overflows && burst[1] == want, "VPID %u: %016llx %016llx tells of %u dropped ones", f.vpid,
          (unsigned long long)burst[0], (unsigned long long)burst[1], x.overflows);
    ++extras;
  }

  // What the oldest write came to.
  void tell(bool discarded) {
    failed_last = kRings;
    bool good = answered && !answer_bad && !flying.front().lost;
    CHECK(!(discarded && answered && !good), "two are discarded in one cycle, and counted as one");
    CHECK(seen.written == good && seen.off == (discarded || (answered && !good)), "written %u, discarded %u; answered %zu, good %u", seen.written, seen.off, answered, good);
    if (!answered) {
      CHECK(!seen.irq, "an interrupt and no answer");
      return;
    }
    Flight f = flying.front();
    flying.pop_front();
    Ring& x = ring[f.vpid];
    CHECK(seen.ended == f.vpid, "VPID %u, expected %u", seen.ended, f.vpid);
    CHECK(seen.irq == (good && (x.ctrl & NICLOOP_NOTI_CTRL_IRQ_MASK)), "interrupt %u", seen.irq);
    x.wp += good;
    written += good, failed += !good, lost_writes += f.lost;
    if (answer_bad && !f.lost) x.ctrl &= ~unsigned(NICLOOP_NOTI_CTRL_ENABLE_MASK), lose(failed_last = f.vpid), ++switched;
  }
  unsigned switched = 0;
  struct {
    bool written, off, irq, overflow;
    unsigned stalled, ended;
  } seen{};  // of this cycle

  unsigned overdue = 0;  // cycles for which the first unit that waits has had no time left
  void watch_stalls() {
    bool counted = false;
    unsigned first = 0;
    while (first < kUnits && !(top.stalled >> first & 1)) ++first;
    overdue = first < kUnits && ring[unit[first].vpid].left == 0 ? overdue + 1 : 0;
    CHECK(overdue < 40, "unit %u waits, and the time of its ring is over", first);
    for (unsigned u = 0; u < kUnits; ++u) {
      if (!(top.stalled >> u & 1)) continue;
      Ring& x = ring[unit[u].vpid];
      CHECK(unit[u].pending && x.on() && x.full() && unit[u].stamp == x.stamp, "unit %u waits for VPID %u, whose ring has room", u, unit[u].vpid);
      if (!counted) ++x.stalls;
      if (!counted && x.left != 0xffffff && x.left != 0) --x.left;
      counted = true;
    }
    stalled_cycles += counted;
  }

  void step(unsigned ask, unsigned aw, unsigned w, unsigned b) {
    offer(ask);
    memory(aw, w, b);
    settle();
    bool began = begins();
    if (sw_read || sw_switch) software(sw_read, sw_switch), settle();
    else coming = false;
    CHECK(top.restart == (top.wr_ctrl && (top.wr_data & 1) && !ring[top.wr_vpid].enabled()), "restart %u", top.restart);
    CHECK(top.wr_ready == !(top.busy || began || answered), "registers: ready %u", top.wr_ready);
    std::copy(ring, ring + kRings, last);
    CHECK(!(top.m_awvalid && aw_gone), "a second address before the data of the first");
    CHECK(!top.m_awvalid || top.m_awlen == 1, "a burst of %u", top.m_awlen + 1);
    watch_stalls();
    readys.clock(top);
    if (top.m_awvalid && top.m_awready) aw_gone = true, addr = top.m_awaddr;
    if (top.m_wvalid && top.m_wready) {
      burst.push_back(top.m_wdata);
      CHECK(top.m_wlast == (burst.size() == 2) && top.m_wstrb == 0xff, "wlast %u, strobes %x at beat %zu", top.m_wlast, top.m_wstrb, burst.size());
    }
    CHECK(top.m_bready, "an answer is not taken");
    seen = {bool(top.ev_written), bool(top.ev_off), bool(top.ev_irq), bool(top.ev_overflow), unsigned(top.stalled), top.ended_vpid};
    unsigned at = top.at_vpid, windows = top.window_next;
    edge();
    CHECK(top.window_on == windows, "windows %x, announced %x", top.window_on, windows);
    // A unit learns a cycle later, by a register, what has become of its notification.
    bool sent = aw_gone && burst.size() == 2, discarded = top.done && !sent && !seen.overflow;
    CHECK((top.done & (top.done - 1)) == 0, "units %x done at once", top.done);
    if (sent && !top.done) check_extra(flying.back());
    for (unsigned u = 0; u < kUnits; ++u)
      if (top.done >> u & 1) served(u, sent);
    if (sent) flying.back().at = now, writing = aw_gone = false, burst.clear();
    tell(discarded);
    answered = top.m_bvalid, answer_bad = top.m_bresp != 0;
    ++now;
    if (began) {
      Ring& x = ring[at];
      ++x.ahead, x.index = x.index + 1 >= x.slots ? 0 : x.index + 1, x.overflowed = false;
    }
    after_software();
  }

  void compare() {
    uint32_t on = 0, window = 0;
    for (unsigned r = 0; r < kRings; ++r) {
      const Ring& x = ring[r];
      top.rd_vpid = r;
      settle();
      CHECK(top.rd_base == x.base && top.rd_slots == x.slots && (top.rd_ctrl & 7) == x.ctrl, "VPID %u: base, slots or switches", r);
      CHECK(top.rd_wp == x.wp && uint32_t(top.rd_rp) == x.rp, "VPID %u: wp %u, rp %u, expected %u, %u", r, top.rd_wp, uint32_t(top.rd_rp), x.wp, x.rp);
      CHECK(top.rd_hold == x.left && top.rd_overflows == x.overflows, "VPID %u: %u cycles left, %u dropped, expected %u, %u", r, top.rd_hold, top.rd_overflows, x.left, x.overflows);
      CHECK(top.rd_rp >> 32 == x.refused, "VPID %u: the last read pointer was refused %u, expected %u", r, unsigned(top.rd_rp >> 32), x.refused);
      CHECK(top.rd_stall == x.stalls, "VPID %u: %llu cycles stalled, expected %llu", r, (unsigned long long)top.rd_stall, (unsigned long long)x.stalls);
      on |= uint32_t(x.enabled()) << r;
      window |= uint32_t(x.enabled() && x.ctrl & NICLOOP_NOTI_CTRL_WINDOW_MASK) << r;
    }
    CHECK(top.rma_on == on && top.window_on == window, "on %x, windows %x, expected %x, %x", top.rma_on, top.window_on, on, window);
  }

  // Whether each kind of event has happened often enough in random traffic.
  bool saw_enough() const {
    return written > 1000 && off > 200 && failed > 50 && stalled_cycles > 2000 && passed_a_stalled > 20 && overflows > 100 &&
           extras > 20 && shuts > 100 && strangers > 50 && lost_writes > 10 && refused > 100 && ahead > 20 && switched > 20;
  }

  bool drained() const {
    for (const Unit& n : unit)
      if (n.pending) return false;
    return flying.empty();
  }
};

void drain(Test* t) {
  for (int i = 0; !t->drained(); ++i) {
    CHECK(i < 20000, "stuck");
    t->sw_read = 50;
    t->step(0, 100, 100, 100);
  }
  t->sw_read = 0;
  t->top.wr_rp = t->top.wr_ctrl = t->top.wr_base = t->top.wr_slots = t->top.shut = t->top.wr_hold = 0;
}

void random_traffic(Test* t) {
  for (int phase = 0; phase < 120 || (phase < 600 && !t->saw_enough()); ++phase) {
    unsigned ask = t->random.mood(), aw = t->random.mood(), w = t->random.mood(), b = t->random.mood();
    unsigned reads = phase % 3 == 0 ? 5 : t->random.mood();
    t->errors_percent = phase % 4 == 3 ? 20 : 0;
    t->favourite = t->random.below(2 * kRings);
    t->latency = phase % 5 == 2 ? 60 : 0;
    for (int i = 0; i < 400; ++i) {
      t->sw_read = reads, t->sw_switch = phase < 10 ? 50 : 5;
      t->step(ask, aw, w, b);
    }
    t->sw_read = t->sw_switch = 0;
    t->compare();
  }
  CHECK(t->saw_enough(),
        "%u written, %u discarded, %u failed, %u lost; %u cycles stalled, %u passed; %u dropped, told %u times; %u shut, %u strangers; "
        "%u read pointers refused, %u ahead, %u rings failed: the scenario lost its point",
        t->written, t->off, t->failed, t->lost_writes, t->stalled_cycles, t->passed_a_stalled, t->overflows, t->extras, t->shuts,
        t->strangers, t->refused, t->ahead, t->switched);
}

void set(Test* t, unsigned r, unsigned slots) {
  Ring& x = t->ring[r];
  t->top.wr_vpid = r;
  t->settle();
  CHECK(t->top.wr_ready, "not ready for registers when at rest");
  t->top.wr_ctrl = 1, t->top.wr_data = 0, t->step(0, 100, 100, 100), t->top.wr_ctrl = 0;
  t->top.wr_base = 1, t->top.wr_data = 0x1000, t->step(0, 100, 100, 100), t->top.wr_base = 0;
  t->top.wr_slots = 1, t->top.wr_data = slots, t->step(0, 100, 100, 100), t->top.wr_slots = 0;
  t->top.wr_ctrl = 1, t->top.wr_data = 1, t->step(0, 100, 100, 100), t->top.wr_ctrl = 0;
  CHECK(x.on() && x.wp == 0 && x.rp == 0, "the model of the bench");
}

// Software moves the read pointer back by a whole ring while a notification begins, some cycles
// before or after: whichever is first, the ring is full behind it, and nothing more is written.
void read_pointer_moves_back(Test* t) {
  constexpr unsigned kSlots = 4;
  auto steps = [&](unsigned n) { while (n-- > 0) t->step(0, 100, 100, 100); };
  for (unsigned delay = 0; delay < 10; ++delay) {
    set(t, 7, kSlots);
    Ring& x = t->ring[7];
    t->unit[0] = {true, 7, {1, 2}, x.stamp};
    steps(delay);
    uint32_t back;
    do t->top.wr_vpid = 7, t->top.wr_data = back = x.ahead - kSlots, steps(1), t->settle();
    while (!t->top.rp_ready || x.ahead - back > kSlots);
    t->rp_good = true, t->top.wr_rp = 1, steps(1), t->top.wr_rp = 0;
    steps(12);
    CHECK(x.full(), "%u entries are not read: not the case that is meant", x.ahead - x.rp);
    uint32_t before = x.ahead;
    t->unit[1] = {true, 7, {3, 4}, x.stamp};
    steps(30);
    CHECK(x.ahead == before && t->top.stalled >> 1 & 1, "delay %u: written into a ring with %u of %u entries not read", delay, before - x.rp, kSlots);
    t->top.wr_vpid = 7, t->top.wr_ctrl = 1, t->top.wr_data = 0, steps(1), t->top.wr_ctrl = 0;
    steps(20);
  }
}

}  // namespace

static void scenario(Test& t) {
  t.reset();
  for (int i = 0; i < 20; ++i) t.tick();
  t.compare();
  CHECK(t.top.awaiting == 0 && t.top.rma_on == 0, "writes under way after reset");
  random_traffic(&t);
  t.errors_percent = t.latency = 0;
  drain(&t);

  // A full ring holds its unit, and switching it off lets it go.
  set(&t, 7, 1);
  t.top.wr_vpid = 7, t.top.wr_hold = 1, t.top.wr_data = 0xffffffull << 32, t.step(0, 100, 100, 100), t.top.wr_hold = 0;
  t.top.wr_vpid = 0;
  for (unsigned u = 0; u < 2; ++u) t.unit[u] = {true, 7, {1, 2}, t.ring[7].stamp};
  for (int i = 0; i < 50; ++i) t.step(0, 100, 100, 100);
  CHECK(t.top.stalled == 2 || t.top.stalled == 1, "units %x wait for one full ring", t.top.stalled);
  CHECK(!t.top.active && t.ring[7].wp == 1, "a unit that waits keeps the clock running, or %u written", t.ring[7].wp);
  unsigned off = t.off;
  t.top.wr_vpid = 7, t.top.wr_ctrl = 1, t.top.wr_data = 0, t.step(0, 100, 100, 100), t.top.wr_ctrl = 0;
  for (int i = 0; i < 10; ++i) t.step(0, 100, 100, 100);
  CHECK(t.drained() && t.off == off + 1, "%u discarded, expected 1", t.off - off);
  t.compare();
  drain(&t);

  read_pointer_moves_back(&t);

  // A notification in 6 cycles, whatever the memory's latency up to 90: 16 are under way.
  set(&t, 7, 1000);
  for (unsigned latency : {1, 4, 20, 50, 90}) {
    t.latency = latency;
    uint64_t before = t.now;
    constexpr unsigned kCount = 150;
    for (unsigned i = 0; i < kCount; i += t.unit[0].pending == 0) {
      if (!t.unit[0].pending) t.unit[0] = {true, 7, {i, 2}, t.ring[7].stamp};
      t.step(0, 100, 100, 100);
    }
    uint64_t took = t.now - before, most = 6 * kCount;
    CHECK(took <= most, "answers after %u cycles: %llu cycles for %u notifications, expected %llu at most", latency, (unsigned long long)took, kCount, (unsigned long long)most);
  }
  while (!t.drained()) t.step(0, 100, 100, 100);
  CHECK(t.most == NICLOOP_DMA_WRITES && t.top.awaiting == 0, "%u under way at most: expected %u; %u at the end", t.most, NICLOOP_DMA_WRITES, t.top.awaiting);
  t.compare();
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
