// nic_pcie: a root complex (root_complex.h) on one side, on the other what stands for nic_core:
// registers, send windows, a DMA master. All at random, in phases of their own sizes, latencies,
// moods and faults.
// - what the NIC sends is legal, and every byte of its writes comes once and in order; bursts with
//   holes are refused;
// - its reads come back in order whatever the order, parts and time of completions; those that
//   fail, are lost or late answer with an error and no data, and no tag is used while something of
//   it may come;
// - the host's writes of any length and alignment reach registers, windows and table with the right
//   bytes, in order; its reads have the right data, in completions that add up, and never what was
//   before a write in front of them;
// - no completion, interrupt or read request passes a write that was answered before it; reads of
//   the host do not wait for ever;
// - what is malformed, unsupported or poisoned is counted, answered with UR where it has to be, and
//   does nothing else.
#include "Vnic_pcie.h"
#include "root_complex.h"

#include <set>

namespace {

using tb::Header;
using tb::Tlp;
using Dwords = std::vector<uint32_t>;

#ifndef TB_WIN_W
#define TB_WIN_W 29
#endif
#ifndef TB_PHY
#define TB_PHY 0  // a hard block in front: it passes on no malformed TLP, and the formats of its streams cannot express all of them
#endif
constexpr unsigned WIDTH = TB_W / 32, ID = 0x0318, HOST = 0x0008;
constexpr uint64_t WINDOW_BYTES = 1ull << TB_WIN_W;
// A window BAR that is smaller than 512 MB has address bits of its base below bit 29.
constexpr uint64_t REGS = 0xd0000000, WINDOW = 0x7fe0000000 + (TB_WIN_W < 29 ? WINDOW_BYTES : 0), TABLE = 0xd8000000, MSI = 0xfee00000;
constexpr unsigned BARS[3] = {0, 2, 4};

struct Write { uint64_t addr, data; uint8_t strobes; };
struct Expected {  // a read of the host
  unsigned bar, len, first_be, last_be, tc, attr;
  uint64_t addr;
  bool ur;
  size_t version;        // writes of registers before it
  unsigned bytes_left;   // that have not come
  unsigned at = 0;       // dwords that have come
  int64_t posted = -1;   // bytes of DMA that were answered when its first quadword was read
};
struct Beat { uint64_t addr; bool last, asked; tb::Requests::Fate fate; };

uint64_t merge(uint64_t old, uint64_t data, uint8_t strobes) {
  for (int i = 0; i < 8; ++i)
    if (strobes >> i & 1) old = (old & ~(0xffull << 8 * i)) | (data & 0xffull << 8 * i);
  return old;
}

struct Test : tb::Bench<Vnic_pcie> {
  tb::Streams<Vnic_pcie, WIDTH> wire{top, random};
  tb::Store memory;
  tb::Requests rc{random, memory};
  using Bench::Bench;
  unsigned mood = 100;

  // ---- the host's side ----
  std::deque<Write> regs_due, windows_due;
  std::vector<std::pair<uint64_t, uint64_t>> reg_log;         // address, value: every write of a register, in order
  static constexpr unsigned VECTORS = NICLOOP_VPIDS + 1;
  std::vector<uint64_t> table = masked_table();
  static std::vector<uint64_t> masked_table() {
    std::vector<uint64_t> t(2 * VECTORS);
    for (unsigned v = 0; v < VECTORS; ++v) t[2 * v + 1] = 1ull << 32;
    return t;
  }
  std::map<unsigned, Expected> reads;
  uint64_t malformed = 0, unsupported = 0, poisoned = 0, write_errors = 0, host_reads = 0, host_writes = 0, split_reads = 0, errors_read = 0;

  static bool bad(uint64_t reg) { return tb::Store::hash(reg >> 3 ^ 0x77) % 1000 < 30; }
  static unsigned resp(uint64_t reg) { return !bad(reg) ? 0 : tb::Store::hash(reg >> 3) & 1 ? 3 : 2; }
  uint64_t reg_at(uint64_t quad, size_t version) const {
    for (size_t i = version; i-- > 0;)
      if (reg_log[i].first == quad) return reg_log[i].second;
    return tb::Store::hash(quad);
  }
  // Behind a slow bus long writes would keep completions from coming in time.
  bool slow() const { return mood < 50 || wire.offer < 50; }
  unsigned length() { return slow() ? 1 + unsigned(random.below(12)) : random.percent(60) ? 1 + unsigned(random.below(2)) : random.percent(80) ? 1 + unsigned(random.below(40)) : 1 + unsigned(random.below(1024)); }
  void enables(unsigned len, unsigned& first, unsigned& last) {
    first = random.percent(60) ? 15 : unsigned(random.below(16));
    last = len == 1 ? 0 : random.percent(60) ? 15 : 1 + unsigned(random.below(15));
    if (len > 1 && !first) first = 15;
  }
  void host_write() {
    unsigned which = unsigned(random.below(2)), len = std::min(length(), 128u << rc.mps >> 2), first, last;
    enables(len, first, last);
    uint64_t offset = which ? random.below(WINDOW_BYTES / 4) * 4 : random.below(32) * 4;
    if (offset % 4096 + len * 4 > 4096) offset -= offset % 4096 + len * 4 - 4096;
    uint64_t addr = (which ? WINDOW : REGS) + offset;
    unsigned fault = random.percent(90) ? 0 : 1 + unsigned(random.below(4));  // poisoned, no BAR, too long, too short
    if (fault == 4 && (!which || len < 4 || addr % 8)) fault = 0;
    if (fault >= 3 && TB_PHY != 0) fault = 0;
    Tlp t{tb::request(0, true, addr, len, first, last, HOST, 0), BARS[which]};
    if (fault == 1) t.dw[0] |= 1 << 14, ++poisoned;
    if (fault == 2) t.bar = 1 + unsigned(random.below(2)) * 4, ++unsupported;
    std::vector<uint32_t> data;
    for (unsigned i = 0; i < len; ++i) data.push_back(uint32_t(random.next()));
    t.dw.insert(t.dw.end(), data.begin(), data.end());
    if (fault == 3) t.dw.resize(t.dw.size() + 1 + random.below(9)), ++malformed;
    if (fault == 4) t.dw.resize(5 + random.below(2)), ++malformed;
    if (fault == 0 && random.percent(5)) t.dw[0] |= 1 << 15, t.dw.push_back(0xdeadbeef);  // with a digest
    wire.out.push_back(t);
    ++host_writes;
    if (fault == 1 || fault == 2 || fault == 4) return;
    for (uint64_t q = offset / 8; q <= (offset / 4 + len - 1) / 2; ++q) {
      Write w{q * 8, 0, 0};
      for (unsigned half = 0; half < 2; ++half) {
        int64_t i = int64_t(q * 2 + half) - int64_t(offset / 4);
        if (i < 0 || i >= len) continue;
        unsigned be = i == 0 ? first : i == len - 1 ? last : 15;
        w.data |= uint64_t(data[size_t(i)]) << 32 * half, w.strobes |= be << 4 * half;
      }
      if (!w.strobes) continue;
      (which ? windows_due : regs_due).push_back(w);
      if (!which) {
        reg_log.emplace_back(w.addr, merge(reg_at(w.addr, reg_log.size()), w.data, w.strobes));
        write_errors += bad(w.addr);
      }
    }
  }
  void host_read() {
    if (reads.size() == 40) return;
    unsigned tag;
    do tag = unsigned(random.below(256)); while (reads.count(tag));
    unsigned which = random.percent(80) ? 0 : unsigned(random.below(3)), len = which == 2 ? 1 + unsigned(random.below(16)) : length(), first, last;
    enables(len, first, last);
    uint64_t offset = which == 1 ? random.below(WINDOW_BYTES / 4) * 4 : which == 2 ? random.below(20) * 4 : random.percent(70) ? random.below(40) * 4 : random.below(1 << 18) * 4;
    // What has just been written, which the read must not pass.
    if (which == 0 && !regs_due.empty() && random.percent(50)) offset = regs_due.back().addr, len = 2, first = last = 15;
    if (offset % 4096 + len * 4 > 4096) offset -= offset % 4096 + len * 4 - 4096;
    uint64_t addr = (which == 0 ? REGS : which == 1 ? WINDOW : TABLE) + offset;
    Expected e{BARS[which], len, first, last, unsigned(random.below(8)), unsigned(random.below(8)), offset, which == 1, reg_log.size(), 0};
    Tlp t{tb::request(0, false, addr, len, first, last, HOST, tag, e.tc, e.attr), e.bar};
    unsigned fault = random.percent(90) ? 0 : 1 + unsigned(random.below(5));  // no BAR, I/O, configuration, atomic, crosses 4 KB
    if (fault == 1) t.bar = 3;
    if (fault == 2 || fault == 3) t.dw = tb::request(fault == 2 ? 2 : 4, random.percent(50), 0x1000, 1, 15, 0, HOST, tag, e.tc, e.attr);
    if (fault == 4) t.dw = tb::request(13, true, addr, 2, 15, 15, HOST, tag, e.tc, e.attr);
    if (fault == 5) t.dw = tb::request(0, false, REGS + 4088, 4, 15, 15, HOST, tag, e.tc, e.attr);
    if (fault >= 2 && fault <= 4 && t.dw[0] >> 30 & 1) t.dw.resize(t.dw.size() + (t.dw[0] & 3));
    if (fault) e.ur = true, ++unsupported;
    unsigned lead = first ? unsigned(__builtin_ctz(first)) : 0, end = len == 1 ? first : last;
    e.bytes_left = len == 1 && !first ? 1 : 4 * len - lead - unsigned(end ? __builtin_clz(end) - 28 : 0);
    if (len == 1 && !first && !fault) e.ur = which == 1;
    reads[tag] = e;
    wire.out.push_back(t);
    ++host_reads;
  }
  // Of the host's reads the bench knows nothing before they are answered but the version of the
  // registers.
  void completion(const Header& h, const Dwords& d) {
    auto it = reads.find(h.tag);
    CHECK(it != reads.end() && h.to == HOST && h.id == ID, "completion with tag %u for %x from %x", h.tag, h.to, h.id);
    Expected& e = it->second;
    CHECK(h.tc == e.tc && h.attr == e.attr && !h.four && !h.poisoned, "completion: class %u attributes %u, expected %u %u", h.tc, h.attr, e.tc, e.attr);
    CHECK(dma_seen >= e.posted, "a completion passed writes: %lld bytes were answered, %lld have come", (long long)e.posted, (long long)dma_seen);
    CHECK(e.ur || h.count == (e.bytes_left & 4095), "byte count %u, expected %u", h.count, e.bytes_left);
    bool nothing = e.len == 1 && !e.first_be;
    if (!h.data) {
      CHECK(d.size() == 3 && h.status, "completion without data, status %u", h.status);
      bool told = e.ur && h.status == 1;
      // A register that answers with an error ends the read in the part that it is in.
      uint64_t from = e.addr + 4 * e.at, to = std::min<uint64_t>(e.addr + 4 * e.len, (from / 128 + 1) * 128);
      for (uint64_t q = from / 8; !told && !e.ur && e.bar == 0 && q * 8 < to; ++q)
        if (bad(q * 8)) {
          CHECK(h.status == (resp(q * 8) == 3 ? 1u : 4u), "status %u", h.status);
          told = true;
        }
      CHECK(told, "status %u for %u dwords at %llx of BAR %u", h.status, e.len, (unsigned long long)e.addr, e.bar);
      ++errors_read;
      reads.erase(it);
      return;
    }
    CHECK(!e.ur && h.status == 0 && d.size() == 3 + h.len, "%zu dwords of completion, status %u", d.size(), h.status);
    uint64_t from = e.addr + 4 * e.at;
    unsigned lead = e.at || !e.first_be ? 0 : unsigned(__builtin_ctz(e.first_be));
    CHECK(h.lower == (from + lead) % 128, "lower address %x, expected %llx", h.lower, (unsigned long long)(from + lead) % 128);
    unsigned end = e.at + h.len;
    CHECK(end == e.len || (end < e.len && (e.addr + 4 * end) % 128 == 0), "a completion that ends %u dwords behind %llx", end, (unsigned long long)e.addr);
    for (unsigned i = 0; i < h.len; ++i) {
      uint64_t a = from + 4 * i, q = a & ~7ull;
      unsigned be = e.at + i == 0 ? e.first_be : e.at + i == e.len - 1 ? e.last_be : 15;
      uint32_t mask = 0, got = d[3 + i];
      for (int b = 0; b < 4; ++b) mask |= be >> b & 1 ? 0xffu << 8 * b : 0;
      auto same = [&](uint64_t v) { return ((uint32_t(v >> 8 * (a & 4)) ^ got) & mask) == 0; };
      bool right = nothing ? got == 0 : e.bar == 4 ? same(a < 16 * VECTORS ? table[a / 8] : 0) : same(reg_at(q, e.version));
      for (size_t v = e.version; !right && e.bar == 0 && v < reg_log.size(); ++v) right = reg_log[v].first == q && same(reg_log[v].second);
      CHECK(right, "%08x at %llx of BAR %u, mask %x", got, (unsigned long long)a, e.bar, mask);
      CHECK(nothing || e.bar == 4 || !bad(q), "data of a register that answers with an error");
    }
    split_reads += e.at == 0 && end < e.len;
    e.at = end;
    e.bytes_left -= h.len * 4 - lead;
    if (end == e.len) reads.erase(it);
  }

  // ---- registers and windows, as the core has them ----
  bool aw = false, w = false, ar = false, b = false, waw = false, wb = false;
  uint64_t aw_addr = 0, w_data = 0, ar_addr = 0, waw_addr = 0, ar_count = 0;
  unsigned w_strb = 0, waw_len = 0, waw_beat = 0;
  std::map<uint64_t, uint64_t> reg_now;
  tb::Steady axil_aw, axil_w, axil_ar, axi_aw, axi_w;
  bool pass(unsigned p) { return random.percent(p); }
  void drive_core() {
    top.m_axil_awready = !aw && pass(mood), top.m_axil_wready = !w && pass(mood), top.m_axil_arready = !ar && pass(mood);
    top.m_axil_bvalid = b, top.m_axil_bresp = resp(aw_addr);
    top.m_axil_rvalid = r_offered = ar && (r_offered || pass(mood));
    uint64_t value = reg_now.count(ar_addr) ? reg_now[ar_addr] : tb::Store::hash(ar_addr);
    top.m_axil_rdata = r_offered ? value : random.next(), top.m_axil_rresp = r_offered ? resp(ar_addr) : 0;
    top.m_axi_awready = !waw && pass(mood), top.m_axi_wready = waw && !wb && pass(mood);
    top.m_axi_bvalid = wb, top.m_axi_bresp = 0;
  }
  bool r_offered = false;
  void clock_core() {
    axil_aw.watch("register address", top.m_axil_awvalid, top.m_axil_awready, top.m_axil_awaddr);
    axil_w.watch("register data", top.m_axil_wvalid, top.m_axil_wready, top.m_axil_wdata, top.m_axil_wstrb);
    axil_ar.watch("register read", top.m_axil_arvalid, top.m_axil_arready, top.m_axil_araddr);
    axi_aw.watch("window address", top.m_axi_awvalid, top.m_axi_awready, top.m_axi_awaddr, top.m_axi_awlen);
    axi_w.watch("window data", top.m_axi_wvalid, top.m_axi_wready, top.m_axi_wdata, top.m_axi_wstrb, top.m_axi_wlast);
    if (b && top.m_axil_bready) b = aw = w = false;
    if (top.m_axil_awvalid && top.m_axil_awready) aw = true, aw_addr = top.m_axil_awaddr;
    if (top.m_axil_wvalid && top.m_axil_wready) w = true, w_data = top.m_axil_wdata, w_strb = top.m_axil_wstrb;
    if (aw && w && !b && pass(mood)) {
      CHECK(!regs_due.empty(), "a register is written that nobody wrote");
      Write e = regs_due.front();
      uint64_t m = merge(0, ~0ull, e.strobes);
      CHECK(aw_addr == e.addr && w_strb == e.strobes && ((w_data ^ e.data) & m) == 0, "register %llx strobes %x, expected %llx %x",
            (unsigned long long)aw_addr, w_strb, (unsigned long long)e.addr, e.strobes);
      uint64_t old = reg_now.count(aw_addr) ? reg_now[aw_addr] : tb::Store::hash(aw_addr);
      reg_now[aw_addr] = merge(old, w_data, uint8_t(w_strb));
      regs_due.pop_front();
      b = true;
    }
    if (r_offered && top.m_axil_rready) r_offered = ar = false;
    if (top.m_axil_arvalid && top.m_axil_arready) {
      CHECK(top.m_axil_araddr % 8 == 0, "register read at %x", top.m_axil_araddr);
      ar = true, ar_addr = top.m_axil_araddr;
    }
    if (wb && top.m_axi_bready) wb = waw = false;
    if (top.m_axi_wvalid && top.m_axi_wready) {
      uint64_t a = waw_addr + 8 * waw_beat;
      CHECK(bool(top.m_axi_wlast) == (waw_beat == waw_len), "wlast at beat %u of %u", waw_beat, waw_len + 1);
      if (top.m_axi_wstrb) {
        CHECK(!windows_due.empty(), "a window is written that nobody wrote");
        Write e = windows_due.front();
        CHECK(a == e.addr && top.m_axi_wstrb == e.strobes && ((top.m_axi_wdata ^ e.data) & merge(0, ~0ull, e.strobes)) == 0,
              "window %llx strobes %x, expected %llx %x", (unsigned long long)a, top.m_axi_wstrb, (unsigned long long)e.addr, e.strobes);
        windows_due.pop_front();
      }
      wb = waw_beat++ == waw_len;
    }
    if (top.m_axi_awvalid && top.m_axi_awready) {
      tb::check_burst(top.m_axi_awaddr, top.m_axi_awlen);
      waw = true, waw_addr = top.m_axi_awaddr, waw_len = top.m_axi_awlen, waw_beat = 0;
    }
  }

  // ---- the DMA of the core ----
  struct Out { uint64_t addr; unsigned len, beat = 0; std::vector<std::pair<uint64_t, uint8_t>> beats; bool refused; };
  std::deque<Out> to_send;       // address taken or not
  std::deque<std::pair<bool, int64_t>> answers;  // refused, bytes up to here
  std::deque<std::pair<uint64_t, uint8_t>> bytes_due;
  bool aw_offer = false, w_offer = false, aw_gone = false, ar_offer = false;
  uint64_t ar_now = 0;
  unsigned ar_len = 0;
  std::deque<Beat> beats;
  std::deque<std::pair<int64_t, unsigned>> asks;  // per read burst: bytes answered when its address was taken, beats
  int64_t dma_total = 0, dma_answered = 0, dma_seen = 0;
  uint64_t written = 0, refused = 0, read_beats = 0, bad_beats = 0, since_read = 0;
  unsigned dma = 0;              // percent of cycles in which something new is begun
  tb::Steady b_steady, r_steady;
  bool long_bursts = false;
  unsigned lines = 0;            // 1: writes of whole lines alone, 2: reads

  void new_write() {
    Out o{};
    unsigned beats_n = long_bursts && random.percent(30) ? 1 + unsigned(random.below(128)) : 1 + unsigned(random.below(8));
    o.addr = (random.percent(50) ? 0x2000000000 : 0x10000000) + random.below(1 << 20) * 8;
    unsigned room = unsigned(beats_n <= 8 ? 8 - o.addr / 8 % 8 : 512 - o.addr / 8 % 512);
    o.len = std::min(beats_n, room);
    unsigned lead = random.percent(50) ? 0 : unsigned(random.below(8)), trail = random.percent(50) ? 0 : unsigned(random.below(8));
    if (o.len == 1 && lead + trail > 7) trail = 0;
    bool holes = o.len > 1 && o.len <= 8 && random.percent(4), empty = o.len == 1 && random.percent(3);
    unsigned hole = unsigned(random.below(o.len));
    o.refused = holes || !top.bus_master;
    for (unsigned i = 0; i < o.len; ++i) {
      uint8_t s = 0xff;
      if (i == 0) s &= uint8_t(0xff << lead);
      if (i == o.len - 1) s &= uint8_t(0xff >> trail);
      if (holes && i == hole) s = uint8_t(hole == 0 ? 0x7f : hole == o.len - 1 ? 0xfe : 0xf7);
      if (o.len == 1 && s == 0xff && random.percent(10)) s = 0xa5;  // any bytes of two dwords
      if (empty) s = 0;
      o.beats.emplace_back(random.next(), s);
    }
    for (unsigned i = 0; !o.refused && i < o.len; ++i)
      for (unsigned k = 0; k < 8; ++k)
        if (o.beats[i].second >> k & 1) bytes_due.emplace_back(o.addr + 8 * i + k, uint8_t(o.beats[i].first >> 8 * k)), ++dma_total;
    answers.emplace_back(o.refused, dma_total);
    to_send.push_back(o);
  }
  void new_line() {
    Out o{0x2000000000 + random.below(1 << 20) * 64, 8, 0, {}, false};
    for (unsigned i = 0; i < 8; ++i) {
      o.beats.emplace_back(random.next(), uint8_t(0xff));
      for (unsigned k = 0; k < 8; ++k) bytes_due.emplace_back(o.addr + 8 * i + k, uint8_t(o.beats[i].first >> 8 * k)), ++dma_total;
    }
    answers.emplace_back(false, dma_total);
    to_send.push_back(o);
  }
  void drive_dma() {
    if (to_send.size() < 2 && lines != 2 && pass(dma)) lines ? new_line() : new_write();
    aw_offer = !to_send.empty() && !aw_gone && (aw_offer || pass(mood));
    w_offer = !to_send.empty() && to_send.front().beat < to_send.front().len && (aw_gone || aw_offer) && (w_offer || pass(mood));
    top.s_axi_awvalid = aw_offer, top.s_axi_wvalid = w_offer;
    if (!to_send.empty()) {
      Out& o = to_send.front();
      top.s_axi_awaddr = o.addr, top.s_axi_awlen = o.len - 1;
      if (w_offer) top.s_axi_wdata = o.beats[o.beat].first, top.s_axi_wstrb = o.beats[o.beat].second, top.s_axi_wlast = o.beat + 1 == o.len;
    }
    top.s_axi_bready = pass(mood), top.s_axi_rready = pass(mood);
    if (!ar_offer && lines != 1 && pass(dma) && beats.size() < 600) {
      ar_offer = true;
      ar_now = (random.percent(50) ? 0x3000000000 : 0x40000000) + random.below(1 << 20) * 8;
      unsigned n = long_bursts && random.percent(30) ? 1 + unsigned(random.below(128)) : 1 + unsigned(random.below(8));
      ar_len = std::min<unsigned>(n, unsigned(n <= 8 ? 8 - ar_now / 8 % 8 : 512 - ar_now / 8 % 512));
    }
    if (ar_offer && lines) ar_now &= ~63ull, ar_now |= 0x3000000000, ar_len = 8;
    top.s_axi_arvalid = ar_offer, top.s_axi_araddr = ar_now, top.s_axi_arlen = ar_len - 1;
  }
  void clock_dma() {
    b_steady.watch("answer to a write", top.s_axi_bvalid, top.s_axi_bready, top.s_axi_bresp);
    r_steady.watch("data", top.s_axi_rvalid, top.s_axi_rready, top.s_axi_rdata, top.s_axi_rresp, top.s_axi_rlast);
    if (w_offer && top.s_axi_wready) w_offer = false, ++to_send.front().beat;
    if (aw_offer && top.s_axi_awready) aw_offer = false, aw_gone = true;
    if (aw_gone && to_send.front().beat == to_send.front().len) aw_gone = false, to_send.pop_front();
    if (top.s_axi_bvalid && top.s_axi_bready) {
      CHECK(!answers.empty() && answers.size() > to_send.size(), "an answer to nothing");
      CHECK(top.s_axi_bresp == (answers.front().first ? 2 : 0), "answer %u", top.s_axi_bresp);
      refused += answers.front().first, ++written;
      dma_answered = answers.front().second;
      answers.pop_front();
    }
    if (ar_offer && top.s_axi_arready) {
      ar_offer = false;
      for (unsigned i = 0; i < ar_len; ++i) beats.push_back({ar_now + 8 * i, i + 1 == ar_len, !top.bus_master, tb::Requests::ERROR});
      if (top.bus_master) asks.emplace_back(dma_answered, ar_len);
    }
    ++since_read;
    if (top.s_axi_rvalid && top.s_axi_rready) {
      CHECK(!beats.empty() && beats.front().asked, "data that nobody asked for");
      Beat x = beats.front();
      beats.pop_front();
      bool wrong = x.fate != tb::Requests::GOOD;
      CHECK(top.s_axi_rlast == x.last && top.s_axi_rresp == (wrong ? 2 : 0), "last %u response %u, expected %u %u (%u)", top.s_axi_rlast, top.s_axi_rresp, x.last, wrong ? 2 : 0, x.fate);
      CHECK(top.s_axi_rdata == (wrong ? 0 : memory.quad(x.addr)), "%016llx from %llx", (unsigned long long)top.s_axi_rdata, (unsigned long long)x.addr);
      ++read_beats, bad_beats += wrong, since_read = 0;
    }
    if (beats.empty()) since_read = 0;
    CHECK(since_read < 5 * TB_TICK, "a read has no answer after %llu cycles", (unsigned long long)since_read);
  }

  // ---- interrupts ---- The line stays until its interrupt has arrived. While the vector is masked
  // it may fall before: then there is none.
  bool irq_was = false, wanted = false, masked_now = false;
  std::deque<int64_t> open_rises;  // bytes of DMA that were answered then
  uint64_t interrupts = 0;

  void arrived(const Dwords& d) {
    Header h = Header::of(d);
    if (h.kind == Header::COMPLETION || h.kind == Header::LOCKED_COMPLETION) return completion(h, d);
    rc.check(h, d.size());
    CHECK(top.bus_master || stopping, "a request while the function may not send any");
    if (!h.data) {
      CHECK(!asks.empty() && dma_seen >= asks.front().first, "a read passed writes");
      tb::Requests::Fate fate = rc.read(h);
      size_t i = 0;
      while (i < beats.size() && beats[i].asked) ++i;
      uint64_t a = h.addr;
      for (unsigned k = 0; k < h.len / 2; ++k, ++i, a += 8) {
        CHECK(i < beats.size() && beats[i].addr == a, "a read of %llx", (unsigned long long)a);
        beats[i].asked = true, beats[i].fate = fate;
      }
      CHECK(asks.front().second >= h.len / 2, "a read longer than its burst");
      if ((asks.front().second -= h.len / 2) == 0) asks.pop_front();
      return;
    }
    if (h.addr >> 20 == MSI >> 20) {
      CHECK(h.addr == (table[0] & ~3ull) && h.len == 1 && h.first_be == 15 && d[h.dwords()] == uint32_t(table[1]), "interrupt %08x to %llx", d[h.dwords()],
            (unsigned long long)h.addr);
      CHECK(!open_rises.empty(), "an interrupt that nobody asked for");
      CHECK(dma_seen >= open_rises.front(), "an interrupt passed writes");
      open_rises.pop_front();
      wanted = false, ++interrupts;
      return;
    }
    for (unsigned i = 0; i < h.len; ++i) {
      unsigned be = i == 0 ? h.first_be : i == h.len - 1 ? h.last_be : 15;
      for (unsigned k = 0; k < 4; ++k) {
        if (!(be >> k & 1)) continue;
        CHECK(!bytes_due.empty() && bytes_due.front() == std::make_pair(h.addr + 4 * i + k, uint8_t(d[h.dwords() + i] >> 8 * k)), "a byte at %llx, expected %llx",
              (unsigned long long)(h.addr + 4 * i + k), bytes_due.empty() ? 0ull : (unsigned long long)bytes_due.front().first);
        bytes_due.pop_front(), ++dma_seen;
      }
    }
  }

  bool stopping = false;
  unsigned host = 0, np_low = 0, irqs = 0;
  bool honour = true;
  void junk() {
    Tlp t{};
    switch (random.below(TB_PHY == 0 ? 4 : 3)) {
      case 0: t.dw = {0x4a000002, 0x01000008, uint32_t(ID << 16 | 0xff00), 1, 2}, ++rc.unexpected; break;  // a tag that is none
      case 1: t.dw = {0x34000000 | uint32_t(random.below(8)) << 24, HOST << 16, 0, 0}; break;              // a message
      case 2: t.dw = {0x1f000001, HOST << 16, 0x1000}, ++malformed; break;                                // a type that is none
      default: t.dw = {0x00000001, HOST << 16}, ++malformed; break;                                       // less than a header
    }
    wire.out.push_back(t);
  }
  void step() {
    if (wire.out.size() < 3) {
      if (pass(host)) host_write();
      else if (pass(host) && (top.rx_np_ok || !honour)) host_read();
      else if (pass(host) && random.percent(10)) junk();
    }
    wire.drive();
    drive_core();
    drive_dma();
    top.np_ok = !pass(np_low);
    if (pass(irqs) && (!wanted || masked_now)) top.irq = !top.irq;
    settle();
    if (top.irq && !irq_was) open_rises.push_back(dma_answered), wanted = true;
    if (!top.irq) open_rises.clear(), wanted = false;
    irq_was = top.irq;
    if (top.m_axil_rvalid && top.m_axil_rready) {
      // Whose register it is: the oldest read that wants it. Completions leave in order, so it is
      // enough to mark all.
      for (auto& r : reads)
        if (r.second.posted < 0 && r.second.bar == 0 && !r.second.ur && ar_addr >= (r.second.addr & ~7ull) && ar_addr < r.second.addr + 4 * r.second.len && only(ar_addr)) r.second.posted = dma_answered;
    }
    clock_core();
    clock_dma();
    Dwords d = wire.clock();
    if (!d.empty()) arrived(d);
    rc.clock(wire.out);
    edge();
  }
  // One read alone wants this register, so it is that which is done.
  bool only(uint64_t reg) const {
    unsigned n = 0;
    for (const auto& r : reads) n += r.second.bar == 0 && reg >= (r.second.addr & ~7ull) && reg < r.second.addr + 4 * r.second.len;
    return n == 1;
  }
  bool quiet() const {
    return reads.empty() && beats.empty() && bytes_due.empty() && answers.empty() && regs_due.empty() && windows_due.empty() && wire.out.empty() &&
           rc.open.empty() && rc.late.empty() && !ar_offer && to_send.empty() && top.idle;
  }
  void drain() {
    unsigned h = std::exchange(host, 0), d = std::exchange(dma, 0), n = std::exchange(np_low, 0), i = std::exchange(irqs, 0);
    step();
    for (int k = 0; !quiet(); ++k) {
      CHECK(k < 200000, "stuck: %zu reads of the host, %zu beats, %zu bytes, %zu answers, %zu TLPs, registers %zu windows %zu", reads.size(), beats.size(), bytes_due.size(), answers.size(),
            wire.out.size(), regs_due.size(), windows_due.size());
      step();
    }
    for (int k = 0; k < 20; ++k) step();
    host = h, dma = d, np_low = n, irqs = i;
    CHECK(top.malformed == malformed && top.unsupported == unsupported && top.poisoned == poisoned + rc.poisoned, "malformed %u unsupported %u poisoned %u, expected %llu %llu %llu",
          top.malformed, top.unsupported, top.poisoned, (unsigned long long)malformed, (unsigned long long)unsupported, (unsigned long long)(poisoned + rc.poisoned));
    CHECK(top.timeouts == rc.lost && top.failed == rc.failed && top.unexpected == rc.unexpected, "timeouts %u failed %u unexpected %u, expected %llu %llu %llu", top.timeouts,
          top.failed, top.unexpected, (unsigned long long)rc.lost, (unsigned long long)rc.failed, (unsigned long long)rc.unexpected);
    CHECK(top.write_errors == write_errors, "%u errors of writes, expected %llu", top.write_errors, (unsigned long long)write_errors);
    reg_log.clear();
    for (auto& r : reg_now) reg_log.emplace_back(r.first, r.second);
  }
  // The table is written while nothing is under way: what an interrupt then has is certain.
  void set_table(unsigned entry, uint64_t value) {
    table[entry] = value;
    Tlp t{tb::request(0, true, TABLE + entry * 8, 2, 15, 15, HOST, 0), 4};
    t.dw.push_back(uint32_t(value)), t.dw.push_back(uint32_t(value >> 32));
    wire.out.push_back(t);
    drain();
  }
};

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.top.id = ID, t.rc.id = ID, t.top.bus_master = 1, t.top.msix_enable = 1;
  t.rc.patience = 3 * TB_TICK;
  t.reset();
  for (unsigned v = 0; v < t.VECTORS; ++v) t.set_table(2 * v, MSI + 0x100 * v), t.set_table(2 * v + 1, 1ull << 32 | (v + 7));
  uint64_t masked = 0, stopped = 0;
  for (int phase = 0; phase < 80; ++phase) {
    t.top.mps = t.rc.mps = unsigned(t.random.below(4)), t.top.mrrs = t.rc.mrrs = unsigned(t.random.below(6));
    t.rc.rcb = t.random.percent(50) ? 64 : 128, t.rc.latency = t.random.percent(50) ? 8 : 300;
    t.rc.errors_per_1000 = t.random.percent(50) ? 0 : 30, t.rc.wrong_per_1000 = t.random.percent(50) ? 0 : 30;
    t.rc.lost_per_1000 = t.random.percent(60) ? 0 : 30;
    t.wire.offer = t.random.mood(), t.wire.take = t.random.mood(), t.mood = t.random.mood();
    t.long_bursts = t.random.percent(50), t.honour = t.random.percent(70);
    t.host = t.random.mood() / 4, t.dma = t.random.percent(20) ? 0 : t.random.mood() / 2, t.np_low = t.random.percent(50) ? 0 : 80, t.irqs = unsigned(t.random.below(3));
    bool mask = t.random.percent(30);
    t.set_table(1, (mask ? 1ull << 32 : 0) | t.random.below(1 << 20));
    t.masked_now = mask;
    uint64_t before = t.interrupts;
    for (int i = 0; i < 4000; ++i) t.step();
    t.drain();
    CHECK(!mask || t.interrupts <= before, "an interrupt of a masked vector");
    masked += mask && t.wanted;
    t.masked_now = false;
    if (mask) t.set_table(1, t.random.below(1 << 20));
    t.drain();
    CHECK(!t.wanted, "an interrupt has not come");
    t.open_rises.clear();
    if (phase % 8 == 7) {  // the function may not send requests: all is refused, nothing leaves
      t.top.bus_master = 0;
      for (int i = 0; i < 500; ++i) t.step();
      t.irqs = 0, t.drain();
      stopped += t.refused;
      t.top.bus_master = 1;
      t.drain();
    }
  }
  // Whole lines, one behind the other, when nothing stands in the way: cycles for one.
  t.wire.offer = t.wire.take = t.mood = 100, t.host = t.np_low = t.irqs = 0, t.dma = 100;
  t.rc.errors_per_1000 = t.rc.wrong_per_1000 = t.rc.lost_per_1000 = 0, t.rc.latency = 1, t.rc.rcb = 64, t.top.mrrs = t.rc.mrrs = 0;
  for (t.lines = 1; t.lines <= 2; ++t.lines) {
    for (int i = 0; i < 400; ++i) t.step();
    uint64_t from = t.lines == 1 ? t.written : t.read_beats / 8;
    for (int i = 0; i < 1100; ++i) t.step();
    uint64_t done = (t.lines == 1 ? t.written : t.read_beats / 8) - from;
    // Completions come in any order, so some reads wait for the one in front of them.
    // The model of a hard block takes a beat of 128 bits in two cycles, a real one in one.
    CHECK(TB_PHY != 0 || done >= (t.lines == 1 ? 109u : 85u), "%s of %llu lines in 1100 cycles", t.lines == 1 ? "writes" : "reads", (unsigned long long)done);
    t.drain();
  }
  CHECK(t.host_writes > 1000 && t.host_reads > 1000 && t.split_reads > 100 && t.errors_read > 50 && t.written > 2000 && t.refused > 50 && t.read_beats > 10000 && t.bad_beats > 100 &&
            t.rc.lost > 5 && t.rc.late_sent > 0 && t.rc.unexpected > 20 && t.rc.failed > 10 && t.rc.most > 8 && t.rc.reordered > 500 && (t.rc.split > 100 || TB_SLOT == 64) && t.interrupts > 100 && masked > 0 && stopped > 0,
        "%llu writes %llu reads (%llu in parts, %llu errors) of the host; %llu writes (%llu refused), %llu beats (%llu bad); lost %llu late %llu unexpected %llu failed %llu, %llu under way, %llu out of "
        "order, %llu in parts; %llu interrupts, %llu masked, %llu stopped: the scenario lost its point",
        (unsigned long long)t.host_writes, (unsigned long long)t.host_reads, (unsigned long long)t.split_reads, (unsigned long long)t.errors_read, (unsigned long long)t.written,
        (unsigned long long)t.refused, (unsigned long long)t.read_beats, (unsigned long long)t.bad_beats, (unsigned long long)t.rc.lost, (unsigned long long)t.rc.late_sent,
        (unsigned long long)t.rc.unexpected, (unsigned long long)t.rc.failed, (unsigned long long)t.rc.most, (unsigned long long)t.rc.reordered, (unsigned long long)t.rc.split,
        (unsigned long long)t.interrupts, (unsigned long long)masked, (unsigned long long)stopped);
}
