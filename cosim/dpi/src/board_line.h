// board_line.h: what boards on serial lines are told, and where their lines end.
#ifndef NICLOOP_BOARD_LINE_H
#define NICLOOP_BOARD_LINE_H

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "uart_line.h"

namespace nicloop {

struct Settings {
  uint32_t nodes = 1;
  unsigned divisor = 52;
  double noise = 0;
  uint64_t seed = 1;
};

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

}  // namespace nicloop

#endif
