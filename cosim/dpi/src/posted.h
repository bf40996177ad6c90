// posted.h: what the software has posted and the hardware has not taken yet, and
// the watched ranges. Neither allocates once it has grown to its working size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nicloop {

// Queue of one port, in order of (at, order of the pushes). The hardware takes the
// front and answers in the same order; what it has taken and not answered stays
// ahead of all that may still be pushed. T has a member `at`.
template <typename T>
class PostedQueue {
 public:
  bool waiting() const { return next_ != items_.size(); }
  bool in_flight() const { return done_ != next_; }
  const T& front() const { return items_[next_]; }   // waiting() only
  const T& oldest() const { return items_[done_]; }  // in_flight() only

  void push(const T& item) {
    size_t at = items_.size();
    while (at != next_ && items_[at - 1].at > item.at) --at;
    items_.insert(items_.begin() + std::ptrdiff_t(at), item);
  }

  void take() { ++next_; }

  void answer() {
    ++done_;
    if (done_ == items_.size()) {
      items_.clear();
      next_ = done_ = 0;
    } else if (done_ >= kCompact && done_ * 2 > items_.size()) {
      items_.erase(items_.begin(), items_.begin() + std::ptrdiff_t(done_));
      next_ -= done_;
      done_ = 0;
    }
  }

 private:
  static constexpr size_t kCompact = 64;
  std::vector<T> items_;
  size_t done_ = 0, next_ = 0;  // answered before done_, taken before next_
};

// The armed ranges of one node, by start address. A lookup costs a binary search
// and a look at the neighbours that could reach the written bytes.
class ArmedRanges {
 public:
  void arm(uint64_t start, uint64_t bytes, uint32_t id) {
    Range range{start, start + bytes, id};
    longest_ = std::max(longest_, bytes);
    ranges_.insert(std::upper_bound(ranges_.begin(), ranges_.end(), start, before), range);
  }

  // Disarms every range that [start, end) touches and tells hit(id) about it.
  template <typename Hit>
  void touch(uint64_t start, uint64_t end, Hit hit) {
    if (ranges_.empty()) return;
    auto it = std::upper_bound(ranges_.begin(), ranges_.end(), end - 1, before);
    while (it != ranges_.begin() && (it - 1)->start + longest_ > start) {
      --it;
      if (it->end <= start) continue;
      hit(it->id);
      it = ranges_.erase(it);
    }
  }

 private:
  struct Range {
    uint64_t start, end;
    uint32_t id;
  };
  static bool before(uint64_t value, const Range& range) { return value < range.start; }

  std::vector<Range> ranges_;
  uint64_t longest_ = 0;  // of all ever armed here: bounds the walk back
};

}  // namespace nicloop
