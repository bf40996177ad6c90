#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "clock.h"

namespace nicloop {
namespace {

constexpr int kDiverged = 5;  // exit status of a fork that did something else than its parent
constexpr int kPollMs = 20;
// A repeat may take so long, which is more than waves cost: a fork that hangs holds up nobody.
constexpr uint64_t kPatienceNs = 20'000'000'000, kSlowerByWaves = 100;

bool write_all(int fd, const void* data, size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t n = write(fd, from, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    size -= size_t(n);
  }
  return true;
}

bool read_all(int fd, void* data, size_t size) {
  char* to = static_cast<char*>(data);
  while (size > 0) {
    ssize_t n = read(fd, to, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    size -= size_t(n);
  }
  return true;
}

}  // namespace

Checkpoints::Checkpoints(uint64_t every, uint32_t nodes, Hooks hooks)
    : every_(every), nodes_(nodes), hooks_(std::move(hooks)), log_(memfd_create("nicloop-checkpoints", MFD_CLOEXEC)) {
  if (log_ < 0) failed_ = true;
}

Checkpoints::~Checkpoints() {
  if (!repeating_) {
    while (!kept_.empty()) drop_oldest();
  }
  if (log_ >= 0) close(log_);
}

void Checkpoints::record(const uint8_t* data, size_t size) {
  if (kept_.empty()) return;
  Segment& s = kept_.back();
  uint32_t head = uint32_t(size);
  s.messages.insert(s.messages.end(), reinterpret_cast<uint8_t*>(&head), reinterpret_cast<uint8_t*>(&head) + sizeof head);
  s.messages.insert(s.messages.end(), data, data + size);
}

// Called from the thread of the node: the lists of different nodes do not touch.
void Checkpoints::read(uint32_t node, uint64_t* data, uint32_t quads) {
  if (!repeating_) {
    if (kept_.empty()) return;
    std::vector<uint64_t>& to = kept_.back().reads[node];
    to.insert(to.end(), data, data + quads);
    return;
  }
  if (reads_[node].size() - reads_at_[node] < quads) _exit(kDiverged);
  std::memcpy(data, &reads_[node][reads_at_[node]], 8ull * quads);
  reads_at_[node] += quads;
}

uint64_t Checkpoints::keep(uint64_t now) {
  if (repeating_ || failed_) return kForever;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return failed_ = true, kForever;
  hooks_.prepare();
  std::fflush(nullptr);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    close(pipes[1]);
    for (const Segment& s : kept_) close(s.wake);
    hooks_.leave();
    if (!sleep(pipes[0])) _exit(0);
    return kForever;
  }
  close(pipes[0]);
  if (pid < 0) {
    std::fprintf(stderr, "no more checkpoints: fork: %s\n", std::strerror(errno));
    close(pipes[1]);
    failed_ = true;
    return kForever;
  }
  kept_.emplace_back();
  Segment& s = kept_.back();
  s.pid = pid, s.wake = pipes[1], s.cycle = now, s.kept_ns = now_ns();
  s.reads.resize(nodes_);
  trim();
  return now - now % every_ + every_;
}

void Checkpoints::trim() {
  uint64_t bytes = 0;
  for (Segment& s : kept_) {
    s.bytes = s.messages.size();
    for (const auto& list : s.reads) s.bytes += 8 * list.size();
    bytes += s.bytes;
  }
  while (kept_.size() > kKept || (kept_.size() > 1 && bytes > kMostBytes)) {
    bytes -= kept_.front().bytes;
    drop_oldest();
  }
}

void Checkpoints::drop_oldest() {
  close(kept_.front().wake);
  while (waitpid(kept_.front().pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  kept_.pop_front();
}

bool Checkpoints::sleep(int wake) {
  Request request;
  if (!read_all(wake, &request, sizeof request)) return false;
  close(wake);
  load();
  repeating_ = true;
  return hooks_.begin(request.from, request.to);
}

// Writes the recording from a segment on: for the messages and then for each node a size and the
// data.
bool Checkpoints::save(size_t first) {
  if (ftruncate(log_, 0) != 0 || lseek(log_, 0, SEEK_SET) != 0) return false;
  auto part = [this, first](auto of) {
    uint64_t bytes = 0;
    for (size_t i = first; i < kept_.size(); ++i) bytes += of(kept_[i]).size() * sizeof(of(kept_[i])[0]);
    if (!write_all(log_, &bytes, sizeof bytes)) return false;
    for (size_t i = first; i < kept_.size(); ++i) {
      if (!write_all(log_, of(kept_[i]).data(), of(kept_[i]).size() * sizeof(of(kept_[i])[0]))) return false;
    }
    return true;
  };
  if (!part([](const Segment& s) -> const std::vector<uint8_t>& { return s.messages; })) return false;
  for (uint32_t n = 0; n < nodes_; ++n) {
    if (!part([n](const Segment& s) -> const std::vector<uint64_t>& { return s.reads[n]; })) return false;
  }
  return lseek(log_, 0, SEEK_SET) == 0;
}

void Checkpoints::load() {
  uint64_t bytes = 0;
  bool ok = read_all(log_, &bytes, sizeof bytes);
  if (ok) messages_.resize(bytes), ok = read_all(log_, messages_.data(), bytes);
  reads_.resize(nodes_);
  reads_at_.resize(nodes_);
  for (uint32_t n = 0; ok && n < nodes_; ++n) {
    ok = read_all(log_, &bytes, sizeof bytes);
    if (ok) reads_[n].resize(bytes / 8), ok = read_all(log_, reads_[n].data(), bytes);
  }
  if (!ok) _exit(kDiverged);
}

void Checkpoints::next(const uint8_t** data, size_t* size) {
  uint32_t head;
  if (messages_.size() - at_ < sizeof head) {
    // Not by exit(): Verilator's context would wait for threads that the fork does not have.
    hooks_.end();
    _exit(0);
  }
  std::memcpy(&head, &messages_[at_], sizeof head);
  *data = &messages_[at_ + sizeof head];
  *size = head;
  at_ += sizeof head + head;
}

void Checkpoints::append(const Segment& from, Segment* to) {
  to->messages.insert(to->messages.end(), from.messages.begin(), from.messages.end());
  for (uint32_t n = 0; n < nodes_; ++n) to->reads[n].insert(to->reads[n].end(), from.reads[n].begin(), from.reads[n].end());
}

bool Checkpoints::repeat(uint64_t from, uint64_t to, const std::function<bool()>& alive, Repeated* result) {
  *result = {};
  if (kept_.empty() || repeating_) return true;
  size_t which = kept_.size() - 1;
  while (which > 0 && kept_[which].cycle > from) --which;
  Segment& s = kept_[which];
  result->checkpoint = s.cycle;
  result->from = std::max(from, s.cycle);
  Request request{result->from, to};
  if (!save(which) || !write_all(s.wake, &request, sizeof request)) return true;
  int status = 0;
  bool listening = true;
  uint64_t began = now_ns(), patience = kPatienceNs + kSlowerByWaves * (began - s.kept_ns);
  for (pid_t done; (done = waitpid(s.pid, &status, WNOHANG)) != s.pid;) {
    if (done < 0 && errno != EINTR) return listening;
    if (listening) listening = alive();
    if (!listening || now_ns() - began > patience) kill(s.pid, SIGKILL);
    poll(nullptr, 0, kPollMs);
  }
  result->done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  close(s.wake);
  if (which > 0) append(s, &kept_[which - 1]);  // whose way to the present leads through it
  kept_.erase(kept_.begin() + std::ptrdiff_t(which));
  return listening;
}

}  // namespace nicloop
