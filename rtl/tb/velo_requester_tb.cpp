// velo_requester: random lines, about a third of them wrong (window off, no domain, bad length or beats, bad size or
// burst, strobe holes, no such node), random stalls on AW, W, B and flits.
// - every accepted line gives exactly its header, payload and tail flits, CRC checked bit by bit;
// - every refused line gives SLVERR and one error event with the right reason, and no flit;
// - answers, events and counters of lines agree with the model;
// - while no flit leaves at most 4 lines are taken, then the bus waits; after that they all leave;
// - 56-byte lines leave at full rate: 9 cycles each.
#include "Vvelo_requester.h"
#include "tb.h"

namespace {

struct Line {
  uint32_t addr;
  unsigned len, size, burst;
  std::vector<uint64_t> data;
  std::vector<uint8_t> strobes;
  unsigned reason;
};

constexpr unsigned kNode = 3;

struct Test : tb::Bench<Vvelo_requester> {
  using Bench::Bench;
  std::deque<Line> lines;          // not yet addressed
  std::deque<Line> data;           // addressed, data not complete
  std::deque<unsigned> answers;    // reasons of complete lines
  std::deque<tb::Flit> flits;      // that must come
  size_t beat = 0;
  bool aw_up = false, w_up = false;
  unsigned packets = 0, leaving = 0;  // leaving: whose packet

  unsigned reason(const Line& l) {
    unsigned bytes = FIELD(l.addr, PIO_LENGTH) + 2 * FIELD(l.addr, PIO_PIGGYBACK);
    unsigned beats = bytes == 0 ? 1 : (bytes + 7) / 8;
    if (!(top.window_on >> FIELD(l.addr, PIO_SRC_VPID) & 1)) return NICLOOP_DROP_REASON_WINDOW_OFF;
    if ((top.stamps[FIELD(l.addr, PIO_SRC_VPID)] & 0xffff) == 0) return NICLOOP_DROP_REASON_DOMAIN;
    if (l.addr & 0x37 || bytes > 56 || l.len + 1 != beats || l.size != 3 || l.burst != 1) return NICLOOP_DROP_REASON_BAD_LENGTH;
    for (uint8_t s : l.strobes) {
      if (s != 0xff) return NICLOOP_DROP_REASON_BAD_LENGTH;
    }
    return FIELD(l.addr, PIO_DST_NODE) >= TB_NODES ? NICLOOP_DROP_REASON_NO_SUCH_NODE : NICLOOP_DROP_REASON_NONE;
  }

  Line make(bool right) {
    unsigned piggyback = random.below(2), length = random.below(piggyback ? 55 : 57);
    Line l;
    l.addr = uint32_t(PLACE(PIO_PIGGYBACK, piggyback) | PLACE(PIO_LENGTH, length) | PLACE(PIO_KIND, random.below(4)) |
                      PLACE(PIO_DST_VPID, random.below(16)) | PLACE(PIO_DST_NODE, random.below(TB_NODES)) |
                      PLACE(PIO_SRC_VPID, random.below(14)));
    unsigned bytes = length + 2 * piggyback;
    l.len = bytes == 0 ? 0 : (bytes + 7) / 8 - 1;
    l.size = 3;
    l.burst = 1;
    if (!right) {
      switch (random.below(9)) {
        case 0: l.addr |= 15 << NICLOOP_PIO_SRC_VPID_LSB; break;  // the one window that is off
        case 1: l.addr = uint32_t((l.addr & ~NICLOOP_PIO_LENGTH_MASK) | PLACE(PIO_LENGTH, 57 + random.below(7))); break;
        case 2: l.len = random.below(16); break;
        case 3: l.size = 2; break;
        case 4: l.burst = random.below(2) * 2; break;
        case 5: l.addr = uint32_t((l.addr & ~NICLOOP_PIO_DST_NODE_MASK) | PLACE(PIO_DST_NODE, random.percent(50) ? TB_NODES : TB_NODES + random.below(64 - TB_NODES))); break;
        case 6: l.addr |= uint32_t(1 + random.below(7)); break;
        case 7: l.addr |= 16u << random.below(2); break;
        case 8: l.addr = uint32_t((l.addr & ~NICLOOP_PIO_SRC_VPID_MASK) | PLACE(PIO_SRC_VPID, 14)); break;  // the one without a domain
      }
    }
    for (unsigned i = 0; i <= l.len; ++i) {
      l.data.push_back(random.next());
      l.strobes.push_back(0xff);
    }
    if (!right && random.percent(10)) l.strobes[random.below(l.strobes.size())] = uint8_t(random.below(255));
    l.reason = reason(l);
    return l;
  }

  void expect(const Line& l) {
    unsigned bytes = FIELD(l.addr, PIO_LENGTH) + 2 * FIELD(l.addr, PIO_PIGGYBACK);
    uint64_t header = PLACE(HEADER_TYPE, NICLOOP_PACKET_TYPE_VELO) | PLACE(HEADER_KIND, FIELD(l.addr, PIO_KIND)) |
                      PLACE(HEADER_PIGGYBACK, FIELD(l.addr, PIO_PIGGYBACK)) | PLACE(HEADER_LENGTH, FIELD(l.addr, PIO_LENGTH)) |
                      PLACE(HEADER_SRC_VPID, FIELD(l.addr, PIO_SRC_VPID)) | PLACE(HEADER_SRC_NODE, kNode) |
                      PLACE(HEADER_DST_VPID, FIELD(l.addr, PIO_DST_VPID)) | PLACE(HEADER_DST_NODE, FIELD(l.addr, PIO_DST_NODE));
    std::vector<uint64_t> payload(l.data.begin(), l.data.begin() + (bytes + 7) / 8);
    for (const tb::Flit& f : tb::packet(header, payload, top.stamps[FIELD(l.addr, PIO_SRC_VPID)])) flits.push_back(f);
    ++packets;
  }

  // One cycle; the arguments are chances in percent.
  void step(unsigned aw, unsigned w, unsigned b, unsigned flit) {
    aw_up = aw_up || (!lines.empty() && random.percent(aw));  // what is offered stays until it is taken
    top.s_awvalid = aw_up;
    if (top.s_awvalid) {
      const Line& l = lines.front();
      top.s_awaddr = l.addr, top.s_awlen = l.len, top.s_awsize = l.size, top.s_awburst = l.burst;
    }
    w_up = w_up || (!data.empty() && random.percent(w));
    top.s_wvalid = w_up;
    if (top.s_wvalid) {
      const Line& l = data.front();
      top.s_wdata = l.data[beat], top.s_wstrb = l.strobes[beat], top.s_wlast = beat == l.len;
    }
    top.s_bready = random.percent(b);
    top.tx_ready = random.percent(flit);
    top.level_vpid = random.below(16);
    settle();
    bool idle = data.empty() && answers.empty() && flits.empty();
    unsigned level = 0, sender = leaving;  // lines of level_vpid
    for (const tb::Flit& f : flits) {
      if (f.head) sender = unsigned(FIELD(f.data, HEADER_SRC_VPID));
      level += f.tail && sender == top.level_vpid;
    }
    CHECK(top.level_of == level, "VPID %u: level %u, expected %u", top.level_vpid, top.level_of, level);
    CHECK(top.idle == idle, "idle %u, expected %u", top.idle, idle);
    bool event = false;
    if (top.s_awvalid && top.s_awready) {
      data.push_back(lines.front());
      lines.pop_front();
      aw_up = false;
    }
    bool beat_taken = top.s_wvalid && top.s_wready;
    if (beat_taken) w_up = false;
    if (beat_taken && ++beat > data.front().len) {
      const Line& l = data.front();
      event = true;
      CHECK(top.ev_error == (l.reason != 0), "line %07x: error %u, expected reason %u", l.addr, top.ev_error, l.reason);
      CHECK(top.error_reason == l.reason, "line %07x: reason %u, expected %u", l.addr, top.error_reason, l.reason);
      CHECK(top.line_addr == l.addr, "event about line %07x, expected %07x", top.line_addr, l.addr);
      answers.push_back(l.reason);
      if (l.reason == 0) expect(l);
      data.pop_front();
      beat = 0;
    }
    CHECK((top.ev_error || top.ev_line) == event, "event %u%u, expected %u", top.ev_error, top.ev_line, event);
    if (top.s_bvalid && top.s_bready) {
      CHECK(!answers.empty(), "an answer without a line");
      unsigned want = answers.front() == 0 ? 0 : 2;
      CHECK(top.s_bresp == want, "answer %u, expected %u", top.s_bresp, want);
      answers.pop_front();
    }
    CHECK(top.ev_stall == (top.tx_valid && !top.tx_ready), "stall %u", top.ev_stall);
    if (top.tx_valid && top.tx_ready) {
      tb::Flit got{0, bool(top.tx_head), bool(top.tx_tail), top.tx_data};
      CHECK(!flits.empty(), "flit %llx without a line", (unsigned long long)got.data);
      const tb::Flit& want = flits.front();
      CHECK(got == want, "flit %u%u %016llx, expected %u%u %016llx", got.head, got.tail, (unsigned long long)got.data, want.head,
            want.tail, (unsigned long long)want.data);
      packets -= want.tail;
      CHECK(top.ev_packet == want.tail, "packet event %u", top.ev_packet);
      if (got.head) leaving = unsigned(FIELD(got.data, HEADER_SRC_VPID));
      flits.pop_front();
    }
    edge();
  }
};

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  t.top.here = kNode;
  t.top.nodes = TB_NODES;
  t.top.window_on = 0x7fff;
  t.reset();
  unsigned reasons[16] = {}, just_behind = 0;
  for (unsigned v = 0; v < 16; ++v) t.top.stamps[v] = tb::stamp(v == 14 ? 0 : 1 + unsigned(t.random.below(0xffff)), unsigned(t.random.below(0x10000)));
  for (int phase = 0; phase < 60; ++phase) {
    unsigned aw = t.random.mood(), w = t.random.mood(), b = t.random.mood(), flit = t.random.mood();
    for (int i = 0; i < 40; ++i) {
      t.lines.push_back(t.make(t.random.percent(66)));
      ++reasons[t.lines.back().reason];
      just_behind += FIELD(t.lines.back().addr, PIO_DST_NODE) == TB_NODES;
    }
    for (int i = 0; !t.lines.empty(); ++i) {
      CHECK(i < 100000, "stuck with %zu lines", t.lines.size());
      t.step(aw, w, b, flit);
    }
  }
  for (unsigned r : {0, 1, 2, 3, NICLOOP_DROP_REASON_DOMAIN}) CHECK(reasons[r] > 20, "reason %u came up %u times", r, reasons[r]);
  CHECK(just_behind > 0, "never the number just behind the last node");
  for (int i = 0; i < 2000; ++i) t.step(100, 100, 100, 100);
  CHECK(t.flits.empty() && t.top.idle, "not idle after all was sent");

  // A blocked network blocks the bus after four lines.
  t.top.window_on = 0xffff;
  const uint32_t full = uint32_t(PLACE(PIO_LENGTH, 56) | PLACE(PIO_DST_NODE, 1));
  Line line{full, 6, 3, 1, {1, 2, 3, 4, 5, 6, 7}, std::vector<uint8_t>(7, 0xff), 0};
  for (int i = 0; i < 20; ++i) t.lines.push_back(line);
  for (int i = 0; i < 500; ++i) t.step(100, 100, 100, 0);
  CHECK(t.lines.size() == 16, "%zu lines wait, expected 16", t.lines.size());
  CHECK(t.top.lines == 4 && t.top.ev_stall, "%u lines inside, stall %u", t.top.lines, t.top.ev_stall);
  for (int i = 0; i < 4000; ++i) t.step(100, 100, 100, 100);
  CHECK(t.lines.empty() && t.flits.empty(), "not all left after the network opened");

  // Full rate.
  for (int i = 0; i < 20; ++i) t.lines.push_back(line);
  uint64_t start = tb::cycle;
  for (int i = 0; i < 20 || !t.flits.empty() || !t.lines.empty(); ++i) t.step(100, 100, 100, 100);
  CHECK(tb::cycle - start <= 20 * 9 + 12, "20 lines took %llu cycles", (unsigned long long)(tb::cycle - start));
}
