// link: two links that face each other over wires that corrupt, lose and fail.
// - every flit arrives once, in order, as it was sent, whatever the wires do; no credit is lost or
//   invented;
// - one or two flipped bits are always found: every bit of every kind of word is flipped once,
//   hellos included; lost words, lost acknowledgements and repeated nacks cost time only;
// - a wire that swallows everything makes the link dead, a missing carrier silences it; both go on
//   where they stopped; without carrier nothing is active, with a timer running something is;
// - the CRC of every word sent is the one that the bench computes;
// - errors and losses alone end no session and lose no packet;
// - no word is sent again after its acknowledgement has arrived;
// - wires that are not ready delay and lose nothing;
// - a link that failed for longer than its patience ends every packet of which a part has come,
//   with a tail of zeros; what comes of it later is discarded, and credits are what they were;
// - ends that are reset by themselves, whole or the link alone, at any time, agree again: no flit
//   comes twice, out of order or instead of another, packets of which a part came have an end,
//   those that did not come are counted, credits are right;
// - on a good wire, however long: no retransmission, two cycles and the wire from flit to flit,
//   with entries for a round trip one flit a cycle, also of one VC alone, and soon quiet.
#include "Vlink.h"
#include "link_word.h"
#include "tb.h"

namespace {

using link_word::Kind;
using link_word::Word;

constexpr unsigned kDepth = TB_VC_DEPTH, kLatency = TB_LATENCY;

struct Test : tb::Bench<Vlink> {
  using Bench::Bench;
  std::deque<tb::Flit> under_way[2][2];  // sender, VC
  bool open[2][2] = {};                  // receiver, VC: the last flit was no tail
  bool skip[2][2] = {};                  // sender, VC: the rest of a packet that was ended
  unsigned cuts[2] = {};
  bool was_up[2] = {};
  bool resets = false, ending = false, begun[2][2] = {};  // ends are reset, and packets are whole: the last flit sent was no tail
  unsigned wipe = 0, restart = 0;         // of 10000 cycles
  unsigned restart_ends = 0;              // in the next cycle, one bit each
  uint64_t sent_heads[2] = {}, received_heads[2] = {};
  unsigned credits[2][2], held[2][2] = {};
  unsigned vcs = 2, load = 100, drain_percent = 100, ready = 100;
  unsigned lose = 0, flip = 0;  // of 10000 words
  link_word::RetransmissionCheck retransmission_check[2];
  link_word::EveryBit* every_bit = nullptr;  // chooses the bit to flip in the word that an end sends
  unsigned silent = 0;          // wires that lose all, one bit each
  uint64_t received = 0;

  void start() {
    for (auto& end : credits) end[0] = end[1] = 0;
    top.carrier = 3;
    top.wire_ready = 3;
    reset();
    come_home();
  }

  void drive(unsigned e) {
    unsigned v = unsigned(random.below(vcs));
    if (!was_up[e]) return;
    if (credits[e][v] == 0 && vcs == 2) v ^= 1;
    if (ending) v = begun[e][v] ? v : v ^ 1;
    if (credits[e][v] == 0 || !random.percent(load) || (ending && !begun[e][v])) return;
    tb::Flit f{v, resets ? !begun[e][v] : random.percent(20), ending || random.percent(20), random.next()};
    begun[e][v] = !f.tail;
    sent_heads[e] += f.head;
    --credits[e][v];
    if (!skip[e][v]) under_way[e][v].push_back(f);
    else if (f.tail) skip[e][v] = false;
    top.tx_valid |= 1u << e;
    top.tx_vc |= v << e, top.tx_head |= unsigned(f.head) << e, top.tx_tail |= unsigned(f.tail) << e;
    top.tx_data[2 * e] = uint32_t(f.data), top.tx_data[2 * e + 1] = uint32_t(f.data >> 32);
  }

  void receive(unsigned e) {
    if (!(top.rx_valid >> e & 1)) return;
    unsigned v = top.rx_vc >> e & 1;
    tb::Flit f{v, bool(top.rx_head >> e & 1), bool(top.rx_tail >> e & 1), top.rx_data[2 * e] | uint64_t(top.rx_data[2 * e + 1]) << 32};
    auto& from = under_way[1 - e][v];
    CHECK(++held[e][v] <= kDepth, "end %u VC %u: more flits than entries", e, v);
    if (resets && open[e][v] && !f.head && f.tail && f.data == 0) {
      open[e][v] = false;
      return;
    }
    if (resets) {
      CHECK(f.head == !open[e][v], "end %u VC %u: a packet without an end, or no head", e, v);
      while (!from.empty() && !(f == from.front())) from.pop_front();
    }
    if (top.patience != 0 && open[e][v] && !f.head && f.tail && f.data == 0) {
      ++cuts[e];
      open[e][v] = false;
      skip[1 - e][v] = true;
      while (skip[1 - e][v] && !from.empty()) {
        skip[1 - e][v] = !from.front().tail;
        from.pop_front();
      }
      return;
    }
    CHECK(!from.empty(), "end %u VC %u: flit %016llx arrived that was not sent", e, v, (unsigned long long)f.data);
    CHECK(f == from.front(), "end %u VC %u: flit %016llx, expected %016llx", e, v, (unsigned long long)f.data, (unsigned long long)from.front().data);
    from.pop_front();
    open[e][v] = !f.tail;
    ++received;
    received_heads[e] += f.head;
  }

  void step() {
    top.tx_valid = top.tx_vc = top.tx_head = top.tx_tail = top.rx_credit = 0;
    top.wire_ready = top.wire_lose = 0;
    std::memset(&top.wire_flips, 0, sizeof top.wire_flips);
    top.wipe = top.restart = 0;
    for (unsigned e = 0; e < 2; ++e) {
      top.wipe |= unsigned(random.below(10000) < wipe) << e;
      top.restart |= unsigned(random.below(10000) < restart) << e;
    }
    top.restart |= restart_ends;
    restart_ends = 0;
    for (unsigned e = 0; e < 2; ++e) {
      drive(e);
      for (unsigned v = 0; v < 2; ++v) {
        if (held[e][v] == 0 || !random.percent(drain_percent)) continue;
        --held[e][v];
        top.rx_credit |= 1u << (2 * e + v);
      }
      top.wire_ready |= unsigned(random.percent(ready)) << e;
      top.wire_lose |= unsigned(random.below(10000) < lose || (silent >> e & 1)) << e;
      if (random.below(10000) < flip) flip_bit(e, unsigned(random.below(Word::kBits))), flip_bit(e, unsigned(random.below(Word::kBits)));
      if (every_bit) choose_bit(e);
    }
    settle();
    for (unsigned e = 0; e < 2; ++e) {
      receive(e);
      watch_wire(e);
      was_up[e] = top.up >> e & 1;
      for (unsigned v = 0; v < 2; ++v) {
        credits[e][v] += top.tx_credit >> (2 * e + v) & 1;
        if (!was_up[e]) credits[e][v] = 0, begun[e][v] = false;
        if (top.wipe >> e & 1) held[e][v] = 0, open[e][v] = false;
      }
    }
    edge();
    top.wipe = top.restart = 0;
    for (auto& end : credits) CHECK(end[0] <= kDepth && end[1] <= kDepth, "more credits than entries");
  }

  void flip_bit(unsigned e, unsigned bit) {
    unsigned at = e * Word::kBits + bit;
    top.wire_flips[at / 32] ^= 1u << at % 32;
  }

  uint32_t crc_errors(unsigned e) { return uint32_t(top.crc_errors >> 32 * e); }

  // Takes the words that leave an end while none with a flipped bit is under way.
  void choose_bit(unsigned e) {
    if (!((top.wire_valid & top.wire_ready & ~top.wire_lose) >> e & 1)) return;
    int bit = every_bit->choose(Word(top.wire_word, e).kind(), crc_errors(1 - e), 1 - e);
    if (bit >= 0) flip_bit(e, unsigned(bit));
  }

  void watch_wire(unsigned e) {
    if (every_bit && every_bit->due()) every_bit->check(crc_errors(every_bit->receiver()));
    if (top.wire_valid >> e & 1) {
      Word sent(top.wire_word, e);
      CHECK(sent.crc() == sent.expected_crc(), "end %u: a %s with CRC %08x, expected %08x", e, sent.name(), sent.crc(), sent.expected_crc());
    }
    if (resets) return;  // the check counts within one session
    auto& check = retransmission_check[e];
    if (top.wire_valid >> e & 1) check.offered(Word(top.wire_word, e), e);
    if (top.arrives >> e & 1) check.arrived(Word(top.arrived, e));
    check.step(top.wire_valid >> e & 1 && !(top.wire_ready >> e & 1));
  }

  bool home() {
    for (auto& end : credits) {
      if (end[0] != kDepth || end[1] != kDepth) return false;
    }
    return true;
  }

  // All is delivered, all credits are back and both ends come to rest.
  void come_home() {
    unsigned was = load;
    load = 0, drain_percent = 100, ready = 100;
    for (int i = 0; !home() || top.idle != 3; ++i) {
      CHECK(i < 20000, "credits %u %u %u %u of %u: something was lost", credits[0][0], credits[0][1], credits[1][0], credits[1][1], kDepth);
      step();
    }
    load = was;
    unsigned losses = lose, flips = flip;
    lose = flip = 0;  // a corrupted word would start a nack
    for (unsigned i = 0; i < 4 + 3 * kLatency; ++i) step_idle();  // repeats that are still on the wire
    lose = losses, flip = flips;
    CHECK(top.active == 0, "active at rest");
    CHECK(top.up == 3, "the ends do not agree: %u", top.up);
    for (auto& end : under_way) {
      for (auto& way : end) {
        if (resets) way.clear();
      }
    }
    for (auto& end : under_way) CHECK(end[0].empty() && end[1].empty(), "flits missing");
  }
  void step_idle() {
    unsigned was = load;
    load = 0;
    step();
    load = was;
  }
};

uint32_t low(uint64_t v) { return uint32_t(v) + uint32_t(v >> 32); }

void good_wire(Test* t) {
  t->load = 0;
  for (int i = 0; i < 10; ++i) t->step();
  t->load = 100;
  uint64_t start = tb::cycle;
  t->step();
  t->load = 0;
  while (t->received == 0) t->step();
  CHECK(tb::cycle - start == 4 + kLatency, "first flit seen after %llu cycles, expected %u", (unsigned long long)(tb::cycle - start), 4 + kLatency);
  t->come_home();
  for (unsigned vcs = 1; vcs <= 2; ++vcs) {
    t->load = 100;
    t->vcs = vcs;
    for (unsigned i = 0; i < 50 + 4 * kLatency; ++i) t->step();
    uint64_t before = t->received;
    for (int i = 0; i < 1000; ++i) t->step();
    unsigned flits = unsigned(t->received - before);
    std::printf("depth %u, latency %u, %u VCs: %u flits in 1000 cycles both ways\n", kDepth, kLatency, vcs, flits);
    if (kDepth * vcs >= 10 + 2 * kLatency) CHECK(flits == 2000, "depth %u, latency %u, %u VCs: %u flits in 1000 cycles both ways", kDepth, kLatency, vcs, flits);
    t->come_home();
  }
  CHECK(low(t->top.retransmissions) == 0 && low(t->top.timeouts) == 0 && low(t->top.crc_errors) == 0, "faults on a good wire");
}

void bad_wires(Test* t) {
  static const unsigned rates[] = {0, 10, 100, 2000};
  for (int phase = 0; phase < 120; ++phase) {
    t->load = t->random.mood(), t->drain_percent = t->random.mood(), t->ready = t->random.mood();
    t->lose = rates[t->random.below(4)], t->flip = rates[t->random.below(4)];
    for (int i = 0; i < 800; ++i) t->step();
    if (phase % 8 == 7) t->come_home();
  }
  t->lose = t->flip = 0;
  t->come_home();
  CHECK(low(t->top.crc_errors) > 100 && low(t->top.retransmissions) > 100 && low(t->top.timeouts) > 10, "too few faults: the scenario lost its point");
}

// Flips each bit of each kind of word once. Traffic comes and goes, so that acknowledgements leave
// in words of their own too; ends are restarted for hellos.
void every_bit(Test* t, bool hellos) {
  link_word::EveryBit bits(hellos, &t->random, 4 + kLatency);
  t->every_bit = &bits;
  t->resets = hellos;
  t->drain_percent = t->ready = 100;
  t->lose = hellos ? 0 : 200;  // a lost word is answered by a nack
  for (int period = 0; bits.left() != 0; ++period) {
    CHECK(period < 20000, "%zu bits have not been flipped, one of a %s among them", bits.left(), bits.missing());
    t->load = t->random.percent(50) ? 100 : t->random.percent(50) ? 20 : 0;
    t->drain_percent = t->load == 0 ? 30 : 100;
    for (unsigned i = 0, n = 20 + unsigned(t->random.below(100 + 4 * kLatency)); i < n; ++i) t->step();
    if (hellos) t->restart_ends = 1 + unsigned(t->random.below(2));
  }
  t->every_bit = nullptr;
  t->lose = t->restart_ends = 0;
  for (unsigned i = 0; i < 200 + 4 * kLatency; ++i) t->step_idle();  // until the hellos are exchanged
  t->come_home();
  t->resets = false;
}

// Errors and losses are mended by retransmission alone.
void check_nothing_lost(Test* t) {
  CHECK(t->top.resets == 0 && t->top.lost == 0, "%u and %u sessions ended, %u and %u packets lost, by errors and losses alone", uint32_t(t->top.resets),
        uint32_t(t->top.resets >> 32), uint32_t(t->top.lost), uint32_t(t->top.lost >> 32));
}

void dead_wire(Test* t) {
  for (unsigned silent = 1; silent <= 3; ++silent) {
    uint32_t failures = low(t->top.failures);
    t->load = 60, t->drain_percent = t->ready = 100;
    for (int i = 0; i < 100; ++i) t->step();
    t->silent = silent;
    for (int i = 0; i < 1500; ++i) t->step();
    CHECK(t->top.dead == 3, "dead is %u after 1500 cycles of silence", t->top.dead);
    CHECK(low(t->top.failures) == failures + 2, "%u failures counted, expected 2", low(t->top.failures) - failures);
    CHECK(t->top.active != 0, "a probing link is active");
    t->silent = 0;
    for (int i = 0; i < 500; ++i) t->step();
    CHECK(t->top.dead == 0, "the link does not come back");
    t->come_home();
  }
}

void no_carrier(Test* t) {
  for (int round = 0; round < 20; ++round) {
    t->load = 80, t->drain_percent = t->ready = 100;
    for (unsigned i = 0, n = 50 + unsigned(t->random.below(50)); i < n; ++i) t->step();
    uint32_t failures = low(t->top.failures);
    t->top.carrier = 0;
    for (int i = 0; i < 300; ++i) t->step();
    t->load = 0;
    for (int i = 0; i < 50; ++i) t->step();
    CHECK(t->top.active == 0 && t->top.idle != 3, "without carrier: active %u, idle %u", t->top.active, t->top.idle);
    CHECK(t->top.wire_valid == 0, "words without carrier");
    CHECK(low(t->top.failures) == failures + 2, "failures count the lost carrier");
    t->top.carrier = 3;
    t->come_home();
  }
}

// Links that fail for longer than their patience, in every way, and come back.
void cut_packets(Test* t) {
  constexpr unsigned kPatience = 60;
  t->top.patience = kPatience;
  for (int round = 0; round < 60; ++round) {
    t->load = 80, t->ready = 100, t->drain_percent = t->random.percent(50) ? 100 : t->random.mood();
    for (unsigned i = 0, n = 50 + unsigned(t->random.below(50)); i < n; ++i) t->step();
    if (round % 4 == 0) t->top.carrier = 0;
    else t->silent = unsigned(round % 4);
    // A short failure cuts nothing.
    if (round % 4 == 0) {
      unsigned before = t->cuts[0] + t->cuts[1];
      for (unsigned i = 0; i < kPatience; ++i) t->step();
      CHECK(t->cuts[0] + t->cuts[1] == before, "a packet was cut before its time");
    }
    t->load = t->random.percent(50) ? 80 : 0;
    for (int i = 0; i < 1500; ++i) t->step();
    t->drain_percent = 100;
    for (int i = 0; i < 200; ++i) t->step();
    for (unsigned e = 0; e < 2; ++e) {
      CHECK(!t->open[e][0] && !t->open[e][1], "round %d, end %u: a packet without a tail stayed", round, e);
      CHECK(uint32_t(t->top.cut >> 32 * e) == t->cuts[e], "end %u: %u cut packets counted, expected %u", e, uint32_t(t->top.cut >> 32 * e), t->cuts[e]);
    }
    t->top.carrier = 3;
    t->silent = 0;
    if (t->random.percent(50)) {
      t->load = 80;
      for (int i = 0; i < 500; ++i) t->step();
    }
    t->come_home();
  }
  CHECK(t->cuts[0] > 20 && t->cuts[1] > 20, "%u and %u packets were cut: the scenario lost its point", t->cuts[0], t->cuts[1]);
  t->top.patience = 0;
}

// One end or the other is reset, now and then both, over wires that may be bad.
void reset_ends(Test* t, bool whole) {
  t->resets = true;
  std::memset(t->skip, 0, sizeof t->skip);
  uint64_t lost_most = 0;
  static const unsigned rates[] = {0, 0, 30, 1000};
  for (int round = 0; round < 150; ++round) {
    t->load = t->random.mood(), t->drain_percent = t->random.mood(), t->ready = t->random.mood();
    t->lose = rates[t->random.below(4)], t->flip = rates[t->random.below(4)];
    for (unsigned i = 0, n = unsigned(t->random.below(300)); i < n; ++i) t->step();
    t->restart = t->random.percent(50) ? 10 : 200, t->wipe = whole ? t->restart : 0;
    for (unsigned i = 0, n = unsigned(t->random.below(600)); i < n; ++i) t->step();
    t->restart = t->wipe = 0;
    for (unsigned i = 0, n = unsigned(t->random.below(600)); i < n; ++i) t->step();
    t->lose = t->flip = 0, t->load = t->drain_percent = 100;
    t->ending = true;
    for (int i = 0; i < 3000; ++i) t->step();
    t->ending = false;
    t->come_home();
    for (unsigned e = 0; e < 2; ++e) {
      CHECK(!t->open[e][0] && !t->open[e][1], "round %d, end %u: a packet has no end", round, e);
      uint64_t lost = uint32_t(t->top.lost >> 32 * e);
      if (!whole) {
        CHECK(t->sent_heads[e] - t->received_heads[1 - e] == lost, "round %d, end %u: %llu packets sent, %llu came, %llu told to be lost", round, e,
              (unsigned long long)t->sent_heads[e], (unsigned long long)t->received_heads[1 - e], (unsigned long long)lost);
      }
      lost_most = std::max(lost_most, lost);
    }
    if (whole) t->sent_heads[0] = t->sent_heads[1] = t->received_heads[0] = t->received_heads[1] = 0;
  }
  CHECK(whole || lost_most > 20, "%llu packets lost: the scenario lost its point", (unsigned long long)lost_most);
  t->resets = false;
}

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.start();
  good_wire(&t);
  bad_wires(&t);
  every_bit(&t, false);
  check_nothing_lost(&t);
  dead_wire(&t);
  no_carrier(&t);
  cut_packets(&t);
  check_nothing_lost(&t);
  t.sent_heads[0] = t.sent_heads[1] = t.received_heads[0] = t.received_heads[1] = 0;
  reset_ends(&t, false);
  reset_ends(&t, true);
  every_bit(&t, true);
}
