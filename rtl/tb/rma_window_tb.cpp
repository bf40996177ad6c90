// rma_window: random descriptors of all processes, about half of them wrong; windows switched on and off; slow requester.
// - a good one comes out once, unchanged, in its process's order, and B is OKAY only then;
// - refused with SLVERR and the right reason: window off (before all else), no domain, address, length, size, burst type, strobes,
//   number of beats, reserved bit;
// - a process has DEPTH places of its own: its full FIFO holds the bus, others' FIFOs do not;
// - what waits when its window goes off is dead, also when the window is on again, and nothing else is;
// - a descriptor that waits for a place is refused when its window is switched off.
#include "Vrma_window.h"
#include "tb.h"

namespace {

constexpr unsigned kDepth = NICLOOP_RMA_DEPTH;

struct Burst {
  unsigned vpid, len, size, type;
  uint64_t low;  // address below the VPID
  std::vector<uint64_t> words;
  std::vector<uint8_t> strobes;
  bool good() const {
    if (low != 0 || len != 2 || size != 3 || type != 1 || words.size() != 3) return false;
    for (uint8_t s : strobes) if (s != 0xff) return false;
    return !FIELD(words[0], RMA_DESC_RSVD);
  }
};

struct Test : tb::Bench<Vrma_window> {
  std::deque<std::vector<uint64_t>> inside[16];
  size_t dead[16] = {};  // of the oldest
  unsigned died = 0;
  std::deque<Burst> bursts;
  std::deque<unsigned> answers;
  bool aw_gone = false, aw_offered = false, w_offered = false;
  size_t beat = 0;
  unsigned popped = 0, held = 0, reasons[16] = {};

  Test(int argc, char** argv) : Bench(argc, argv) {}

  Burst make(unsigned vpid) {
    Burst b{vpid, 2, 3, 1, 0, {random.next(), random.next(), random.next()}, {0xff, 0xff, 0xff}};
    b.words[0] &= ~NICLOOP_RMA_DESC_RSVD_MASK;
    return b;
  }

  Burst broken(unsigned vpid) {
    Burst b = make(vpid);
    unsigned how = random.below(8);
    if (how == 0) b.low = 8ull << random.below(21);
    if (how == 1) b.len = (3 + random.below(255)) & 0xff;
    if (how == 2) b.size = random.below(3);
    if (how == 3) b.type = random.percent(50) ? 0 : 2;
    if (how == 4) b.strobes[random.below(3)] ^= 1 << random.below(8);
    if (how == 5) b.words[0] |= NICLOOP_RMA_DESC_RSVD_MASK;
    if (how >= 6) {
      size_t beats = how == 6 ? 1 + random.below(2) : 4 + random.below(8);
      b.words.resize(beats, random.next()), b.strobes.resize(beats, 0xff);
      if (random.percent(50)) b.len = unsigned(beats) - 1;
    }
    return b;
  }

  void offer(unsigned aw, unsigned w, unsigned b) {
    aw_offered = !bursts.empty() && !aw_gone && (aw_offered || random.percent(aw));
    top.s_awvalid = aw_offered;
    if (aw_offered) {
      const Burst& x = bursts.front();
      top.s_awaddr = uint32_t(1u << NICLOOP_RMA_PIO_RMA_LSB | x.vpid << NICLOOP_RMA_PIO_SRC_VPID_LSB | x.low);
      top.s_awlen = x.len, top.s_awsize = x.size, top.s_awburst = x.type;
    }
    w_offered = aw_gone && (w_offered || random.percent(w));
    top.s_wvalid = w_offered;
    if (w_offered) {
      top.s_wdata = bursts.front().words[beat], top.s_wstrb = bursts.front().strobes[beat];
      top.s_wlast = beat + 1 == bursts.front().words.size();
    }
    top.s_bready = random.percent(b);
  }

  // The last beat is taken: what becomes of the descriptor.
  void judge() {
    Burst x = bursts.front();
    bool on = top.window_on >> x.vpid & 1;
    unsigned reason = !on ? NICLOOP_DROP_REASON_WINDOW_OFF : x.vpid == 9 ? NICLOOP_DROP_REASON_DOMAIN : x.good() ? NICLOOP_DROP_REASON_NONE : NICLOOP_DROP_REASON_BAD_LENGTH;
    CHECK(!on || inside[x.vpid].size() < kDepth, "VPID %u has no place left", x.vpid);
    CHECK(top.ev_error == (reason != 0), "refused %u, expected reason %u", top.ev_error, reason);
    CHECK(!reason || (top.error_reason == reason && top.error_vpid == x.vpid), "reason %u of VPID %u, expected %u of %u", top.error_reason,
          top.error_vpid, reason, x.vpid);
    ++reasons[reason];
    if (!reason) inside[x.vpid].push_back(x.words);
    answers.push_back(reason ? 2 : 0);
    bursts.pop_front();
    aw_gone = false, beat = 0;
  }

  void step(unsigned aw, unsigned w, unsigned b, unsigned pop) {
    offer(aw, w, b);
    top.head_vpid = random.below(16), top.level_vpid = random.below(16), top.pop = 0;
    settle();
    auto& queue = inside[top.head_vpid];
    unsigned level = 0;
    for (unsigned v = 0; v < 16; ++v) {
      CHECK((top.waiting >> v & 1) == !inside[v].empty(), "VPID %u waits: %u", v, top.waiting >> v & 1);
      level += inside[v].size();
    }
    CHECK(top.level_of == inside[top.level_vpid].size(), "VPID %u: level %u", top.level_vpid, top.level_of);
    CHECK(top.level == level, "level %u, expected %u", top.level, level);
    if (!queue.empty()) {
      for (unsigned i = 0; i < 3; ++i) {
        uint64_t got = top.head[2 * i] | uint64_t(top.head[2 * i + 1]) << 32;
        CHECK(got == queue.front()[i], "VPID %u, quadword %u: %016llx", top.head_vpid, i, (unsigned long long)got);
      }
      bool is_dead = dead[top.head_vpid] || !(top.window_on >> top.head_vpid & 1);
      CHECK(top.head_dead == is_dead, "VPID %u: dead %u, expected %u", top.head_vpid, top.head_dead, is_dead);
      died += is_dead && (top.window_on >> top.head_vpid & 1);
      top.pop = random.percent(pop);
      settle();
    }
    if (top.s_bvalid && top.s_bready) {
      CHECK(!answers.empty() && top.s_bresp == answers.front(), "answer %u", top.s_bresp);
      answers.pop_front();
    }
    bool pop_now = top.pop, aw_take = top.s_awvalid && top.s_awready, w_take = top.s_wvalid && top.s_wready;
    CHECK(w_take || !top.ev_error, "an error without its descriptor");
    held += w_offered && !w_take;
    if (w_take && top.s_wlast) judge();
    else if (w_take) ++beat;
    if (w_take) w_offered = false;
    if (aw_take) aw_gone = true, aw_offered = false;
    if (pop_now) queue.pop_front(), ++popped;
    if (pop_now && dead[top.head_vpid]) --dead[top.head_vpid];
    for (unsigned v = 0; v < 16; ++v)
      if (!(top.window_on >> v & 1)) dead[v] = inside[v].size();
    edge();
  }
};

void random_traffic(Test* t) {
  for (int phase = 0; phase < 80; ++phase) {
    unsigned aw = t->random.mood(), w = t->random.mood(), b = t->random.mood(), pop = phase % 3 == 0 ? 3 : t->random.mood();
    for (int i = 0; i < 300; ++i) {
      while (t->bursts.size() < 3) {
        unsigned vpid = phase % 2 ? t->random.below(16) : t->random.below(2);
        t->bursts.push_back(t->random.percent(50) ? t->make(vpid) : t->broken(vpid));
      }
      if (t->random.percent(5)) t->top.window_on ^= 1u << t->random.below(16);
      t->step(aw, w, b, pop);
    }
  }
  for (unsigned r : {NICLOOP_DROP_REASON_NONE, NICLOOP_DROP_REASON_WINDOW_OFF, NICLOOP_DROP_REASON_BAD_LENGTH}) {
    CHECK(t->reasons[r] > 300, "reason %u came up %u times", r, t->reasons[r]);
  }
  CHECK(t->died > 50 && t->reasons[NICLOOP_DROP_REASON_DOMAIN] > 15, "%u seen dead, %u without a domain", t->died, t->reasons[NICLOOP_DROP_REASON_DOMAIN]);
  CHECK(t->popped > 300 && t->held > 300, "%u popped, %u cycles held: the scenario lost its point", t->popped, t->held);
}

void drain(Test* t) {
  for (int i = 0; !t->bursts.empty() || !t->answers.empty() || t->top.level; ++i) {
    CHECK(i < 20000, "stuck");
    t->step(100, 100, 100, 100);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.top.window_on = 0xffff;
  for (unsigned v = 0; v < 16; ++v) t.top.stamps[v] = tb::stamp(v == 9 ? 0 : 1 + v, v);
  t.reset();
  random_traffic(&t);
  t.top.window_on = 0xffff;
  drain(&t);
  t.step(0, 0, 0, 0);  // nothing of the last step is on the wires any more
  t.settle();
  CHECK(t.top.idle && !t.top.active, "not idle when empty");

  // Places are a process's own: VPID 3 fills its own, VPID 4 still gets in, then VPID 3 holds the bus.
  for (unsigned i = 0; i < kDepth; ++i) t.bursts.push_back(t.make(3));
  for (unsigned i = 0; i < kDepth; ++i) t.bursts.push_back(t.make(4));
  t.bursts.push_back(t.make(3));
  for (int i = 0; i < 300; ++i) t.step(100, 100, 100, 0);
  CHECK(t.inside[3].size() == kDepth && t.inside[4].size() == kDepth && t.bursts.size() == 1, "%zu of VPID 3, %zu of VPID 4",
        t.inside[3].size(), t.inside[4].size());
  // Its window goes off: refused, and the bus is free.
  unsigned refused = t.reasons[NICLOOP_DROP_REASON_WINDOW_OFF];
  t.top.window_on = 0xffff & ~(1u << 3);
  for (int i = 0; i < 10; ++i) t.step(100, 100, 100, 0);
  CHECK(t.bursts.empty() && t.reasons[NICLOOP_DROP_REASON_WINDOW_OFF] == refused + 1, "still holds the bus");
  drain(&t);
}
