// clocks.h: when two clocks of a rational ratio rise. Pure arithmetic.
//
// Time is counted in cycles of the core: its clock falls when a cycle begins and rises in the
// middle of it. The host's has `host` cycles in `core` of those, and both rise together once in as
// many: rise k of the host's is k * core / host + 1/2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nicloop {

class Clocks {
 public:
  static constexpr uint32_t kPs = 6400;  // a cycle of the core
  enum Change { kStays, kRises, kFalls };
  // Of the host's clock in a cycle: rises before the core's, with it, and behind it.
  struct Rises {
    uint32_t before = 0, after = 0;
    bool together = false;
  };
  // Something changes, and then nothing for ps.
  struct Moment {
    uint32_t at, ps;
    Change clk, aclk;
  };

  Clocks(uint32_t host, uint32_t core) : cycles_(core) {
    // In units of 1 / (2 * host) cycles, so that all is whole.
    uint32_t cycle = 2 * host, period = 2 * core, end = cycle * core;
    for (Phase& p : cycles_) p.moments = {{0, 0, kFalls, kStays}, {host, 0, kRises, kStays}};
    for (uint32_t k = 0; k < host; ++k) {
      uint32_t rise = (k * period + host) % end, in = rise % cycle;
      Rises& r = cycles_[rise / cycle].rises;
      (in < host ? r.before : r.after) += in != host;
      r.together |= in == host;
      change(rise, cycle, kRises);
      change((rise + core) % end, cycle, kFalls);
    }
    for (Phase& p : cycles_) {
      for (size_t i = 0; i < p.moments.size(); ++i) {
        uint32_t until = i + 1 < p.moments.size() ? p.moments[i + 1].at : cycle;
        p.moments[i].ps = kPs * until / cycle - kPs * p.moments[i].at / cycle;
      }
    }
  }
  const Rises& rises(uint64_t cycle) const { return cycles_[cycle % cycles_.size()].rises; }
  uint32_t moments(uint64_t cycle) const { return uint32_t(cycles_[cycle % cycles_.size()].moments.size()); }
  const Moment& moment(uint64_t cycle, uint32_t i) const { return cycles_[cycle % cycles_.size()].moments[i]; }

 private:
  struct Phase {
    Rises rises;
    std::vector<Moment> moments;
  };
  void change(uint32_t at, uint32_t cycle, Change what) {
    std::vector<Moment>& list = cycles_[at / cycle].moments;
    auto i = std::lower_bound(list.begin(), list.end(), at % cycle, [](const Moment& m, uint32_t t) { return m.at < t; });
    if (i == list.end() || i->at != at % cycle) i = list.insert(i, {at % cycle, 0, kStays, kStays});
    i->aclk = what;
  }

  std::vector<Phase> cycles_;  // of the core, until both rise together again
};

}  // namespace nicloop
