// node.h: one instance of the verilated sim_node, with the ports that Mesh asks for.
#pragma once

#include <verilated.h>
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "Vsim_node.h"
#include "Vsim_node___024root.h"
#include "nl_model.h"  // written by cosim/build: NL_PORTS, NL_TORUS, NL_VC_DEPTH, NL_PERIOD_PS
#include "clocks.h"
#include "wiring.h"

namespace nicloop {

// What has a gated clock of its own (nic_core.sv), a bit each: the local side, RMA's units, then
// each link with its port of the router.
#if NL_PORTS == 3
#define NL_GATED(DO) DO(0, local) DO(1, rma) DO(2, link0) DO(3, link1)
#elif NL_PORTS == 5
#define NL_GATED(DO) DO(0, local) DO(1, rma) DO(2, link0) DO(3, link1) DO(4, link2) DO(5, link3)
#else
#define NL_GATED(DO) DO(0, local) DO(1, rma) DO(2, link0) DO(3, link1) DO(4, link2) DO(5, link3) DO(6, link4) DO(7, link5)
#endif

// Verilator 5.006 keeps the clocks of the last evaluation under these names. Setting them saves the
// evaluation at the low clock, in which nothing of this design happens: clocks rise together, and
// there is no latch. Where a name is unknown both halves are evaluated.
#define NL_FORGET(bit, name) , root->__Vtrigrprev__TOP__clk_##name = 0
template <typename Root>
auto forget_high(Root* root, int) -> decltype(root->__Vtrigrprev__TOP__clk = 0 NL_GATED(NL_FORGET), true) {
  root->__Vtrigrprev__TOP__clk = 0 NL_GATED(NL_FORGET);
  return true;
}
template <typename Root>
bool forget_high(Root*, long) { return false; }
#undef NL_FORGET
#ifdef NL_AXI
template <typename Root>
auto forget_host(Root* root, int) -> decltype(root->__Vtrigrprev__TOP__aclk = 0, true) {
  root->__Vtrigrprev__TOP__aclk = 0;
  return true;
}
template <typename Root>
bool forget_host(Root*, long) { return false; }
#endif

// cosim/build has the evaluation leave out what follows from the inputs alone when this says that
// none has changed, if it knows the code that Verilator wrote.
template <typename Root>
auto set_unchanged(Root* root, bool on) -> decltype(root->nl_unchanged = on, void()) {
  root->nl_unchanged = on;
}
inline void set_unchanged(void*, bool) {}

// The period of clk in picoseconds. cosim/build defines it for designs other than this project's
// NIC.
#ifndef NL_PERIOD_PS
#define NL_PERIOD_PS 6400
#endif
constexpr uint64_t kPeriodPs = NL_PERIOD_PS;
constexpr uint64_t kLowPs = kPeriodPs / 2, kHighPs = kPeriodPs - kLowPs;  // the period may be odd

class VerilatedNode {
 public:
  static constexpr uint32_t kLinks = NL_PORTS - 1, kVcDepth = NL_VC_DEPTH;
  static constexpr uint32_t kWordBytes = sizeof(Vsim_node::tx_word) / kLinks;

  VerilatedNode(VerilatedContext* context, uint32_t n) : top_(context, ("node" + std::to_string(n)).c_str()) {}
  ~VerilatedNode() {
    try {
      top_.final();
    } catch (...) {
      // A $fatal in a final block: nobody is left to hear of it.
    }
  }

  void start(uint32_t n, const Shape& shape, uint32_t link_up) {
    top_.node_id = SData(n);
    top_.shape = shape.packed(n);
    top_.link_up = CData(link_up);
    top_.expect_credits = false;  // before the first evaluation: with random_init inputs begin with anything
    latencies(4, 8);
  }
  // Cycles from a burst to its acknowledgement, and from a read to its first beat.
  void latencies(uint16_t write, uint16_t read) {
    set(top_.host_wr_latency, write);
    set(top_.host_rd_latency, read);
  }
  void reset(bool on) {
    set(top_.rst, on);
    set(top_.link_rst, on);
    awake_ = kAll;
  }
  void start_links() {
    set(top_.link_rst, false);
    awake_ = kAll;
  }
  void trace(bool on) { set(top_.trace_on, on); }
  void commands(bool reg, bool pio) {
    set(top_.reg_pending, reg);
    set(top_.pio_pending, pio);
  }
  void carrier(uint32_t mask) {
    set(top_.carrier, CData(mask));
    awake_ = kAll;
  }
  void slept(uint64_t cycles) {
    set(top_.slept, cycles);
    slept_ = cycles;
  }
  void rx(uint32_t valid, const void* words) {
    set(top_.rx_valid, CData(valid));
    awake_ |= valid << kFirstLink;
    if (valid == 0) return;
    std::memcpy(&top_.rx_word, words, sizeof top_.rx_word);
    unchanged_ = false;
  }

#ifdef NL_AXI
  static constexpr uint32_t kBoots = 1 << 15;  // what firmware does to it takes that many cycles at most
  void ratio(uint32_t host, uint32_t core) { clocks_ = Clocks(host, core); }
  // All clocks run, so that waves are those of the circuit: as many moments of a cycle as in which
  // one of them changes.
  uint32_t moments() const { return clocks_.moments(cycle()); }
  uint32_t lasts(uint32_t i) const { return clocks_.moment(cycle(), i).ps; }
  void moment(uint32_t i) {
    const Clocks::Moment& m = clocks_.moment(cycle(), i);
    if (m.clk == Clocks::kRises) running();
    if (m.clk != Clocks::kStays) clk_ = m.clk == Clocks::kRises;
    if (m.aclk == Clocks::kRises && top_.aclk) aclk_low(forget_host(top_.rootp, 0));  // waves begin
    if (m.aclk != Clocks::kStays) top_.aclk = m.aclk == Clocks::kRises;
    eval(clk_, clk_ ? kAll : 0);
    if (m.aclk == Clocks::kRises) taken();
    if (i + 1 == moments()) ++edges_;
  }
  void edge() {
    Clocks::Rises rises = clocks_.rises(cycle());
    for (uint32_t i = 0; i < rises.before; ++i) host_edge();
    bool forgot = forget_high(top_.rootp, 0);
    if (!forgot) eval(0, 0);
    if (rises.together) {
      aclk_low(forgot);
      top_.aclk = 1;
    }
    eval(1, running());
    if (rises.together) taken();
    for (uint32_t i = 0; i < rises.after; ++i) host_edge();
    clk_ = true;
    ++edges_;
  }
#else
  static constexpr uint32_t kBoots = 0;
  void ratio(uint32_t, uint32_t) {}
  // All clocks run, so that waves are those of the circuit: moments in which one changes, and how
  // long each lasts.
  uint32_t moments() const { return 2; }
  uint32_t lasts(uint32_t i) const { return i == 1 ? kHighPs : kLowPs; }
  void moment(uint32_t i) {
    if (i == 1) running();
    eval(i == 1, i == 1 ? kAll : 0);
  }
  void edge() {
    if (!forget_high(top_.rootp, 0)) eval(0, 0);
    eval(1, running());
  }
#endif
  void settle() {
    set_unchanged(top_.rootp, false);
    top_.eval();
  }

  // Asserts that no credit was lost or invented. Only while the whole mesh is empty and nothing
  // moves.
  void check_credits() {
    top_.expect_credits = true;
    settle();
    top_.expect_credits = false;
    unchanged_ = false;
  }

  uint32_t tx_valid() const { return top_.tx_valid; }
  uint32_t wire_down() const { return top_.wire_down; }
  const void* tx_word(uint32_t link) const { return reinterpret_cast<const char*>(&top_.tx_word) + link * kWordBytes; }
  bool irq() const { return top_.irq; }
  bool idle() const { return top_.idle; }
  bool active() const { return top_.active; }

#if VM_TRACE_FST
  void show(VerilatedFstC* waves) { top_.trace(waves, 99); }
#endif

 private:
  template <typename Port, typename Value>
  void set(Port& port, Value value) {
    unchanged_ = unchanged_ && port == value;
    port = value;
  }
  // The gated clocks that rise at the coming edge: of what does not rest or is woken, and for a
  // while after, for what it told the rest of the node before it came to rest, and the other way
  // round.
  uint32_t running() {
    awake_ |= ~(top_.local_rests | uint32_t(top_.rma_rests) << 1 | uint32_t(top_.link_rests) << kFirstLink);
    uint32_t mask = awake_;
    for (uint32_t& was : were_awake_) {
      mask |= was;
      std::swap(awake_, was);
    }
    awake_ = 0;
    return mask;
  }
  void eval(bool clock, uint32_t gates) {
    top_.clk = clock;
#define NL_CLOCK(bit, name) top_.clk_##name = gates >> bit & 1;
    NL_GATED(NL_CLOCK)
#undef NL_CLOCK
    set_unchanged(top_.rootp, unchanged_);
    top_.eval();
    unchanged_ = true;
  }

#ifdef NL_AXI
  // A rise of the host's clock while the core's stands.
  void host_edge() {
    aclk_low(forget_host(top_.rootp, 0));
    top_.aclk = 1;
    set_unchanged(top_.rootp, unchanged_);
    top_.eval();
    unchanged_ = true;
    taken();
  }
  void aclk_low(bool forgot) {
    if (forgot && forget_host(top_.rootp, 0)) return;
    top_.aclk = 0;
    set_unchanged(top_.rootp, unchanged_);
    top_.eval();
  }
  // What was due in this cycle has been taken, or may not be: there may be no second command.
  void taken() { commands(false, false); }
  uint64_t cycle() const { return edges_ + slept_; }

  Clocks clocks_{8, 5};
  uint64_t edges_ = 0;
  bool clk_ = false;
#endif
  uint64_t slept_ = 0;

  static constexpr uint32_t kFirstLink = 2;  // of the bits
  static constexpr uint32_t kAll = (1u << (kFirstLink + kLinks)) - 1;
  static constexpr uint32_t kLinger = 4;

  Vsim_node top_;
  uint32_t awake_ = kAll;             // gated clocks with a reason to rise at the coming edge
  uint32_t were_awake_[kLinger] = {};  // and at those before, the last one first
  bool unchanged_ = false;
};

}  // namespace nicloop
