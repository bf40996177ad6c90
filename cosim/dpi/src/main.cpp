// main.cpp: the simulator: arguments, handshake, and the command loop.
//
// Exit status: 0 shut down as asked, 1 could not start, 2 the host is gone, 3 a
// message could not be understood.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

#include <cstdio>
#include <cstring>

#include "arguments.h"
#include "bridge.h"
#include "checkpoint.h"
#include "dpi.h"
#include "hello.h"
#include "log.h"
#include "simulation.h"
#include "transport.h"

namespace nicloop {
namespace {

enum ExitStatus { kExitDone = 0, kExitStart = 1, kExitHostGone = 2, kExitProtocol = 3 };

constexpr unsigned kOrphanSeconds = 20;  // in which a simulator without host has to close its waves

int protocol_error(Transport* transport, uint64_t at, const std::string& what) {
  Text text;
  set_text(&text, what);
  transport->put({kError, 0, 0, at, 0, 0}, &text);
  transport->flush();
  std::fprintf(stderr, "protocol error: %s\n", what.c_str());
  return kExitProtocol;
}

int serve(Transport* transport, Bridge* bridge, const Limits& limits, Checkpoints* checkpoints) {
  bridge->put_stopped(0);
  if (!transport->finish_answer()) return kExitHostGone;
  for (;;) {
    const uint8_t* data;
    size_t size;
    if (checkpoints != nullptr && checkpoints->repeating()) {
      checkpoints->next(&data, &size);
    } else if (!transport->receive(&data, &size)) {
      return protocol_error(transport, 0, "message of " + std::to_string(size) + " bytes, expected at most " + std::to_string(kMaxMessage));
    }
    if (size == 0) return kExitHostGone;
    if (checkpoints != nullptr && !checkpoints->repeating()) checkpoints->record(data, size);
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

// What a fork of the process must not share with it: the host, the shared memory, the log. Of the
// memory the fork needs the first pages only: what the model reads from the rest is recorded.
class Apart {
 public:
  Apart(Transport* transport, void* memory, size_t bytes) : transport_(transport), memory_(memory), bytes_(bytes) {}
  void prepare() { std::memcpy(head_, memory_, sizeof head_); }
  void leave() {
    transport_->leave();
    void* own = mmap(memory_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (own == MAP_FAILED) _exit(kExitStart);
    std::memcpy(memory_, head_, sizeof head_);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, 1), dup2(null, 2);
  }

 private:
  Transport* const transport_;
  void* const memory_;
  const size_t bytes_;
  uint8_t head_[kMsgBuffersEnd];
};

int cannot_start(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  return kExitStart;
}

// Nothing is written but by a model that was built to count.
void write_coverage(VerilatedContext* context, const std::string& file) {
#if VM_COVERAGE
  if (!file.empty()) context->coveragep()->write(file.c_str());
#else
  (void)context, (void)file;
#endif
}

int simulate(int argc, char** argv) {
  Arguments arguments;
  arguments.shape.torus = NL_TORUS != 0;
  std::string error;
  if (!parse_arguments(argc, argv, &arguments, &error) || !enough_ports(arguments.shape, &error)) return cannot_start(error);
  const Shape& shape = arguments.shape;
  Transport transport;
  Welcome welcome;
  Shared shared;
  if (!transport.connect_to(arguments.socket, &error) || !transport.handshake(make_hello(shape), &welcome, &shared, &error)) {
    return cannot_start(error);
  }
  VerilatedContext context;
  Simulation simulation(&context, argc, argv, arguments);
  Limits limits{shape.nodes(), NL_VPIDS, welcome.memory_bytes};
  Bridge bridge(limits, shared, &simulation, &transport);
  bridge.set_border(simulation.border());
  bridge.set_one_stream(Simulation::kOneStream);
  set_bus(&bridge);
  simulation.reset();
  if (arguments.checkpoint == 0) {
    int status = serve(&transport, &bridge, limits, nullptr);
    write_coverage(&context, arguments.coverage_file);
    return status;
  }
  Apart apart(&transport, shared.control, welcome.shared_bytes);
  Checkpoints checkpoints(arguments.checkpoint, shape.nodes(), {
      [&apart] { apart.prepare(); }, [&apart] { apart.leave(); },
      [&simulation](uint64_t from, uint64_t to) {
        simulation.forget_threads();
        return simulation.set_waves(from, to);
      },
      [&simulation] { simulation.close_waves(); }});
  bridge.set_keeper(&checkpoints);
  return serve(&transport, &bridge, limits, &checkpoints);
}

// A terminal and a batch system signal the whole process group. The host ends the session then, and
// the simulator with it, after it has closed its waves; it must not die before. When the host dies,
// its end of the socket closes, and the same happens. The alarm kills a simulator that hangs.
void set_signals() {
  for (int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(ignored, SIG_IGN);
  signal(SIGUSR1, [](int) { alarm(kOrphanSeconds); });
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  if (getppid() == 1) raise(SIGUSR1);  // it died before prctl
}

}  // namespace
}  // namespace nicloop

int main(int argc, char** argv) {
  nicloop::set_signals();
  nicloop::tee_stdout(1);
  return nicloop::simulate(argc, argv);
}
