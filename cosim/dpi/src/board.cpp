// board.cpp: one or two boards (rtl/board/nic_uart.sv) whose NICs are linked with each other and whose serial lines end at
// pseudo-terminals, bit by bit. A program of its own: time passes by itself, and nothing crosses into another program but bytes.
//
//   program --nodes 2 --divisor 52 --noise 1e-5 --noise-seed 7
//
// says on stdout the name of a pseudo-terminal per board, a line each, and ends with its stdin. While nothing is on a line and
// nothing moves in a NIC it sleeps, and time stands.
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>
#include <verilated.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vnic_uart.h"
#include "Vnic_uart___024root.h"
#include "nl_model.h"
#include "uart_line.h"
#include "wiring.h"

namespace nicloop {
namespace {

constexpr uint32_t kLinks = NL_PORTS - 1;
constexpr unsigned kSlice = 256;       // cycles between two looks at the pseudo-terminals
constexpr unsigned kQuietAfter = 4096; // cycles without a bit and with all at rest: more than the bridge needs to begin an answer
constexpr unsigned kLinger = 4;        // as in mesh.h

struct Settings {
  uint32_t nodes = 1;
  unsigned divisor = 52;
  double noise = 0;
  uint64_t seed = 1;
};

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

// The end of a line that programs open.
class Pty {
 public:
  Pty() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) fail();
    name_ = ptsname(master_);
    keep_ = open(name_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // so that it outlives its users
    termios raw{};
    if (keep_ < 0 || tcgetattr(keep_, &raw) != 0) fail();
    cfmakeraw(&raw);
    if (tcsetattr(keep_, TCSANOW, &raw) != 0) fail();
  }
  Pty(const Pty&) = delete;
  ~Pty() {
    close(keep_);
    close(master_);
  }
  int fd() const { return master_; }
  const std::string& name() const { return name_; }

  void in(UartLine& line) {
    uint8_t buffer[512];
    ssize_t n = read(master_, buffer, sizeof buffer);
    if (n > 0) line.send(buffer, size_t(n));
    if (n < 0 && errno != EAGAIN && errno != EINTR) fail();
  }
  // What nobody reads is lost when there is no room left, as on a line.
  void out(std::vector<uint8_t>& bytes) {
    for (size_t at = 0; at < bytes.size();) {
      ssize_t n = write(master_, &bytes[at], bytes.size() - at);
      if (n > 0) at += size_t(n);
      else if (n < 0 && errno == EINTR) continue;
      else if (n < 0 && errno == EAGAIN) break;
      else fail();
    }
    bytes.clear();
  }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error(std::string("a pseudo-terminal: ") + std::strerror(errno)); }
  const int master_;
  int keep_ = -1;
  std::string name_;
};

// Verilator 5.006 keeps the clocks of the last evaluation under these names: see node.h, which does the same with one clock.
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

  // Takes what programs have written, and waits for it if there is nothing else to do. False: stdin has ended.
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
