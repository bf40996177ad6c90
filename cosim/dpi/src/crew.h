// crew.h: threads that share the steps of one clock cycle.
//
// A cycle is a list of independent steps. Whoever is free takes the next one, so a thread that lost
// its core holds up at most the step it is in. Which thread does which step changes nothing that a
// step can see. Between cycles the others look for work for a moment and then sleep on a futex.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace nicloop {

// Tells whether sharing pays, by measuring: short trials of both, and the better one until the next
// trial. So a busy machine, on which a second thread mostly waits for a core, costs little more
// than having one.
class Trial {
 public:
  // Whether the coming cycle is shared.
  bool shared() const { return phase_ == kTrialShared || (phase_ == kHold && better_); }
  // A cycle with so many steps is over.
  void done(uint32_t steps);

 private:
  enum Phase { kTrialAlone, kTrialShared, kHold };
  void next();

  Phase phase_ = kTrialAlone;
  bool better_ = false;
  uint32_t cycles_ = 0;
  uint64_t began_ns_ = 0, steps_ = 0;
  double cost_alone_ = 0;
};

class Crew {
 public:
  // threads counts the caller's own: with 1 there is nobody else.
  explicit Crew(uint32_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls step(0) to step(count - 1), each once, on any thread, and returns when all are done.
  // Steps must not throw.
  void run(uint32_t count, const std::function<void(uint32_t)>& step);
  // After a fork only the caller's thread exists.
  void forget_others() { alone_ = true; }

 private:
  // epoch << 32 | count << 16 | next: one word, so that a thread that comes late cannot take a step
  // of another cycle.
  static constexpr uint32_t kMaxSteps = 0xffff;
  bool take(uint32_t epoch, uint32_t* step);
  void work(uint32_t epoch);
  void loop();

  bool alone_;
  const std::function<void(uint32_t)>* step_ = nullptr;
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> done_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};  // the futex
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> over_{false};
  std::vector<std::thread> others_;
};

}  // namespace nicloop
