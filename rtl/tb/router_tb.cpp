// router: one router in a mesh; random packets on all connected ports and both VCs, interleaved flit by
// flit, random credits from the receivers.
// - every packet leaves at the port that a naive route function names, whole, and not mixed with others of
//   its VC; packets of one input, VC and output stay in order; nothing is lost, nothing appears;
// - no such node, unconnected port, or back where it came from: discarded and counted;
// - a blocked output on one VC holds neither other outputs nor the other VC;
// - an output that all inputs want is shared evenly, packet by packet;
// - a free router passes a flit in 2 cycles, and one flit a cycle (VC_DEPTH 16).
#include "Vrouter.h"
#include "tb.h"

namespace {

constexpr unsigned kPorts = TB_PORTS, kNodes = TB_DIM_X * TB_DIM_Y * TB_DIM_Z;
constexpr unsigned kHere = TB_DIM_Z == 1 ? 1 + TB_DIM_X : 1;  // x = 1: both neighbours in X exist
constexpr unsigned kDiscard = 99;

struct Test : tb::Bench<Vrouter> {
  using Bench::Bench;
  using Packet = std::vector<tb::Flit>;
  std::deque<tb::Flit> in[kPorts][2];
  std::deque<Packet> expected[kPorts][2][kPorts];  // input, VC, output
  Packet current[kPorts][2];                       // what is left of the packet on an output
  bool busy[kPorts][2] = {};
  unsigned credits[kPorts][2], owed[kPorts][2] = {};
  unsigned out_percent[kPorts][2];
  uint64_t discards = 0, counted = 0, done_packets = 0, out_flits = 0;
  unsigned done_by_input[kPorts] = {};
  unsigned up = 0;

  void start() {
    unsigned x = kHere % TB_DIM_X, y = kHere / TB_DIM_X % TB_DIM_Y, z = kHere / (TB_DIM_X * TB_DIM_Y);
    bool has[7] = {true, x + 1 < TB_DIM_X, x > 0, y + 1 < TB_DIM_Y, y > 0, z + 1 < TB_DIM_Z, z > 0};
    for (unsigned p = 0; p < kPorts; ++p) {
      up |= unsigned(has[p]) << p;
      for (unsigned v = 0; v < 2; ++v) credits[p][v] = TB_VC_DEPTH, out_percent[p][v] = 100;
    }
    top.here = kHere;
    top.port_up = up;
    reset();
  }

  unsigned route(unsigned from, unsigned dst) {
    if (dst >= kNodes) return kDiscard;
    int here[3] = {kHere % TB_DIM_X, kHere / TB_DIM_X % TB_DIM_Y, kHere / (TB_DIM_X * TB_DIM_Y)};
    int there[3] = {int(dst) % TB_DIM_X, int(dst) / TB_DIM_X % TB_DIM_Y, int(dst) / (TB_DIM_X * TB_DIM_Y)};
    for (unsigned d = 0; d < 3; ++d) {
      if (there[d] == here[d]) continue;
      unsigned port = 1 + 2 * d + (there[d] < here[d]);
      return port == from || !(up >> port & 1) ? kDiscard : port;
    }
    return from == 0 || dst == kHere ? 0 : kDiscard;
  }

  // A node behind a port, so that a test can aim.
  unsigned behind(unsigned port) {
    for (unsigned dst = 0; dst < kNodes; ++dst) {
      if (route(port == 0 ? 1 : 0, dst) == port) return dst;
    }
    tb::fail("no node behind port %u", port);
  }

  void send(unsigned from, unsigned vc, unsigned dst, unsigned quads) {
    uint64_t header = PLACE(HEADER_VC, vc) | PLACE(HEADER_SRC_NODE, from) | PLACE(HEADER_DST_NODE, dst) | PLACE(HEADER_OP, random.below(64));
    std::vector<uint64_t> payload(quads);
    for (uint64_t& q : payload) q = random.next();
    Packet p = tb::packet(header, payload);
    for (const tb::Flit& f : p) in[from][vc].push_back(f);
    unsigned to = route(from, dst);
    if (to == kDiscard) ++discards;
    else expected[from][vc][to].push_back(p);
  }

  void drive(unsigned percent) {
    uint32_t valid = 0, vcs = 0, heads = 0, tails = 0;
    for (unsigned p = 0; p < kPorts; ++p) {
      unsigned v = random.below(2);
      if (in[p][v].empty() || credits[p][v] == 0) v ^= 1;
      if (!random.percent(percent) || in[p][v].empty() || credits[p][v] == 0) continue;
      const tb::Flit& f = in[p][v].front();
      valid |= 1u << p, vcs |= v << p, heads |= unsigned(f.head) << p, tails |= unsigned(f.tail) << p;
      top.rx_data[2 * p] = uint32_t(f.data), top.rx_data[2 * p + 1] = uint32_t(f.data >> 32);
      in[p][v].pop_front();
      --credits[p][v];
    }
    top.rx_valid = valid, top.rx_vc = vcs, top.rx_head = heads, top.rx_tail = tails;
    uint32_t give = 0;
    for (unsigned p = 0; p < kPorts; ++p) {
      for (unsigned v = 0; v < 2; ++v) {
        if (owed[p][v] == 0 || !random.percent(out_percent[p][v])) continue;
        give |= 1u << (2 * p + v);
        --owed[p][v];
      }
    }
    top.tx_credit = give;
  }

  void receive(unsigned p) {
    unsigned v = top.tx_vc >> p & 1;
    tb::Flit f{v, bool(top.tx_head >> p & 1), bool(top.tx_tail >> p & 1), top.tx_data[2 * p] | uint64_t(top.tx_data[2 * p + 1]) << 32};
    ++out_flits;
    CHECK(++owed[p][v] <= TB_VC_DEPTH, "port %u VC %u: sent without credit", p, v);
    Packet& c = current[p][v];
    if (f.head) {
      CHECK(c.empty(), "port %u VC %u: a head inside a packet", p, v);
      unsigned from = unsigned(FIELD(f.data, HEADER_SRC_NODE));
      CHECK(from < kPorts && !expected[from][v][p].empty(), "port %u VC %u: unexpected packet %016llx", p, v, (unsigned long long)f.data);
      c = expected[from][v][p].front();
      expected[from][v][p].pop_front();
      ++done_by_input[from];
      ++done_packets;
    }
    CHECK(!c.empty(), "port %u VC %u: flit %016llx outside a packet", p, v, (unsigned long long)f.data);
    CHECK(f == c.front(), "port %u VC %u: flit %016llx, expected %016llx", p, v, (unsigned long long)f.data, (unsigned long long)c.front().data);
    c.erase(c.begin());
  }

  void step(unsigned percent) {
    drive(percent);
    settle();
    for (unsigned p = 0; p < kPorts; ++p) {
      if (top.tx_valid >> p & 1) receive(p);
      for (unsigned v = 0; v < 2; ++v) {
        credits[p][v] += top.rx_credit >> (2 * p + v) & 1;
        CHECK(credits[p][v] <= TB_VC_DEPTH, "port %u VC %u: too many credits", p, v);
      }
    }
    counted += top.route_errors;
    edge();
  }

  bool drained() {
    for (unsigned p = 0; p < kPorts; ++p) {
      for (unsigned v = 0; v < 2; ++v) {
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

  void open_all() {
    for (auto& port : out_percent) port[0] = port[1] = 100;
  }
};

void random_traffic(Test* t) {
  for (int phase = 0; phase < 40; ++phase) {
    for (auto& port : t->out_percent) port[0] = t->random.mood(), port[1] = t->random.mood();
    for (int i = 0; i < 150; ++i) {
      unsigned from = t->random.below(kPorts);
      if (!(t->up >> from & 1)) continue;
      t->send(from, t->random.below(2), t->random.below(kNodes + 2), t->random.below(8));
    }
    t->drain(t->random.mood());
  }
  t->open_all();
  t->drain(100);
  CHECK(t->counted == t->discards, "%llu packets discarded, expected %llu", (unsigned long long)t->counted, (unsigned long long)t->discards);
  CHECK(t->discards > 100 && t->done_packets > 1000, "%llu discards: the scenario lost its point", (unsigned long long)t->discards);
  CHECK(t->top.idle, "not idle when drained");
}

void blocked_output(Test* t) {
  t->out_percent[1][0] = 0;
  for (int i = 0; i < 10; ++i) {
    t->send(0, 0, t->behind(1), 7);  // fills the way to +X on VC 0
    t->send(0, 1, t->behind(1), 7);  // the same way on VC 1
    t->send(1, 0, t->behind(2), 7);  // another way on VC 0
    t->send(3, 0, kHere, 7);
  }
  for (int i = 0; i < 1000; ++i) t->step(100);
  CHECK(t->expected[0][1][1].empty(), "VC 1 waits for VC 0");
  CHECK(t->expected[1][0][2].empty() && t->expected[3][0][0].empty(), "other outputs wait");
  CHECK(t->expected[0][0][1].size() >= 8, "the blocked output was not blocked");
  CHECK(!t->top.active && !t->top.idle, "a blocked router is neither idle nor active");
  t->open_all();
  t->drain(100);
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
  blocked_output(&t);
  for (unsigned rivals = 2; rivals < kPorts; ++rivals) fairness(&t, rivals);
  speed(&t);
}
