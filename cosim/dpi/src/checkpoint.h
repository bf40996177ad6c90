// checkpoint.h: states of the whole simulation, kept so that the end of a run can be repeated with
// waves.
//
// A checkpoint is a fork of the process: the kernel copies what the parent changes afterwards. The
// fork sleeps until it is told to go on; then it does what the parent did since, with waves. Two
// things reach the model from outside, and both are recorded from the oldest checkpoint on: the
// messages of the host, and what the model reads from the host's memory. So the fork needs neither
// the host nor a copy of that memory:
//
//   parent   cycle 0 ----- 100 ----- 200 ----- 300 -- fails at 340
//   forks          |sleeps  |sleeps   |sleeps   |sleeps
//   REPEAT 250                        `- goes on: 200 ... 250 == waves == 340, exits
//
// The last kKept checkpoints are kept, and the recording from the oldest of them on; when that
// grows beyond kMostBytes, fewer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bridge.h"

namespace nicloop {

class Checkpoints final : public Keeper {
 public:
  static constexpr size_t kKept = 8;
  static constexpr uint64_t kMostBytes = 512ull << 20;

  // A checkpoint every so many cycles. What the fork shares with others, leave() must take away
  // from it, before it sleeps; begin(from, to) is called when it goes on, and must have those
  // cycles dumped; end() when it is done.
  struct Hooks {
    std::function<void()> prepare;  // in the parent, before the fork
    std::function<void()> leave;
    std::function<bool(uint64_t from, uint64_t to)> begin;
    std::function<void()> end;
  };
  Checkpoints(uint64_t every, uint32_t nodes, Hooks hooks);
  ~Checkpoints() override;

  // A message of the host, before it is executed.
  void record(const uint8_t* data, size_t size);
  // In a repeat: the next message. If there is none the repeat is over, and with it the process.
  void next(const uint8_t** data, size_t* size);
  bool repeating() const { return repeating_; }

  uint64_t keep(uint64_t now) override;
  void read(uint32_t node, uint64_t* data, uint32_t quads) override;
  bool repeat(uint64_t from, uint64_t to, const std::function<bool()>& alive, Repeated* result) override;

 private:
  // What happened from one checkpoint to the next.
  struct Segment {
    pid_t pid = 0;
    int wake = -1;  // a byte and a Request to the fork; closing it ends the fork
    uint64_t cycle = 0, bytes = 0, kept_ns = 0;
    std::vector<uint8_t> messages;             // each behind its size (4 bytes)
    std::vector<std::vector<uint64_t>> reads;  // by node, in the order of its reads
  };
  struct Request {
    uint64_t from, to;
  };

  bool sleep(int wake);  // of a fork; false: not needed any more
  void load();
  bool save(size_t first);
  void append(const Segment& from, Segment* to);
  void drop_oldest();
  void trim();

  const uint64_t every_;
  const uint32_t nodes_;
  const Hooks hooks_;
  const int log_;  // an unnamed file by which a fork gets the recording
  bool failed_ = false, repeating_ = false;
  std::deque<Segment> kept_;

  // Of a repeat.
  std::vector<uint8_t> messages_;
  size_t at_ = 0;
  std::vector<std::vector<uint64_t>> reads_;
  std::vector<size_t> reads_at_;
};

}  // namespace nicloop
