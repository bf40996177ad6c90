// simulation.h: the verilated nodes behind bridge.h's Hardware: clock, reset and waves.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <memory>

#include "arguments.h"
#include "border.h"
#include "bridge.h"
#include "mesh.h"
#include "node.h"

namespace nicloop {

class Simulation final : public Hardware {
 public:
#if defined(NL_PCIE) || defined(NL_AXI)
  static constexpr bool kOneStream = true;
#else
  static constexpr bool kOneStream = false;
#endif
  // Takes the context, which is new, for itself. Plusargs of the model are among argv.
  Simulation(VerilatedContext* context, int argc, char** argv, const Arguments& arguments);
  ~Simulation() override;

  void reset();  // of a model that dies in it, the first run tells why
  void tick(uint64_t reg_pending, uint64_t pio_pending) override;
  uint64_t irq() const override { return mesh_.irq(); }
  bool idle() const override { return mesh_.idle() && !(border_ && border_->active()); }
  bool active() const override { return mesh_.active() || (border_ && border_->active()); }
  void set_trace(bool on) override { mesh_.set_trace(on); }
  bool set_waves(uint64_t from, uint64_t to) override;
  Border* border() { return border_.get(); }  // null: all nodes are here
  // After a fork of the process, in the fork.
  void forget_threads() { mesh_.forget_threads(); }
  void close_waves() {
    if (waves_) waves_->close();
  }

 private:
  // One or two seconds of a small mesh.
  static constexpr uint64_t kDumpsPerFlush = 1 << 16;

  static std::unique_ptr<Border> make_border(const Arguments& arguments);
  static VerilatedContext* prepared(VerilatedContext* context, int argc, char** argv, bool waves);
  void switch_waves();

  VerilatedContext* const context_;
  const Arguments arguments_;
  const std::unique_ptr<Border> border_;
  Mesh<VerilatedNode> mesh_;
  std::unique_ptr<VerilatedFstC> waves_;
  uint64_t waves_next_ = kForever, waves_end_ = 0, dumps_ = 0;
};

}  // namespace nicloop
