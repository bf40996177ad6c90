// board_chip.h: a board as rtl/board/ice40_top.sv has it, RTL or netlist: one clock, a reset of its
// own, and a link that ends where it begins.
#ifndef NICLOOP_BOARD_CHIP_H
#define NICLOOP_BOARD_CHIP_H

#include <verilated.h>

#include <string>

#include "Vice40_top.h"
#include "board_line.h"
#include "wiring.h"

namespace nicloop {

struct Words {
  uint32_t valid = 0;  // nothing comes from other boards
};

class Board {
 public:
  Board(VerilatedContext* context, uint32_t n, const Shape&, const Settings& s)
      : line(s.divisor, s.noise, s.seed + n), top_(context, ("board" + std::to_string(n)).c_str()) {
    top_.rx = 1;
  }
  ~Board() { top_.final(); }

  void reset(bool, bool) {}  // it begins with one
  void step(uint64_t, const Words&) {
    top_.rx = line.drive();
    top_.clk = 0;
    top_.eval();
    top_.clk = 1;
    top_.eval();
    line.sample(top_.tx);
  }
  void leave(Words*) const {}
  bool resting() const { return top_.running && top_.resting && line.quiet(); }

  UartLine line;
  Pty pty;

 private:
  Vice40_top top_;
};

}  // namespace nicloop

#endif
