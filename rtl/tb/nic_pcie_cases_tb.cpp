// nic_pcie_cases: single situations of nic_pcie, each from a state that is known, where nic_pcie_tb
// has random traffic: resets of the core and of the function while requests are outstanding, Bus
// Master Enable cleared while requests are queued, the enables of MSI-X and of extended tags,
// completions that say UR.
#include "Vnic_pcie.h"
#include "root_complex.h"

#include "bus_master_storm.h"

namespace {

using tb::Header;
using tb::Tlp;
using Dwords = std::vector<uint32_t>;

constexpr unsigned WIDTH = TB_W / 32, ID = 0x0318, HOST = 0x0008;
constexpr uint64_t REGS = 0xd0000000, WINDOW = 0x7fe0000000, TABLE = 0xd8000000, MSI = 0xfee00000;
constexpr uint64_t FROM = 0x3000000000, TO = 0x2000000000;

struct Got {
  Header h;
  Dwords dw;
  uint64_t begin;  // cycle in which its first beat was offered
};
struct Burst { uint64_t addr; unsigned beats, beat = 0; bool addressed = false; };

uint64_t value(uint64_t addr) { return tb::Store::hash(addr ^ 0x1234); }

struct Cases : tb::Bench<Vnic_pcie> {
  tb::Streams<Vnic_pcie, WIDTH> wire{top, random};
  tb::Store memory;
  tb::Requests rc{random, memory};
  using Bench::Bench;

  // ---- the core: its DMA, and registers that hold the address ----
  std::deque<Burst> writes, reads;
  std::map<uint64_t, uint64_t> queued;                // address of a burst: cycle in which all of it was taken
  std::vector<unsigned> answers;                      // of writes
  std::vector<std::pair<unsigned, uint64_t>> beats;   // response and data
  std::vector<uint64_t> registers_written;
  bool core_stalls = false;                           // its register port takes nothing
  bool aw = false, w = false, ar = false, answer_due = false;
  uint64_t aw_addr = 0, ar_addr = 0;
  std::vector<Got> got;
  uint64_t begun = 0;
  bool beginning = false;

  bool core_in_reset() { return top.rst || top.core_rst || top.flr; }
  void step() {
    bool down = core_in_reset();
    if (down) writes.clear(), reads.clear(), aw = w = ar = answer_due = false;
    wire.drive();
    top.s_axi_awvalid = !writes.empty() && !writes.front().addressed;
    top.s_axi_wvalid = !writes.empty();
    if (!writes.empty()) {
      const Burst& b = writes.front();
      top.s_axi_awaddr = b.addr, top.s_axi_awlen = b.beats - 1;
      top.s_axi_wdata = value(b.addr + 8 * b.beat), top.s_axi_wstrb = 0xff, top.s_axi_wlast = b.beat + 1 == b.beats;
    }
    top.s_axi_arvalid = !reads.empty();
    if (!reads.empty()) top.s_axi_araddr = reads.front().addr, top.s_axi_arlen = reads.front().beats - 1;
    top.s_axi_bready = top.s_axi_rready = !down;
    top.m_axil_awready = !down && !aw && !core_stalls, top.m_axil_wready = !down && !w && !core_stalls;
    top.m_axil_bvalid = answer_due && !core_stalls, top.m_axil_bresp = 0;
    top.m_axil_arready = !down && !ar && !core_stalls, top.m_axil_rvalid = ar && !core_stalls, top.m_axil_rdata = ar_addr, top.m_axil_rresp = 0;
    settle();
    if (down) {
      CHECK(top.rst || !(top.m_axil_awvalid || top.m_axil_wvalid || top.m_axil_arvalid || top.m_axi_awvalid || top.m_axi_wvalid),
            "an access is offered to a core that is in reset");
    } else {
      if (top.s_axi_awvalid && top.s_axi_awready) writes.front().addressed = true;
      if (top.s_axi_wvalid && top.s_axi_wready && ++writes.front().beat == writes.front().beats)
        queued[writes.front().addr] = tb::cycle, writes.pop_front();
      if (top.s_axi_arvalid && top.s_axi_arready) queued[reads.front().addr] = tb::cycle, reads.pop_front();
      if (top.s_axi_bvalid) answers.push_back(top.s_axi_bresp);
      if (top.s_axi_rvalid) beats.emplace_back(top.s_axi_rresp, top.s_axi_rdata);
      if (answer_due && top.m_axil_bvalid && top.m_axil_bready) registers_written.push_back(aw_addr), aw = w = answer_due = false;
      if (top.m_axil_awvalid && top.m_axil_awready) aw = true, aw_addr = top.m_axil_awaddr;
      if (top.m_axil_wvalid && top.m_axil_wready) w = true;
      answer_due = aw && w;
      if (top.m_axil_rvalid && top.m_axil_rready) ar = false;
      if (top.m_axil_arvalid && top.m_axil_arready) ar = true, ar_addr = top.m_axil_araddr;
    }
    if (top.m_tlp_valid && wire.in.empty() && !beginning) begun = tb::cycle, beginning = true;
    Dwords d = wire.clock();
    if (!d.empty()) got.push_back({Header::of(d), d, begun});
    if (!d.empty() || !top.m_tlp_valid) beginning = false;
    edge();
  }
  void run(unsigned cycles) { while (cycles--) step(); }
  void start() {
    got.clear(), answers.clear(), beats.clear(), registers_written.clear(), writes.clear(), reads.clear();
    wire.out.clear(), wire.in.clear(), wire.at = 0, wire.held = wire.was = false;
    aw = w = ar = answer_due = false, core_stalls = false;
    top.core_rst = top.flr = 0, top.bus_master = 1, top.ext_tag_enable = 1, top.np_ok = 1, top.irq = 0;
    top.msix_enable = 1, top.msix_mask = 0, top.mps = 0, top.mrrs = 0, wire.take = wire.offer = 100;
    top.rst = 1;
    run(3);
    top.rst = 0;
    wire.in.clear(), got.clear(), beginning = false;  // what a register held at power-on
    run(3);
  }
  void core_reset(bool function) {
    (function ? top.flr : top.core_rst) = 1;
    run(10);
    top.flr = top.core_rst = 0;
    run(3);
  }
  void write(uint64_t addr) { writes.push_back({addr, 8}); }
  void read(uint64_t addr) { reads.push_back({addr, 8}); }
  void complete(const Got& r) {
    std::vector<uint32_t> data;
    for (unsigned i = 0; i < r.h.len; i += 2) {
      uint64_t q = value(r.h.addr + 4 * i);
      data.push_back(uint32_t(q)), data.push_back(uint32_t(q >> 32));
    }
    wire.out.push_back(rc.completion(r.h.tag, 0, 4 * r.h.len, r.h.addr & 127, data));
  }
  std::vector<Got> requests() const {
    std::vector<Got> list;
    for (const Got& g : got)
      if (g.h.kind == Header::MEMORY) list.push_back(g);
    return list;
  }
  void check_beats(const char* what, uint64_t addr, unsigned resp = 0) {
    CHECK(beats.size() == 8, "%s: %zu beats, expected 8", what, beats.size());
    for (unsigned i = 0; i < 8; ++i) {
      CHECK(beats[i].first == resp, "%s: response %u, expected %u", what, beats[i].first, resp);
      CHECK(resp || beats[i].second == value(addr + 8 * i), "%s: beat %u is foreign data", what, i);
    }
    beats.clear();
  }
  void set_vector(unsigned v, bool masked) {
    Dwords d = tb::request(0, true, TABLE + 16 * v, 4, 15, 15, HOST, 0);
    for (uint32_t x : {uint32_t(MSI + 0x100 * v), 0u, v + 7, uint32_t(masked)}) d.push_back(x);
    wire.out.push_back({d, 4});
    run(30);
  }
  Dwords host_read(unsigned kind, bool data, uint64_t addr, unsigned len, unsigned first, unsigned last, unsigned bar, unsigned tag) {
    Dwords d = tb::request(kind, data, addr, len, first, last, HOST, tag);
    if (data) d.resize(d.size() + len);
    got.clear();
    wire.out.push_back({d, bar});
    for (int i = 0; i < 200 && got.empty(); ++i) step();
    CHECK(got.size() == 1 && got[0].h.kind == Header::COMPLETION && got[0].h.tag == tag, "no completion of tag %u", tag);
    return got[0].dw;
  }

  // ---- a completion from before a reset ----
  void stale_completion(bool function) {
    start();
    read(FROM);
    run(60);
    CHECK(requests().size() == 1, "%zu read requests, expected 1", requests().size());
    CHECK(top.transactions_pending, "no transaction is pending");
    Got old = requests()[0];
    core_reset(function);
    CHECK(bool(top.transactions_pending) == !function, "transactions pending %u after a reset of %s", top.transactions_pending, function ? "the function" : "the core");
    got.clear();
    // As many as there are tags: one of them would meet the old one's.
    for (unsigned i = 0; i < TB_TAGS - 1; ++i) {
      uint64_t addr = FROM + 0x10000 + 0x80 * i;
      read(addr);
      run(60);
      CHECK(requests().size() == 1, "no request after the reset");
      Got now = requests()[0];
      CHECK(now.h.tag != old.h.tag, "tag %u is used again while its completion may still arrive", old.h.tag);
      if (i == 0) {
        complete(old);
        run(30);
        CHECK(beats.empty(), "the core received data of a read from before its reset");
        CHECK(top.unexpected == (function ? 1u : 0u), "%u completions unexpected", top.unexpected);
        CHECK(bool(top.transactions_pending), "no transaction is pending");
        if (!function) old.h.tag = ~0u;  // its tag is free again
      }
      complete(now);
      run(30);
      check_beats("a read after the reset", addr);
      got.clear();
    }
    CHECK(!top.transactions_pending, "a transaction is pending");
    run(4 * TB_TICK);
    CHECK(top.idle, "not idle");
  }
  // A tag whose completion never arrives is free again when it has timed out and rested.
  void lost_completion(bool function) {
    start();
    for (unsigned i = 0; i < TB_TAGS; ++i) read(FROM + 0x80 * i);
    run(20 * TB_TAGS);
    CHECK(requests().size() == TB_TAGS, "%zu requests, expected %u", requests().size(), TB_TAGS);
    core_reset(function);
    got.clear();
    read(FROM + 0x8000);
    run(TB_TICK);
    CHECK(got.empty(), "a request while all tags may still have a completion");
    for (unsigned i = 0; i < 8 * TB_TICK && got.empty(); ++i) step();
    CHECK(got.size() == 1, "no tag became free");
    complete(got[0]);
    run(60);
    check_beats("a read with a tag that was lost", FROM + 0x8000);
    CHECK(top.timeouts == (function ? 0u : TB_TAGS), "%u time-outs", top.timeouts);
  }
  // A reset of the core cuts no TLP, and answers what the host has asked of it.
  void reset_in_traffic(bool function) {
    for (unsigned before = 0; before < 40; ++before) {
      start();
      wire.take = before % 3 ? 30 : 100;
      core_stalls = before & 1;
      for (unsigned i = 0; i < 4; ++i) write(TO + 0x80 * i), read(FROM + 0x80 * i);
      Dwords reg_read = tb::request(0, false, REGS + 0x40, 2, 15, 15, HOST, 5);
      Dwords reg_write = tb::request(0, true, REGS + 0x48, 2, 15, 15, HOST, 0);
      reg_write.resize(reg_write.size() + 2);
      Dwords line = tb::request(0, true, WINDOW + 0x80, 16, 15, 15, HOST, 0);
      line.resize(line.size() + 16);
      wire.out.push_back({reg_write, 0}), wire.out.push_back({line, 2}), wire.out.push_back({reg_read, 0});
      run(before);
      core_reset(function);
      wire.take = 100, core_stalls = false;
      run(300);
      unsigned completions = 0;
      for (const Got& g : got) {
        if (g.h.kind != Header::COMPLETION) rc.check(g.h, g.dw.size());
        else ++completions;
      }
      CHECK(completions == 1, "%u completions for a read of the host that met a reset after %u cycles", completions, before);
      answers.clear(), beats.clear(), got.clear();
      write(TO + 0x8000), read(FROM + 0x8000);
      run(100);
      CHECK(answers.size() == 1 && answers[0] == 0, "%zu answers to a write after the reset", answers.size());
      CHECK(requests().size() == 2, "%zu requests after the reset", requests().size());
      for (const Got& g : requests())
        if (!g.h.data) complete(g);
      run(60);
      check_beats("a read after a reset in traffic", FROM + 0x8000);
      Dwords c = host_read(0, false, REGS + 0x50, 2, 15, 15, 0, 9);
      CHECK(c.size() == 5 && c[3] == 0x50, "a register reads %x after the reset", c.size() == 5 ? c[3] : 0);
    }
  }

  // ---- Bus Master Enable ----
  void bus_master_cleared() {
    start();
    set_vector(0, false);
    wire.take = 0;
    for (unsigned i = 0; i < 3; ++i) write(TO + 0x80 * i);
    run(60);
    read(FROM);
    top.irq = 1;
    run(60);
    top.bus_master = 0;
    uint64_t cleared = tb::cycle;
    run(100);
    wire.take = 100;
    run(200);
    for (const Got& g : got)
      CHECK(g.begin <= cleared + 2, "a %s leaves %llu cycles after Bus Master Enable was cleared", g.h.data ? "write" : "read", (unsigned long long)(g.begin - cleared));
    CHECK(beats.size() == 8 && beats[0].first == 2 && beats[7].first == 2, "a read that was not sent: %zu beats", beats.size());
    CHECK(answers.size() == 3, "%zu answers, expected 3", answers.size());
    CHECK(!top.transactions_pending, "a read that was not sent is pending");
    // The host's reads are answered all the same.
    Dwords c = host_read(0, false, REGS + 0x50, 2, 15, 15, 0, 9);
    CHECK(c.size() == 5 && c[3] == 0x50, "a register cannot be read");
    got.clear(), answers.clear(), beats.clear();
    write(TO + 0x4000);
    run(40);
    CHECK(answers.size() == 1 && answers[0] == 2 && got.empty(), "a write while no request may leave: %zu answers", answers.size());
    answers.clear();
    top.bus_master = 1;
    run(40);
    CHECK(got.size() == 1 && got[0].h.addr == MSI, "the interrupt was lost: %zu TLPs", got.size());
    got.clear();
    write(TO + 0x5000), read(FROM + 0x5000);
    run(100);
    CHECK(answers.size() == 1 && answers[0] == 0 && requests().size() == 2, "%zu answers, %zu requests when requests may leave again", answers.size(), requests().size());
    for (const Got& g : requests()) {
      CHECK(g.h.addr == (g.h.data ? TO : FROM) + 0x5000, "a request from before: %llx", (unsigned long long)g.h.addr);
      if (!g.h.data) complete(g);
    }
    run(60);
    check_beats("a read when requests may leave again", FROM + 0x5000);
  }
  // A read that waits for credits, not for the stream.
  void bus_master_cleared_without_credits() {
    start();
    top.np_ok = 0;
    read(FROM);
    run(100);
    top.bus_master = 0;
    run(10);
    top.np_ok = 1;
    run(100);
    CHECK(requests().empty(), "a read leaves after Bus Master Enable was cleared");
    check_beats("a read that was not sent", FROM, 2);
  }

  // ---- MSI-X ----
  unsigned messages() {
    unsigned n = 0;
    for (const Got& g : got) n += g.h.kind == Header::MEMORY && g.h.data && g.h.addr >> 20 == MSI >> 20;
    got.clear();
    return n;
  }
  uint32_t pending() {
    Dwords c = host_read(0, false, TABLE + 0x800, 2, 15, 15, 4, 3);
    CHECK(c.size() == 5, "the pending bits cannot be read");
    got.clear();
    return c[3];
  }
  void pulse() {
    top.irq = 1;
    run(10);
    top.irq = 0;
    run(10);
  }
  void msix_disabled() {
    start();
    set_vector(0, false);
    top.msix_enable = 0;
    run(2);
    pulse();
    CHECK(pending() == 0, "pending bits accumulate while MSI-X is disabled");
    top.msix_enable = 1;
    run(40);
    CHECK(messages() == 0, "an interrupt from before MSI-X was enabled");
    // A line that is up when MSI-X is enabled is an interrupt that nobody has had.
    top.msix_enable = 0;
    top.irq = 1;
    run(20);
    CHECK(pending() == 0, "pending while MSI-X is disabled");
    top.msix_enable = 1;
    run(40);
    CHECK(messages() == 1, "the interrupt that waits when MSI-X is enabled is lost");
  }
  void msix_masked() {
    start();
    set_vector(0, true);
    top.irq = 1;
    run(20);
    CHECK(pending() == 1, "a masked vector is not pending");
    top.irq = 0;
    run(20);
    CHECK(pending() == 0, "a vector is pending although its cause is gone");
    top.irq = 1;
    run(20);
    CHECK(messages() == 0, "an interrupt of a masked vector");
    set_vector(0, false);
    run(20);
    CHECK(messages() == 1, "a pending vector is not sent when it is unmasked");
  }
  // Every line is a vector of its own: a rise sends its message whatever the others do, and a
  // masked vector holds up none of them.
  void msix_vectors() {
    start();
    constexpr unsigned VECTORS = NICLOOP_VPIDS + 1;
    for (unsigned v = 0; v < VECTORS; ++v) set_vector(v, false);
    auto expect = [&](const char* when, std::vector<unsigned> vectors) {
      run(120);
      std::vector<unsigned> sent;
      for (const Got& g : got)
        if (g.h.kind == Header::MEMORY && g.h.data) {
          unsigned v = unsigned(g.h.addr - MSI) / 0x100;
          CHECK(g.dw[g.h.dwords()] == v + 7, "%s: the address of vector %u, data %x", when, v, g.dw[g.h.dwords()]);
          sent.push_back(v);
        }
      std::sort(sent.begin(), sent.end());
      CHECK(sent == vectors, "%s: %zu messages, first of vector %u; expected %zu", when, sent.size(), sent.empty() ? 99 : sent[0], vectors.size());
      got.clear();
    };
    top.irq = 1 << 3;
    expect("a line rises", {3});
    top.irq |= 1 << 16;
    expect("a second line rises", {16});
    top.irq &= ~(1u << 3), run(5), top.irq |= 1 << 3;
    expect("the first rises again under the second", {3});
    set_vector(5, true);
    top.irq |= 1 << 5 | 1 << 0;
    expect("a masked vector and another", {0});
    CHECK(pending() == 1 << 5, "pending bits %x, expected those of vector 5", pending());
    set_vector(5, false);
    expect("the vector is unmasked", {5});
    top.irq = 0, run(5), top.irq = (1 << VECTORS) - 1;
    std::vector<unsigned> all(VECTORS);
    for (unsigned v = 0; v < VECTORS; ++v) all[v] = v;
    expect("all lines rise in one cycle", all);
    top.irq = 0;
  }

  // ---- tags ----
  void extended_tags() {
    for (unsigned on = 0; on < 2; ++on) {
      start();
      top.ext_tag_enable = on;
      for (unsigned i = 0; i < TB_TAGS; ++i) read(FROM + 0x80 * i);
      run(60 * TB_TAGS);
      unsigned most = 0;
      for (const Got& g : requests()) most = std::max(most, g.h.tag);
      CHECK(most == (on ? TB_TAGS - 1 : std::min(TB_TAGS, 32) - 1), "tag %u with extended tags %s", most, on ? "enabled" : "disabled");
    }
  }

  // ---- byte count of completions without data ----
  void unsupported_counts() {
    start();
    struct { unsigned kind; bool data; uint64_t addr; unsigned len, first, last, bar, count; } list[] = {
        {0, false, WINDOW + 0x10, 1, 6, 0, 2, 2},      // memory read: the bytes that are asked for
        {0, false, WINDOW + 0x10, 4, 14, 7, 2, 14},
        {0, false, WINDOW + 0x10, 1, 0, 0, 2, 1},
        {2, false, 0x1000, 1, 1, 0, 0, 4},             // I/O and configuration: always 4
        {2, true, 0x1000, 1, 6, 0, 0, 4},
        {4, false, 0x1000, 1, 4, 0, 0, 4},
        {5, true, 0x1000, 1, 12, 0, 0, 4},
        {12, true, REGS + 0x40, 2, 15, 15, 0, 8},      // FetchAdd, Swap: the operand
        {13, true, REGS + 0x40, 1, 15, 0, 0, 4},
        {14, true, REGS + 0x40, 2, 15, 15, 0, 4},      // CAS: half of what it has
        {14, true, REGS + 0x40, 4, 15, 15, 0, 8},
    };
    unsigned tag = 0;
    for (const auto& x : list) {
      Dwords c = host_read(x.kind, x.data, x.addr, x.len, x.first, x.last, x.bar, ++tag);
      Header h = Header::of(c);
      CHECK(h.status == 1 && c.size() == 3, "status %u for kind %u", h.status, x.kind);
      CHECK(h.count == x.count, "byte count %u in a completion with UR, expected %u (kind %u, %u dwords, enables %x %x)", h.count, x.count, x.kind, x.len, x.first, x.last);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Cases t(argc, argv);
  t.top.id = ID, t.rc.id = ID;
  const char* only = std::getenv("CASE");
#define RUN(call) if (!only || std::strstr(#call, only)) t.call
  RUN(stale_completion(false));
  RUN(stale_completion(true));
  RUN(lost_completion(false));
  RUN(lost_completion(true));
  RUN(reset_in_traffic(false));
  RUN(reset_in_traffic(true));
  RUN(bus_master_cleared());
  RUN(bus_master_cleared_without_credits());
  if (!only || std::strstr("bus_master_storm", only)) tb::bus_master_storm(t, TO, FROM);
  RUN(msix_disabled());
  RUN(msix_masked());
  RUN(msix_vectors());
  RUN(extended_tags());
  RUN(unsupported_counts());
}
