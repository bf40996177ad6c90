// main.cpp: the simulator: clock, reset, arguments, waves, and the command loop.
//
//   sim SOCKET [--waves FILE] [+plusargs...]
//
// Exit status: 0 shut down as asked, 1 could not start, 2 the host is gone, 3 a
// message could not be understood.
#include <signal.h>
#include <sys/prctl.h>
#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "Vsim_top.h"
#include "bridge.h"
#include "dpi.h"
#include "log.h"
#include "nl_config.h"  // written by cosim/build: NL_NODES, NL_DIM_X.., NL_VPIDS, NL_DESC_HASH, NL_BUILD_HASH
#include "transport.h"

namespace nicloop {
namespace {

enum ExitStatus { kExitDone = 0, kExitStart = 1, kExitHostGone = 2, kExitProtocol = 3 };

class Model final : public Hardware {
 public:
  Model(VerilatedContext* context, const char* waves_file)
      : context_(context), top_(new Vsim_top(context)), waves_file_(waves_file) {}

  ~Model() override {
    if (fst_) fst_->close();
    top_->final();
  }

  void reset() {
    top_->rst = 1;
    for (int i = 0; i < 8; ++i) edge();
    top_->rst = 0;
  }

  void tick(uint64_t reg_pending, uint64_t pio_pending) override {
    set(&top_->reg_pending, reg_pending);
    set(&top_->pio_pending, pio_pending);
    if (cycle_ == waves_next_) switch_waves();
    edge();
    ++cycle_;
  }

  uint64_t irq() const override { return top_->irq; }
  bool idle() const override { return top_->idle; }
  bool active() const override { return top_->active; }
  void set_trace(bool on) override { top_->trace_on = on; }

  bool set_waves(uint64_t from, uint64_t to) override {
    if (waves_file_ == nullptr) return false;
    waves_next_ = from < to ? std::max(from, cycle_) : kForever;
    waves_end_ = to;
    return true;
  }

 private:
  static constexpr uint64_t kHalfPs = 3200;

  // The width of a port depends on the number of nodes.
  template <typename Port>
  static void set(Port* port, uint64_t bits) { *port = Port(bits); }

  void edge() {
    top_->clk = 0;
    half();
    top_->clk = 1;
    half();
  }

  void half() {
    top_->eval();
    if (fst_) fst_->dump(context_->time());
    context_->timeInc(kHalfPs);
  }

  // waves_next_ is the cycle at which waves start, or end once they have started.
  void switch_waves() {
    if (fst_) {
      fst_->close();
      fst_.reset();
      waves_next_ = kForever;
    } else if (cycle_ < waves_end_) {
      fst_.reset(new VerilatedFstC);
      top_->trace(fst_.get(), 99);
      fst_->open(waves_file_);
      waves_next_ = waves_end_;
    }
  }

  VerilatedContext* const context_;
  const std::unique_ptr<Vsim_top> top_;
  const char* const waves_file_;
  std::unique_ptr<VerilatedFstC> fst_;
  uint64_t cycle_ = 0;
  uint64_t waves_next_ = kForever, waves_end_ = 0;
};

int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

Hello make_hello() {
  Hello hello{kMagic, kVersion, NL_NODES, {NL_DIM_X, NL_DIM_Y, NL_DIM_Z}, NL_VPIDS, NL_DESC_HASH, {}};
  const char* hash = NL_BUILD_HASH;
  for (size_t i = 0; i < sizeof hello.build_hash; ++i) {
    hello.build_hash[i] = uint8_t(hex_digit(hash[2 * i]) << 4 | hex_digit(hash[2 * i + 1]));
  }
  return hello;
}

int protocol_error(Transport* transport, uint64_t at, const std::string& what) {
  Text text;
  set_text(&text, what);
  transport->put({kError, 0, 0, at, 0, 0}, &text);
  transport->flush();
  std::fprintf(stderr, "protocol error: %s\n", what.c_str());
  return kExitProtocol;
}

int serve(Transport* transport, Bridge* bridge, const Limits& limits) {
  bridge->put_stopped(0);
  if (!transport->finish_answer()) return kExitHostGone;
  for (;;) {
    const uint8_t* data;
    size_t size;
    if (!transport->receive(&data, &size)) {
      return protocol_error(transport, 0, "message of " + std::to_string(size) + " bytes, expected at most " + std::to_string(kMaxMessage));
    }
    if (size == 0) return kExitHostGone;
    for (size_t pos = 0; pos < size;) {
      Command command;
      PioLine line{};
      std::string error;
      if (!decode_command(data, size, &pos, limits, &command, &line, &error)) return protocol_error(transport, pos, error);
      switch (bridge->execute(command, line, &error)) {
        case Bridge::Result::kOk:
          if (!transport->finish_answer()) return kExitHostGone;
          break;
        case Bridge::Result::kShutdown: return kExitDone;
        case Bridge::Result::kBad: return protocol_error(transport, pos, error);
        case Bridge::Result::kPeerGone: return kExitHostGone;
      }
    }
  }
}

int simulate(int argc, char** argv) {
  const char* waves_file = nullptr;
  if (argc > 3 && std::strcmp(argv[2], "--waves") == 0) waves_file = argv[3];
  Transport transport;
  Welcome welcome;
  Shared shared;
  Hello hello = make_hello();
  std::string error;
  if (!transport.connect_to(argv[1], &error) || !transport.handshake(hello, &welcome, &shared, &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return kExitStart;
  }
  VerilatedContext context;
  context.commandArgs(argc, argv);
  context.assertOn(true);
  context.traceEverOn(waves_file != nullptr);
  Model model(&context, waves_file);
  Limits limits{NL_NODES, NL_VPIDS, welcome.memory_bytes};
  Bridge bridge(limits, shared, &model, &transport);
  set_bus(&bridge);
  try {
    model.reset();
  } catch (const ModelDied&) {
    // fault() has recorded why; the first run reports it.
  }
  return serve(&transport, &bridge, limits);
}

}  // namespace
}  // namespace nicloop

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SOCKET [--waves FILE] [+plusargs...]\n", argv[0]);
    return nicloop::kExitStart;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whoever started this does not outlive it
  signal(SIGPIPE, SIG_IGN);
  nicloop::tee_stdout();
  return nicloop::simulate(argc, argv);
}
