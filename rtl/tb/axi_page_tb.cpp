// axi_page (with msix_table): random accesses, events, resets and interrupts, against a model.
// - CONTROL asks for a reset from the write of a 1 until one starts, and reads 1 as long as the
//   core is not open or cut DMA is not settled; STATUS, and the three counters, also with two
//   events in a cycle; all else reads 0 and keeps nothing;
// - the table of MSI-X, dword by dword, is the same behind a reset of the core and masked behind
//   forget;
// - a write is sent for a vector that is pending and not masked, with the table's address and data,
//   and every such vector is sent.
#include "Vaxi_page.h"
#include "tb.h"

namespace {

constexpr unsigned kVectors = TB_VECTORS;
constexpr uint32_t kControl = 0x400, kStatus = 0x401, kResets = 0x402, kRefused = 0x403, kStrays = 0x404, kPending = 0x200;

struct Vector {
  uint32_t word[4] = {0, 0, 0, 1};  // address, upper address, data, mask
  bool known = false;               // written since power-up
};

struct Test : tb::Bench<Vaxi_page> {
  bool asked = false, was_lost = false;
  uint32_t resets = 0, refused = 0, strays = 0;
  Vector table[kVectors];
  uint32_t line_was = 0, pending = 0;
  bool sends = false;
  unsigned accesses = 0, asks = 0, sent = 0, forgets = 0;
  unsigned quiet = 0;  // cycles with something to send and nothing sent

  using Bench::Bench;

  uint32_t expected(uint32_t addr) {
    switch (addr) {
      case kControl: return asked || !top.open || !top.settled;
      case kStatus: return unsigned(was_lost) << 2 | unsigned(top.settled) << 1 | top.open;
      case kResets: return resets;
      case kRefused: return refused;
      case kStrays: return strays;
      case kPending: return pending;
    }
    unsigned v = addr >> 2;
    if (v >= kVectors) return 0;
    return addr % 4 == 0 ? table[v].word[0] & ~3u : addr % 4 == 3 ? table[v].word[3] & 1 : table[v].word[addr % 4];
  }
  bool is_known(uint32_t addr) const { return addr >> 2 >= kVectors || addr % 4 == 3 || table[addr >> 2].known; }

  uint32_t any_address() {
    switch (random.below(6)) {
      case 0: case 1: return kControl + uint32_t(random.below(6));
      case 2: case 3: return uint32_t(random.below(4 * kVectors + 2));
      case 4: return kPending + uint32_t(random.below(2));
      default: return uint32_t(random.below(1 << 18)) & ~(random.percent(50) ? 0x400u : 0);
    }
  }

  void step(unsigned write_percent, unsigned event_percent) {
    auto event = [&] { return random.percent(event_percent); };
    top.wr = random.percent(write_percent), top.addr = any_address();
    top.data = random.percent(50) ? uint32_t(random.below(4)) : uint32_t(random.next());
    top.starts = event() && random.percent(30), top.open = !event(), top.settled = !event(), top.ev_lost = event() && random.percent(2);
    top.ev_refused = random.percent(50) ? event() | unsigned(event()) << 1 : 0;
    top.ev_stray = random.percent(50) ? event() | unsigned(event()) << 1 : 0;
    if (random.percent(10)) top.line = uint32_t(random.below(1u << kVectors));
    top.forget = event() && random.percent(5), top.enable = top.mask = 0;
    top.enable = !random.percent(2), top.mask = random.percent(20);
    top.done = top.send && random.percent(30);
    settle();

    CHECK(top.asked == asked, "a reset is asked for: %u, expected %u", top.asked, asked);
    if (is_known(top.addr)) {
      uint32_t want = expected(top.addr);
      CHECK(top.value == want, "dword %05x reads %08x, expected %08x", unsigned(top.addr), top.value, want);
    }
    check_send();
    accesses += top.wr;
    model();
    edge();
  }

  uint32_t may() const {  // vectors that can be chosen in this cycle
    uint32_t m = 0;
    for (unsigned v = 0; v < kVectors; ++v) m |= unsigned(!(table[v].word[3] & 1)) << v;
    return top.enable && !top.mask && !top.send ? pending & m : 0;
  }
  uint32_t chosen_from = 0;  // may() of the cycle before
  Vector before[kVectors];   // the table then
  void check_send() {
    CHECK(!sends || top.send, "a write is withdrawn");
    quiet = !top.send && chosen_from != 0 ? quiet + 1 : 0;
    CHECK(quiet == 0, "pending vectors %x, and nothing is sent", chosen_from);
    if (sends || !top.send) return;
    unsigned match = kVectors;
    for (unsigned v = 0; v < kVectors; ++v)
      if (chosen_from >> v & 1 && (!before[v].known || (top.to == (uint64_t(before[v].word[1]) << 30 | before[v].word[0] >> 2) && top.word == before[v].word[2]))) match = v;
    CHECK(match < kVectors, "a write to %llx with %08x is no pending vector's", (unsigned long long)top.to << 2, top.word);
    ++sent;
  }

  void model() {
    if (top.wr && top.addr == kControl && top.data & 1) asked = true, ++asks;
    else if (top.starts) asked = false;
    was_lost |= top.ev_lost;
    resets += top.starts;
    refused += (top.ev_refused & 1) + (top.ev_refused >> 1), strays += (top.ev_stray & 1) + (top.ev_stray >> 1);
    chosen_from = may();
    std::copy(table, table + kVectors, before);
    if (top.wr && top.addr >> 2 < kVectors) {
      Vector& v = table[top.addr >> 2];
      v.word[top.addr % 4] = top.data;
    }
    if (top.forget) {
      for (Vector& v : table) v.word[3] = 1;
      chosen_from = 0;
      ++forgets;
    }
    sends = top.send && !top.done && !top.forget;
  }
  // Which of several vectors is chosen is the matter of rr_arbiter; pending bits are read back.
  void read_pending() {
    top.wr = 0, top.addr = kPending;
    settle();
    pending = top.value;
    CHECK((pending & ~uint32_t(top.line)) == 0 || top.line != line_was, "vectors %x are pending, lines %x", pending, unsigned(top.line));
    line_was = top.line;
  }
};

void scenario(Test& t) {
  t.reset();
  for (unsigned v = 0; v < kVectors; ++v) CHECK(t.expected(4 * v + 3) == 1, "the model of the bench");
  for (unsigned v = 0; v < kVectors; ++v)
    for (unsigned i = 0; i < 3; ++i) t.top.wr = 1, t.top.addr = 4 * v + i, t.top.data = t.table[v].word[i] = uint32_t(t.random.next()), t.tick();
  t.top.wr = 0;
  for (Vector& v : t.table) v.known = true;
  for (int phase = 0; phase < 40; ++phase) {
    unsigned writes = t.random.mood(), events = unsigned(t.random.below(60));
    for (int i = 0; i < 200; ++i) t.read_pending(), t.step(writes, events);
  }
  CHECK(t.asks > 50 && t.resets > 50 && t.refused > 50 && t.strays > 50 && t.forgets > 5 && t.sent > 50 && t.accesses > 2000,
        "%u asked for, %u resets, %u refused, %u strays, %u forgotten, %u sent, %u accesses: the scenario lost its point", t.asks, t.resets, t.refused, t.strays, t.forgets, t.sent, t.accesses);
}

}  // namespace

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
