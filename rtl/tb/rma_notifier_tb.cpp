// rma_notifier: random notifications of four units into the rings of 16 processes of 1..5 places; software that reads now
// and then, switches rings off and on; slow memory that fails now and then.
// - every notification is written once, whole and with its number, at its place, in the order of its unit, and not over
//   one that software has not read; a failed write counts as discarded, and the place is used again;
// - a notification for a ring that is off is discarded, and one whose ring is switched off while it is written; a unit whose
//   ring is full waits and holds nobody else;
// - registers are written at any time but in the cycle of an answer; a read pointer ahead of what was or is written, or
//   behind the ring, is refused;
// - a full ring holds for as long as it may, then loses what comes, counts it, and says so before what it takes next;
// - pointers, switches and stall counters read back as the model has them; registers are cleared after reset.
#include <algorithm>

#include "Vrma_notifier.h"
#include "tb.h"

namespace {

constexpr unsigned kUnits = 4, kRings = 16;

struct Ring {
  uint64_t base = 0, stalls = 0;
  unsigned slots = 0, ctrl = 0, index = 0;
  uint32_t wp = 0, rp = 0;
  bool refused = false, overflowed = false;
  uint32_t stamp = 0, left = 0xffffff, overflows = 0;
  bool enabled() const { return ctrl & NICLOOP_NOTI_CTRL_ENABLE_MASK; }
  bool on() const { return enabled() && slots; }
  bool full() const { return wp - rp >= slots && wp - rp != ~0u; }
};

struct Unit {
  bool pending = false;
  unsigned vpid = 0;
  uint64_t words[2] = {};
  uint32_t stamp = 0;
};

struct Test : tb::Bench<Vrma_notifier> {
  Ring ring[kRings], last[kRings];  // last: as they were in the cycle before
  // The write under way: whose, the ring as it was looked at, and whether it was switched off since.
  bool flying = false, lost = false;
  unsigned flight_vpid = 0;
  Ring flight;
  unsigned off_last = kRings;  // switched off in the cycle before
  bool rp_good = false;
  unsigned sw_read = 0, sw_switch = 0, lost_writes = 0, refused = 0, ahead = 0;
  Unit unit[kUnits];
  bool aw_gone = false;
  uint64_t addr = 0;
  std::vector<uint64_t> burst;
  unsigned errors_percent = 0, favourite = kRings;
  unsigned written = 0, off = 0, failed = 0, stalled_cycles = 0, passed_a_stalled = 0, shuts = 0, strangers = 0, overflows = 0, extras = 0;

  using Bench::Bench;

  void offer(unsigned percent) {
    for (unsigned u = 0; u < kUnits; ++u) {
      Unit& n = unit[u];
      if (!n.pending && random.percent(percent)) {
        bool special = favourite < kRings && random.percent(60);
        n = {true, special ? favourite : unsigned(random.below(kRings)), {random.next(), random.next() & ~NICLOOP_RMA_NOTI_SEQ_MASK}};
        n.stamp = random.percent(90) ? ring[n.vpid].stamp : ring[n.vpid].stamp ^ 1u << random.below(32);
      }
      top.valid = (top.valid & ~(1u << u)) | unsigned(n.pending) << u;
      top.vpid = (top.vpid & ~(15u << 4 * u)) | n.vpid << 4 * u;
      top.stamp[u] = n.stamp;
      for (unsigned i = 0; i < 4; ++i) top.words[4 * u + i] = uint32_t(n.words[i / 2] >> i % 2 * 32);
    }
  }

  void memory(unsigned aw, unsigned w, unsigned b) {
    top.m_awready = random.percent(aw), top.m_wready = random.percent(w);
    if (!top.m_bvalid && aw_gone && burst.size() == 2 && random.percent(b)) {
      top.m_bvalid = 1, top.m_bresp = random.percent(errors_percent) ? 2 : 0;
    }
  }

  void look_at_flight() {
    if (flying || !(top.m_awvalid || top.m_wvalid)) return;
    flying = true, flight_vpid = top.at_vpid, flight = last[top.at_vpid], lost = off_last == top.at_vpid;
  }

  // One register access of software, as the register file does it: when the notifier is ready.
  void software(unsigned read_percent, unsigned switch_percent) {
    top.wr_base = top.wr_slots = top.wr_ctrl = top.wr_rp = top.shut = top.wr_hold = 0;
    unsigned r = flying && random.percent(15) ? flight_vpid : unsigned(random.below(kRings));
    Ring& x = ring[r];
    top.wr_vpid = r;
    if (random.percent(read_percent) && !top.busy) {
      bool counts = flying && !lost && flight_vpid == r;
      uint32_t v = random.percent(85) ? x.rp + uint32_t(random.below(uint32_t(x.wp + 1 - x.rp) % 8 + 1)) : x.wp + 3 - uint32_t(random.below(10));
      rp_good = x.wp + counts - v <= x.slots;
      top.wr_rp = 1, top.wr_data = v;
      refused += !rp_good, ahead += rp_good && v == x.wp + 1;
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
    if (flying && off_last == flight_vpid) lost = true;
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
    if (restart) x.wp = x.rp = x.index = 0, x.refused = x.overflowed = false;
  }

  void check_write(const Unit& n, const Ring& x) {
    CHECK(aw_gone && burst.size() == 2, "answered with %zu of 2 quadwords written", burst.size());
    CHECK(addr == x.base + 16 * x.index, "VPID %u: written to %llx, expected %llx", n.vpid, (unsigned long long)addr,
          (unsigned long long)(x.base + 16 * x.index));
    uint64_t want = n.words[1] | PLACE(RMA_NOTI_SEQ, x.wp + 1);
    CHECK(!x.overflowed, "VPID %u: told, and not of what was dropped before", n.vpid);
    CHECK(burst[0] == n.words[0] && burst[1] == want, "VPID %u: %016llx %016llx, expected %016llx %016llx", n.vpid,
          (unsigned long long)burst[0], (unsigned long long)burst[1], (unsigned long long)n.words[0], (unsigned long long)want);
    CHECK(x.on(), "VPID %u: written into a ring that is off", n.vpid);
    CHECK(n.stamp == x.stamp, "VPID %u: written for another life or domain", n.vpid);
  }

  void served(unsigned u, bool answered) {
    Unit& n = unit[u];
    Ring& x = ring[n.vpid];
    if (top.ev_overflow) {
      CHECK(!answered && x.on() && x.full() && x.left == 0 && n.stamp == x.stamp, "VPID %u: dropped, and its ring has room or time", n.vpid);
      ++x.overflows, x.overflowed = true, ++overflows;
      n.pending = false;
      return;
    }
    CHECK(n.pending, "unit %u is done and had nothing to tell", u);
    bool good = answered && top.m_bresp == 0 && !lost;
    lost_writes += answered && lost;
    CHECK(top.ev_written == good && top.ev_off == !good, "written %u, discarded %u, expected %u and %u", top.ev_written, top.ev_off, good, !good);
    CHECK(top.ev_irq == (good && (x.ctrl & NICLOOP_NOTI_CTRL_IRQ_MASK)), "interrupt %u", top.ev_irq);
    if (!answered) CHECK(!x.on() || n.stamp != x.stamp, "VPID %u: discarded, and the ring is on", n.vpid);
    strangers += !answered && x.on();
    if (answered) check_write(n, flight), aw_gone = flying = false, burst.clear();
    if (good) {
      CHECK(top.at_vpid == n.vpid, "ring of VPID %u, expected %u", top.at_vpid, n.vpid);
      CHECK(!flight.full(), "VPID %u: a notification that nobody has read is overwritten", n.vpid);
      ++x.wp, x.index = x.index + 1 >= x.slots ? 0 : x.index + 1;
      ++written;
      passed_a_stalled += top.stalled != 0;
    }
    off += !answered, failed += answered && !good;
    n.pending = false;
  }

  // What is written tells of dropped notifications; its unit is not done.
  void served_extra() {
    Ring& x = ring[flight_vpid];
    bool good = top.m_bresp == 0 && !lost;
    CHECK(flight.overflowed && !flight.full() && addr == flight.base + 16 * flight.index, "VPID %u: tells of dropped ones, and there were none", flight_vpid);
    uint64_t want = PLACE(RMA_NOTI_SEQ, flight.wp + 1) | PLACE(RMA_NOTI_ERROR, NICLOOP_RMA_ERROR_OVERFLOW) | PLACE(RMA_NOTI_LAST, 1);
    CHECK(burst.size() == 2 && burst[0] == flight.overflows && burst[1] == want, "VPID %u: %016llx %016llx tells of %u dropped ones", flight_vpid,
          (unsigned long long)burst[0], (unsigned long long)burst[1], flight.overflows);
    CHECK(top.ev_written == good && top.ev_off == !good, "written %u, discarded %u, expected %u", top.ev_written, top.ev_off, good);
    aw_gone = flying = false, burst.clear();
    if (good) x.overflowed = false, ++x.wp, x.index = x.index + 1 >= x.slots ? 0 : x.index + 1, ++extras;
  }

  void watch_stalls() {
    bool counted = false;
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
    look_at_flight();
    if (sw_read || sw_switch) software(sw_read, sw_switch), settle();
    CHECK(top.restart == (top.wr_ctrl && (top.wr_data & 1) && !ring[top.wr_vpid].enabled()), "restart %u", top.restart);
    CHECK(top.wr_ready == !(top.busy || (top.m_bvalid && top.m_bready)), "registers: ready %u", top.wr_ready);
    std::copy(ring, ring + kRings, last);
    CHECK(!(top.m_awvalid && aw_gone), "a second address before the answer");
    CHECK(!top.m_awvalid || top.m_awlen == 1, "a burst of %u", top.m_awlen + 1);
    watch_stalls();
    if (top.m_awvalid && top.m_awready) aw_gone = true, addr = top.m_awaddr;
    if (top.m_wvalid && top.m_wready) {
      burst.push_back(top.m_wdata);
      CHECK(top.m_wlast == (burst.size() == 2) && top.m_wstrb == 0xff, "wlast %u, strobes %x at beat %zu", top.m_wlast, top.m_wstrb, burst.size());
    }
    bool answered = top.m_bvalid && top.m_bready;
    CHECK((top.done & (top.done - 1)) == 0, "units %x done at once", top.done);
    if (answered && !top.done) served_extra();
    CHECK(top.done || answered || !(top.ev_written || top.ev_off), "an event and nobody is done");
    for (unsigned u = 0; u < kUnits; ++u)
      if (top.done >> u & 1) served(u, answered);
    edge();
    after_software();
    if (answered) top.m_bvalid = 0;
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

  bool drained() const {
    for (const Unit& n : unit)
      if (n.pending) return false;
    return true;
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
  for (int phase = 0; phase < 120; ++phase) {
    unsigned ask = t->random.mood(), aw = t->random.mood(), w = t->random.mood(), b = t->random.mood();
    unsigned reads = phase % 3 == 0 ? 5 : t->random.mood();
    t->errors_percent = phase % 4 == 3 ? 20 : 0;
    t->favourite = t->random.below(2 * kRings);
    for (int i = 0; i < 400; ++i) {
      t->sw_read = reads, t->sw_switch = phase < 10 ? 50 : 5;
      t->step(ask, aw, w, b);
    }
    t->sw_read = t->sw_switch = 0;
    t->compare();
  }
  CHECK(t->written > 1000 && t->off > 200 && t->failed > 50, "%u written, %u discarded, %u failed", t->written, t->off, t->failed);
  CHECK(t->stalled_cycles > 2000 && t->passed_a_stalled > 50, "%u cycles stalled, %u passed: the scenario lost its point", t->stalled_cycles,
        t->passed_a_stalled);
  CHECK(t->overflows > 100 && t->extras > 20, "%u dropped, told %u times: the scenario lost its point", t->overflows, t->extras);
  CHECK(t->shuts > 100 && t->strangers > 50, "%u shut, %u strangers: the scenario lost its point", t->shuts, t->strangers);
  CHECK(t->lost_writes > 10 && t->refused > 100 && t->ahead > 20, "%u lost, %u read pointers refused, %u ahead", t->lost_writes, t->refused, t->ahead);
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

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.reset();
  for (int i = 0; i < 20; ++i) t.tick();
  t.compare();
  random_traffic(&t);
  t.errors_percent = 0;
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
}
