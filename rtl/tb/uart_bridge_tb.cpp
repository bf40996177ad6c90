// uart_bridge: a serial line driven bit by bit against a model of registers, send windows and
// memory. Every request is answered with what the bus said and done exactly once, although frames
// are damaged, cut, doubled and buried in garbage, answers get lost, spikes hit the line and the
// bus falters or stands.
//
// With +pty the line is a pseudo-terminal whose name is printed: drivers/uart tests itself over it.
// The program ends with its input.
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <map>

#include "Vuart_bridge.h"
#include "tb.h"
#include "uart_frame.h"

constexpr unsigned kPatience = TB_PATIENCE;
constexpr uint64_t kBad = 0x8000;  // registers from here on are none

// What stands behind the bridge.
struct Board {
  std::map<uint64_t, uint64_t> regs;
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 13);
  std::deque<std::pair<uint64_t, uint64_t>> performed;  // writes: address with space, value
  std::deque<uint64_t> landing;                         // offsets of memory that a line will fill, in order
  uint64_t reads = 0;

  static constexpr uint64_t kSpace = 1ull << 40;
  unsigned write(uint64_t addr, uint64_t v) {
    performed.push_back({addr, v});
    uint64_t off = addr % kSpace;
    switch (addr / kSpace) {
      case 0:
        if (off >= kBad) return 2;
        regs[off] = v;
        return 0;
      case 2:
        if (off / 8 >= memory.size()) return 3;
        memory[off / 8] = v;
        return 0;
      default:  // a window: lines land in memory, a mailbox of a kind
        if (off / 8 < memory.size()) memory[off / 8] = v;
        return 0;
    }
  }
  unsigned read(uint64_t addr, uint64_t& v) {
    ++reads;
    v = 0;
    uint64_t off = addr % kSpace;
    if (addr / kSpace == 0) {
      if (off >= kBad) return 2;
      v = regs.count(off) ? regs[off] : off * 0x9e3779b97f4a7c15u;
      return 0;
    }
    if (off / 8 >= memory.size()) return 3;
    v = memory[off / 8];
    return 0;
  }
};

struct Rig {
  tb::Bench<Vuart_bridge> b;
  Board board;
  Framer framer;
  unsigned divisor = 8;
  unsigned spikes = 0, noise = 0;  // per mille of cycles; 1 in so many bits
  unsigned ready = 100;            // percent
  unsigned stand = 0;              // cycles for which the bus answers nothing

  std::deque<uint8_t> out;  // to the bridge
  unsigned out_bit = 0, out_cycles = 0;
  uint16_t out_shift = 0;
  bool line = true;
  unsigned in_bit = 0, in_cycles = 0;
  uint8_t in_byte = 0;
  std::deque<uint8_t> in;  // from it

  bool aw = false, w = false, ar = false;
  uint64_t aw_addr = 0, w_data = 0, ar_addr = 0;
  bool held_aw = false, held_ar = false;
  uint64_t held_aw_addr = 0, held_ar_addr = 0;

  Rig(int argc, char** argv) : b(argc, argv) {}

  bool flipped() { return noise != 0 && b.random.below(noise) == 0; }

  void send_bits() {
    if (out_cycles > 0) {
      --out_cycles;
      return;
    }
    if (out_bit == 0) {
      line = true;
      if (out.empty()) return;
      out_shift = uint16_t(0x200 | out.front() << 1);
      out.pop_front();
      out_bit = 10;
    }
    line = (out_shift & 1) != 0;
    if (flipped()) line = !line;
    out_shift >>= 1;
    --out_bit;
    out_cycles = divisor - 1;
    if (out_bit == 0) out_cycles += unsigned(b.random.below(3));  // a sender's clock is its own
  }
  void receive_bits() {
    if (in_bit == 0) {
      if (!b.top.tx) {
        in_bit = 10;
        in_cycles = divisor / 2;
      }
      return;
    }
    if (in_cycles-- > 0) return;
    in_cycles = divisor - 1;
    bool bit = b.top.tx != flipped();
    if (in_bit == 1) {
      CHECK(b.top.tx, "no stop bit");
      in.push_back(in_byte);
    } else {
      in_byte = uint8_t(in_byte >> 1 | (bit ? 0x80 : 0));
    }
    --in_bit;
  }
  void bus() {
    auto& t = b.top;
    CHECK(!held_aw || (t.m_awvalid && t.m_awaddr == held_aw_addr), "the write address changed before it was taken");
    CHECK(!held_ar || (t.m_arvalid && t.m_araddr == held_ar_addr), "the read address changed before it was taken");
    if (stand > 0) --stand;
    bool go = stand == 0;
    t.m_awready = !aw && go && b.random.percent(ready);
    t.m_wready = !w && go && b.random.percent(ready);
    t.m_arready = !ar && go && b.random.percent(ready);
    t.m_bvalid = t.m_rvalid = 0;
    if (aw && w && go && b.random.percent(ready)) {
      t.m_bvalid = 1;
      t.m_bresp = board.write(aw_addr, w_data);
      aw = w = false;
    }
    if (ar && go && b.random.percent(ready)) {
      uint64_t v;
      t.m_rresp = board.read(ar_addr, v);
      t.m_rdata = v;
      t.m_rvalid = 1;
      ar = false;
    }
    b.settle();
    CHECK(!t.m_bvalid || t.m_bready, "an answer is not taken");
    CHECK(!t.m_rvalid || t.m_rready, "an answer is not taken");
    if (t.m_awvalid && t.m_awready) aw = true, aw_addr = t.m_awaddr;
    if (t.m_wvalid && t.m_wready) w = true, w_data = t.m_wdata;
    if (t.m_arvalid && t.m_arready) ar = true, ar_addr = t.m_araddr;
    held_aw = t.m_awvalid && !t.m_awready;
    held_aw_addr = t.m_awaddr;
    held_ar = t.m_arvalid && !t.m_arready;
    held_ar_addr = t.m_araddr;
  }
  void cycle() {
    send_bits();
    b.top.rx = line != (spikes != 0 && b.random.below(1000) < spikes && (tb::cycle & 7) == 0);
    b.top.divisor = uint16_t(divisor);
    b.settle();
    bus();
    receive_bits();
    b.edge();
    while (!in.empty()) {
      framer.feed(in.front());
      in.pop_front();
    }
  }
  void cycles(unsigned n) {
    while (n-- > 0) cycle();
  }
  void send(const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }
  void drain() {
    while (!out.empty() || out_bit != 0) cycle();
    cycles(divisor * 2);
  }
  // The answer to what was sent, or nothing within the time that the longest may take.
  bool answer(Bytes& body, unsigned patience) {
    for (unsigned n = 0; n < patience; ++n) {
      if (!framer.come.empty()) {
        body = framer.come.front();
        framer.come.pop_front();
        return true;
      }
      cycle();
    }
    return false;
  }
};

struct Request {
  uint8_t seq, op, count;
  uint64_t addr;
  std::vector<uint64_t> data;
};

static bool reads(uint8_t op) { return op == kReadReg || op == kReadMemory; }
static bool writes(uint8_t op) { return op == kWriteReg || op == kWindow || op == kWriteMemory; }

struct Test {
  Rig& r;
  tb::Random& random;
  uint8_t seq = 0;

  Request draw() {
    static const uint8_t ops[] = {kReadReg, kReadMemory, kWriteReg, kWindow, kWriteMemory, kHello, 0x00, 0x23, 0x11, 0x91};
    Request q{};
    q.seq = ++seq;
    q.op = ops[random.below(random.percent(80) ? 5 : 10)];
    q.count = uint8_t(random.percent(90) ? 1 + random.below(16) : random.below(256));
    q.addr = random.below(random.percent(90) ? 0x7f00 : 0x20000) & ~7ull;
    if (random.percent(5)) q.addr |= 0x7e7d7e7d00ull;
    size_t n = writes(q.op) && random.percent(95) ? std::min<size_t>(q.count, 16) : random.below(random.percent(80) ? 1 : 4);
    for (size_t i = 0; i < n; ++i) q.data.push_back(random.percent(20) ? 0x7e7d7e7e7d7d7e7eull : random.next());
    return q;
  }

  // What the answer must be, from the board as it is before.
  Bytes expected(const Request& q, std::deque<std::pair<uint64_t, uint64_t>>& will) {
    Board copy = r.board;
    copy.performed.clear();
    unsigned status = 0;
    std::vector<uint64_t> data;
    if (q.op == kHello) {
      data.push_back(uint64_t('n') | 'l' << 8 | 'u' << 16 | uint64_t('a') << 24 | uint64_t('r') << 32 | uint64_t('t') << 40 | 1ull << 48 | 16ull << 56);
    } else if (!reads(q.op) && !writes(q.op)) {
      status = 4;
    } else if (q.count == 0 || q.count > 16 || q.data.size() != (writes(q.op) ? q.count : 0u)) {
      status = 5;
    } else {
      uint64_t space = uint64_t(q.op & 3) << 40;
      for (unsigned i = 0; i < q.count && status == 0; ++i) {
        uint64_t v = 0, at = q.op == kReadMemory ? q.count - 1 - i : i, addr = (q.addr + 8 * at) % Board::kSpace | space;
        status = writes(q.op) ? copy.write(addr, q.data[i]) : copy.read(addr, v);
        if (reads(q.op)) data.push_back(v);
      }
      if (status != 0 || writes(q.op)) data.clear();
    }
    will = copy.performed;
    Bytes line = Framer::frame(q.seq, q.op | 0x80, uint8_t(status), q.addr, data);
    Framer f;
    for (uint8_t b : line) f.feed(b);
    return f.come.front();
  }

  void garbage() {
    for (uint64_t n = random.below(40); n > 0; --n) r.out.push_back(uint8_t(random.percent(15) ? (random.percent(50) ? 0x7e : 0x7d) : random.next()));
    r.drain();
  }
  // Something that must not be taken for a frame.
  void damaged(const Request& q) {
    Bytes line = Framer::frame(q.seq, q.op, q.count, q.addr, q.data);
    if (random.percent(20)) {  // nothing wrong with it but that it is too long
      std::vector<uint64_t> data(17 + random.below(20));
      r.send(Framer::frame(q.seq, q.op, uint8_t(data.size()), q.addr, data));
      r.drain();
      return;
    }
    size_t at = 1 + random.below(line.size() - 2);
    switch (random.below(4)) {
      case 0: line[at] ^= uint8_t(1 << random.below(8)); break;
      case 1: line.erase(line.begin() + long(at)); break;
      case 2: line.resize(at); break;
      default: line.insert(line.begin() + long(at), uint8_t(random.next())); break;
    }
    Framer f;  // a bit in an escape may leave a whole frame, and flags two pieces
    for (uint8_t b : line) f.feed(b);
    f.feed(0x7e);
    if (!f.come.empty()) return;
    r.send(line);
    r.drain();
  }

  void one() {
    auto q = draw();
    if (random.percent(30)) garbage();
    if (random.percent(30)) damaged(q);
    r.framer.come.clear();
    std::deque<std::pair<uint64_t, uint64_t>> will;
    Bytes want = expected(q, will), got;
    r.board.performed.clear();
    Bytes line = Framer::frame(q.seq, q.op, q.count, q.addr, q.data);
    unsigned patience = 200 * 10 * r.divisor + 17 * 400 + kPatience;
    bool valid = reads(q.op) || writes(q.op);
    unsigned times = valid && random.percent(30) ? 2 : 1;
    uint64_t before = r.board.reads, once = 0;
    for (unsigned n = 0; n < times; ++n) {
      r.send(line);
      r.drain();
      CHECK(r.answer(got, patience), "no answer to operation %02x, %u words at 0x%llx", q.op, q.count, (unsigned long long)q.addr);
      CHECK(got == want, "a wrong answer to operation %02x, %u words at 0x%llx: status %u of %zu bytes, expected %u of %zu", q.op, q.count,
            (unsigned long long)q.addr, got[2], got.size(), want[2], want.size());
      if (n == 0) once = r.board.reads - before;
      if (reads(q.op) && q.addr < kBad) r.board.regs[q.addr] = random.next();  // a second read would find another
    }
    CHECK(r.board.reads - before == once, "operation %02x, sent %u times: read %llu words, expected %llu", q.op, times,
          (unsigned long long)(r.board.reads - before), (unsigned long long)once);
    CHECK(!valid || r.board.performed == will, "operation %02x, sent %u times: %zu writes, expected %zu", q.op, times, r.board.performed.size(), will.size());
  }

  // Numbers come round: a write whose number is that of one before it, with something else between
  // them, is another write.
  void comes_round() {
    static const uint8_t between[] = {kReadReg, kReadMemory, kHello, 0x00};
    uint8_t number = ++seq;
    r.board.performed.clear();
    Bytes got;
    for (uint64_t v : {1, 2}) {
      r.send(Framer::frame(number, kWriteReg, 1, 0x100, {v}));
      r.drain();
      CHECK(r.answer(got, 40 * 10 * r.divisor + kPatience), "no answer");
      r.send(Framer::frame(++seq, between[random.below(4)], 1, 0x100, {}));
      r.drain();
      CHECK(r.answer(got, 40 * 10 * r.divisor + kPatience), "no answer");
    }
    CHECK(r.board.performed.size() == 2, "%zu of two writes with one number, and something else between them", r.board.performed.size());
  }

  // The bus stands: the request is answered all the same, what comes after it too, and the line is
  // good again when the bus is.
  void stands() {
    Bytes got;
    Request q{++seq, random.percent(50) ? kReadReg : kWriteReg, 1, 0x100, {}};
    if (writes(q.op)) q.data.push_back(random.next());
    r.board.performed.clear();
    r.stand = ~0u;
    for (int n = 0; n < 2; ++n) {
      r.send(Framer::frame(q.seq, q.op, q.count, q.addr, q.data));
      r.drain();
      CHECK(r.answer(got, 100 * 10 * r.divisor + 2 * kPatience), "no answer while the bus stands");
      CHECK(got[2] == 6, "status %u while the bus stands", got[2]);
      q.addr += 8;
      seq = ++q.seq;
    }
    r.stand = 0;
    r.cycles(400);
    CHECK(r.board.performed.size() <= 1, "%zu writes", r.board.performed.size());
  }
};

// Reads of registers per second at 3 Mbaud and 156.25 MHz, as far as the line goes.
static void rate(Rig& r) {
  r.divisor = 52;
  r.cycles(2000);
  uint64_t begin = tb::cycle;
  Bytes got;
  for (uint8_t n = 0; n < 20; ++n) {
    r.send(Framer::frame(n, kReadReg, 1, 0x18, {}));
    CHECK(r.answer(got, 100000) && got[2] == 0, "no answer");
  }
  double rate = 20 * 156.25e6 / double(tb::cycle - begin);
  std::printf("%.0f register reads/s at 3 Mbaud\n", rate);
  CHECK(rate >= 1000, "%.0f register reads/s at 3 Mbaud, expected 1,000", rate);
}

static void check(Rig& r) {
  Test t{r, r.b.random};
  r.b.top.rx = 1;
  r.b.reset();
  for (int phase = 0; phase < 12; ++phase) {
    r.divisor = 8 + unsigned(r.b.random.below(40));
    r.ready = std::max(10u, r.b.random.mood());
    r.spikes = r.b.random.percent(50) ? 20 : 0;
    r.cycles(400 * 3);
    for (int i = 0; i < 25; ++i) t.one();
    t.comes_round();
    t.stands();
  }
  r.spikes = 0;
  r.ready = 100;
  rate(r);
}

static void serve(Rig& r) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0, "no pseudo-terminal");
  int keep = open(ptsname(master), O_RDWR | O_NOCTTY);  // so that it outlives its users
  termios raw{};
  tcgetattr(keep, &raw);
  cfmakeraw(&raw);
  tcsetattr(keep, TCSANOW, &raw);
  r.b.top.rx = 1;
  r.b.reset();
  std::printf("%s\n", ptsname(master));
  std::fflush(stdout);
  unsigned quiet = 0;
  for (;;) {
    bool busy = !r.out.empty() || r.out_bit != 0 || r.in_bit != 0 || quiet < 40000;
    pollfd wait[2] = {{master, POLLIN, 0}, {0, POLLIN, 0}};
    poll(wait, 2, busy ? 0 : 1000);
    uint8_t buffer[512];
    if (wait[1].revents != 0 && read(0, buffer, sizeof buffer) <= 0) return;
    if (ssize_t n = (wait[0].revents & POLLIN) != 0 ? read(master, buffer, sizeof buffer) : 0; n > 0) {
      r.out.insert(r.out.end(), buffer, buffer + n);
      quiet = 0;
    }
    Bytes send;
    for (int i = 0; i < 400; ++i) {
      r.send_bits();
      r.b.top.rx = r.line;
      r.b.top.divisor = uint16_t(r.divisor);
      r.b.settle();
      r.bus();
      r.receive_bits();
      r.b.edge();
    }
    quiet = r.in.empty() ? quiet + 400 : 0;
    send.assign(r.in.begin(), r.in.end());
    r.in.clear();
    for (size_t at = 0; at < send.size();) {
      ssize_t n = write(master, &send[at], send.size() - at);
      if (n > 0) at += size_t(n);
      else usleep(1000);
    }
  }
}

int main(int argc, char** argv) {
  Rig r(argc, argv);
  bool pty = false;
  for (int i = 1; i < argc; ++i) {
    unsigned long long off, value;
    if (std::strcmp(argv[i], "+pty") == 0) pty = true;
    if (std::sscanf(argv[i], "+reg=%lli=%lli", (long long*)&off, (long long*)&value) == 2) r.board.regs[off] = value;
    std::sscanf(argv[i], "+noise=%u", &r.noise);
  }
  pty ? serve(r) : check(r);
}
