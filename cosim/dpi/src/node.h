// node.h: one instance of the verilated sim_node, with the ports that Mesh asks for.
#pragma once

#include <verilated.h>
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

#include <cstring>
#include <string>
#include <type_traits>

#include "Vsim_node.h"
#include "Vsim_node___024root.h"
#include "nl_model.h"  // written by cosim/build: NL_PORTS, NL_TORUS, NL_VC_DEPTH
#include "wiring.h"

namespace nicloop {

// Verilator 5.006 keeps the clock of the last evaluation under this name. Setting it saves the evaluation at the
// low clock, in which nothing of this design happens: there is one clock edge, and no latch. Where the name is
// unknown both halves are evaluated.
template <typename Root>
auto forget_high(Root* root, int) -> decltype(root->__Vtrigrprev__TOP__clk = 0, true) {
  root->__Vtrigrprev__TOP__clk = 0;
  return true;
}
template <typename Root>
bool forget_high(Root*, long) { return false; }

// cosim/build has the evaluation leave out what follows from the inputs alone when this says that none has changed, if it knows
// the code that Verilator wrote.
template <typename Root>
auto set_unchanged(Root* root, bool on) -> decltype(root->nl_unchanged = on, void()) {
  root->nl_unchanged = on;
}
inline void set_unchanged(void*, bool) {}

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
  }
  void start_links() { set(top_.link_rst, false); }
  void trace(bool on) { set(top_.trace_on, on); }
  void commands(bool reg, bool pio) {
    set(top_.reg_pending, reg);
    set(top_.pio_pending, pio);
  }
  void carrier(uint32_t mask) { set(top_.carrier, CData(mask)); }
  void slept(uint64_t cycles) { set(top_.slept, cycles); }
  void rx(uint32_t valid, const void* words) {
    set(top_.rx_valid, CData(valid));
    if (valid == 0) return;
    std::memcpy(&top_.rx_word, words, sizeof top_.rx_word);
    unchanged_ = false;
  }

  void low() { eval(0); }
  void high() { eval(1); }
  void edge() {
    if (!forget_high(top_.rootp, 0)) low();
    high();
  }
  void settle() { eval(top_.clk); }

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
  void eval(bool clock) {
    top_.clk = clock;
    set_unchanged(top_.rootp, unchanged_);
    top_.eval();
    unchanged_ = true;
  }

  Vsim_node top_;
  bool unchanged_ = false;
};

}  // namespace nicloop
