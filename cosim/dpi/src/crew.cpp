#include "crew.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "clock.h"

namespace nicloop {
namespace {

constexpr uint32_t kTrialCycles = 32, kHoldCycles = 2048;
constexpr uint64_t kLookNs = 20'000;  // longer than what one thread does alone between two cycles

void futex_wait(std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void Trial::done(uint32_t steps) {
  if (cycles_ == 0) began_ns_ = now_ns();  // the first cycle of a phase also pays for waking up: not counted
  else steps_ += steps;
  if (++cycles_ > (phase_ == kHold ? kHoldCycles : kTrialCycles)) next();
}

void Trial::next() {
  double cost = steps_ == 0 ? 0 : double(now_ns() - began_ns_) / double(steps_);
  switch (phase_) {
    case kTrialAlone:
      cost_alone_ = cost;
      phase_ = kTrialShared;
      break;
    case kTrialShared:
      better_ = cost < cost_alone_;
      phase_ = kHold;
      break;
    case kHold: phase_ = kTrialAlone; break;
  }
  cycles_ = 0;
  steps_ = 0;
}

// A process may have us inside (inside.cpp): its signals are for its own threads, and a thread
// inherits what is blocked.
Crew::Crew(uint32_t threads) : alone_(threads <= 1) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (uint32_t i = 1; i < threads; ++i) others_.emplace_back([this] { loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Crew::~Crew() {
  if (alone_) {  // of a fork: there is nobody to join
    for (std::thread& t : others_) t.detach();
    return;
  }
  over_.store(true);
  epoch_.fetch_add(1);
  futex_wake(&epoch_);
  for (std::thread& t : others_) t.join();
}

void Crew::run(uint32_t count, const std::function<void(uint32_t)>& step) {
  if (alone_ || count > kMaxSteps) {
    for (uint32_t i = 0; i < count; ++i) step(i);
    return;
  }
  step_ = &step;
  done_.store(0, std::memory_order_relaxed);
  uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
  ticket_.store(uint64_t(epoch) << 32 | uint64_t(count) << 16, std::memory_order_release);
  epoch_.store(epoch, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(&epoch_);
  work(epoch);
  for (uint32_t i = 0; done_.load(std::memory_order_acquire) != count; ++i) {
    if (i < 2000) __builtin_ia32_pause();
    else sched_yield();  // the other one lost its core: it may have this one
  }
}

bool Crew::take(uint32_t epoch, uint32_t* step) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    uint32_t count = ticket >> 16 & 0xffff, next = ticket & 0xffff;
    if (ticket >> 32 != epoch || next == count) return false;
    if (ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      *step = next;
      return true;
    }
  }
}

void Crew::work(uint32_t epoch) {
  uint32_t step;
  while (take(epoch, &step)) {
    (*step_)(step);
    done_.fetch_add(1, std::memory_order_release);
  }
}

void Crew::loop() {
  uint32_t seen = 0;
  for (;;) {
    uint64_t until = now_ns() + kLookNs;
    uint32_t epoch;
    while ((epoch = epoch_.load(std::memory_order_acquire)) == seen) {
      for (int i = 0; i < 64 && epoch_.load(std::memory_order_relaxed) == seen; ++i) __builtin_ia32_pause();
      if (now_ns() < until) continue;
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      futex_wait(&epoch_, seen);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    seen = epoch;
    if (over_.load()) return;
    work(epoch);
  }
}

}  // namespace nicloop
