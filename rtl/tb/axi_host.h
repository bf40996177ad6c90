// axi_host.h: a host around nic_axi: two clocks that know nothing of each other, an AXI4-Lite
// master, a master with IDs for the send windows, and memory behind the NIC's master, which answers
// bursts of different IDs in any order. It holds the NIC to AXI: what is offered stays, every burst
// gets its beats, every answer its burst.
#pragma once

#include <map>

#include "axi_memory.h"

namespace tb {

struct WindowBurst {
  unsigned id;
  uint64_t addr;
  std::vector<uint64_t> data;
};
struct WindowAnswer {
  unsigned id, resp;
};
struct Interrupt {
  uint64_t addr;
  uint32_t data;
};

template <class Top>
struct AxiHost {
  Top& top;
  Random& random;
  Store store;
  uint64_t host_half = 5, core_half = 4, host_at = 5, core_at = 3, now = 0, core_cycles = 0;
  bool core_runs = true;
  unsigned mood_slave = 100, mood_memory = 100, latency = 1;

  explicit AxiHost(Top& t, Random& r) : top(t), random(r) {}

  // ---- clocks: up to the next rise of the host's ----
  void core_edges(uint64_t until) {
    while (core_at <= until) {
      if (core_runs || top.clk) {
        top.clk = !top.clk;
        core_cycles += top.clk;
        top.eval();
        watch_resets();
      }
      core_at += core_half;
    }
  }
  void half() {
    core_edges(host_at - 1);
    now = host_at;
    host_at += host_half;
  }
  void cycle() {
    drive();
    top.aclk = 0;
    top.eval();
    half();
    if (!top.arst) sample();  // before its first edge a register is anything
    top.aclk = 1;
    top.eval();
    half();
    ++cycle_count;
    tb::cycle = cycle_count;
  }
  uint64_t cycle_count = 0;

  // Between the ends of the two resets, in cycles of the core.
  bool rst_was = true, link_was = true;
  uint64_t link_fell = 0, lead = 0;
  unsigned falls = 0;
  void watch_resets() {
    CHECK(top.arst || top.nic_rst || !top.link_rst, "link_rst is on without nic_rst");
    if (link_was && !top.link_rst) link_fell = core_cycles;
    if (rst_was && !top.nic_rst) lead = core_cycles - link_fell, ++falls;
    rst_was = top.nic_rst, link_was = top.link_rst;
  }

  // ---- AXI4-Lite: one access at a time ----
  bool aw = false, w = false, ar = false, b = false, r = false;  // what of it is still to come
  unsigned resp = 0;
  uint32_t value = 0;
  uint64_t bound = 4000, longest = 0;
  Steady l_b, l_r;
  void wait(const char* what, uint64_t addr) {
    uint64_t from = cycle_count;
    while (aw || w || ar || b || r) {
      cycle();
      CHECK(cycle_count - from < bound, "%s 0x%llx is not answered within %llu cycles", what, (unsigned long long)addr, (unsigned long long)bound);
    }
    longest = std::max(longest, cycle_count - from);
  }
  unsigned write32(uint64_t addr, uint32_t v, unsigned strobes = 15) {
    top.s_axil_awaddr = addr, top.s_axil_wdata = v, top.s_axil_wstrb = strobes;
    aw = w = b = true;
    wait("a write to", addr);
    return resp;
  }
  unsigned read32(uint64_t addr, uint32_t& v) {
    top.s_axil_araddr = addr;
    ar = r = true;
    wait("a read of", addr);
    v = value;
    return resp;
  }

  // ---- send windows ----
  std::deque<WindowBurst> aw_due;                 // bursts not offered yet; w_due: data
  std::deque<std::pair<uint64_t, bool>> w_due;
  std::deque<unsigned> owed;                      // IDs of bursts, in order
  std::deque<WindowAnswer> answers;
  std::deque<std::pair<unsigned, unsigned>> reads_owed;  // ID, beats
  std::deque<std::pair<unsigned, unsigned>> ar_due;
  uint64_t window_errors = 0, window_fine = 0, read_beats = 0;
  Steady p_b, p_r;
  void send(const WindowBurst& burst) {
    aw_due.push_back(burst);
    for (size_t i = 0; i < burst.data.size(); ++i) w_due.push_back({burst.data[i], i + 1 == burst.data.size()});
    owed.push_back(burst.id);
  }
  void read_window(unsigned id, unsigned beats) {
    ar_due.push_back({id, beats});
    reads_owed.push_back({id, beats});
  }
  bool windows_quiet() const { return owed.empty() && reads_owed.empty() && w_due.empty(); }
  void wait_windows() {
    uint64_t from = cycle_count;
    while (!windows_quiet()) {
      cycle();
      CHECK(cycle_count - from < bound * 8, "%zu bursts to the windows, %zu reads are not answered", owed.size(), reads_owed.size());
    }
  }

  // ---- memory with IDs ----
  struct Beats { uint64_t addr; unsigned id, len; };
  struct Read { uint64_t addr, due; unsigned len, beat; };
  std::deque<Beats> m_aw;
  struct Beat { uint64_t data; uint8_t strobes; bool last; };
  std::deque<Beat> m_w;
  std::map<unsigned, std::deque<uint64_t>> m_b;  // by ID: when due
  std::map<unsigned, std::deque<Read>> m_r;
  std::vector<Interrupt> interrupts;
  int b_id = -1, r_id = -1;  // offered
  unsigned stray_b = 0, stray_r = 0;  // answers to nothing that are still to be sent
  bool stray_now_b = false, stray_now_r = false;
  Steady d_aw, d_w, d_ar;
  Order memory_order = Order::kAny;
  bool w_seen = false, ar_seen = false;  // WVALID and ARVALID in the cycle before
  uint64_t dma_bursts = 0, dma_reads = 0, unstrobed = 0;
  static constexpr uint64_t kMsi = 0xfee00000;
  bool memory_quiet() const {
    if (!m_aw.empty() || !m_w.empty()) return false;
    for (auto& q : m_b) if (!q.second.empty()) return false;
    for (auto& q : m_r) if (!q.second.empty()) return false;
    return true;
  }

  // READY of a channel: mostly by mood, sometimes not before VALID has stood for up to 150 cycles,
  // the longest that a peer may expect of this bench. longest_wait: cycles that VALID stood.
  struct Ready {
    unsigned hold = 0, waited = 0, longest_wait = 0;
    bool drive(Random& r, unsigned mood) const { return hold == 0 ? r.percent(mood) : waited >= hold; }
    void clock(Random& r, bool valid, bool ready) {
      waited = valid && !ready ? waited + 1 : 0;
      longest_wait = std::max(longest_wait, waited);
      if (valid && ready) hold = r.percent(3) ? unsigned(1 + r.below(150)) : 0;
    }
  };
  Ready r_lb, r_lr, r_pb, r_pr, r_aw, r_w, r_ar;

  bool offer(bool was, bool can, unsigned mood) { return can && (was || random.percent(mood)); }
  void drive() {
    top.s_axil_awvalid = offer(top.s_axil_awvalid, aw, mood_slave);
    top.s_axil_wvalid  = offer(top.s_axil_wvalid, w, mood_slave);
    top.s_axil_arvalid = offer(top.s_axil_arvalid, ar, mood_slave);
    top.s_axil_bready  = r_lb.drive(random, mood_slave);
    top.s_axil_rready  = r_lr.drive(random, mood_slave);
    top.s_axi_awvalid  = offer(top.s_axi_awvalid, !aw_due.empty(), mood_slave);
    if (!aw_due.empty()) {
      top.s_axi_awid = aw_due.front().id, top.s_axi_awaddr = aw_due.front().addr, top.s_axi_awlen = aw_due.front().data.size() - 1;
      top.s_axi_awsize = 3, top.s_axi_awburst = 1;
    }
    top.s_axi_wvalid = offer(top.s_axi_wvalid, !w_due.empty(), mood_slave);
    if (!w_due.empty()) top.s_axi_wdata = w_due.front().first, top.s_axi_wlast = w_due.front().second, top.s_axi_wstrb = 255;
    top.s_axi_bready  = r_pb.drive(random, mood_slave);
    top.s_axi_arvalid = offer(top.s_axi_arvalid, !ar_due.empty(), mood_slave);
    if (!ar_due.empty()) top.s_axi_arid = ar_due.front().first, top.s_axi_arlen = ar_due.front().second - 1;
    top.s_axi_rready  = r_pr.drive(random, mood_slave);
    top.m_axi_awready = r_aw.drive(random, mood_memory) && (memory_order != Order::kAddressAfterData || w_seen || !m_w.empty());
    top.m_axi_wready  = r_w.drive(random, mood_memory) && (memory_order != Order::kDataAfterTaken || !m_aw.empty());
    top.m_axi_arready = r_ar.drive(random, mood_memory) && (memory_order != Order::kAfterBoth || ar_seen);
    if (b_id < 0) {
      stray_now_b = stray_b != 0 && random.percent(20);
      if (stray_now_b) b_id = 9, --stray_b;
      else b_id = pick(m_b, [&](uint64_t due) { return due <= cycle_count; });
    }
    top.m_axi_bvalid = b_id >= 0;
    if (b_id >= 0) top.m_axi_bid = b_id, top.m_axi_bresp = 0;
    if (r_id < 0) {
      stray_now_r = stray_r != 0 && random.percent(20);
      if (stray_now_r) r_id = 9, --stray_r;
      else r_id = pick(m_r, [&](const Read& x) { return x.due <= cycle_count; });
    }
    top.m_axi_rvalid = r_id >= 0;
    if (r_id >= 0 && !stray_now_r) {
      Read& x = m_r[unsigned(r_id)].front();
      top.m_axi_rdata = store.quad(x.addr + 8 * x.beat), top.m_axi_rlast = x.beat == x.len;
    } else {
      top.m_axi_rdata = random.next(), top.m_axi_rlast = 1;
    }
    top.m_axi_rid = r_id >= 0 ? r_id : 0, top.m_axi_rresp = 0;
  }
  template <class Map, class Due>
  int pick(Map& map, Due due) {
    std::vector<int> can;
    for (auto& q : map)
      if (!q.second.empty() && due(q.second.front())) can.push_back(int(q.first));
    return can.empty() || !random.percent(mood_memory) ? -1 : can[random.below(can.size())];
  }

  void sample() {
    l_b.watch("answer of a register write", top.s_axil_bvalid, top.s_axil_bready, top.s_axil_bresp);
    l_r.watch("value of a register", top.s_axil_rvalid, top.s_axil_rready, top.s_axil_rdata, top.s_axil_rresp);
    if (top.s_axil_awvalid && top.s_axil_awready) aw = false;
    if (top.s_axil_wvalid && top.s_axil_wready) w = false;
    if (top.s_axil_arvalid && top.s_axil_arready) ar = false;
    if (top.s_axil_bvalid && top.s_axil_bready) {
      CHECK(b && !aw && !w, "an answer to no register write");
      b = false, resp = top.s_axil_bresp;
    }
    if (top.s_axil_rvalid && top.s_axil_rready) {
      CHECK(r && !ar, "an answer to no register read");
      r = false, resp = top.s_axil_rresp, value = top.s_axil_rdata;
    }
    windows();
    dma();
    r_lb.clock(random, top.s_axil_bvalid, top.s_axil_bready), r_lr.clock(random, top.s_axil_rvalid, top.s_axil_rready);
    r_pb.clock(random, top.s_axi_bvalid, top.s_axi_bready), r_pr.clock(random, top.s_axi_rvalid, top.s_axi_rready);
    r_aw.clock(random, top.m_axi_awvalid, top.m_axi_awready), r_w.clock(random, top.m_axi_wvalid, top.m_axi_wready);
    r_ar.clock(random, top.m_axi_arvalid, top.m_axi_arready);
  }
  void windows() {
    p_b.watch("answer of a window", top.s_axi_bvalid, top.s_axi_bready, top.s_axi_bid, top.s_axi_bresp);
    p_r.watch("beat of a window's read", top.s_axi_rvalid, top.s_axi_rready, top.s_axi_rid, top.s_axi_rresp, top.s_axi_rlast);
    if (top.s_axi_awvalid && top.s_axi_awready) aw_due.pop_front();
    if (top.s_axi_wvalid && top.s_axi_wready) w_due.pop_front();
    if (top.s_axi_arvalid && top.s_axi_arready) ar_due.pop_front();
    if (top.s_axi_bvalid && top.s_axi_bready) {
      CHECK(owed.size() > aw_due.size(), "an answer to no burst");
      CHECK(owed.front() == top.s_axi_bid, "an answer with ID %u, expected %u", unsigned(top.s_axi_bid), owed.front());
      owed.pop_front();
      answers.push_back({top.s_axi_bid, top.s_axi_bresp});
      ++(top.s_axi_bresp == 0 ? window_fine : window_errors);
    }
    if (top.s_axi_rvalid && top.s_axi_rready) {
      CHECK(reads_owed.size() > ar_due.size(), "a beat for no read");
      auto& x = reads_owed.front();
      CHECK(x.first == top.s_axi_rid && top.s_axi_rresp == 2 && top.s_axi_rlast == (x.second == 1), "beat %u from the end of a read with ID %u: ID %u, response %u, last %u", x.second,
            x.first, unsigned(top.s_axi_rid), unsigned(top.s_axi_rresp), unsigned(top.s_axi_rlast));
      ++read_beats;
      if (--x.second == 0) reads_owed.pop_front();
    }
  }
  void dma() {
    d_aw.watch("address of a DMA write", top.m_axi_awvalid, top.m_axi_awready, top.m_axi_awaddr, top.m_axi_awlen, top.m_axi_awid);
    d_w.watch("data of a DMA write", top.m_axi_wvalid, top.m_axi_wready, top.m_axi_wdata, top.m_axi_wstrb, top.m_axi_wlast);
    d_ar.watch("address of a DMA read", top.m_axi_arvalid, top.m_axi_arready, top.m_axi_araddr, top.m_axi_arlen, top.m_axi_arid);
    w_seen = top.m_axi_wvalid, ar_seen = top.m_axi_arvalid;
    if (top.m_axi_bvalid && top.m_axi_bready) {
      if (!stray_now_b) m_b[unsigned(b_id)].pop_front();
      b_id = -1;
    }
    if (top.m_axi_rvalid && top.m_axi_rready) {
      if (!stray_now_r) {
        auto& q = m_r[unsigned(r_id)];
        if (q.front().beat++ == q.front().len) q.pop_front();
      }
      r_id = -1;
    }
    if (top.m_axi_awvalid && top.m_axi_awready) {
      check_burst(top.m_axi_awaddr, top.m_axi_awlen);
      CHECK(top.m_axi_awsize == 3 && top.m_axi_awburst == 1, "a burst of another shape");
      m_aw.push_back({top.m_axi_awaddr, top.m_axi_awid, top.m_axi_awlen});
    }
    if (top.m_axi_wvalid && top.m_axi_wready) m_w.push_back({top.m_axi_wdata, uint8_t(top.m_axi_wstrb), bool(top.m_axi_wlast)});
    if (top.m_axi_arvalid && top.m_axi_arready) {
      check_burst(top.m_axi_araddr, top.m_axi_arlen);
      m_r[top.m_axi_arid].push_back({top.m_axi_araddr, cycle_count + latency, top.m_axi_arlen, 0});
      ++dma_reads;
    }
    while (!m_aw.empty() && m_w.size() > m_aw.front().len) take_burst();
  }
  void take_burst() {
    Beats a = m_aw.front();
    m_aw.pop_front();
    for (unsigned i = 0; i <= a.len; ++i) {
      Beat t = m_w.front();
      m_w.pop_front();
      CHECK(t.last == (i == a.len), "wlast at beat %u of %u", i, a.len + 1);
      unstrobed += t.strobes == 0;
      if (a.addr / 4096 == kMsi / 4096) {
        CHECK(t.strobes == 0x0f || t.strobes == 0xf0, "an interrupt with strobes %02x", t.strobes);
        interrupts.push_back({a.addr + (t.strobes == 0xf0 ? 4 : 0), uint32_t(t.strobes == 0xf0 ? t.data >> 32 : t.data)});
        continue;
      }
      for (unsigned k = 0; k < 8; ++k)
        if (t.strobes >> k & 1) store.written[a.addr + 8 * i + k] = uint8_t(t.data >> 8 * k);
    }
    ++dma_bursts;
    m_b[a.id].push_back(cycle_count + latency);
  }
};

}  // namespace tb
