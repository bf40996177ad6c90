#include "simulation.h"

namespace nicloop {

VerilatedContext* Simulation::prepared(VerilatedContext* context, int argc, char** argv, bool waves) {
  context->commandArgs(argc, argv);
  context->assertOn(true);
  context->traceEverOn(waves);
  return context;
}

// Nodes are made in a context that is prepared.
Simulation::Simulation(VerilatedContext* context, int argc, char** argv, const Arguments& arguments)
    : context_(prepared(context, argc, argv, !arguments.waves_file.empty())), arguments_(arguments), border_(make_border(arguments)),
      mesh_(arguments.shape, arguments.threads, [context](uint32_t n) {
        return std::make_unique<VerilatedNode>(context, n);
      }, arguments.only, border_.get(), arguments.wire_latency) {
  for (uint16_t n : mesh_.members()) {
    mesh_.node(n).latencies(arguments.wr_latency, arguments.rd_latency);
    mesh_.node(n).ratio(arguments.host_cycles, arguments.core_cycles);
  }
}

std::unique_ptr<Border> Simulation::make_border(const Arguments& a) {
  uint64_t all = a.shape.nodes() == 64 ? ~0ull : (1ull << a.shape.nodes()) - 1;
  if ((a.only & all) == all) return nullptr;
  return std::make_unique<Border>(a.shape, a.only, WordFormat(NL_TORUS != 0, NL_VC_DEPTH));
}

Simulation::~Simulation() { close_waves(); }

void Simulation::reset() {
  constexpr uint32_t kEdges = 8;
  try {
    mesh_.reset(kEdges, VerilatedNode::kBoots);
  } catch (const ModelDied&) {
    // fault() has recorded why.
  }
}

// The clock rises in the middle of a period.
void Simulation::tick(uint64_t reg_pending, uint64_t pio_pending) {
  if (mesh_.cycles() == waves_next_) switch_waves();
  if (waves_) {
    mesh_.tick({reg_pending, pio_pending});
    return;
  }
  context_->timeInc(kLowPs);
  mesh_.tick({reg_pending, pio_pending});
  context_->timeInc(kHighPs);
}

bool Simulation::set_waves(uint64_t from, uint64_t to) {
  if (arguments_.waves_file.empty()) return false;
  waves_next_ = from < to ? std::max(from, mesh_.cycles()) : kForever;
  waves_end_ = to;
  return true;
}

// Called at waves_next_: the cycle at which waves start, or end once they have started.
void Simulation::switch_waves() {
  if (waves_) {
    mesh_.watch(0, nullptr);
    waves_->close();
    waves_.reset();
    waves_next_ = kForever;
    return;
  }
  waves_next_ = waves_end_;
  waves_.reset(new VerilatedFstC);
  for (uint16_t n : mesh_.members()) {
    if (arguments_.waves_nodes >> n & 1) mesh_.node(n).show(waves_.get());
  }
  waves_->open(arguments_.waves_file.c_str());
  dumps_ = 0;
  mesh_.watch(arguments_.waves_nodes, [this](uint32_t step) {
    waves_->dump(context_->time());
    // What has been flushed outlives a simulator that is killed. By dumps, not by time: the same
    // run writes the same bytes.
    if (++dumps_ % kDumpsPerFlush == 0) waves_->flush();
    context_->timeInc(step);
  });
}

}  // namespace nicloop
