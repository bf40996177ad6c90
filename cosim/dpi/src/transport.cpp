#include "transport.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "clock.h"

namespace nicloop {
namespace {

constexpr uint64_t kHeartbeatNs = 500'000'000;
constexpr uint64_t kMaxLookNs = 50'000;  // whatever the host says
constexpr long kNapNs = 20'000'000;      // then the socket, which tells when the host has gone

bool fail(std::string* error, const std::string& what) {
  *error = what + ": " + std::strerror(errno);
  return false;
}

std::string hex(const uint8_t* bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  std::string s;
  for (size_t i = 0; i < n; ++i) (s += digits[bytes[i] >> 4]) += digits[bytes[i] & 15];
  return s;
}

bool check_welcome(const Hello& hello, const Welcome& w, std::string* error) {
  if (w.magic != kMagic || w.version != kVersion) {
    *error = "handshake: expected protocol version " + std::to_string(kVersion) + ", found version " +
             std::to_string(w.version) + " (magic 0x" + hex(reinterpret_cast<const uint8_t*>(&w.magic), 8) + ")";
    return false;
  }
  if (w.nodes != hello.nodes) {
    *error = "handshake: the model has " + std::to_string(hello.nodes) + " nodes, the host wants " + std::to_string(w.nodes);
    return false;
  }
  if (std::memcmp(w.build_hash, hello.build_hash, sizeof w.build_hash) != 0) {
    *error = "handshake: this model is " + hex(hello.build_hash, 32) + ", the host wants " + hex(w.build_hash, 32);
    return false;
  }
  uint64_t end = w.memory_offset + w.nodes * w.memory_bytes;
  bool trace_fits = w.trace_records == 0 ||
                    (w.trace_records >= kMinTrace && w.trace_offset >= kMsgBuffersEnd && w.trace_offset % 8 == 0 &&
                     w.trace_records <= (1ull << 32) && w.trace_offset + w.trace_records * sizeof(TraceRecord) <= w.memory_offset);
  if (w.memory_bytes % 4096 != 0 || w.memory_bytes > (1ull << 40) || w.memory_offset % 4096 != 0 ||
      w.memory_offset < kMsgBuffersEnd || w.memory_offset > (1ull << 40) || end > w.shared_bytes || !trace_fits) {
    *error = "handshake: the shared memory's layout contradicts itself";
    return false;
  }
  return true;
}

}  // namespace

Transport::~Transport() {
  if (fd_ >= 0) close(fd_);
}

bool Transport::connect_to(const std::string& path, std::string* error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    *error = "socket path " + path + " is longer than " + std::to_string(sizeof address.sun_path - 1) + " bytes";
    return false;
  }
  path.copy(address.sun_path, path.size());
  fd_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return fail(error, "socket");
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return fail(error, "connect to " + path);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return fail(error, "SO_PEERCRED of " + path);
  if (peer.uid != geteuid()) {
    *error = "the other end of " + path + " runs as user " + std::to_string(peer.uid) + ", expected " + std::to_string(geteuid());
    return false;
  }
  unlink(path.c_str());
  rmdir(path.substr(0, path.rfind('/')).c_str());
  return true;
}

ssize_t Transport::receive_welcome(Welcome* welcome, int* memory) {
  iovec vector{welcome, sizeof *welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do n = recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (n > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(memory, CMSG_DATA(header), sizeof *memory);
  return n;
}

bool Transport::map(int memory, const Welcome& w, Shared* shared, std::string* error) {
  struct stat status{};
  if (fstat(memory, &status) != 0) return fail(error, "shared memory");
  if (uint64_t(status.st_size) < w.shared_bytes) {
    *error = "handshake: shared memory of " + std::to_string(status.st_size) + " bytes, announced " + std::to_string(w.shared_bytes);
    return false;
  }
  void* base = mmap(nullptr, w.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  if (base == MAP_FAILED) return fail(error, "mapping the shared memory");
  auto* bytes = static_cast<uint8_t*>(base);
  commands_ = reinterpret_cast<MsgBuffer*>(bytes + kCommandBuffer);
  events_ = reinterpret_cast<MsgBuffer*>(bytes + kEventBuffer);
  *shared = shared_at(w, base);
  control_ = shared->control;
  return true;
}

bool Transport::handshake(const Hello& hello, Welcome* welcome, Shared* shared, std::string* error) {
  if (send(fd_, &hello, sizeof hello, MSG_NOSIGNAL) != ssize_t(sizeof hello)) return fail(error, "handshake");
  int memory = -1;
  *welcome = {};
  ssize_t n = receive_welcome(welcome, &memory);
  if (n < 0) return fail(error, "handshake");
  bool good = false;
  if (n == 0) {
    *error = "handshake: the host has hung up";
  } else if (n != ssize_t(sizeof *welcome) || memory < 0) {
    *error = "handshake: expected " + std::to_string(sizeof *welcome) + " bytes and a descriptor, found " + std::to_string(n) +
             (memory < 0 ? " bytes and none" : " bytes");
  } else {
    good = check_welcome(hello, *welcome, error) && map(memory, *welcome, shared, error);
  }
  if (memory >= 0) close(memory);
  return good;
}

void Transport::leave() {
  close(fd_);
  fd_ = -1;
}

bool Transport::look() {
  uint64_t limit = std::min<uint64_t>(__atomic_load_n(&commands_->look_ns, __ATOMIC_RELAXED), kMaxLookNs);
  if (limit == 0) return false;
  uint64_t until = now_ns() + limit;
  do {
    for (int i = 0; i < 64; ++i) {
      if (__atomic_load_n(&commands_->state, __ATOMIC_ACQUIRE) == kMsgBufferFull) return true;
      __builtin_ia32_pause();
    }
  } while (now_ns() < until);
  return false;
}

// False: no message came, and the buffer is Idle.
bool Transport::nap() {
  auto leave = [&](uint32_t from, uint32_t to) {
    return __atomic_compare_exchange_n(&commands_->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  };
  if (!leave(kMsgBufferLooking, kMsgBufferSleeping)) return true;  // it came just now
  const timespec limit{0, kNapNs};
  syscall(SYS_futex, &commands_->state, FUTEX_WAIT, kMsgBufferSleeping, &limit, nullptr, 0);
  return !leave(kMsgBufferSleeping, kMsgBufferIdle);
}

bool Transport::wait_at_buffer() {
  if (commands_ == nullptr || __atomic_load_n(&commands_->state, __ATOMIC_ACQUIRE) == kMsgBufferIdle) return false;
  if (!look() && !nap()) return false;
  __atomic_store_n(&commands_->state, kMsgBufferIdle, __ATOMIC_RELAXED);
  return true;
}

bool Transport::receive(const uint8_t** data, size_t* size) {
  *data = in_;
  if (wait_at_buffer() && commands_->bytes != 0) {
    // A copy: the answer to the message's first command invites the next.
    *size = std::min(size_t(commands_->bytes), sizeof commands_->data);
    std::memcpy(in_, commands_->data, *size);
    return true;
  }
  ssize_t n;
  do n = recv(fd_, in_, sizeof in_, MSG_TRUNC);
  while (n < 0 && errno == EINTR);
  *size = n > 0 ? size_t(n) : 0;
  return *size <= sizeof in_;
}

void Transport::put(const Event& event, const Text* text) {
  size_t need = sizeof event + (text != nullptr ? sizeof *text : 0);
  if (used_ + need > sizeof out_) flush();
  std::memcpy(out_ + used_, &event, sizeof event);
  if (text != nullptr) std::memcpy(out_ + used_ + sizeof event, text, sizeof *text);
  used_ += need;
}

// Hands bytes to a receiver that waits at the buffer; 0 bytes send it to the socket.
bool Transport::hand_over(size_t bytes) {
  if (events_ == nullptr) return false;
  auto waits = [](uint32_t state) { return state == kMsgBufferLooking || state == kMsgBufferSleeping; };
  uint32_t state = __atomic_load_n(&events_->state, __ATOMIC_ACQUIRE);
  if (!waits(state)) return false;
  std::memcpy(events_->data, out_, bytes);
  events_->bytes = uint32_t(bytes);
  while (!__atomic_compare_exchange_n(&events_->state, &state, kMsgBufferFull, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    if (!waits(state)) return false;
  }
  if (state == kMsgBufferSleeping) syscall(SYS_futex, &events_->state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return true;
}

bool Transport::flush() {
  if (fd_ < 0) used_ = 0;
  if (used_ == 0) return true;
  last_sent_ns_ = now_ns();
  size_t bytes = used_;
  used_ = 0;
  bool fits = !by_socket_ && bytes <= sizeof events_->data;
  if (hand_over(fits ? bytes : 0) && fits) return true;
  by_socket_ = true;
  ssize_t n;
  do n = send(fd_, out_, bytes, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return n > 0;
}

bool Transport::finish_answer() {
  if (used_ == 0) return true;
  // Before the answer is: on one CPU that wakes the host, which may have sent the next command
  // before we run again.
  if (commands_ != nullptr) __atomic_store_n(&commands_->state, kMsgBufferLooking, __ATOMIC_RELEASE);
  bool sent = flush();
  by_socket_ = control_ == nullptr;
  return sent;
}

bool Transport::pulse(uint64_t cycle) {
  if (fd_ < 0) return true;
  pollfd look{fd_, POLLRDHUP, 0};
  if (poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return false;
  __atomic_store_n(&control_->cycle, cycle, __ATOMIC_RELEASE);
  if (now_ns() - last_sent_ns_ < kHeartbeatNs) return true;
  put({kHeartbeat, 0, 0, cycle, 0, 0});
  return flush();
}

}  // namespace nicloop
