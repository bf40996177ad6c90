// nic_uart: a whole NIC, reached through its serial line alone, bit by bit, in a cycle per access
// that is bounded. Registers, memory, messages of the node to itself into a mailbox that is read
// out over the line, RMA that reads memory; and addresses that make no sense, which are all
// answered.
#include "Vnic_uart.h"
#include "tb.h"
#include "uart_frame.h"
#include "uart_line.h"

constexpr uint64_t kBytes = TB_MEMORY_BYTES;
constexpr unsigned kDivisor = 8;
// A register in 45 cycles and the 17 in which tables clear, 3 for the way, and the cycle in which
// the bridge asks.
constexpr uint64_t kBound = 45 + 17 + 4;

struct Rig {
  tb::Bench<Vnic_uart> b;
  nicloop::UartLine line{kDivisor, 0, 1};
  Framer framer;
  uint8_t seq = 0;
  uint64_t slept = 0;
  unsigned linger = 0;
  bool gated = true;  // the core's clock stands while it rests

  Rig(int argc, char** argv) : b(argc, argv) {}

  void edge(bool nic) {
    auto& t = b.top;
    t.clk = 0;
    if (nic) t.nic_clk = 0;
    t.eval();
    t.clk = t.nic_clk = 1;
    t.eval();
    ++tb::cycle;
  }
  void cycle() {
    auto& t = b.top;
    t.rx = line.drive();
    if (!t.resting || t.rst || !gated) linger = 5;
    if (linger != 0) --linger;
    else t.slept = ++slept;
    edge(linger != 0 || !t.resting);
    line.sample(t.tx);
  }
  void start() {
    auto& t = b.top;
    t.divisor = kDivisor;
    t.rx = 1;
    t.m_axis_tready = 3;
    t.shape = 2ull << 48 | 1 << 16 | 1 << 8 | 2;  // node 0 of two, which are not linked
    t.rst = t.link_rst = 1;
    for (int i = 0; i < 8; ++i) cycle();
    t.link_rst = 0;
    for (int i = 0; i < 44; ++i) cycle();
    t.rst = 0;
  }

  // One request, answered. Words that were read come as they lie.
  unsigned ask(uint8_t op, uint64_t addr, unsigned count, const std::vector<uint64_t>& data, std::vector<uint64_t>* got = nullptr) {
    Bytes request = Framer::frame(++seq, op, uint8_t(count), addr, data), answer;
    gated = b.random.percent(80);
    line.send(request.data(), request.size());
    while (!line.quiet()) cycle();
    uint64_t sent = tb::cycle;
    // Every access of the frame, then the answer, of which every byte may be stuffed.
    uint64_t bound = 64 + 16 * kBound + 2 * (14 + 8 * 16) * 10 * kDivisor;
    for (framer.come.clear(); framer.come.empty();) {
      cycle();
      for (uint8_t byte : line.came()) framer.feed(byte);
      line.came().clear();
      CHECK(tb::cycle - sent < bound, "no answer to operation %02x at 0x%llx within %llu cycles", op, (unsigned long long)addr, (unsigned long long)bound);
    }
    answer = framer.come.front();
    CHECK(answer[0] == seq && answer[1] == (op | 0x80), "an answer to something else: operation %02x", answer[1]);
    if (got != nullptr) {
      got->clear();
      for (size_t at = 8; at + 8 <= answer.size(); at += 8) {
        uint64_t q;
        std::memcpy(&q, &answer[at], 8);
        got->insert(op == kReadMemory ? got->begin() : got->end(), q);
      }
    }
    return answer[2];
  }
  uint64_t read(uint8_t op, uint64_t addr) {
    std::vector<uint64_t> got;
    unsigned status = ask(op, addr, 1, {}, &got);
    CHECK(status == 0 && got.size() == 1, "reading 0x%llx: status %u", (unsigned long long)addr, status);
    return got[0];
  }
  void write(uint8_t op, uint64_t addr, const std::vector<uint64_t>& data) {
    unsigned status = ask(op, addr, unsigned(data.size()), data);
    CHECK(status == 0, "writing 0x%llx: status %u", (unsigned long long)addr, status);
  }
  void reg(uint64_t addr, uint64_t v) { write(kWriteReg, addr, {v}); }
};

struct Test {
  Rig& r;
  tb::Random& random;
  std::vector<uint64_t> memory = std::vector<uint64_t>(kBytes / 8);

  // Identity, a register that keeps what it is given, and every word of memory.
  void registers() {
    CHECK(r.read(kReadReg, NICLOOP_REG_MAGIC) == NICLOOP_MAGIC_VALUE, "MAGIC is wrong");
    CHECK(r.read(kReadReg, NICLOOP_REG_DESC_HASH) == NICLOOP_DESC_HASH_VALUE, "DESC_HASH is wrong");
    for (int i = 0; i < 8; ++i) {
      uint64_t v = random.next();
      r.reg(NICLOOP_REG_SCRATCH, v);
      CHECK(r.read(kReadReg, NICLOOP_REG_SCRATCH) == v, "SCRATCH does not keep what is written");
    }
  }
  void fill() {
    for (uint64_t at = 0; at < memory.size();) {
      uint64_t n = std::min<uint64_t>(1 + random.below(16), memory.size() - at);
      std::vector<uint64_t> words(n);
      for (uint64_t i = 0; i < n; ++i) words[i] = memory[at + i] = random.next();
      r.write(kWriteMemory, 8 * at, words);
      at += n;
    }
    same("after it was filled");
  }
  void same(const char* when) {
    std::vector<uint64_t> got;
    for (uint64_t at = 0; at < memory.size(); at += 16) {
      CHECK(r.ask(kReadMemory, 8 * at, 16, {}, &got) == 0 && got.size() == 16, "memory at 0x%llx is not answered", (unsigned long long)(8 * at));
      for (int i = 0; i < 16; ++i) {
        CHECK(got[size_t(i)] == memory[at + size_t(i)], "%s: memory at 0x%llx is %016llx, expected %016llx", when, (unsigned long long)(8 * (at + uint64_t(i))),
              (unsigned long long)got[size_t(i)], (unsigned long long)memory[at + size_t(i)]);
      }
    }
  }

  // Addresses that make no sense, in every space: answered, DECERR where nothing is, and nothing is
  // changed by them.
  void nonsense() {
    uint64_t scratch = r.read(kReadReg, NICLOOP_REG_SCRATCH), bad = r.read(kReadReg, NICLOOP_REG_BAD_ACCESS);
    for (int i = 0; i < 60; ++i) {
      uint64_t addr = random.next() & ((1ull << 40) - 1);
      if (random.percent(50)) addr >>= random.below(40);
      static const uint8_t ops[] = {kReadReg, kWriteReg, kReadMemory, kWriteMemory, kWindow};
      uint8_t op = ops[random.below(5)];
      if (op == kWriteReg && addr < 1ull << 32) addr |= 1ull << 32;         // a register could be hit
      if (op == kWriteMemory && addr < kBytes) addr += kBytes;               // so could memory
      if (op == kWindow && addr < 1ull << 29) addr |= 1ull << 29;
      bool reading = op == kReadReg || op == kReadMemory;
      std::vector<uint64_t> data(reading ? 0 : 1, random.next());
      unsigned status = r.ask(op, addr, 1, data);
      bool somewhere = (op == kReadReg && addr < 1ull << 32) || (op == kReadMemory && addr < kBytes && addr % 8 == 0);
      CHECK(status == 3 || (somewhere && status == 0), "operation %02x at 0x%llx is answered with %u, expected DECERR", op, (unsigned long long)addr, status);
    }
    // Every frame of sixteen words that leaves memory in the middle of it.
    std::vector<uint64_t> words(16, random.next());
    CHECK(r.ask(kWriteMemory, kBytes - 64, 16, words) == 3, "a write that leaves memory is not refused");
    for (int i = 0; i < 8; ++i) memory[memory.size() - 8 + size_t(i)] = words[size_t(i)];
    CHECK(r.ask(kReadMemory, kBytes - 64, 16, {}) == 3, "a read that leaves memory is not refused");
    // What lies outside 4 GB never comes to the core; what does, it counts.
    CHECK(r.ask(kWriteReg, (1ull << 32) + NICLOOP_REG_SCRATCH, 1, {~scratch}) == 3, "a write above 4 GB is not refused");
    CHECK(r.read(kReadReg, NICLOOP_REG_SCRATCH) == scratch, "a write above 4 GB came to SCRATCH");
    CHECK(r.ask(kWriteReg, NICLOOP_REG_MAGIC, 1, {1}) == 2, "a write to MAGIC is not refused");
    CHECK(r.read(kReadReg, NICLOOP_REG_BAD_ACCESS) > bad, "BAD_ACCESS has counted nothing");
    same("after nonsense");
  }

  // Messages of the node to itself, of every length, through the send window into a mailbox in
  // memory.
  void messages() {
    constexpr uint64_t kRing = 1024, kSlots = 8;
    r.reg(NICLOOP_REG_PDID(2), 1);
    r.reg(NICLOOP_REG_PDID(5), 1);
    r.reg(NICLOOP_REG_MBOX_CTRL(2), NICLOOP_MBOX_CTRL_ENABLE_MASK | NICLOOP_MBOX_CTRL_WINDOW_MASK);
    r.reg(NICLOOP_REG_MBOX_BASE(5), kRing);
    r.reg(NICLOOP_REG_MBOX_SLOTS(5), kSlots);
    r.reg(NICLOOP_REG_MBOX_CTRL(5), NICLOOP_MBOX_CTRL_ENABLE_MASK);
    for (uint64_t n = 0; n <= 56; ++n) {
      std::vector<uint64_t> line((n + 7) / 8), got;
      for (uint64_t& q : line) q = random.next();
      if (line.empty()) line.push_back(0);
      uint64_t window = PACK(PIO_LENGTH, n) | PACK(PIO_DST_VPID, 5) | PACK(PIO_SRC_VPID, 2);
      if (line.size() > 1 && random.percent(50)) {  // in two pieces
        size_t cut = 1 + random.below(line.size() - 1);
        r.write(kWindow, window, {line.begin(), line.begin() + long(cut)});
        r.write(kWindow, window + 8 * cut, {line.begin() + long(cut), line.end()});
      } else {
        r.write(kWindow, window, line);
      }
      uint64_t slot = kRing + n % kSlots * NICLOOP_SLOT_BYTES;
      CHECK(r.read(kReadReg, NICLOOP_REG_MBOX_WP(5)) == n + 1, "message %llu is not in the mailbox", (unsigned long long)n);
      CHECK(r.ask(kReadMemory, slot, 8, {}, &got) == 0, "the slot is not answered");
      CHECK(FIELD(got[7], SLOT_SEQ) == n + 1 && FIELD(got[7], SLOT_LENGTH) == n && FIELD(got[7], SLOT_SRC_VPID) == 2, "a slot's header is %016llx",
            (unsigned long long)got[7]);
      for (uint64_t i = 0; i < n; ++i) {
        uint8_t want = uint8_t(line[i / 8] >> 8 * (i % 8)), is = uint8_t(got[i / 8] >> 8 * (i % 8));
        CHECK(is == want, "byte %llu of %llu is %02x, expected %02x", (unsigned long long)i, (unsigned long long)n, is, want);
      }
      for (size_t i = 0; i < 8; ++i) memory[slot / 8 + i] = got[i];
      r.reg(NICLOOP_REG_MBOX_RP(5), n + 1);
    }
  }

  // The NIC reads memory: a page table in it, and what a put of the node to itself carries.
  void put() {
    constexpr uint64_t kTable = 64, kFrom = 2048, kTo = 3072, kCount = 200;
    uint64_t entry = PACK(ATU_ENTRY_RIGHTS, NICLOOP_ATU_RIGHTS_RW) | PACK(ATU_ENTRY_VPID, 2);
    r.write(kWriteMemory, kTable, {entry});
    memory[kTable / 8] = entry;
    r.reg(NICLOOP_REG_NOTI_BASE(2), 512);
    r.reg(NICLOOP_REG_NOTI_SLOTS(2), 1);
    r.reg(NICLOOP_REG_NOTI_CTRL(2), NICLOOP_NOTI_CTRL_ENABLE_MASK | NICLOOP_NOTI_CTRL_WINDOW_MASK);
    r.reg(NICLOOP_REG_ATU_BASE(0), kTable);
    r.reg(NICLOOP_REG_ATU_PAGES(0), PACK(ATU_PAGES_PAGES, 1) | PACK(ATU_PAGES_SIZE, NICLOOP_ATU_PAGE_SIZE_K4));
    uint64_t first = PACK(RMA_DESC_COMMAND, NICLOOP_RMA_COMMAND_PUT) | PACK(RMA_DESC_NOTI_COMPLETER, 1) | PACK(RMA_DESC_DST_VPID, 2) | PACK(RMA_DESC_BYTES_MINUS_1, kCount - 1);
    r.write(kWindow, PACK(RMA_PIO_RMA, NICLOOP_RMA_LINE) | PACK(RMA_PIO_SRC_VPID, 2), {first, kFrom, kTo});
    for (int i = 0; r.read(kReadReg, NICLOOP_REG_NOTI_WP(2)) == 0; ++i) CHECK(i < 20, "a put does not end");
    for (uint64_t i = 0; i < kCount / 8; ++i) memory[(kTo >> 3) + i] = memory[(kFrom >> 3) + i];
    std::vector<uint64_t> notified;
    CHECK(r.ask(kReadMemory, 512, 2, {}, &notified) == 0, "the notification is not answered");
    memory[64] = notified[0], memory[65] = notified[1];
    same("after a put");
  }
};

int main(int argc, char** argv) {
  Rig r(argc, argv);
  r.start();
  Test t{r, r.b.random};
  t.registers();
  t.fill();
  t.nonsense();
  t.messages();
  t.put();
  uint64_t cycles = r.read(kReadReg, NICLOOP_REG_CYCLES);
  CHECK(cycles + 30000 > tb::cycle && cycles <= tb::cycle, "CYCLES is %llu, expected little less than %llu", (unsigned long long)cycles, (unsigned long long)tb::cycle);
}
