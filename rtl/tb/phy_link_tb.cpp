// phy_link: two links over two PHYs, six clocks of which only an end's receiving one is the other's
// sending one. Between them a wire of bytes: every lane with its own offset in bytes and its own
// delay, wrong bits, characters that are none, a PHY that loses its lock, a lane that is cut, a
// receiving clock that stops, one direction dead. Every flit arrives once and in order whatever
// happens; a wire that is lost is told to both ends as carrier, and one that is well again has it
// again.
#include <algorithm>
#include <deque>

#include "Vphy_link.h"
#include "tb.h"

namespace {

constexpr unsigned kLanes = TB_LANES, kVcs = 2;

struct Char {
  uint8_t data;
  bool k, bad;
};

struct Wire {  // out of one end into the other
  std::deque<Char> lane[kLanes];
  double errors = 0;   // wrong bits, of a character
  bool dead = false;   // nothing comes: noise
};

struct Test : tb::Bench<Vphy_link> {
  using Bench::Bench;
  Wire wires[2];
  bool lock[2] = {true, true}, rx_runs[2] = {true, true};
  // Half periods; the wire has the sender's clock. [0..1] clk, [2..3] tx_clk, whose edges make
  // rx_clk of the other end too.
  uint64_t half[4] = {50, 51, 80, 81}, at[4] = {50, 20, 31, 77}, now = 0;
  std::deque<tb::Flit> sent[2][kVcs];
  unsigned credits[2][kVcs] = {}, owed[2][kVcs] = {};
  uint64_t arrived = 0, offered = 0;
  bool resetting = true;
  unsigned load = 100, drain = 100;

  void put(unsigned e) {  // end e sends a column
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        unsigned n = (e * kLanes + l) * 4 + i;
        Char c{byte_of(top.out_data, n), bit_of(top.out_k, n), false};
        if (wires[e].dead) c = {uint8_t(random.next()), random.percent(10), random.percent(50)};
        else if (wires[e].errors != 0 && double(random.below(1u << 30)) < wires[e].errors * double(1u << 30)) spoil(c);
        wires[e].lane[l].push_back(c);
      }
  }
  void spoil(Char& c) {
    switch (random.below(3)) {
      case 0: c.data ^= uint8_t(1u << random.below(8)); break;
      case 1: c.bad = true, c.data = uint8_t(random.next()); break;
      default: c.k = !c.k;
    }
  }
  void get(unsigned e) {  // what the other end sent comes to end e
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        auto& q = wires[1 - e].lane[l];
        Char c = q.front();
        q.pop_front();
        unsigned n = (e * kLanes + l) * 4 + i;
        set_byte(top.in_data, n, c.data), set_bit(top.in_k, n, c.k), set_bit(top.in_bad, n, c.bad);
      }
  }
  // Every lane begins somewhere in a column, and some columns late.
  void skew(unsigned e) {
    for (auto& q : wires[e].lane) {
      q.clear();
      size_t late = 4 + random.below(4) + 4 * random.below(6);
      for (size_t i = 0; i < late; ++i) q.push_back({uint8_t(random.next()), false, true});
    }
  }
  // ---- fields of vectors of any width ----
  template <class T> static uint8_t byte_of(T& v, unsigned n) { return reinterpret_cast<const uint8_t*>(&v)[n]; }
  template <class T> static void set_byte(T& v, unsigned n, uint8_t b) { reinterpret_cast<uint8_t*>(&v)[n] = b; }
  template <class T> static bool bit_of(T& v, unsigned n) { return byte_of(v, n / 8) >> n % 8 & 1; }
  template <class T> static void set_bit(T& v, unsigned n, bool b) {
    uint8_t& x = reinterpret_cast<uint8_t*>(&v)[n / 8];
    x = uint8_t((x & ~(1u << n % 8)) | unsigned(b) << n % 8);
  }

  // ---- an end's router ----
  void drive(unsigned e) {
    top.tx_valid &= uint8_t(~(1u << e)), top.rx_credit &= uint8_t(~(3u << 2 * e));
    unsigned vc = unsigned(random.below(kVcs));
    if (resetting) return;
    if (credits[e][vc] != 0 && random.percent(load)) {
      uint64_t data = random.next();
      set_bit(top.tx_valid, e, true), set_bit(top.tx_vc, e, vc), set_bit(top.tx_head, e, true), set_bit(top.tx_tail, e, true);
      std::memcpy(reinterpret_cast<uint8_t*>(&top.tx_data) + 8 * e, &data, 8);
      sent[e][vc].push_back({vc, true, true, data});
      --credits[e][vc], ++offered;
    }
    for (unsigned v = 0; v < kVcs; ++v)
      if (owed[e][v] != 0 && random.percent(drain)) --owed[e][v], top.rx_credit |= uint8_t(1u << (2 * e + v));
  }
  void sample(unsigned e) {
    if (resetting) return;
    for (unsigned v = 0; v < kVcs; ++v) credits[e][v] += top.tx_credit >> (2 * e + v) & 1;
    if (!bit_of(top.rx_valid, e)) return;
    unsigned vc = bit_of(top.rx_vc, e);
    uint64_t data;
    std::memcpy(&data, reinterpret_cast<uint8_t*>(&top.rx_data) + 8 * e, 8);
    auto& q = sent[1 - e][vc];
    CHECK(!q.empty(), "end %u: a flit that was not sent: %016llx", e, (unsigned long long)data);
    CHECK(q.front().data == data && bit_of(top.rx_head, e) && bit_of(top.rx_tail, e), "end %u: %016llx came, expected %016llx", e, (unsigned long long)data,
          (unsigned long long)q.front().data);
    q.pop_front();
    ++owed[e][vc], ++arrived;
  }
  void step() {
    unsigned c = unsigned(std::min_element(at, at + 4) - at), e = c & 1;
    now = at[c];
    at[c] += half[c];
    if (c < 2) {
      bool rise = !bit_of(top.clk, e);
      if (rise) drive(e), top.eval(), sample(e), tb::cycle += e == 0;
      set_bit(top.clk, e, rise);
    } else {
      bool rise = !bit_of(top.tx_clk, e);
      if (rise) put(e);
      unsigned far = 1 - e;
      if (rise && rx_runs[far]) get(far), set_bits_ok(far);
      set_bit(top.tx_clk, e, rise);
      if (rx_runs[far] || bit_of(top.rx_clk, far)) set_bit(top.rx_clk, far, rise);
      if (rise && !rx_runs[far]) for (auto& q : wires[e].lane) q.erase(q.begin(), q.begin() + 4);
    }
    top.eval();
  }
  void set_bits_ok(unsigned e) { for (unsigned l = 0; l < kLanes; ++l) set_bit(top.phy_ok, e * kLanes + l, lock[e]); }
  void run(uint64_t cycles) { for (uint64_t end = tb::cycle + cycles; tb::cycle < end;) step(); }
  bool quiet() const {
    for (auto& end : sent) for (auto& q : end) if (!q.empty()) return false;
    return true;
  }
  void wait_carrier(unsigned what, const char* when) {
    for (uint64_t from = tb::cycle; top.carrier != what; step()) CHECK(tb::cycle - from < 20000, "%s: carrier is %u, expected %u", when, unsigned(top.carrier), what);
  }
  void settle_all(const char* when) {
    wait_carrier(3, when);
    unsigned keep = load;
    load = 0, drain = 100;
    for (uint64_t from = tb::cycle; !quiet(); step()) CHECK(tb::cycle - from < 40000, "%s: flits are lost", when);
    load = keep;
  }

  void start() {
    top.eval();
    top.arst = 1, top.rst = 1;
    set_bits_ok(0), set_bits_ok(1);
    for (unsigned e = 0; e < 2; ++e) skew(e);
    run(30);
    top.arst = 0;
    run(10);
    top.rst = 0, resetting = false;
    wait_carrier(3, "at the start");
  }
  void ratios() {
    // Words take COLUMNS cycles of the wire; clk is slower than the wire, or faster, or off by some
    // parts in ten thousand.
    static const uint64_t of[][4] = {{50000, 50003, 80000, 80008}, {100000, 99990, 50000, 50005}, {40000, 70000, 64000, 63990}, {110000, 110011, 50002, 50000}};
    const uint64_t* h = of[random.below(kLanes == 1 ? 4 : 2)];
    for (int i = 0; i < 4; ++i) half[i] = h[i];
  }
  uint32_t sum(uint64_t v) { return uint32_t(v) + uint32_t(v >> 32); }
};

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.start();
  // A wire without fault loses nothing, whatever the clocks.
  for (int i = 0; i < 6; ++i) {
    t.ratios();
    t.run(3000);
    t.settle_all("a good wire");
  }
  CHECK(t.sum(t.top.crc_errors) == 0 && t.sum(t.top.dropped) == 0 && t.sum(t.top.downs) == 0,
        "without a fault: %u CRC errors, %u words dropped, carrier lost %u times", t.sum(t.top.crc_errors), t.sum(t.top.dropped), t.sum(t.top.downs));
  CHECK(t.arrived > 2000, "only %llu flits have come", (unsigned long long)t.arrived);

  for (int round = 0; round < 12; ++round) {
    t.ratios();
    t.load = t.random.percent(50) ? 100 : 20;
    double errors = round % 3 == 0 ? 2e-3 : 2e-4;
    t.wires[0].errors = t.random.percent(80) ? errors : 0, t.wires[1].errors = errors;
    t.run(6000);
    t.wires[0].errors = t.wires[1].errors = 0;
    t.settle_all("wrong bits");
    unsigned e = unsigned(t.random.below(2));
    uint32_t downs = t.sum(t.top.downs);
    switch (t.random.below(4)) {
      case 0:  // the PHY loses its lock, and comes back at other bytes
        t.lock[e] = false;
        t.wait_carrier(0, "a lost lock");
        t.skew(1 - e);
        t.run(500);
        t.lock[e] = true;
        break;
      case 1:  // noise, with the PHY content
        t.wires[e].dead = true;
        t.wait_carrier(0, "noise");
        t.run(500);
        t.wires[e].dead = false;
        break;
      case 2:  // the receiving clock stops
        t.rx_runs[e] = false;
        t.wait_carrier(0, "a clock that stops");
        t.run(500);
        t.rx_runs[e] = true;
        break;
      default: {  // one lane slips by a byte
        auto& q = t.wires[e].lane[t.random.below(kLanes)];
        if (t.random.percent(50)) q.push_back({0, false, true});
        else q.pop_front(), q.insert(q.begin(), 4, Char{0, false, true});
        for (uint64_t from = tb::cycle; t.sum(t.top.downs) == downs; t.step()) CHECK(tb::cycle - from < 20000, "a lane that slips is not found");
      }
    }
    t.settle_all("a wire that is well again");
    CHECK(t.sum(t.top.downs) > downs, "no carrier was lost");
  }
  CHECK(t.sum(t.top.crc_errors) > 20 && t.sum(t.top.dropped) > 20, "only %u CRC errors, %u words dropped", t.sum(t.top.crc_errors), t.sum(t.top.dropped));
}
