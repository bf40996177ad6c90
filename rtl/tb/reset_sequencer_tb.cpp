// reset_sequencer (with reset_sync): random arst, hold and together, against a model; arst also
// between two edges of the clock, and with the clock stopped.
// - rst and link_rst rise with arst without an edge, and a cycle behind hold;
// - they stay for LEAST cycles, and until hold is over; then they fall together, or link_rst LEAD
//   cycles before rst;
// - hold in between starts anew; down is high once both have been high for LEAST cycles.
#include "Vreset_sequencer.h"
#include "tb.h"

namespace {

constexpr unsigned kLeast = TB_LEAST, kLead = TB_LEAD, kStages = 3;  // of reset_sync

struct Test : tb::Bench<Vreset_sequencer> {
  unsigned arst_edges = 0;  // edges of the clock since arst fell
  bool rst = true, link_rst = true;
  unsigned up_for = 0, lead = 0;  // cycles since both rose; since link_rst fell
  unsigned led = 0, together_falls = 0, again = 0, asynchronous = 0;

  using Bench::Bench;

  bool here() const { return top.arst || arst_edges < kStages; }
  void clear() { rst = link_rst = true, up_for = lead = 0; }

  void check(const char* when) {
    CHECK(top.rst == rst && top.link_rst == link_rst, "%s: rst %u, link_rst %u, expected %u, %u", when, top.rst, top.link_rst, rst, link_rst);
    bool down = link_rst && up_for == kLeast;
    CHECK(top.down == down, "%s: down %u, expected %u", when, top.down, down);
  }

  void clock_edge() {
    bool held_here = here();
    top.clk = 0, top.eval();
    check("in front of an edge");
    top.clk = 1, top.eval();
    if (!top.arst && arst_edges < kStages) ++arst_edges;
    if (held_here) {
      clear();
    } else if (!rst) {
      if (top.hold) clear();
    } else {
      bool ready = up_for == kLeast;
      if (top.hold && !link_rst) ++again, up_for = 0;
      else if (up_for < kLeast) ++up_for;
      if (top.hold) {
        link_rst = true, lead = 0;
      } else if (ready) {
        bool falls = lead == kLead || !top.together;
        if (falls) ++(lead == kLead ? led : together_falls);
        if (falls) rst = link_rst = false;
        else link_rst = false, ++lead;
      }
    }
    check("behind an edge");
    if (tb::cycle++ == tb::cut) throw tb::Cut{};
  }

  // With the clock standing.
  void set_arst(bool high) {
    top.arst = high;
    top.eval();
    if (!high) return;
    arst_edges = 0, clear(), ++asynchronous;
    check("behind arst");
  }
};

void scenario(Test& t) {
  Verilated::assertOn(false);  // as in nic_axi_tb: a simulator sees the edge of arst, not its level
  t.set_arst(false), t.set_arst(true);
  for (int i = 0; i < 4; ++i) t.clock_edge();
  Verilated::assertOn(true);
  for (int phase = 0; phase < 600; ++phase) {
    unsigned hold = unsigned(t.random.below(4)) * 10, changes = t.random.mood();
    t.top.together = t.random.percent(60);
    for (unsigned i = 0; i < 3 * (kLeast + kLead); ++i) {
      if (t.random.percent(hold)) t.top.hold = t.random.percent(50);
      else if (t.random.percent(40)) t.top.hold = 0;
      if (t.random.percent(changes / 30)) t.top.together = t.random.percent(60);
      if (t.random.percent(2)) t.set_arst(true);
      if (t.top.arst && t.random.percent(40)) t.set_arst(false);
      t.clock_edge();
    }
  }
  CHECK(t.led > 50 && t.together_falls > 50 && t.again > 20 && t.asynchronous > 50, "%u led, %u fell together, %u started anew, %u by arst: the scenario lost its point", t.led,
        t.together_falls, t.again, t.asynchronous);
}

}  // namespace

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
