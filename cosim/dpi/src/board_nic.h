// board_nic.h: a board as rtl/board/nic_uart.sv has it, whose NIC has a clock that may stand and
// links to other boards.
#ifndef NICLOOP_BOARD_NIC_H
#define NICLOOP_BOARD_NIC_H

#include <verilated.h>

#include <cstring>
#include <string>

#include "Vnic_uart.h"
#include "Vnic_uart___024root.h"
#include "board_line.h"
#include "nl_model.h"
#include "wiring.h"

namespace nicloop {

constexpr uint32_t kLinks = NL_PORTS - 1;
constexpr unsigned kLinger = 4;        // as in mesh.h

// Verilator 5.006 keeps the clocks of the last evaluation under these names: see node.h, which does
// the same with one clock.
template <typename Root>
auto forget_high(Root* root, bool nic, int) -> decltype(root->__Vtrigrprev__TOP__clk = 0, root->__Vtrigrprev__TOP__nic_clk = 0, true) {
  root->__Vtrigrprev__TOP__clk = 0;
  if (nic) root->__Vtrigrprev__TOP__nic_clk = 0;
  return true;
}
template <typename Root>
bool forget_high(Root*, bool, long) { return false; }

template <typename Root>
auto set_unchanged(Root* root, bool on) -> decltype(root->nl_unchanged = on, void()) {
  root->nl_unchanged = on;
}
inline void set_unchanged(void*, bool) {}

// A word on its way to a board, per link.
struct Words {
  uint32_t valid = 0;
  uint32_t data[kLinks][2];
  uint32_t user[kLinks][sizeof(Vnic_uart::s_axis_tuser) / sizeof(uint32_t) / kLinks];
};

class Board {
 public:
  Board(VerilatedContext* context, uint32_t n, const Shape& shape, const Settings& s)
      : line(s.divisor, s.noise, s.seed + n), top_(context, ("board" + std::to_string(n)).c_str()) {
    for (uint32_t l = 0; l < kLinks; ++l) {
      to[l] = across(shape, n, l);
      if (to[l].connected) links_ |= 1u << l;
    }
    top_.node_id = SData(n);
    top_.shape = shape.packed(n);
    top_.divisor = SData(s.divisor);
    top_.rx = 1;
    top_.link_up = top_.carrier = CData(links_);
    top_.m_axis_tready = CData((1u << kLinks) - 1);
  }
  ~Board() { top_.final(); }

  void reset(bool all, bool links) {
    top_.rst = all;
    top_.link_rst = links;
    resetting_ = all;
    changed_ = true;
    if (!all) steps_ = 0;
  }

  // A cycle, of which in has what came over links. now counts cycles from reset.
  void step(uint64_t now, const Words& in) {
    bool rx = line.drive();
    changed_ = changed_ || top_.rx != rx;
    top_.rx = rx;
    bool reason = resetting_ || !top_.resting || in.valid != 0;
    if (reason) linger_ = kLinger + 1;
    bool awake = linger_ != 0;
    if (awake) {
      --linger_;
      wake(now, in);
    } else {
      slept_ = true;
    }
    edge(awake);
    line.sample(top_.tx);
  }

  // The word that leaves over a link, to where it goes.
  void leave(Words* words) const {
    for (uint32_t l = 0; l < kLinks; ++l) {
      if ((top_.m_axis_tvalid >> l & 1) == 0 || !to[l].connected) continue;
      Words& at = words[to[l].node];
      at.valid |= 1u << to[l].link;
      std::memcpy(at.data[to[l].link], part(&top_.m_axis_tdata, sizeof at.data[0], l), sizeof at.data[0]);
      std::memcpy(at.user[to[l].link], part(&top_.m_axis_tuser, sizeof at.user[0], l), sizeof at.user[0]);
    }
  }
  bool resting() const { return top_.resting && line.quiet() && linger_ == 0; }

  UartLine line;
  Pty pty;
  End to[kLinks];

 private:
  static const char* part(const void* all, size_t size, uint32_t l) { return static_cast<const char*>(all) + size * l; }
  static char* part(void* all, size_t size, uint32_t l) { return static_cast<char*>(all) + size * l; }

  void wake(uint64_t now, const Words& in) {
    if (slept_) {
      top_.slept = now - steps_;
      slept_ = false;
      changed_ = true;
    }
    if (!resetting_) ++steps_;
    if (in.valid == 0 && top_.s_axis_tvalid == 0) return;
    top_.s_axis_tvalid = CData(in.valid);
    for (uint32_t l = 0; l < kLinks; ++l) {
      if ((in.valid >> l & 1) == 0) continue;
      std::memcpy(part(&top_.s_axis_tdata, sizeof in.data[0], l), in.data[l], sizeof in.data[0]);
      std::memcpy(part(&top_.s_axis_tuser, sizeof in.user[0], l), in.user[l], sizeof in.user[0]);
    }
    changed_ = true;
  }
  void edge(bool nic) {
    if (!forget_high(top_.rootp, nic, 0)) {
      top_.clk = 0;
      if (nic) top_.nic_clk = 0;
      top_.eval();
    }
    top_.clk = top_.nic_clk = 1;
    set_unchanged(top_.rootp, !changed_);
    top_.eval();
    changed_ = false;
  }

  Vnic_uart top_;
  uint32_t links_ = 0;
  unsigned linger_ = 0;
  bool resetting_ = true, slept_ = false, changed_ = true;
  uint64_t steps_ = 0;
};

}  // namespace nicloop

#endif
