// router: one router of a mesh or torus; random packets on all connected ports and VCs, interleaved
// flit by flit, random credits from the receivers.
// - every packet leaves at the port and on the VC that naive functions name, whole, and not mixed
//   with others of its VC; packets of one input, VC and output stay in order; nothing is lost,
//   nothing appears;
// - no such node, unconnected port, or back where it came from: discarded and counted;
// - a packet that has come to HOP_MAX routers is discarded and counted, all others leave with one
//   more;
// - entries of the route table override, also with illegal ports, and read back;
// - when all is drained every credit is back: VC_DEPTH flits leave without another;
// - a blocked output on one VC holds neither other inputs nor the other VC; packets of its own
//   input and VC pass it to other outputs while there are entries;
// - an output that all inputs want is shared evenly, packet by packet;
// - a port that drains discards what is for it and holds nobody, also when it starts or stops in
//   the middle of a packet;
// - a free router passes a flit in 2 cycles, and one flit a cycle (VC_DEPTH 16);
// - all routers joined (router_fabric.h): saturated rings go on, all arrives in order per source
//   and destination.
#include "Vrouter.h"
#include "router_fabric.h"
#include "tb.h"

namespace {

constexpr unsigned kPorts = TB_PORTS, kClasses = NICLOOP_VCS, kVcs = TB_TORUS ? NICLOOP_TORUS_VCS : NICLOOP_VCS, kVcW = TB_TORUS ? 3 : 2;
constexpr unsigned kDims[3] = {TB_DIM_X, TB_DIM_Y, TB_DIM_Z}, kNodes = TB_DIM_X * TB_DIM_Y * TB_DIM_Z;
// A mesh: x = 1, both neighbours in X exist. A torus: last in X, first in Y and Z, so all
// dimensions wrap here.
constexpr unsigned kHere = TB_TORUS ? TB_DIM_X - 1 : TB_DIM_Z == 1 ? 1 + TB_DIM_X : 1;
constexpr unsigned kDiscard = 99, kNoEntry = 98;

struct Test : tb::Bench<Vrouter> {
  using Bench::Bench;
  using Packet = std::vector<tb::Flit>;
  std::deque<tb::Flit> in[kPorts][kVcs];
  std::deque<Packet> expected[kPorts][kVcs][kPorts];  // input, VC, output
  Packet current[kPorts][kVcs];                       // what is left of the packet on an output
  bool busy[kPorts][kVcs] = {};
  unsigned credits[kPorts][kVcs], owed[kPorts][kVcs] = {};
  unsigned out_percent[kPorts][kVcs];
  uint64_t discards = 0, counted = 0, done_packets = 0, out_flits = 0;
  unsigned done_by_input[kPorts] = {};
  unsigned up = 0;
  unsigned table[kNodes];
  bool lossy[kPorts] = {};  // a port that drained
  unsigned rounds = 0;        // percent of packets that have come to too many routers
  uint64_t serial = 0, gone = 0, ended = 0, seen_drained = 0, seen_ended = 0;

  void start() {
    for (unsigned& entry : table) entry = kNoEntry;
    for (unsigned p = 0; p < kPorts; ++p) {
      up |= unsigned(p == 0 || fabric::neighbour(kDims, TB_TORUS, kHere, p) != fabric::kNobody) << p;
      for (unsigned v = 0; v < kVcs; ++v) credits[p][v] = TB_VC_DEPTH, owed[p][v] = p == 0 ? 0 : TB_VC_DEPTH, out_percent[p][v] = 100;
    }
    top.here = kHere, top.shape = fabric::shape(kDims, kHere);
    top.port_up = up;
    top.closed = (1u << kPorts) - 2;
    reset();
    tick();  // links are closed longer than the reset: their credits are taken back
    top.closed = 0;
    for (unsigned i = 0; i < TB_VC_DEPTH; ++i) step(0);  // links give their credits
  }

  // Writes an entry of the route table, or takes it away, while nothing moves.
  void set_route(unsigned dst, unsigned port) {
    uint64_t entry = port == kNoEntry ? 0 : PACK(ROUTE_PORT, port) | PACK(ROUTE_OVERRIDE, 1);
    top.wr_addr = top.rd_addr = uint32_t(NICLOOP_REG_ROUTE(dst));
    top.wr_data = entry, top.rx_valid = 0, top.tx_credit = 0;
    tick();
    top.wr_do = 1;
    tick();
    top.wr_do = 0;
    tick();
    CHECK(top.wr_known && top.rd_known && top.rd_value == (dst < kNodes ? entry : 0), "entry %u reads %llx", dst, (unsigned long long)top.rd_value);
    if (dst < kNodes) table[dst] = port;
  }

  unsigned route(unsigned from, unsigned dst) {
    if (dst >= kNodes) return kDiscard;
    unsigned port = table[dst] != kNoEntry ? table[dst] : fabric::route(kDims, TB_TORUS, kHere, dst);
    return port >= kPorts || (port == from && from != 0) || !(up >> port & 1) ? kDiscard : port;
  }

  // A node behind a port, so that a test can aim.
  unsigned behind(unsigned port) {
    for (unsigned dst = 0; dst < kNodes; ++dst) {
      if (route(port == 0 ? 1 : 0, dst) == port) return dst;
    }
    tb::fail("no node behind port %u", port);
  }

  void send(unsigned from, unsigned vc, unsigned dst, unsigned quads) {
    uint64_t header = PACK(HEADER_ANSWER, vc % kClasses == kClasses - 1) | PACK(HEADER_SRC_NODE, from) | PACK(HEADER_SRC_VPID, vc) | PACK(HEADER_DST_NODE, dst) |
                      PACK(HEADER_OP, random.below(64)) | PACK(HEADER_LENGTH, serial++ & 1023);
    bool goes_round = random.percent(rounds);
    header |= PACK(HEADER_MARK, goes_round ? unsigned(NICLOOP_HOP_MAX) : unsigned(random.below(NICLOOP_HOP_MAX)) | 128 * unsigned(random.below(2)));
    std::vector<uint64_t> payload(quads);
    for (uint64_t& q : payload) q = random.next();
    Packet p = tb::packet(header, payload);
    for (const tb::Flit& f : p) in[from][vc].push_back(f);
    unsigned to = goes_round ? kDiscard : route(from, dst);
    p.front().data += PACK(HEADER_MARK, 1);
    if (to == kDiscard) {
      ++discards;
      return;
    }
    for (tb::Flit& f : p) f.vc = fabric::next_vc(kDims, TB_TORUS, kHere, from, to, vc);
    expected[from][vc][to].push_back(p);
  }

  void drive(unsigned percent) {
    uint32_t valid = 0, vcs = 0, heads = 0, tails = 0;
    for (unsigned p = 0; p < kPorts; ++p) {
      unsigned v = random.below(kVcs);
      for (unsigned i = 0; i < kVcs && (in[p][v].empty() || credits[p][v] == 0); ++i) v = (v + 1) % kVcs;
      if (!random.percent(percent) || in[p][v].empty() || credits[p][v] == 0) continue;
      const tb::Flit& f = in[p][v].front();
      valid |= 1u << p, vcs |= v << p * kVcW, heads |= unsigned(f.head) << p, tails |= unsigned(f.tail) << p;
      top.rx_data[2 * p] = uint32_t(f.data), top.rx_data[2 * p + 1] = uint32_t(f.data >> 32);
      in[p][v].pop_front();
      --credits[p][v];
    }
    top.rx_valid = valid, top.rx_vc = vcs, top.rx_head = heads, top.rx_tail = tails;
    uint64_t give = 0;
    for (unsigned p = 0; p < kPorts; ++p) {
      for (unsigned v = 0; v < kVcs; ++v) {
        if (owed[p][v] == 0 || !random.percent(out_percent[p][v])) continue;
        give |= uint64_t(1) << (kVcs * p + v);
        --owed[p][v];
      }
    }
    top.tx_credit = decltype(+top.tx_credit)(give);
  }

  void receive(unsigned p) {
    unsigned v = top.tx_vc >> p * kVcW & ((1u << kVcW) - 1);
    tb::Flit f{v, bool(top.tx_head >> p & 1), bool(top.tx_tail >> p & 1), top.tx_data[2 * p] | uint64_t(top.tx_data[2 * p + 1]) << 32};
    ++out_flits;
    CHECK(++owed[p][v] <= TB_VC_DEPTH, "port %u VC %u: sent without credit", p, v);
    Packet& c = current[p][v];
    if (f.head) {
      CHECK(c.empty(), "port %u VC %u: a head inside a packet", p, v);
      unsigned from = unsigned(FIELD(f.data, HEADER_SRC_NODE)), vc = unsigned(FIELD(f.data, HEADER_SRC_VPID));
      CHECK(from < kPorts && vc < kVcs && !expected[from][vc][p].empty(), "port %u VC %u: unexpected packet %016llx", p, v, (unsigned long long)f.data);
      while (lossy[p] && expected[from][vc][p].size() > 1 && !(f == expected[from][vc][p].front().front())) expected[from][vc][p].pop_front(), ++gone;
      c = expected[from][vc][p].front();
      expected[from][vc][p].pop_front();
      ++done_by_input[from];
      ++done_packets;
    }
    CHECK(!c.empty(), "port %u VC %u: flit %016llx outside a packet", p, v, (unsigned long long)f.data);
    if (lossy[p] && f.tail && !f.head && f.data == 0) {
      c.clear();
      ++ended;
      return;
    }
    CHECK(f == c.front(), "port %u VC %u: flit %016llx, expected %016llx", p, v, (unsigned long long)f.data, (unsigned long long)c.front().data);
    c.erase(c.begin());
  }

  void step(unsigned percent) {
    drive(percent);
    settle();
    for (unsigned p = 0; p < kPorts; ++p) {
      if (top.tx_valid >> p & 1) receive(p);
      for (unsigned v = 0; v < kVcs; ++v) {
        credits[p][v] += top.rx_credit >> (kVcs * p + v) & 1;
        CHECK(credits[p][v] <= TB_VC_DEPTH, "port %u VC %u: too many credits", p, v);
      }
    }
    counted += unsigned(__builtin_popcount(top.route_errors));
    seen_drained += unsigned(__builtin_popcount(top.drained)), seen_ended += unsigned(__builtin_popcount(top.ended));
    edge();
  }

  bool drained() {
    for (unsigned p = 0; p < kPorts; ++p) {
      for (unsigned v = 0; v < kVcs; ++v) {
        if (!in[p][v].empty() || !current[p][v].empty()) return false;
        for (unsigned o = 0; o < kPorts; ++o) {
          if (!expected[p][v][o].empty()) return false;
        }
      }
    }
    return true;
  }

  void drain(unsigned percent) {
    for (int i = 0; !drained(); ++i) {
      CHECK(i < 200000, "stuck after %llu packets", (unsigned long long)done_packets);
      step(percent);
    }
    for (int i = 0; i < 2 * TB_VC_DEPTH + 20; ++i) step(100);
  }

  // The VC on which class 0 leaves the node's own port.
  unsigned vc_towards(unsigned port) { return fabric::next_vc(kDims, TB_TORUS, kHere, 0, port, 0); }

  // No credit of class 0 comes back at a port.
  void block(unsigned port) {
    for (unsigned v = 0; v < kVcs; v += kClasses) out_percent[port][v] = 0;
  }

  void open_all() {
    for (auto& port : out_percent) std::fill_n(port, kVcs, 100);
  }
};

void random_traffic(Test* t) {
  t->rounds = 5;
  for (int phase = 0; phase < 40; ++phase) {
    for (auto& port : t->out_percent) {
      for (unsigned& percent : port) percent = t->random.mood();
    }
    for (unsigned dst = 0; dst < 64; ++dst) {
      if (phase % 4 == 0 || t->random.percent(10)) t->set_route(dst, phase % 4 == 0 || t->random.percent(30) ? kNoEntry : t->random.below(8));
    }
    for (int i = 0; i < 150; ++i) {
      unsigned from = t->random.below(kPorts);
      if (!(t->up >> from & 1)) continue;
      t->send(from, t->random.below(from == 0 ? kClasses : kVcs), t->random.below(kNodes + 2), t->random.below(8));
    }
    t->drain(t->random.mood());
  }
  t->rounds = 0;
  t->open_all();
  t->drain(100);
  CHECK(t->counted == t->discards, "%llu packets discarded, expected %llu", (unsigned long long)t->counted, (unsigned long long)t->discards);
  CHECK(t->discards > 100 && t->done_packets > 1000, "%llu discards: the scenario lost its point", (unsigned long long)t->discards);
  CHECK(t->top.idle, "not idle when drained");
  for (unsigned dst = 0; dst < kNodes; ++dst) t->set_route(dst, kNoEntry);
}

void blocked_output(Test* t) {
  t->block(1);
  for (int i = 0; i < 10; ++i) {
    t->send(0, 0, t->behind(1), 7);  // fills the way to +X on VC 0
    t->send(0, 1, t->behind(1), 7);  // the same way on VC 1
    t->send(0, 2, t->behind(1), 7);  // and VC 2
    t->send(1, 0, t->behind(2), 7);  // another way on VC 0
    if (kPorts > 3) t->send(3, 0, kHere, 7);
  }
  for (int i = 0; i < 1000; ++i) t->step(100);
  CHECK(t->expected[0][1][1].empty() && t->expected[0][2][1].empty(), "another VC waits for VC 0");
  CHECK(t->expected[1][0][2].empty() && (kPorts == 3 || t->expected[3][0][0].empty()), "other outputs wait");
  CHECK(t->expected[0][0][1].size() >= 8, "the blocked output was not blocked");
  CHECK(!t->top.active && !t->top.idle, "a blocked router is neither idle nor active");
  t->open_all();
  t->drain(100);
}

// A packet of which one flit is left behind at a blocked output, and others from the same input and
// VC.
void victims(Test* t) {
  t->block(1);
  t->send(0, 0, t->behind(1), TB_VC_DEPTH - 1);
  for (int i = 0; i < 50; ++i) t->send(0, 0, t->behind(2), 7);
  for (int i = 0; i < 50 * 9 * 8; ++i) t->step(100);
  CHECK(!t->current[1][t->vc_towards(1)].empty(), "the blocked output was not blocked");
  CHECK(t->expected[0][0][2].empty(), "%zu packets wait behind one for another output", t->expected[0][0][2].size());
  t->open_all();
  t->drain(100);
}

// Ports that are not served drain for a while, and work again: whole packets leave, if only by an
// end that was made up, those that are missing are counted, and what is for other ports is not
// held.
void draining(Test* t) {
  for (int round = 0; round < 60; ++round) {
    unsigned victim = 1 + t->random.below(kPorts - 1);
    while (!(t->up >> victim & 1)) victim = 1 + victim % (kPorts - 1);
    t->lossy[victim] = true;
    for (int i = 0; i < 60; ++i) {
      unsigned from = t->random.below(kPorts);
      if (t->up >> from & 1) t->send(from, t->random.below(from == 0 ? kClasses : kVcs), t->random.percent(50) ? t->behind(victim) : t->random.below(kNodes), t->random.below(8));
    }
    for (unsigned& percent : t->out_percent[victim]) percent = t->random.percent(50) ? 0 : t->random.mood();
    for (unsigned i = 0, n = t->random.below(120); i < n; ++i) t->step(100);
    t->top.drain = 1u << victim;
    bool whole = t->random.percent(50);  // until nothing is left, or in the middle of it
    for (unsigned i = 0, n = whole ? 60 * 10 : t->random.below(100); i < n; ++i) t->step(100);
    if (whole) {
      for (auto& port : t->in) {
        for (auto& queue : port) CHECK(queue.empty(), "round %d: %zu flits wait, with port %u drained", round, queue.size(), victim);
      }
    }
    t->top.drain = 0;
    t->open_all();
    for (int i = 0; i < 1500; ++i) t->step(100);
    for (unsigned p = 0; p < kPorts; ++p) {
      for (unsigned v = 0; v < kVcs; ++v) {
        CHECK(t->in[p][v].empty() && t->current[p][v].empty(), "round %d: port %u VC %u: a packet has no end", round, p, v);
        for (unsigned o = 0; o < kPorts; ++o) {
          CHECK(o == victim || t->expected[p][v][o].empty(), "round %d: packets from %u to %u are missing", round, p, o);
          t->gone += t->expected[p][v][o].size();
          t->expected[p][v][o].clear();
        }
      }
    }
    t->lossy[victim] = false;
    CHECK(t->top.idle, "round %d: not idle", round);
    CHECK(t->seen_drained == t->gone && t->seen_ended >= t->ended, "round %d: %llu packets drained and %llu ended, counted %llu and %llu", round,
          (unsigned long long)t->gone, (unsigned long long)t->ended, (unsigned long long)t->seen_drained, (unsigned long long)t->seen_ended);
    CHECK(t->seen_ended == t->ended, "round %d: %llu packets ended, counted %llu", round, (unsigned long long)t->ended, (unsigned long long)t->seen_ended);
  }
  CHECK(t->gone > 200 && t->ended > 20, "%llu packets drained, %llu ended: the scenario lost its point", (unsigned long long)t->gone, (unsigned long long)t->ended);
}

// Exactly VC_DEPTH flits leave on every VC of every port without a credit returned: none was lost
// or invented before.
void credits_home(Test* t) {
  for (unsigned port = 0; port < kPorts; ++port) {
    if (!(t->up >> port & 1)) continue;
    for (unsigned vc = 0; vc < kClasses; ++vc) {
      unsigned out = port == 0 ? vc : fabric::next_vc(kDims, TB_TORUS, kHere, 0, port, vc);
      t->out_percent[port][out] = 0;
      for (unsigned i = 0; i < TB_VC_DEPTH; ++i) t->send(0, vc, port == 0 ? kHere : t->behind(port), 0);
      for (unsigned i = 0; i < 20 + 4 * TB_VC_DEPTH; ++i) t->step(100);
      CHECK(t->owed[port][out] == TB_VC_DEPTH, "port %u VC %u: %u flits left without a credit returned, expected %u", port, out, t->owed[port][out], TB_VC_DEPTH);
      t->open_all();
      t->drain(100);
    }
  }
}

void fairness(Test* t, unsigned rivals) {
  std::vector<unsigned> inputs;
  for (unsigned p = 0; p < kPorts && inputs.size() < rivals; ++p) {
    if (p != 1 && (t->up >> p & 1)) inputs.push_back(p);
  }
  for (unsigned p : inputs) {
    for (int i = 0; i < 40; ++i) t->send(p, 0, t->behind(1), 7);
  }
  std::memset(t->done_by_input, 0, sizeof t->done_by_input);
  for (size_t i = 0; i < 200 * inputs.size(); ++i) t->step(100);
  unsigned least = ~0u, most = 0;
  for (unsigned p : inputs) {
    least = std::min(least, t->done_by_input[p]);
    most = std::max(most, t->done_by_input[p]);
  }
  CHECK(least > 0 && most - least <= 1, "%zu rivals: packets per input between %u and %u", inputs.size(), least, most);
  t->drain(100);
}

void speed(Test* t) {
  t->send(0, 0, t->behind(2), 7);
  uint64_t before = t->out_flits, start = tb::cycle;
  while (t->out_flits == before) t->step(100);
  CHECK(tb::cycle - start == 3, "first flit seen after %llu cycles, expected in the third", (unsigned long long)(tb::cycle - start));
  t->drain(100);
  if (TB_VC_DEPTH < 16) return;
  for (int i = 0; i < 60; ++i) t->send(0, 0, t->behind(2), 7);
  for (int i = 0; i < 20; ++i) t->step(100);
  before = t->out_flits;
  for (int i = 0; i < 400; ++i) t->step(100);
  CHECK(t->out_flits - before == 400, "%llu flits in 400 cycles", (unsigned long long)(t->out_flits - before));
  t->drain(100);
}

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.start();
  random_traffic(&t);
  credits_home(&t);
  blocked_output(&t);
  victims(&t);
  draining(&t);
  for (unsigned rivals = 2; rivals < kPorts; ++rivals) fairness(&t, rivals);
  speed(&t);
  fabric::Fabric<Vrouter, TB_PORTS, kVcs>(kDims, TB_TORUS, TB_VC_DEPTH, &t.random).run();
}
