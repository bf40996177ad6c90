// mesh: whole nodes under random all-to-all traffic, joined and driven as the simulator does it
// (cosim/dpi/src/mesh.h).
// - every line that was taken reaches its mailbox once, whole, in order per source and destination,
//   with consecutive slot numbers; nothing is dropped; counters of all nodes agree with what was
//   sent;
// - receivers are slow at random, so mailboxes fill and stall the network; it always recovers;
// - a stalled node's registers answer; all stalled: not active, not idle; after draining: idle;
// - the trace shows each flit once per point and each packet once per event;
// - refused sends answer SLVERR and count; a failing DMA write drops the packet and the next takes
//   its slot.
#include "Vsim_node__Dpi.h"
#include "mesh.h"
#include "node.h"
#include "tb.h"

namespace {

constexpr unsigned kNodes = TB_DIM_X * TB_DIM_Y * TB_DIM_Z, kVpids = 16;

struct Slot {
  uint64_t quad[8];
};

struct RegCommand {
  bool write;
  uint32_t addr;
  uint64_t data;
};

struct PioCommand {
  uint32_t addr, beats;
  uint64_t quad[8];
};

struct Node {
  std::deque<RegCommand> regs;
  std::deque<PioCommand> lines;
  std::deque<unsigned> answers;                    // expected responses of lines that were fetched
  std::deque<Slot> arrived[kVpids];                // slots written and not consumed
  std::deque<Slot> flow[kVpids][kNodes][kVpids];   // expected slots: destination VPID, source node, source VPID
  uint32_t written[kVpids] = {}, consumed[kVpids] = {}, slots[kVpids] = {};
  unsigned inside[kVpids] = {};                    // lines that use an entry in their process's window
  unsigned reg_answers = 0, pio_answers = 0, resp = 0;
  // The first line waits until its process has an entry.
  bool may_send() const { return !lines.empty() && inside[FIELD(lines.front().addr, PIO_SRC_VPID)] < NICLOOP_VELO_LINES; }
  uint64_t value = 0, sent = 0;
};

struct Test {
  tb::Random random;
  VerilatedContext context;
  nicloop::Mesh<nicloop::VerilatedNode> mesh;
  nicloop::Pending pending;
  Node node[kNodes];
  uint64_t trace[24] = {};
  bool dma_fails = false;
  uint64_t flits_sent = 0;

  // The context reads plusargs such as +verilator+rand+reset before the first node is made.
  Test(int argc, char** argv, const nicloop::Shape& shape)
      : mesh(shape, TB_THREADS, [context = with_arguments(&context, argc, argv)](uint32_t n) {
          return std::make_unique<nicloop::VerilatedNode>(context, n);
        }) {
    random.state = tb::seed;
  }

  static VerilatedContext* with_arguments(VerilatedContext* context, int argc, char** argv) {
    context->commandArgs(argc, argv);
    return context;
  }

  void step() {
    pending = {};
    for (unsigned n = 0; n < kNodes; ++n) {
      pending.reg |= uint64_t(!node[n].regs.empty()) << n;
      pending.pio |= uint64_t(node[n].may_send()) << n;
    }
    mesh.tick(pending);
    ++tb::cycle;
  }

  uint64_t read(unsigned n, uint32_t addr) {
    node[n].regs.push_back({false, addr, 0});
    for (unsigned want = node[n].reg_answers + unsigned(node[n].regs.size()), i = 0; node[n].reg_answers != want; ++i) {
      CHECK(i < 1000, "node %u: no answer to a read of %05x", n, addr);
      step();
    }
    CHECK(node[n].resp == 0, "node %u: read of %05x answered %u", n, addr, node[n].resp);
    return node[n].value;
  }

  uint64_t total(uint32_t addr) {
    uint64_t sum = 0;
    for (unsigned n = 0; n < kNodes; ++n) sum += read(n, addr);
    return sum;
  }

  void configure() {
    for (unsigned n = 0; n < kNodes; ++n) {
      for (unsigned v = 0; v < kVpids; ++v) {
        node[n].slots[v] = uint32_t(1 + random.below(9));
        node[n].regs.push_back({true, uint32_t(NICLOOP_REG_PDID(v)), 1});
        node[n].regs.push_back({true, uint32_t(NICLOOP_REG_MBOX_BASE(v)), v * 0x1000});
        node[n].regs.push_back({true, uint32_t(NICLOOP_REG_MBOX_SLOTS(v)), node[n].slots[v]});
        node[n].regs.push_back({true, uint32_t(NICLOOP_REG_MBOX_CTRL(v)), 3});
      }
    }
    settle_down();
    for (unsigned n = 0; n < kNodes; ++n) CHECK(read(n, NICLOOP_REG_NODE_ID) == n, "node %u has another number", n);
  }

  void send(unsigned from, unsigned src, unsigned to, unsigned dst) {
    unsigned piggyback = random.below(2), length = random.below(piggyback ? 55 : 57), bytes = length + 2 * piggyback;
    unsigned kind = random.below(4);
    PioCommand line{};
    line.beats = bytes == 0 ? 1 : (bytes + 7) / 8;
    for (uint64_t& q : line.quad) q = random.next();
    line.addr = uint32_t(PACK(PIO_PIGGYBACK, piggyback) | PACK(PIO_LENGTH, length) | PACK(PIO_KIND, kind) | PACK(PIO_DST_VPID, dst) |
                         PACK(PIO_DST_NODE, to) | PACK(PIO_SRC_VPID, src));
    node[from].lines.push_back(line);
    node[from].answers.push_back(0);
    ++node[from].sent;
    flits_sent += 2 + (bytes + 7) / 8;
    Slot s{};
    for (unsigned i = 0; i < bytes; ++i) s.quad[i / 8] |= (line.quad[i / 8] >> i % 8 * 8 & 0xff) << i % 8 * 8;
    s.quad[7] = PACK(SLOT_SRC_VPID, src) | PACK(SLOT_SRC_NODE, from) | PACK(SLOT_LENGTH, length) | PACK(SLOT_KIND, kind) |
                PACK(SLOT_PIGGYBACK, piggyback);
    node[to].flow[dst][from][src].push_back(s);
  }

  // The receiver's software: looks at memory alone, then tells the NIC.
  void consume(unsigned n, unsigned v) {
    Node& at = node[n];
    if (at.arrived[v].empty()) return;
    Slot got = at.arrived[v].front();
    at.arrived[v].pop_front();
    CHECK(FIELD(got.quad[7], SLOT_SEQ) == at.consumed[v] + 1, "node %u mailbox %u: slot number %llu, expected %u", n, v,
          (unsigned long long)FIELD(got.quad[7], SLOT_SEQ), at.consumed[v] + 1);
    auto& flow = at.flow[v][FIELD(got.quad[7], SLOT_SRC_NODE)][FIELD(got.quad[7], SLOT_SRC_VPID)];
    CHECK(!flow.empty(), "node %u mailbox %u: nothing was sent from there", n, v);
    got.quad[7] &= ~NICLOOP_SLOT_SEQ_MASK;
    for (int i = 0; i < 8; ++i) {
      CHECK(got.quad[i] == flow.front().quad[i], "node %u mailbox %u quadword %d: %016llx, expected %016llx", n, v, i,
            (unsigned long long)got.quad[i], (unsigned long long)flow.front().quad[i]);
    }
    flow.pop_front();
    at.regs.push_back({true, uint32_t(NICLOOP_REG_MBOX_RP(v)), ++at.consumed[v]});
  }

  bool delivered() {
    for (Node& n : node) {
      for (auto& mailbox : n.flow) {
        for (auto& source : mailbox) {
          for (auto& f : source) {
            if (!f.empty()) return false;
          }
        }
      }
    }
    return true;
  }

  // Runs until nothing moves by itself.
  void settle_down() {
    for (int quiet = 0, i = 0; quiet < 8; ++i) {
      CHECK(i < 100000, "never quiet");
      step();
      bool moves = mesh.active();
      for (Node& n : node) moves |= !n.regs.empty();
      quiet = moves ? 0 : quiet + 1;
    }
  }
};

Test* test;

void traffic(Test* t) {
  uint64_t sent = 0;
  for (int phase = 0; phase < 12; ++phase) {
    unsigned slow = phase % 4 == 3 ? 1 : t->random.mood();
    for (int i = 0; i < 40 * int(kNodes); ++i, ++sent) {
      t->send(t->random.below(kNodes), t->random.below(kVpids), t->random.below(kNodes), t->random.below(phase % 2 ? 2 : kVpids));
    }
    for (int i = 0; !t->delivered(); ++i) {
      CHECK(i < 400000, "stuck in phase %d", phase);
      for (unsigned n = 0; n < kNodes; ++n) {
        if (t->random.percent(slow)) t->consume(n, t->random.below(kVpids));
      }
      t->step();
    }
  }
  t->settle_down();
  CHECK(t->mesh.idle(), "not idle after all arrived");
  CHECK(t->total(NICLOOP_REG_TX_PACKETS) == sent && t->total(NICLOOP_REG_RX_PACKETS) == sent, "%llu packets sent, counters differ", (unsigned long long)sent);
  for (uint32_t zero : {NICLOOP_REG_TX_DROPPED, NICLOOP_REG_RX_DROPPED, NICLOOP_REG_RX_CRC_ERRORS, NICLOOP_REG_ROUTE_ERRORS, NICLOOP_REG_BAD_ACCESS}) {
    CHECK(t->total(zero) == 0, "counter %03x is not 0", zero);
  }
  CHECK(t->total(NICLOOP_REG_RX_STALL) > 1000, "no stalls: the scenario lost its point");
  if (TB_THREADS > 1) return;
  CHECK(t->trace[0] == t->flits_sent && t->trace[7] == t->flits_sent, "%llu flits injected, %llu ejected, expected %llu",
        (unsigned long long)t->trace[0], (unsigned long long)t->trace[7], (unsigned long long)t->flits_sent);
  CHECK(t->trace[8] == sent && t->trace[9] == sent && t->trace[10] == 0, "packet events differ from the packets");
}

void stalled(Test* t) {
  const unsigned to = kNodes - 1;
  for (unsigned i = 0; i < t->node[to].slots[0] + 100; ++i) t->send(0, 0, to, 0);
  for (int i = 0; i < 3000; ++i) t->step();
  CHECK(!t->mesh.active() && !t->mesh.idle(), "all stalled: active %u, idle %u", t->mesh.active(), t->mesh.idle());
  CHECK(t->node[0].lines.size() > 10, "a blocked network did not fill the window");
  CHECK(t->read(to, NICLOOP_REG_RX_STALL_VPID) == NICLOOP_RX_STALL_VPID_STALLED_MASK, "mailbox 0 does not show as stalled");
  CHECK(t->read(to, NICLOOP_REG_IRQ_STATUS) & NICLOOP_IRQ_STATUS_STALL_MASK, "no stall interrupt");
  CHECK(t->read(0, NICLOOP_REG_TX_LEVEL) % 65536 == NICLOOP_VELO_LINES, "the sender shows no full window");
  CHECK(t->read(to, NICLOOP_REG_MBOX_STALL(0)) > 1000, "no stall cycles of mailbox 0");
  for (int i = 0; !t->delivered(); ++i) {
    CHECK(i < 100000, "does not recover");
    t->consume(to, 0);
    t->step();
  }
  t->settle_down();
}

void refused(Test* t) {
  t->send(0, 0, 0, 0);
  t->node[0].flow[0][0][0].pop_back();
  t->node[0].lines.back().addr |= uint32_t(NICLOOP_PIO_DST_NODE_MASK);
  t->node[0].answers.back() = 2;
  t->settle_down();
  CHECK(t->read(0, NICLOOP_REG_TX_DROPPED) == 1 && t->trace[10] == (TB_THREADS == 1), "the refused send does not count");
  uint64_t error = t->read(0, NICLOOP_REG_ERROR_INFO);
  CHECK((error & 1) && FIELD(error, ERROR_INFO_REASON) == NICLOOP_DROP_REASON_NO_SUCH_NODE, "error info %llx", (unsigned long long)error);
}

void dma_error(Test* t) {
  t->dma_fails = true;
  t->send(0, 0, 1, 5);
  t->node[1].flow[5][0][0].pop_back();
  t->settle_down();
  t->dma_fails = false;
  CHECK(t->read(1, NICLOOP_REG_RX_DROPPED) == 1, "the failed write does not count");
  CHECK(!(t->read(1, NICLOOP_REG_MBOX_CTRL(5)) & NICLOOP_MBOX_CTRL_ENABLE_MASK), "the mailbox of the failed write is still on");
  Node& at = t->node[1];
  at.regs.push_back({true, uint32_t(NICLOOP_REG_MBOX_CTRL(5)), 3});  // it begins anew
  at.written[5] = at.consumed[5] = 0;
  t->settle_down();
  t->send(0, 0, 1, 5);
  t->settle_down();
  t->consume(1, 5);
  CHECK(t->delivered(), "the packet after the failed one did not arrive");
}

}  // namespace

extern "C" {

void nl_reg_next(int n, svBit* write, unsigned* addr, unsigned long long* data) {
  RegCommand c = test->node[n].regs.front();
  test->node[n].regs.pop_front();
  *write = c.write, *addr = c.addr, *data = c.data;
}

void nl_reg_done(int n, int resp, unsigned long long data) {
  Node& at = test->node[n];
  ++at.reg_answers;
  at.resp = unsigned(resp);
  at.value = data;
}

void nl_pio_next(int n, unsigned* addr, unsigned* beats, svBitVecVal* data) {
  PioCommand c = test->node[n].lines.front();
  test->node[n].lines.pop_front();
  ++test->node[n].inside[FIELD(c.addr, PIO_SRC_VPID)];
  *addr = c.addr, *beats = c.beats;
  for (int i = 0; i < 8; ++i) data[2 * i] = uint32_t(c.quad[i]), data[2 * i + 1] = uint32_t(c.quad[i] >> 32);
}

void nl_pio_done(int n, int resp) {
  Node& at = test->node[n];
  unsigned want = at.answers.front();
  at.answers.pop_front();
  CHECK(unsigned(resp) == want, "node %d: line answered %d, expected %u", n, resp, want);
}

void nl_pio_line(int) {}

void nl_pio_left(int n, int vpid) {
  CHECK(test->node[n].inside[vpid]-- > 0, "node %d: a line of VPID %d leaves that never came", n, vpid);
}

int nl_dma_write(int n, unsigned long long addr, unsigned beats, const svBitVecVal* data, const svBitVecVal* strobes) {
  CHECK(strobes[0] == ~0u && strobes[1] == ~0u, "node %d: write with holes at %llx", n, addr);
  if (test->dma_fails) return 2;
  Node& at = test->node[n];
  unsigned v = unsigned(addr / 0x1000);
  CHECK(beats == 8 && v < kVpids && addr % 0x1000 / 64 == at.written[v] % at.slots[v], "node %d: write of %u beats at %llx", n, beats, addr);
  ++at.written[v];
  CHECK(at.written[v] - at.consumed[v] <= at.slots[v], "node %d mailbox %u: overwritten", n, v);
  Slot s;
  for (int i = 0; i < 8; ++i) s.quad[i] = data[2 * i] | uint64_t(data[2 * i + 1]) << 32;
  at.arrived[v].push_back(s);
  return 0;
}

int nl_dma_read(int n, unsigned long long addr, unsigned, svBitVecVal*) { tb::fail("node %d: read at %llx, there is only VELO", n, addr); }

void nl_trace(int, int point, int, int, unsigned long long) { ++test->trace[point]; }

}  // extern "C"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "+seed=", 6) == 0) tb::seed = std::strtoull(argv[i] + 6, nullptr, 0);
  }
  nicloop::Shape shape;
  shape.dims[0] = TB_DIM_X, shape.dims[1] = TB_DIM_Y, shape.dims[2] = TB_DIM_Z;
  shape.torus = NL_TORUS != 0;
  Test t(argc, argv, shape);
  test = &t;
  t.mesh.reset(8);
  t.mesh.set_trace(TB_THREADS == 1);  // a trace has one order, so it has one thread
  t.configure();
  traffic(&t);
  stalled(&t);
  refused(&t);
  dma_error(&t);
}
