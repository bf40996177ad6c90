// acorn_pcie7x: the top of a board, whole, behind a root complex. The program is the host: it reads
// and writes registers of both NICs, sends messages and puts from one to the other over the links
// between them, and answers their DMA.
// - steps 4 and 5 of board/BRINGUP.md: MAGIC and SCRATCH of both NICs, messages over both links, a
//   put, a vector of MSI-X for each process;
// - memory requests obey PCIe, Bus Master Enable and the configured sizes; transactions pending is
//   high while a read is outstanding;
// - a function-level reset and PERST#, in traffic: both NICs start again, and work.
#include "Vacorn.h"
#include "root_complex.h"
#include "svdpi.h"

namespace {

using tb::Header;
using Dwords = std::vector<uint32_t>;

constexpr uint64_t kRegisters = 0xd0000000, kWindows = 0x2000000000, kTable = 0xd8000000, kMsi = 0xfee00000, kNic = 1 << 20;
constexpr uint64_t kWindow = 1ull << (TB_WIN_W - 1);  // half of BAR 2, by NIC
constexpr uint64_t kHeap = 0x1200000000;              // the host's memory, by NIC
constexpr uint64_t kSlots = 8;
constexpr unsigned ID = 0x0300, HOST = 0x0008;
constexpr unsigned kLinkUp = 1, kReadsTaken = 4, kPending = 8, kTurnoffOk = 16;

struct Test : tb::Bench<Vacorn> {
  tb::Store memory;
  struct Word { uint64_t data; bool both, last; unsigned bar; };
  struct Answer { uint64_t due; Dwords dw; };
  std::deque<Word> words;            // to the board
  std::deque<Answer> answers;        // completions, due later
  Dwords incoming;                   // of a TLP from the board
  std::map<unsigned, std::pair<uint64_t, unsigned>> reads;  // of the host, by tag: answer and status; 255: none yet
  std::deque<uint32_t> interrupts;
  uint64_t status = 0, dma_reads = 0, dma_writes = 0, pending_seen = 0, split = 0;
  unsigned next_tag = 0, command = 6, mps = 1, mrrs = 2, nph = 3, mood = 100, latency = 40;
  bool msix = true, flr = false, turnoff = false;
  using Bench::Bench;

  void cycle() {
    top.clk = 0;
    top.eval();
    edge();
  }
  void run(unsigned n) { while (n--) cycle(); }

  // ---- TLPs: the payload in memory's order, as root_complex.h has it ----
  void send(const Dwords& dw, unsigned bar) {
    for (size_t i = 0; i < dw.size(); i += 2)
      words.push_back({dw[i] | uint64_t(i + 1 < dw.size() ? dw[i + 1] : uint32_t(random.next())) << 32, i + 1 < dw.size(), i + 2 >= dw.size(), bar});
  }
  void post(uint64_t addr, unsigned bar, const std::vector<uint64_t>& quads) {
    Dwords dw = tb::request(0, true, addr, unsigned(2 * quads.size()), 15, 15, HOST, 0);
    for (uint64_t q : quads) dw.push_back(uint32_t(q)), dw.push_back(uint32_t(q >> 32));
    send(dw, bar);
  }
  void completion(const Header& h, const Dwords& dw) {
    auto it = reads.find(h.tag);
    CHECK(it != reads.end() && it->second.second == 255 && h.to == HOST && h.id == ID, "a completion with tag %u from %x", h.tag, h.id);
    it->second.second = h.status;
    if (h.status == 0) it->second.first = dw[3] | uint64_t(dw[4]) << 32;
  }
  void arrived(const Dwords& dw) {
    Header h = Header::of(dw);
    if (h.kind == Header::COMPLETION) return completion(h, dw);
    CHECK(h.kind == Header::MEMORY && h.id == ID && !h.poisoned, "header %08x %08x", dw[0], dw[1]);
    CHECK(command & 4 || grace, "a memory request while Bus Master Enable is clear");
    CHECK(dw.size() == h.dwords() + (h.data ? h.len : 0), "%zu dwords", dw.size());
    CHECK(h.four == (h.addr >> 32 != 0) && h.addr % 4096 + 4 * h.len <= 4096, "%u dwords at %llx", h.len, (unsigned long long)h.addr);
    CHECK(4 * h.len <= (h.data ? 128u << mps : 128u << mrrs), "%u dwords", h.len);
    if (h.data && h.addr >> 20 == kMsi >> 20) {
      interrupts.push_back(dw[h.dwords()]);
      return;
    }
    CHECK(h.addr >= kHeap && h.addr < kHeap + (2 << 20), "a request at %llx", (unsigned long long)h.addr);
    h.data ? write(h, dw) : read(h);
  }
  void write(const Header& h, const Dwords& dw) {
    ++dma_writes;
    for (unsigned i = 0; i < h.len; ++i)
      for (unsigned k = 0, be = i == 0 ? h.first_be : i == h.len - 1 ? h.last_be : 15; k < 4; ++k)
        if (be >> k & 1) memory.written[h.addr + 4 * i + k] = uint8_t(dw[h.dwords() + i] >> 8 * k);
  }
  void read(const Header& h) {
    ++dma_reads;
    unsigned left = 4 * h.len;
    uint64_t due = cycle_now() + 1 + random.below(latency);
    for (uint64_t a = h.addr; left;) {
      unsigned n = random.percent(40) ? std::min<unsigned>(left, unsigned(64 - a % 64)) : left;
      Dwords dw{0x4a000000 | n / 4, left, ID << 16 | h.tag << 8 | unsigned(a & 127)};
      for (unsigned i = 0; i < n; i += 4) dw.push_back(uint32_t(memory.quad(a + i)));
      split += n != left;
      answers.push_back({due, dw});
      a += n, left -= n;
    }
  }
  static uint64_t cycle_now() { return tb::cycle; }
  bool grace = false;

  // Called by the model of the hard block, once per cycle.
  void exchange(uint64_t out, unsigned mark, uint64_t now, bool free, uint64_t& in, unsigned& in_mark, uint64_t& settings) {
    status = now;
    if (now & kPending) ++pending_seen;
    if (mark & 1) {
      incoming.push_back(uint32_t(out));
      if (mark & 4) incoming.push_back(uint32_t(out >> 32));
      if (mark & 8) arrived(std::exchange(incoming, {}));
    }
    if (words.empty() && !answers.empty() && cycle_now() >= answers.front().due) {
      send(answers.front().dw, 0);
      answers.pop_front();
    }
    in_mark = 0;
    if (free && !words.empty() && random.percent(mood)) {
      Word w = words.front();
      words.pop_front();
      in = w.data, in_mark = 1 | unsigned(w.both) << 1 | unsigned(w.last) << 2 | w.bar << 4;
    }
    uint64_t dcommand = mps << 5 | mrrs << 12;
    settings = command | dcommand << 16 | uint64_t(ID) << 32 | uint64_t(msix) << 48 | uint64_t(flr) << 50 | uint64_t(turnoff) << 51 |
               uint64_t(random.percent(mood)) << 52 | uint64_t(random.percent(80) ? nph : 0) << 56;
  }

  // ---- the host ----
  unsigned try_read(unsigned nic, uint64_t reg, uint64_t& v) {
    unsigned tag = next_tag++ & 255;
    reads[tag] = {0, 255};
    send(tb::request(0, false, kRegisters + nic * kNic + reg, 2, 15, 15, HOST, tag), 0);
    for (int i = 0; reads[tag].second == 255; ++i, cycle()) CHECK(i < 20000, "NIC %u: no completion for a read of register 0x%llx", nic, (unsigned long long)reg);
    v = reads[tag].first;
    unsigned s = reads[tag].second;
    reads.erase(tag);
    return s;
  }
  uint64_t get(unsigned nic, uint64_t reg) {
    uint64_t v = 0;
    unsigned s = try_read(nic, reg, v);
    CHECK(s == 0, "NIC %u: register 0x%llx: completion status %u", nic, (unsigned long long)reg, s);
    return v;
  }
  void put(unsigned nic, uint64_t reg, uint64_t v) { post(kRegisters + nic * kNic + reg, 0, {v}); }
  void line(unsigned nic, uint64_t window, const std::vector<uint64_t>& quads) { post(kWindows + nic * kWindow + window, 2, quads); }

  void power_on() {
    top.perst_n = 0;
    words.clear(), answers.clear(), incoming.clear(), reads.clear(), interrupts.clear();
    // Until the first edges under reset, registers hold anything.
    Verilated::assertOn(false);
    run(20);
    Verilated::assertOn(true);
    CHECK(!(status & kLinkUp) || tb::cycle > 1000, "the link is up while PERST# is low");
    top.perst_n = 1;
    status = 0;
    for (int i = 0; !(status & kLinkUp); ++i, cycle()) CHECK(i < 1000, "the link does not come up");
    table();
  }
  static uint32_t vector(unsigned nic, unsigned vpid) { return 0x100 + nic * (NICLOOP_VPIDS + 1) + 1 + vpid; }  // its data in the table
  void table() {
    for (unsigned v = 0; v < 2 * (NICLOOP_VPIDS + 1); ++v) post(kTable + 16 * v, 4, {kMsi, 0x100 + v});
  }

  void identity() {
    for (unsigned n = 0; n < 2; ++n) {
      CHECK(get(n, NICLOOP_REG_MAGIC) == NICLOOP_MAGIC_VALUE && get(n, NICLOOP_REG_DESC_HASH) == NICLOOP_DESC_HASH_VALUE, "NIC %u: MAGIC or DESC_HASH is wrong", n);
      CHECK(get(n, NICLOOP_REG_NODE_ID) == n, "NIC %u: NODE_ID is wrong", n);
    }
    uint64_t a = random.next(), b = random.next(), v;
    put(0, NICLOOP_REG_SCRATCH, a), put(1, NICLOOP_REG_SCRATCH, b);
    CHECK(get(0, NICLOOP_REG_SCRATCH) == a && get(1, NICLOOP_REG_SCRATCH) == b, "SCRATCH of one NIC is not its own");
    CHECK(try_read(1, 0xffff8, v) == 1, "a register that does not exist is not an unsupported request");
    for (unsigned n = 0; n < 2; ++n) {
      uint64_t up = get(n, NICLOOP_REG_LINK_STATUS(n));
      CHECK(up & NICLOOP_LINK_STATUS_CARRIER_MASK && up & NICLOOP_LINK_STATUS_AGREED_MASK && !(up & NICLOOP_LINK_STATUS_DEAD_MASK) && !(get(n, NICLOOP_REG_LINK_STATUS(1 - n)) & 1), "NIC %u: LINK_STATUS is %llx", n, (unsigned long long)up);
    }
    puts_ok("identity    MAGIC, DESC_HASH, NODE_ID, SCRATCH of 2 NICs, links agreed");
  }
  void puts_ok(const char* what) { if (talk) std::printf("PASS  %s\n", what); }
  bool talk = true;

  uint64_t ring(unsigned nic, unsigned vpid = 2) const { return kHeap + (uint64_t(nic) << 20) + 0x10000 + 0x1000 * (vpid - 2); }
  void mailbox(unsigned nic) {
    put(nic, NICLOOP_REG_PDID(1), 1);
    put(nic, NICLOOP_REG_PDID(2), 1);
    put(nic, NICLOOP_REG_MBOX_CTRL(1), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_WINDOW_MASK);
    put(nic, NICLOOP_REG_MBOX_BASE(2), ring(nic));
    put(nic, NICLOOP_REG_MBOX_SLOTS(2), kSlots);
    put(nic, NICLOOP_REG_MBOX_CTRL(2), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_IRQ_ARRIVAL_MASK);
    put(nic, NICLOOP_REG_IRQ_MASK, 1 << 2);
    count[nic] = 0;
    for (uint64_t i = 0; i < kSlots * NICLOOP_SLOT_BYTES; ++i) memory.written[ring(nic) + i] = 0;  // slots of an earlier session
  }
  uint64_t count[2] = {};
  void message(unsigned from, unsigned to, uint64_t n) {
    std::vector<uint64_t> quads(n == 0 ? 1 : (n + 7) / 8);
    for (uint64_t& q : quads) q = random.next();
    interrupts.clear();
    line(from, PACK(PIO_LENGTH, n) | PACK(PIO_DST_NODE, to) | PACK(PIO_DST_VPID, 2) | PACK(PIO_SRC_VPID, 1), quads);
    uint64_t c = ++count[to], slot = ring(to) + (c - 1) % kSlots * NICLOOP_SLOT_BYTES;
    for (int i = 0; FIELD(memory.quad(slot + 56), SLOT_SEQ) != c; ++i, cycle()) CHECK(i < 20000, "message %llu from NIC %u to NIC %u does not arrive", (unsigned long long)c, from, to);
    uint64_t header = memory.quad(slot + 56);
    CHECK(FIELD(header, SLOT_LENGTH) == n && FIELD(header, SLOT_SRC_VPID) == 1, "a slot of %llu bytes from %u to %u, message %llu, has header %016llx", (unsigned long long)n, from, to, (unsigned long long)c, (unsigned long long)header);
    for (uint64_t i = 0; i < n; ++i) CHECK(memory.get(slot + i) == uint8_t(quads[i / 8] >> 8 * (i % 8)), "byte %llu of %llu is wrong", (unsigned long long)i, (unsigned long long)n);
    for (int i = 0; interrupts.empty(); ++i, cycle()) CHECK(i < 5000, "no interrupt");
    CHECK(interrupts.front() == vector(to, 2), "interrupt data %x, expected %x", interrupts.front(), vector(to, 2));
    put(to, NICLOOP_REG_MBOX_RP(2), c);
    put(to, NICLOOP_REG_IRQ_STATUS, 1 << 2);
    CHECK(!(get(to, NICLOOP_REG_IRQ_STATUS) >> 2 & 1), "an interrupt cause stays");
  }
  void messages(uint64_t step) {
    for (unsigned n = 0; n < 2; ++n) mailbox(n);
    for (uint64_t n = random.below(step); n <= 56; n += step)
      for (unsigned way = 0; way < 4; ++way) message(way & 1, way >> 1, n);
    for (unsigned n = 0; n < 2; ++n) CHECK(get(n, NICLOOP_REG_LINK_RETRANSMISSIONS(n)) == 0, "link of NIC %u retransmits", n);
    puts_ok("velo        0 to 56 bytes, each NIC to each, an interrupt each");
  }

  // Two processes of one NIC wait. Neither is interrupted by an arrival for the other, and each by
  // its own, although the other has not yet cleared its cause.
  void await_vectors(const char* when, std::deque<uint32_t> expected) {
    run(1000);
    CHECK(interrupts.size() == expected.size(), "%s: %zu interrupts, expected %zu", when, interrupts.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(interrupts[i] == expected[i], "%s: interrupt data %x, expected %x", when, interrupts[i], expected[i]);
    interrupts.clear();
  }
  void two_processes() {
    for (unsigned nic = 0; nic < 2; ++nic) {
      put(nic, NICLOOP_REG_PDID(5), 1);
      put(nic, NICLOOP_REG_MBOX_BASE(5), ring(nic, 5));
      put(nic, NICLOOP_REG_MBOX_SLOTS(5), kSlots);
      put(nic, NICLOOP_REG_MBOX_CTRL(5), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_IRQ_ARRIVAL_MASK);
      put(nic, NICLOOP_REG_IRQ_MASK, 1 << 2 | 1 << 5 | NICLOOP_IRQ_STATUS_ERROR_MASK);
      interrupts.clear();
      auto send = [&](unsigned vpid) {
        line(1 - nic, PACK(PIO_LENGTH, 8) | PACK(PIO_DST_NODE, nic) | PACK(PIO_DST_VPID, vpid) | PACK(PIO_SRC_VPID, 1), {1});
      };
      send(2), ++count[nic];
      await_vectors("an arrival for process 2", {vector(nic, 2)});
      send(5);
      await_vectors("an arrival for process 5 while the cause of process 2 is not cleared", {vector(nic, 5)});
      put(nic, NICLOOP_REG_IRQ_STATUS, 1 << 2);
      send(2), ++count[nic];
      await_vectors("an arrival for process 2 while the cause of process 5 is not cleared", {vector(nic, 2)});
      put(nic, NICLOOP_REG_MBOX_RP(2), 99999);  // refused: an error of the node
      await_vectors("an error", {vector(nic, 0) - 1});
      put(nic, NICLOOP_REG_IRQ_STATUS, ~0ull);
      put(nic, NICLOOP_REG_MBOX_RP(2), count[nic]);
      put(nic, NICLOOP_REG_MBOX_RP(5), 1);
      put(nic, NICLOOP_REG_MBOX_CTRL(5), 0);
      put(nic, NICLOOP_REG_IRQ_MASK, 1 << 2);
      await_vectors("causes cleared", {});
    }
    puts_ok("vectors     two processes of a NIC have an interrupt each, errors another");
  }

  // ---- RMA from NIC 0 to NIC 1 ----
  static constexpr uint64_t kPages = 0x8000, kFrom = 0x2000, kTo = 0x3000;
  uint64_t heap(unsigned nic) const { return kHeap + (uint64_t(nic) << 20); }
  void rma_on(unsigned nic) {
    for (unsigned page = 0; page < 4; ++page) {
      uint64_t entry = PACK(ATU_ENTRY_RIGHTS, NICLOOP_ATU_RIGHTS_RW) | PACK(ATU_ENTRY_VPID, 2) | ((heap(nic) >> 12) + page) << NICLOOP_ATU_ENTRY_PAGE_LSB;
      for (int i = 0; i < 8; ++i) memory.written[heap(nic) + kPages + 8 * page + uint64_t(i)] = uint8_t(entry >> 8 * i);
    }
    put(nic, NICLOOP_REG_PDID(2), 1);
    put(nic, NICLOOP_REG_NOTI_BASE(2), heap(nic) + 0x9000);
    put(nic, NICLOOP_REG_NOTI_SLOTS(2), 16);
    put(nic, NICLOOP_REG_NOTI_CTRL(2), NICLOOP_NOTI_CTRL_ENABLE_MASK | NICLOOP_NOTI_CTRL_WINDOW_MASK);
    put(nic, NICLOOP_REG_ATU_BASE(0), heap(nic) + kPages);
    put(nic, NICLOOP_REG_ATU_PAGES(0), PACK(ATU_PAGES_PAGES, 4) | PACK(ATU_PAGES_SIZE, NICLOOP_ATU_PAGE_SIZE_K4));
  }
  void put_over_link(unsigned from, uint64_t bytes) {
    unsigned to = 1 - from;
    uint64_t skew = 8 * random.below(8), before = get(to, NICLOOP_REG_NOTI_WP(2));
    uint64_t first = PACK(RMA_DESC_COMMAND, NICLOOP_RMA_COMMAND_PUT) | PACK(RMA_DESC_NOTI_COMPLETER, 1) | PACK(RMA_DESC_DST_VPID, 2) | PACK(RMA_DESC_DST_NODE, to) |
                     PACK(RMA_DESC_BYTES_MINUS_1, bytes - 1);
    for (uint64_t i = 0; i < bytes; ++i) memory.written[heap(from) + kFrom + i] = uint8_t(random.next());
    line(from, PACK(RMA_PIO_RMA, NICLOOP_RMA_LINE) | PACK(RMA_PIO_SRC_VPID, 2), {first, kFrom, kTo + skew});
    for (int i = 0; get(to, NICLOOP_REG_NOTI_WP(2)) == before; ++i) CHECK(i < 400, "a put of %llu bytes does not end", (unsigned long long)bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      CHECK(memory.get(heap(to) + kTo + skew + i) == memory.get(heap(from) + kFrom + i), "byte %llu of a put is wrong", (unsigned long long)i);
    put(to, NICLOOP_REG_NOTI_RP(2), before + 1);
  }
  void puts_over_links(int times) {
    uint64_t was = pending_seen, read = dma_reads;
    for (unsigned n = 0; n < 2; ++n) rma_on(n);
    for (int i = 0; i < times; ++i) put_over_link(unsigned(i & 1), 1 + random.below(3000));
    CHECK(dma_reads > read && pending_seen > was, "%llu reads, transactions pending in %llu cycles", (unsigned long long)(dma_reads - read), (unsigned long long)(pending_seen - was));
    run(400);
    CHECK(!(status & kPending), "transactions are pending while nothing is outstanding");
    puts_ok("rma         puts over both links, transactions pending while reads are outstanding");
  }

  // ---- what the host takes away ----
  void traffic() {
    put_no_wait(0), put_no_wait(1);
    run(unsigned(random.below(60)));
  }
  void put_no_wait(unsigned from) {
    uint64_t first = PACK(RMA_DESC_COMMAND, NICLOOP_RMA_COMMAND_PUT) | PACK(RMA_DESC_DST_VPID, 2) | PACK(RMA_DESC_DST_NODE, 1 - from) | PACK(RMA_DESC_BYTES_MINUS_1, 2999);
    line(from, PACK(RMA_PIO_RMA, NICLOOP_RMA_LINE) | PACK(RMA_PIO_SRC_VPID, 2), {first, kFrom, kTo});
  }
  void no_bus_master() {
    run(3000);
    grace = true;  // what was in the streams when the bit was written
    command = 2;
    run(300);
    grace = false;
    uint64_t v = random.next();
    put(0, NICLOOP_REG_SCRATCH, v);
    put_no_wait(0);
    run(2000);
    CHECK(get(0, NICLOOP_REG_SCRATCH) == v, "registers need Bus Master Enable");
    command = 6;
    run(100);
    puts_ok("bus master  nothing leaves without it, registers answer");
  }
  void function_reset() {
    traffic();
    grace = true;
    flr = true;
    cycle();
    flr = false;
    run(300);
    // The root complex discards what was outstanding; completions of before are unexpected.
    answers.clear();
    CHECK(get(0, NICLOOP_REG_SCRATCH) == 0 && get(1, NICLOOP_REG_SCRATCH) == 0 && get(1, NICLOOP_REG_MBOX_WP(2)) == 0, "a NIC was not reset");
    grace = false;
    table();
    puts_ok("flr         both NICs are reset in traffic");
  }
  void power_off() {
    turnoff = true;
    for (int i = 0; !(status & kTurnoffOk); ++i, cycle()) CHECK(i < 1000, "no answer to PME_Turn_Off");
    turnoff = false;
    puts_ok("turn off    PME_Turn_Off is answered");
  }
};

Test* test;

}  // namespace

extern "C" void nl_board_tlp(const svBitVecVal* out, int mark, const svBitVecVal* status, svBit free, svBitVecVal* in, int* in_mark, svBitVecVal* settings) {
  uint64_t word = 0, set = 0;
  unsigned m = 0;
  test->exchange(out[0] | uint64_t(out[1]) << 32, unsigned(mark), status[0] | uint64_t(status[1]) << 32, free, word, m, set);
  in[0] = uint32_t(word), in[1] = uint32_t(word >> 32), *in_mark = int(m);
  settings[0] = uint32_t(set), settings[1] = uint32_t(set >> 32);
}

int main(int argc, char** argv) {
  Test t(argc, argv);
  test = &t;
  t.power_on();
  t.identity();
  t.messages(8);
  t.two_processes();
  t.puts_over_links(8);
  t.no_bus_master();
  t.function_reset();
  t.identity();
  t.messages(19);
  t.power_off();
  t.talk = false;
  for (int i = 0; i < 4; ++i) {
    static const unsigned moods[] = {100, 70, 30};
    t.mood = moods[t.random.below(3)], t.latency = unsigned(1 + t.random.below(300));
    t.mps = unsigned(t.random.below(3)), t.mrrs = unsigned(t.random.below(4));
    t.messages(23);
    t.puts_over_links(4);
    t.traffic();
    i & 1 ? t.function_reset() : t.power_on();
    t.identity();
  }
  t.talk = true;
  t.puts_ok("perst       4 resets in traffic, random stalls, sizes and latencies");
  CHECK(t.dma_writes > 200 && t.split > 20, "%llu writes, %llu split completions: the scenario lost its point", (unsigned long long)t.dma_writes, (unsigned long long)t.split);
}
