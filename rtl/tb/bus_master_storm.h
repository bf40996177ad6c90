// bus_master_storm.h: Bus Master Enable cleared and the core reset at random amid DMA, for
// nic_pcie_cases. No request that was queued when Bus Master Enable was low, or before it fell, may
// leave behind that: software has cleared it so that nothing of the function reaches memory.
#pragma once

#include "root_complex.h"

namespace tb {

// Every burst has a page of its own, so a TLP names its burst by its address.
template <class Cases>
struct BusMasterStorm {
  struct Low {
    uint64_t from, to;  // cycles; to: the last one
  };
  Cases& t;
  const uint64_t write_base, read_base;
  uint64_t bursts = 0, checked = 0, resets = 0;
  unsigned in_reset = 0;
  std::vector<Low> lows{};

  void clears() {
    auto& top = t.top;
    if (top.bus_master ? t.random.below(120) == 0 : t.random.below(t.random.percent(30) ? 2 : 40) == 0) {
      top.bus_master = !top.bus_master;
      if (!top.bus_master) lows.push_back({cycle, cycle});
    }
    if (!top.bus_master) lows.back().to = cycle;
    if (in_reset) top.core_rst = --in_reset != 0;
    else if (t.random.below(500) == 0) in_reset = 2 + unsigned(t.random.below(6)), top.core_rst = 1, ++resets;
  }
  void traffic() {
    if (t.writes.size() < 2 && t.random.percent(50)) t.write(write_base + 4096 * bursts++);
    if (t.reads.size() < 2 && t.random.percent(30)) t.read(read_base + 4096 * bursts++);
    if (t.random.below(60) == 0) t.wire.take = t.random.percent(40) ? 0 : t.random.mood();
    if (t.random.below(30) == 0) t.top.np_ok = t.random.percent(60);
  }
  void check() {
    for (const auto& g : t.got) {
      if (g.h.kind != Header::MEMORY) continue;
      auto it = t.queued.find(g.h.addr);
      CHECK(it != t.queued.end(), "a request of %llx, which was not asked for", (unsigned long long)g.h.addr);
      for (const Low& low : lows)
        CHECK(g.begin <= low.from + 2 || it->second > low.to,
              "a %s leaves in cycle %llu; it was queued in cycle %llu, Bus Master Enable was low from %llu to %llu",
              g.h.data ? "write" : "read", (unsigned long long)g.begin, (unsigned long long)it->second,
              (unsigned long long)low.from, (unsigned long long)low.to);
      if (!g.h.data && t.random.percent(90)) t.complete(g);
      ++checked;
    }
    t.got.clear();
    t.answers.clear(), t.beats.clear();
  }
  void run(unsigned cycles) {
    while (cycles--) {
      clears(), traffic();
      t.step();
      check();
      if (lows.size() > 4) lows.erase(lows.begin());
    }
  }
};

template <class Cases>
void bus_master_storm(Cases& t, uint64_t write_base, uint64_t read_base) {
  t.start();
  t.queued.clear();
  BusMasterStorm<Cases> storm{t, write_base, read_base};
  storm.run(60000);
  CHECK(storm.checked > 1000 && storm.resets > 50 && storm.lows.size() > 3, "%llu requests, %llu resets: the storm lost its point",
        (unsigned long long)storm.checked, (unsigned long long)storm.resets);
}

}  // namespace tb
