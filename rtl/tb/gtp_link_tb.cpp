// gtp_link: two links over the model of a GTP transceiver (sim/xilinx_models.sv), bit by bit: reset
// of PLL, transmitter and receiver through the DRP, commas at any bit, wrong bits, a cable that is
// pulled and plugged in again with another length. Every flit arrives once and in order, and both
// ends see the carrier fall and rise.
#include <deque>

#include "Vgtp_link.h"
#include "tb.h"

namespace {

struct Test : tb::Bench<Vgtp_link> {
  using Bench::Bench;
  std::deque<bool> wire[2];
  double errors = 0;
  bool cut = false;
  std::deque<uint64_t> sent[2];
  unsigned credits[2] = {}, owed[2] = {}, load = 100;
  uint64_t arrived = 0, now = 0;
  bool resetting = true;

  void bits() {
    for (unsigned e = 0; e < 2; ++e) {
      bool b = top.tx_bit >> e & 1;
      if (errors != 0 && double(random.below(1u << 30)) < errors * double(1u << 30)) b = !b;
      wire[e].push_back(b);
    }
    top.rx_bit = 0;
    for (unsigned e = 0; e < 2; ++e) {
      bool b = wire[1 - e].front();
      wire[1 - e].pop_front();
      if (!cut && b) top.rx_bit |= uint8_t(1u << e);
    }
  }
  void plug() {
    for (auto& w : wire) w.assign(1 + random.below(300), false);
  }
  void core() {
    top.tx_valid = 0, top.rx_credit = 0;
    for (unsigned e = 0; e < 2 && !resetting; ++e) {
      if (credits[e] != 0 && random.percent(load)) {
        uint64_t data = random.next();
        top.tx_valid |= uint8_t(1u << e);
        std::memcpy(reinterpret_cast<uint8_t*>(&top.tx_data) + 8 * e, &data, 8);
        sent[e].push_back(data), --credits[e];
      }
      if (owed[e] != 0) --owed[e], top.rx_credit |= uint8_t(1u << 2 * e);
    }
    top.eval();
    for (unsigned e = 0; e < 2 && !resetting; ++e) {
      credits[e] += top.tx_credit >> 2 * e & 1;
      if (!(top.rx_valid >> e & 1)) continue;
      uint64_t data;
      std::memcpy(&data, reinterpret_cast<uint8_t*>(&top.rx_data) + 8 * e, 8);
      CHECK(!sent[1 - e].empty() && sent[1 - e].front() == data, "end %u: %016llx was not next", e, (unsigned long long)data);
      sent[1 - e].pop_front();
      ++owed[e], ++arrived;
    }
    ++tb::cycle;
  }
  // Time in halves of a bit: 5 Gb/s, the core at 125 MHz, the DRP at 100 MHz.
  void step() {
    bool rise = now % 2 == 0;
    if (rise) bits();
    if (now % 80 == 7) core(), top.clk = 1;
    if (now % 80 == 47) top.clk = 0;
    if (now % 100 == 3) top.drp_clk = 1;
    if (now % 100 == 53) top.drp_clk = 0;
    top.bit_clk = rise ? 3 : 0;
    top.eval();
    ++now;
  }
  void run(uint64_t cycles) { for (uint64_t end = tb::cycle + cycles; tb::cycle < end;) step(); }
  void wait_carrier(unsigned what, const char* when) {
    for (uint64_t from = tb::cycle; top.carrier != what; step()) CHECK(tb::cycle - from < 30000, "%s: carrier is %u, expected %u", when, unsigned(top.carrier), what);
  }
  void settle_all(const char* when) {
    wait_carrier(3, when);
    load = 0;
    for (uint64_t from = tb::cycle; !sent[0].empty() || !sent[1].empty(); step()) CHECK(tb::cycle - from < 40000, "%s: flits are lost", when);
    load = 100;
  }
};

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.plug();
  t.top.eval();
  // Resets that come while another is under way: the receiver's detour through the DRP may be cut
  // anywhere.
  t.top.rst = 1;
  for (int round = 0; round < 16; ++round) {
    t.top.arst = 1;
    t.run(20);
    t.top.arst = 0;
    t.run(t.random.below(250));
  }
  t.top.arst = 1;
  t.run(20);
  t.top.arst = 0;
  t.run(20);
  t.top.rst = 0, t.resetting = false;
  t.wait_carrier(3, "after reset");
  t.run(3000);
  t.settle_all("a good wire");
  auto sum = [](uint64_t v) { return uint32_t(v) + uint32_t(v >> 32); };
  CHECK(sum(t.top.crc_errors) == 0 && sum(t.top.downs) == 0, "without a fault: %u CRC errors, carrier lost %u times", sum(t.top.crc_errors), sum(t.top.downs));
  CHECK(t.arrived > 300, "only %llu flits have arrived", (unsigned long long)t.arrived);
  for (int round = 0; round < 4; ++round) {
    t.errors = 1e-5 * double(1 + t.random.below(10));
    t.run(6000);
    t.errors = 0;
    t.settle_all("wrong bits");
    uint32_t downs = sum(t.top.downs);
    t.cut = true;
    t.wait_carrier(0, "a cut wire");
    t.run(t.random.below(2000));
    t.plug();
    t.cut = false;
    t.settle_all("a wire that is plugged in again");
    CHECK(sum(t.top.downs) > downs, "no carrier was lost");
  }
}
