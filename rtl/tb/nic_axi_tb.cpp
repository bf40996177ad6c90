// nic_axi: the whole NIC behind AXI, its clock and the host's unrelated, every channel stalled at
// random.
// - registers in halves: a value is that of one moment, whatever is written in between; half a
//   write writes nothing;
// - messages of every length through the send windows into a mailbox, a put that reads memory, an
//   interrupt that leaves as a write;
// - resets in traffic, by the board's page and by flr: every access is answered, with SLVERR where
//   the core could not, every burst of DMA ends, late answers of memory reach nobody, and the NIC
//   works behind it as from power-on; links are let go with the rest, at power-on before it;
// - the core's clock stops: everything is answered; it comes back: so does the NIC;
// - answers of the bus to nothing are dropped and counted.
#include "Vnic_axi.h"
#include "axi_host.h"

namespace {

constexpr uint64_t kPage = 1 << 20, kControl = kPage + 0x1000, kStatus = kPage + 0x1004, kResets = kPage + 0x1008, kRefused = kPage + 0x100c, kStrays = kPage + 0x1010;
constexpr uint64_t kRing = 1024, kSlots = 8;

struct Test : tb::Bench<Vnic_axi> {
  tb::AxiHost<Vnic_axi> host{top, random};
  using Bench::Bench;

  unsigned try_write(uint64_t addr, uint64_t v) {
    unsigned lower = host.write32(addr, uint32_t(v)), upper = host.write32(addr + 4, uint32_t(v >> 32));
    return lower != 0 ? lower : upper;
  }
  void write(uint64_t addr, uint64_t v) {
    unsigned resp = try_write(addr, v);
    CHECK(resp == 0, "writing 0x%llx: response %u", (unsigned long long)addr, resp);
  }
  uint32_t read32(uint64_t addr) {
    uint32_t v;
    CHECK(host.read32(addr, v) == 0, "reading 0x%llx: response %u", (unsigned long long)addr, host.resp);
    return v;
  }
  uint64_t read(uint64_t addr) {
    uint64_t lower = read32(addr);
    return lower | uint64_t(read32(addr + 4)) << 32;
  }
  void moods() {
    static const unsigned speeds[][2] = {{5, 5}, {5, 4}, {3, 11}, {13, 3}, {4, 5}, {7, 2}};
    const unsigned* s = speeds[random.below(6)];
    host.host_half = s[0], host.core_half = s[1];
    static const unsigned of[] = {100, 70, 30};
    host.mood_slave = of[random.below(3)], host.mood_memory = of[random.below(3)];
    host.latency = unsigned(1 + random.below(random.percent(50) ? 5 : 150));
    static const tb::Order orders[] = {tb::Order::kAny, tb::Order::kAddressAfterData, tb::Order::kDataAfterTaken,
                                       tb::Order::kAfterBoth};
    host.memory_order = orders[random.below(4)];
  }
  void power_on() {
    top.m_axis_tready = 3, top.msix_enable = 1;
    top.eval();
    top.arst = 1;
    // Simulation waits for an edge where a chip has a level: a register that starts as if reset
    // hides arst until the first clock.
    Verilated::assertOn(false);
    for (int i = 0; i < 5; ++i) host.cycle();
    Verilated::assertOn(true);
    top.arst = 0;
    CHECK(host.write32(NICLOOP_REG_SCRATCH, 1) == 2, "a register answers while the core is reset");
    wait_open();
    CHECK(host.lead >= 50 && host.lead < 60, "links are let go %llu cycles before the rest, expected 50", (unsigned long long)host.lead);
  }
  void wait_open() {
    for (uint64_t from = tb::cycle; !(read32(kStatus) & 1);) CHECK(tb::cycle - from < 20000, "the core does not come back from its reset");
  }

  void registers() {
    CHECK(read(NICLOOP_REG_MAGIC) == NICLOOP_MAGIC_VALUE, "MAGIC is wrong");
    CHECK(read(NICLOOP_REG_DESC_HASH) == NICLOOP_DESC_HASH_VALUE, "DESC_HASH is wrong");
    uint64_t v = 0, bad = 0xffff8;
    uint32_t half;
    for (int i = 0; i < 10; ++i) {
      v = random.next();
      write(NICLOOP_REG_SCRATCH, v);
      CHECK(read(NICLOOP_REG_SCRATCH) == v, "SCRATCH does not keep what is written");
    }
    // A write between the halves of a read: both are of before.
    half = read32(NICLOOP_REG_SCRATCH);
    write(NICLOOP_REG_SCRATCH, ~v);
    CHECK(half == uint32_t(v) && read32(NICLOOP_REG_SCRATCH + 4) == uint32_t(v >> 32), "halves of different values");
    CHECK(read32(NICLOOP_REG_SCRATCH + 4) == uint32_t(~v >> 32), "an upper half by itself is not the register's");
    CHECK(host.write32(NICLOOP_REG_SCRATCH + 4, 5) == 2, "an upper half without its lower one is not refused");
    CHECK(host.write32(NICLOOP_REG_SCRATCH, 5) == 0 && host.write32(NICLOOP_REG_IRQ_MASK + 4, 5) == 2, "an upper half of another register is not refused");
    CHECK(host.write32(NICLOOP_REG_SCRATCH + 4, 5) == 2, "a lower half counts although another register came");
    CHECK(host.write32(NICLOOP_REG_SCRATCH, 5, 7) == 2 && host.write32(NICLOOP_REG_SCRATCH + 4, 5) == 2, "less than a dword is not refused");
    CHECK(read(NICLOOP_REG_SCRATCH) == ~v, "half a write has changed SCRATCH");
    CHECK(try_write(bad, 1) == 3 && host.read32(bad, half) == 3, "a register that is none is not refused");
    CHECK(read32(kPage + 0x2000) == 0 && host.write32(kPage + 0x2000, 1) == 0, "the rest of the board's page is not 0");
  }

  void table(unsigned vector, uint64_t addr, uint32_t data, bool masked) {
    uint64_t at = kPage + 16 * vector;
    uint32_t words[] = {uint32_t(addr), uint32_t(addr >> 32), data, masked};
    for (int i = 0; i < 4; ++i) CHECK(host.write32(at + 4 * i, words[i]) == 0, "the table is not written");
    for (int i = 0; i < 4; ++i) CHECK(read32(at + 4 * i) == words[i], "dword %d of the table is not what was written", i);
  }
  void mailbox() {
    write(NICLOOP_REG_PDID(2), 1);
    write(NICLOOP_REG_PDID(5), 1);
    write(NICLOOP_REG_MBOX_CTRL(2), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_WINDOW_MASK);
    write(NICLOOP_REG_MBOX_BASE(5), kRing);
    write(NICLOOP_REG_MBOX_SLOTS(5), kSlots);
    write(NICLOOP_REG_MBOX_CTRL(5), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_IRQ_ARRIVAL_MASK);
    write(NICLOOP_REG_IRQ_MASK, 1 << 5);
  }
  std::vector<uint64_t> message(uint64_t n) {
    std::vector<uint64_t> line(n == 0 ? 1 : (n + 7) / 8);
    for (uint64_t& q : line) q = random.next();
    uint64_t window = PACK(PIO_LENGTH, n) | PACK(PIO_DST_VPID, 5) | PACK(PIO_SRC_VPID, 2);
    if (line.size() > 1 && random.percent(50)) {
      size_t cut = 1 + random.below(line.size() - 1);
      host.send({unsigned(random.below(16)), window, {line.begin(), line.begin() + long(cut)}});
      host.send({unsigned(random.below(16)), window + 8 * cut, {line.begin() + long(cut), line.end()}});
    } else {
      host.send({unsigned(random.below(16)), window, line});
    }
    return line;
  }
  void messages(uint64_t step) {
    uint32_t data = uint32_t(random.next());
    uint64_t to = host.kMsi + 4 * random.below(64);
    table(1 + 5, to, data, false);  // of process 5
    mailbox();
    uint64_t count = 0;
    for (uint64_t n = random.below(step); n <= 56; n += step) {
      host.interrupts.clear();
      std::vector<uint64_t> line = message(n);
      if (random.percent(30)) host.read_window(unsigned(random.below(16)), 1 + unsigned(random.below(16)));
      host.wait_windows();
      ++count;
      for (int i = 0; read(NICLOOP_REG_MBOX_WP(5)) != count; ++i) CHECK(i < 60, "message %llu is not in the mailbox", (unsigned long long)count);
      uint64_t slot = kRing + (count - 1) % kSlots * NICLOOP_SLOT_BYTES, header = host.store.quad(slot + 56);
      CHECK(FIELD(header, SLOT_SEQ) == count && FIELD(header, SLOT_LENGTH) == n && FIELD(header, SLOT_SRC_VPID) == 2, "a slot's header is %016llx", (unsigned long long)header);
      for (uint64_t i = 0; i < n; ++i) CHECK(host.store.get(slot + i) == uint8_t(line[i / 8] >> 8 * (i % 8)), "byte %llu of %llu is wrong", (unsigned long long)i, (unsigned long long)n);
      for (int i = 0; host.interrupts.empty(); ++i, host.cycle()) CHECK(i < 2000, "no interrupt comes");
      CHECK(host.interrupts.size() == 1 && host.interrupts[0].addr == to && host.interrupts[0].data == data, "an interrupt at 0x%llx with %08x",
            (unsigned long long)host.interrupts[0].addr, host.interrupts[0].data);
      write(NICLOOP_REG_IRQ_STATUS, 1 << 5);
      write(NICLOOP_REG_MBOX_RP(5), count);
    }
  }

  // ---- RMA of the node to itself: DMA reads ----
  static constexpr uint64_t kTable = 64, kFrom = 2048, kTo = 3072, kCount = 200;
  void rma_on() {
    uint64_t entry = PACK(ATU_ENTRY_RIGHTS, NICLOOP_ATU_RIGHTS_RW) | PACK(ATU_ENTRY_VPID, 2);
    for (int i = 0; i < 8; ++i) host.store.written[kTable + i] = uint8_t(entry >> 8 * i);
    write(NICLOOP_REG_PDID(2), 1);
    write(NICLOOP_REG_NOTI_BASE(2), 512);
    write(NICLOOP_REG_NOTI_SLOTS(2), 1);
    write(NICLOOP_REG_NOTI_CTRL(2), NICLOOP_NOTI_CTRL_ENABLE_MASK | NICLOOP_NOTI_CTRL_WINDOW_MASK);
    write(NICLOOP_REG_ATU_BASE(0), kTable);
    write(NICLOOP_REG_ATU_PAGES(0), PACK(ATU_PAGES_PAGES, 1) | PACK(ATU_PAGES_SIZE, NICLOOP_ATU_PAGE_SIZE_K4));
  }
  void put_line(bool notify) {
    uint64_t first = PACK(RMA_DESC_COMMAND, NICLOOP_RMA_COMMAND_PUT) | PACK(RMA_DESC_NOTI_COMPLETER, notify) | PACK(RMA_DESC_DST_VPID, 2) | PACK(RMA_DESC_BYTES_MINUS_1, kCount - 1);
    host.send({unsigned(random.below(16)), PACK(RMA_PIO_RMA, NICLOOP_RMA_LINE) | PACK(RMA_PIO_SRC_VPID, 2), {first, kFrom, kTo}});
  }
  void put() {
    rma_on();
    put_line(true);
    host.wait_windows();
    for (int i = 0; read(NICLOOP_REG_NOTI_WP(2)) == 0; ++i) CHECK(i < 100, "a put does not end");
    for (uint64_t i = 0; i < kCount; ++i) CHECK(host.store.get(kTo + i) == host.store.get(kFrom + i), "byte %llu of a put is wrong", (unsigned long long)i);
  }

  // ---- resets ----
  uint64_t refused_seen = 0, cut_writes = 0;
  void traffic(bool writes) {
    if (host.owed.size() < 12) {
      if (random.percent(50)) put_line(false);
      else message(random.below(57));
      if (random.percent(20)) host.read_window(unsigned(random.below(16)), 1 + unsigned(random.below(4)));
    }
    uint32_t v;
    unsigned resp = !writes || random.percent(70) ? host.read32(NICLOOP_REG_MBOX_WP(5), v) : try_write(NICLOOP_REG_SCRATCH, ~0ull);
    CHECK(resp == 0 || resp == 2, "an access in traffic has response %u", resp);
    refused_seen += resp == 2;
  }
  void reset_in_traffic() {
    table(1, 0x1230, 77, false);
    mailbox();
    rma_on();
    if (random.percent(50)) host.latency = unsigned(100 + random.below(800));  // answers are late
    for (int n = int(random.below(20)); n >= 0; --n) traffic(true);
    bool flr = random.percent(40);
    unsigned falls = host.falls, resets = read32(kResets);
    if (flr) top.flr = 1;
    else CHECK(host.write32(kControl, 1) == 0, "a reset is not accepted");
    for (int n = 10; n >= 0; --n) traffic(false);  // some of it may come behind the reset
    if (flr) {
      for (int i = 0; !top.flr_done; ++i, host.cycle()) CHECK(i < 20000, "a function-level reset does not end");
      top.flr = 0;
    }
    host.wait_windows();
    for (uint64_t from = tb::cycle; read32(kControl) != 0;) CHECK(tb::cycle - from < 40000, "a reset does not end");
    wait_open();
    CHECK(host.falls == falls + 1 && host.lead == 0, "%u resets, links let go %llu cycles before", host.falls - falls, (unsigned long long)host.lead);
    CHECK(read32(kResets) == resets + 1, "RESETS counts something else");
    CHECK(read(NICLOOP_REG_SCRATCH) == 0 && read(NICLOOP_REG_MBOX_WP(5)) == 0, "the core was not reset");
    CHECK(read32(kPage + 0x1c) == unsigned(flr), "the table of MSI-X is %s", flr ? "not forgotten by a function-level reset" : "forgotten by a reset of the core");
    for (uint64_t from = tb::cycle; !host.memory_quiet(); host.cycle()) CHECK(tb::cycle - from < 20000, "DMA is left hanging");
    host.latency = 3;
  }

  void clock_stops() {
    mailbox();
    rma_on();
    host.core_runs = false;
    for (int i = 0; i < 3; ++i) traffic(true);
    host.wait_windows();
    uint32_t v;
    CHECK(host.read32(NICLOOP_REG_MAGIC, v) == 2, "a register answers without a clock");
    CHECK((read32(kStatus) & 5) == 4, "STATUS is %x without a clock", read32(kStatus));
    host.core_runs = true;
    wait_open();
    host.wait_windows();
  }
  void strays() {
    uint32_t before = read32(kStrays);
    host.stray_b = 3, host.stray_r = 2;
    for (int i = 0; i < 400; ++i) host.cycle();
    CHECK(read32(kStrays) == before + 5, "%u strays are counted, expected 5", read32(kStrays) - before);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.moods();
  t.power_on();
  t.registers();
  for (int i = 0; i < 6; ++i) {
    t.moods();
    t.registers();
    t.messages(7);
    t.put();
    t.strays();
    for (int n = 0; n < 5; ++n) t.reset_in_traffic();
  }
  for (int i = 0; i < 3; ++i) {
    t.moods();
    t.messages(13);
    t.clock_stops();
    t.messages(19);
    t.put();
  }
  t.top.arst = 1;
  t.host.cycle();
  t.power_on();
  CHECK(t.host.window_errors > 20 && t.refused_seen > 20, "only %llu bursts and %llu accesses met a reset", (unsigned long long)t.host.window_errors, (unsigned long long)t.refused_seen);
  for (const auto* r : {&t.host.r_lb, &t.host.r_lr, &t.host.r_pb, &t.host.r_pr, &t.host.r_aw, &t.host.r_w, &t.host.r_ar})
    CHECK(r->longest_wait > 100, "a READY came %u cycles behind its VALID at most, expected more than 100", r->longest_wait);
  CHECK(t.host.unstrobed > 0, "no reset has met a burst of DMA");
}
