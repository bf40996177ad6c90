// board.cpp: one or two boards (rtl/board/nic_uart.sv) whose NICs are linked with each other, or
// one whose link is in loopback (ice40_top.sv), with serial lines that end at pseudo-terminals, bit
// by bit. A program of its own: time passes by itself, and nothing crosses into another program but
// bytes.
//
//   program --nodes 2 --divisor 52 --noise 1e-5 --noise-seed 7
//
// says on stdout the name of a pseudo-terminal per board, a line each, and ends with its stdin.
// While nothing is on a line and nothing moves in a NIC it sleeps, and time stands.
#include <poll.h>
#include <unistd.h>
#include <verilated.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "board_line.h"
#include "nl_model.h"
#include "wiring.h"
#ifdef NL_CHIP
#include "board_chip.h"
#else
#include "board_nic.h"
#endif

namespace nicloop {
namespace {

constexpr unsigned kSlice = 256;       // cycles between two looks at the pseudo-terminals
constexpr unsigned kQuietAfter = 4096; // cycles without a bit and with all at rest: more than the bridge needs to begin an answer

Settings parse(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    std::string key = argv[i];
    if (key[0] == '+') continue;  // Verilator's
    if (++i == argc) throw std::runtime_error(key + ": expected a value");
    char* end = argv[i];
    if (key == "--nodes") s.nodes = uint32_t(strtoul(argv[i], &end, 10));
    else if (key == "--divisor") s.divisor = unsigned(strtoul(argv[i], &end, 10));
    else if (key == "--noise") s.noise = strtod(argv[i], &end);
    else if (key == "--noise-seed") s.seed = strtoull(argv[i], &end, 10);
    else throw std::runtime_error(key + ": expected --nodes, --divisor, --noise or --noise-seed");
    if (end == argv[i] || *end != 0) throw std::runtime_error(key + " " + argv[i] + ": expected a number");
  }
  if (s.nodes < 1 || s.nodes > 2 || s.divisor < 8 || s.divisor > 65535 || !(s.noise >= 0 && s.noise < 0.5)) {
    throw std::runtime_error("expected 1 or 2 boards, 8 to 65535 cycles per bit and less than every second bit wrong");
  }
  return s;
}

class Boards {
 public:
  Boards(VerilatedContext* context, const Settings& s) : words_(s.nodes), next_(s.nodes) {
    Shape shape;
    shape.dims[0] = s.nodes;
    for (uint32_t n = 0; n < s.nodes; ++n) boards_.push_back(std::make_unique<Board>(context, n, shape, s));
    reset();
  }

  void name() const {
    for (auto& b : boards_) std::printf("%s\n", b->pty.name().c_str());
    std::fflush(stdout);
  }

  // Until stdin ends.
  void serve() {
    unsigned quiet = 0;
    while (exchange(quiet >= kQuietAfter)) {
      bool rest = true;
      for (unsigned i = 0; i < kSlice; ++i) tick();
      for (auto& b : boards_) {
        rest = rest && b->resting() && b->line.came().empty();
        b->pty.out(b->line.came());
      }
      quiet = rest ? quiet + kSlice : 0;
    }
  }

 private:
  // As Mesh::reset: links begin before all else.
  void reset() {
    for (auto& b : boards_) b->reset(true, true);
    for (int i = 0; i < 8; ++i) tick();
    for (auto& b : boards_) b->reset(true, false);
    for (int i = 0; i < 4 * 5 + NL_VC_DEPTH + 8; ++i) tick();
    for (auto& b : boards_) b->reset(false, false);
    now_ = 0;
  }
  void tick() {
    for (size_t n = 0; n < boards_.size(); ++n) {
      boards_[n]->step(now_, words_[n]);
      words_[n].valid = 0;
    }
    for (auto& b : boards_) b->leave(next_.data());
    words_.swap(next_);
    ++now_;
  }

  // Takes what programs have written, and waits for it if there is nothing else to do. False: stdin
  // has ended.
  bool exchange(bool wait) {
    std::vector<pollfd> fds{{0, POLLIN, 0}};
    for (auto& b : boards_) fds.push_back({b->pty.fd(), short(b->line.unsent() < 4096 ? POLLIN : 0), 0});
    if (poll(fds.data(), nfds_t(fds.size()), wait ? -1 : 0) < 0 && errno != EINTR) throw std::runtime_error(std::string("poll: ") + std::strerror(errno));
    char ignored[64];
    if (fds[0].revents != 0 && read(0, ignored, sizeof ignored) <= 0) return false;
    for (size_t n = 0; n < boards_.size(); ++n) {
      if ((fds[n + 1].revents & POLLIN) != 0) boards_[n]->pty.in(boards_[n]->line);
    }
    return true;
  }

  std::vector<std::unique_ptr<Board>> boards_;
  std::vector<Words> words_, next_;  // that boards see in the coming cycle, and in that behind it
  uint64_t now_ = 0;
};

// An assertion of the RTL, or a $finish: the board is dead, and its end says why.
[[noreturn]] void died(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s at %s:%d\n", what, file, line);
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace
}  // namespace nicloop

void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE { nicloop::died("an assertion failed", file, line); }
void vl_finish(const char* file, int line, const char*) VL_MT_UNSAFE { nicloop::died("$finish", file, line); }
void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE { nicloop::died(message, file, line); }

int main(int argc, char** argv) {
  try {
    nicloop::Settings settings = nicloop::parse(argc, argv);
    VerilatedContext context;
    context.commandArgs(argc, argv);
    context.assertOn(true);
    nicloop::Boards boards(&context, settings);
    boards.name();
    boards.serve();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
