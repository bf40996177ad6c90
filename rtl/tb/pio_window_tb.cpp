// pio_window with velo_requester and rma_window: lines and descriptors of all processes in random
// pieces, in random order, those of different processes mixed; pieces of 4 to 64 bytes, also behind
// what a line announces; lines that are given up half way; pieces that cannot be, wrong lines,
// windows that are off or without a domain; windows that go off and on, acknowledgements, at any
// time; a network and a requester from quick to standing still.
// - an address is taken within two cycles, a beat at once, and answered in the second cycle behind
//   the last, whatever stands;
// - a line comes out once, whole, as its process wrote it, in its process's order, as header,
//   payload and tail with the CRC checked bit by bit; a descriptor likewise, dead exactly if its
//   window went off since;
// - what is taken, refused and discarded, with which reason, and what the registers show in every
//   cycle, agree with the model;
// - a process has VELO_LINES and RMA_DEPTH entries of its own; 56-byte lines leave at full rate: 9
//   cycles each.
#include "Vpio_window.h"
#include "tb.h"

namespace {

constexpr unsigned kNode = 3, kLines = NICLOOP_VELO_LINES, kDepth = NICLOOP_RMA_DEPTH;
constexpr unsigned kBare = 14;  // the process without a domain

struct Piece {
  uint32_t addr;
  unsigned len, size, burst;
  std::vector<uint64_t> data;
  std::vector<uint8_t> strobes;
};

struct Window {
  uint32_t line = 0;
  unsigned here = 0;  // words
  bool retry = false;
  uint16_t taken = 0, refused = 0;
  uint8_t wrong = 0;
  uint8_t bytes[64] = {};
  void shut() {
    Window fresh;
    std::memcpy(fresh.bytes, bytes, sizeof bytes);
    *this = fresh;
  }
};

unsigned announced(uint32_t addr) {
  if (FIELD(addr, RMA_PIO_RMA) == NICLOOP_RMA_LINE) return 0x3f;
  unsigned bytes = unsigned(FIELD(addr, PIO_LENGTH) + 2 * FIELD(addr, PIO_PIGGYBACK));
  unsigned quads = bytes == 0 ? 1 : bytes > 56 ? 8 : (bytes + 7) / 8;
  return (1u << 2 * quads) - 1;
}

struct Test : tb::Bench<Vpio_window> {
  Window windows[32];               // VELO by VPID, then RMA
  std::deque<Piece> scripts[32];    // what a process writes next
  std::deque<Piece> bus;            // not yet addressed
  std::deque<Piece> open;           // addressed
  bool judged = false;              // last cycle's beat was a piece's last
  Piece judge;
  std::deque<std::pair<uint64_t, unsigned>> answers;  // cycle, response
  std::deque<tb::Flit> flits;
  unsigned inside[16] = {}, leaving = 0;
  std::deque<std::vector<uint64_t>> descriptors[16];
  size_t dead[16] = {};
  uint32_t was_on = 0;
  size_t beat = 0;
  bool aw_up = false, w_up = false;
  unsigned aw_waits = 0;
  unsigned reading = 0, at_read = 0;
  uint64_t read_value = 0;
  int acking = -1;
  unsigned reasons[16] = {}, outcomes[3] = {}, lost = 0, died = 0, assembled = 0, acks = 0;

  using Bench::Bench;

  uint32_t address(unsigned vpid, bool rma) {
    if (rma) return uint32_t(PACK(RMA_PIO_RMA, NICLOOP_RMA_LINE) | PACK(RMA_PIO_SRC_VPID, vpid));
    unsigned piggyback = random.below(2), length = random.below(piggyback ? 55 : 57);
    return uint32_t(PACK(PIO_PIGGYBACK, piggyback) | PACK(PIO_LENGTH, length) | PACK(PIO_KIND, random.below(4)) |
                    PACK(PIO_DST_VPID, random.below(16)) | PACK(PIO_DST_NODE, random.below(TB_NODES)) | PACK(PIO_SRC_VPID, vpid));
  }

  // A burst of words from..to of a line.
  Piece piece(uint32_t line, const uint64_t* quads, unsigned from, unsigned to) {
    Piece p{line | from * 4, to / 2 - from / 2, 3, 1, {}, {}};
    for (unsigned q = from / 2; q <= to / 2; ++q) {
      p.data.push_back(quads[q]);
      p.strobes.push_back(uint8_t((2 * q >= from && 2 * q <= to ? 0x0f : 0) | (2 * q + 1 >= from && 2 * q + 1 <= to ? 0xf0 : 0)));
    }
    return p;
  }

  // A line, cut at random and in random order.
  void write(unsigned at) {
    bool rma = at >= 16;
    uint32_t line = address(at % 16, rma);
    uint64_t quads[8];
    for (uint64_t& q : quads) q = random.next();
    if (rma) quads[0] &= ~NICLOOP_RMA_DESC_RSVD_MASK;
    if (random.percent(12)) {  // wrong as a whole
      if (rma && random.percent(50)) quads[0] |= NICLOOP_RMA_DESC_RSVD_MASK;
      else if (rma) line |= 1u << (NICLOOP_RMA_PIO_RSVD_LSB + random.below(NICLOOP_RMA_PIO_RSVD_W));
      else if (random.percent(50)) line = uint32_t((line & ~NICLOOP_PIO_DST_NODE_MASK) | PACK(PIO_DST_NODE, TB_NODES + random.below(64 - TB_NODES)));
      else line = uint32_t((line & ~(NICLOOP_PIO_LENGTH_MASK | NICLOOP_PIO_PIGGYBACK_MASK)) | PACK(PIO_LENGTH, 57 + random.below(7)));
    }
    unsigned last = 0;
    while (announced(line) >> (last + 1)) ++last;
    if (random.percent(30)) last = 15;  // all of it
    std::vector<Piece> list;
    unsigned unit = random.percent(20) ? 1 : 2, chance = random.mood();
    for (unsigned from = 0; from <= last;) {
      unsigned to = from + unit - 1;
      while (to < last && random.percent(chance)) to += unit;
      if (to > last) to = last;
      list.push_back(piece(line, quads, from, to));
      from = to + 1;
    }
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
    if (random.percent(5)) list.resize(random.below(list.size() + 1));  // given up
    if (random.percent(5)) list.insert(list.begin() + long(random.below(list.size() + 1)), impossible(line));
    for (const Piece& p : list) scripts[at].push_back(p);
  }

  Piece impossible(uint32_t line) {
    uint64_t quads[8] = {random.next()};
    unsigned from = unsigned(2 * random.below(8));
    Piece p = piece(line, quads, from, 15);
    switch (random.below(5)) {
      case 0: p.size = random.below(3); break;
      case 1: p.burst = random.percent(50) ? 0 : 2; break;
      case 2: p.addr |= 1 + random.below(3); break;
      case 3: p.strobes[random.below(p.strobes.size())] ^= uint8_t(1 << random.below(8)); break;
      case 4:  // leaves the line
        p.addr |= 8;
        p.len += 8;
        p.data.resize(p.len + 1, 1), p.strobes.resize(p.len + 1, 0xff);
        break;
    }
    return p;
  }

  bool possible(const Piece& p) {
    for (uint8_t s : p.strobes) {
      if (((s & 15) != 0 && (s & 15) != 15) || (s >> 4 != 0 && s >> 4 != 15)) return false;
    }
    return p.size == 3 && p.burst == 1 && p.addr % 4 == 0 && p.addr % 64 / 8 + p.len < 8;
  }

  // What becomes of a piece, in the cycle behind its last beat. Returns the reason to discard it;
  // whole lines are noted.
  unsigned decide(const Piece& p, unsigned* taken) {
    *taken = 0;
    bool rma = FIELD(p.addr, RMA_PIO_RMA) == NICLOOP_RMA_LINE;
    unsigned vpid = unsigned(FIELD(p.addr, PIO_SRC_VPID)), at = vpid + 16 * rma;
    Window& w = windows[at];
    if (!(top.on >> at & 1)) return NICLOOP_DROP_REASON_WINDOW_OFF;
    if (vpid == kBare) return NICLOOP_DROP_REASON_DOMAIN;
    if (!possible(p)) {
      w.here = 0;
      return NICLOOP_DROP_REASON_BAD_LENGTH;
    }
    unsigned need = announced(p.addr), words = 0;
    for (unsigned i = 0; i < p.data.size(); ++i) {
      unsigned quad = p.addr % 64 / 8 + i;
      words |= (p.strobes[i] & 1u) << 2 * quad | (p.strobes[i] >> 7 & 1u) << (2 * quad + 1);
    }
    if (!(words & need)) return 0;
    uint32_t line = p.addr & ~63u;
    bool same = w.here && w.line == line && !(w.here & words & need), gone = w.here && !same;
    if (gone) w.retry = true, ++lost;
    if (!same) w.here = 0;
    for (unsigned i = 0; i < p.data.size(); ++i) {
      for (unsigned b = 0; b < 8; ++b) {
        if (p.strobes[i] >> b & 1) w.bytes[p.addr % 64 / 8 * 8 + 8 * i + b] = uint8_t(p.data[i] >> 8 * b);
      }
    }
    assembled += same;
    w.line = line, w.here |= words & need;
    if (w.here != need) return 0;
    w.here = 0;
    uint64_t quads[8];
    std::memcpy(quads, w.bytes, sizeof quads);
    unsigned wrong = 0;
    if (rma ? line & NICLOOP_RMA_PIO_RSVD_MASK || FIELD(quads[0], RMA_DESC_RSVD) : need == 0xffff) wrong = NICLOOP_DROP_REASON_BAD_LENGTH;
    else if (!rma && FIELD(line, PIO_DST_NODE) >= TB_NODES) wrong = NICLOOP_DROP_REASON_NO_SUCH_NODE;
    if (w.retry) {
      ++w.refused, ++outcomes[2];
      return 0;
    }
    if (wrong) {
      ++w.taken, ++w.wrong, ++outcomes[1];
      return wrong;
    }
    if (rma ? descriptors[vpid].size() == kDepth : inside[vpid] == kLines) {
      w.retry = true, ++w.refused, ++outcomes[2];
      return 0;
    }
    ++w.taken, ++outcomes[0];
    *taken = 1 + rma;
    if (rma) {
      coming = {quads[0], quads[1], quads[2]};
      return 0;
    }
    uint64_t header = PACK(HEADER_TYPE, NICLOOP_PACKET_TYPE_VELO) | PACK(HEADER_KIND, FIELD(line, PIO_KIND)) |
                      PACK(HEADER_PIGGYBACK, FIELD(line, PIO_PIGGYBACK)) | PACK(HEADER_LENGTH, FIELD(line, PIO_LENGTH)) |
                      PACK(HEADER_SRC_VPID, vpid) | PACK(HEADER_SRC_NODE, kNode) | PACK(HEADER_DST_VPID, FIELD(line, PIO_DST_VPID)) |
                      PACK(HEADER_DST_NODE, FIELD(line, PIO_DST_NODE));
    unsigned bytes = unsigned(FIELD(line, PIO_LENGTH) + 2 * FIELD(line, PIO_PIGGYBACK));
    packet = tb::packet(header, {quads, quads + (bytes + 7) / 8}, top.stamps[vpid]);
    return 0;
  }
  std::vector<uint64_t> coming;    // descriptor taken in this cycle
  std::vector<tb::Flit> packet;    // line taken in this cycle

  uint64_t shown(unsigned at) {
    const Window& w = windows[at];
    if (!(top.on >> at & 1)) return 0;
    return PACK(VELO_WINDOW_TAKEN, w.taken) | PACK(VELO_WINDOW_WAITING, at < 16 ? inside[at] : descriptors[at - 16].size()) |
           PACK(VELO_WINDOW_REFUSED, w.refused) | PACK(VELO_WINDOW_WRONG, w.wrong) | PACK(VELO_WINDOW_BEGUN, w.here != 0) |
           PACK(VELO_WINDOW_RETRY, w.retry);
  }

  void offer(unsigned aw, unsigned w, unsigned b) {
    aw_up = aw_up || (!bus.empty() && random.percent(aw));
    top.s_awvalid = aw_up;
    if (aw_up) {
      const Piece& p = bus.front();
      top.s_awaddr = p.addr, top.s_awlen = p.len, top.s_awsize = p.size, top.s_awburst = p.burst;
    }
    w_up = w_up || (!open.empty() && random.percent(w));
    top.s_wvalid = w_up;
    if (w_up) {
      const Piece& p = open.front();
      top.s_wdata = p.data[beat], top.s_wstrb = p.strobes[beat], top.s_wlast = beat == p.len;
    }
    top.s_bready = random.percent(b);
  }

  void check_bus() {
    if (top.s_awvalid) {
      CHECK(top.s_awready || ++aw_waits < 2 || !open.empty(), "an address waits, and no piece is on the bus");
      if (top.s_awready) aw_waits = 0;
    }
    bool held = top.s_bvalid && !top.s_bready;
    if (top.s_wvalid) CHECK(top.s_wready || (top.s_wlast && held), "a beat waits");
    bool due = !answers.empty() && answers.front().first <= tb::cycle;
    CHECK(top.s_bvalid == due, "answer %u, expected %u", top.s_bvalid, due);
    if (top.s_bvalid) CHECK(top.s_bresp == answers.front().second, "response %u, expected %u", top.s_bresp, answers.front().second);
  }

  void check_lines() {
    if (top.tx_valid && top.tx_ready) {
      tb::Flit got{0, bool(top.tx_head), bool(top.tx_tail), top.tx_data};
      CHECK(!flits.empty(), "flit %llx without a line", (unsigned long long)got.data);
      const tb::Flit& want = flits.front();
      CHECK(got == want, "flit %u%u %016llx, expected %u%u %016llx", got.head, got.tail, (unsigned long long)got.data, want.head,
            want.tail, (unsigned long long)want.data);
      if (got.head) leaving = unsigned(FIELD(got.data, HEADER_SRC_VPID));
      CHECK(top.ev_packet == want.tail && (!want.tail || top.packet_vpid == leaving), "packet event %u of %u", top.ev_packet, top.packet_vpid);
    }
    // A register is decoded in the cycle behind its address, looked at in that cycle, and shown in
    // the next.
    if (reading == 1) read_value = shown(at_read);
    if (reading == 2)
      CHECK(top.rd_known && top.rd_value == read_value, "window %u shows %016llx, expected %016llx", at_read, (unsigned long long)top.rd_value,
            (unsigned long long)read_value);
    size_t all = 0;
    for (unsigned v = 0; v < 16; ++v) {
      all += descriptors[v].size();
      CHECK((top.waiting >> v & 1) == !descriptors[v].empty(), "VPID %u waits: %u", v, top.waiting >> v & 1);
    }
    CHECK(top.descriptors == all, "level %u, expected %zu", top.descriptors, all);
    auto& queue = descriptors[top.head_vpid];
    if (queue.empty()) return;
    for (unsigned i = 0; i < 3; ++i) {
      uint64_t got = top.head[2 * i] | uint64_t(top.head[2 * i + 1]) << 32;
      CHECK(got == queue.front()[i], "VPID %u, quadword %u: %016llx, expected %016llx", top.head_vpid, i, (unsigned long long)got, (unsigned long long)queue.front()[i]);
    }
    bool is_dead = dead[top.head_vpid] || !(top.on >> (16 + top.head_vpid) & 1);
    CHECK(top.head_dead == is_dead, "VPID %u: dead %u, expected %u", top.head_vpid, top.head_dead, is_dead);
    died += is_dead;
  }

  // One cycle; the first five are chances in percent. ack: window whose register is to be written,
  // if none is, or -1: its address comes a cycle before.
  void step(unsigned aw, unsigned w, unsigned b, unsigned flit, unsigned pop, int ack = -1) {
    offer(aw, w, b);
    top.tx_ready = random.percent(flit);
    top.head_vpid = random.below(16);
    top.pop = !descriptors[top.head_vpid].empty() && random.percent(pop);
    reading = (reading + 1) % 3;
    if (reading == 0) at_read = unsigned(random.below(32));
    auto reg = [](unsigned at) {
      return uint32_t(at < 16 ? NICLOOP_REG_VELO_WINDOW(at) : NICLOOP_REG_RMA_WINDOW(at - 16));
    };
    top.rd_addr = reg(at_read);
    int ahead = acking >= 0 ? -1 : ack;
    std::swap(ahead, acking);
    ack = ahead;
    top.wr_do = ack >= 0;
    top.wr_addr = reg(unsigned(ack >= 0 ? ack : acking >= 0 ? acking : 0));
    // Windows that went off.
    for (unsigned at = 0; at < 32; ++at) {
      if (!(top.on >> at & 1)) windows[at].shut();
      if (at >= 16 && was_on >> at & 1 && !(top.on >> at & 1)) dead[at - 16] = descriptors[at - 16].size();
    }
    settle();
    check_bus();
    check_lines();
    unsigned taken = 0, reason = 0;
    if (judged) {
      reason = decide(judge, &taken);
      ++reasons[reason];
      bool rma = FIELD(judge.addr, RMA_PIO_RMA) == NICLOOP_RMA_LINE;
      CHECK(top.ev_error == (reason ? 1u << rma : 0u) && (!reason || top.error_reason == reason), "piece %08x: error %u reason %u, expected %u",
            judge.addr, top.ev_error, top.error_reason, reason);
      CHECK(top.line_addr == judge.addr, "event about %08x, expected %08x", top.line_addr, judge.addr);
      answers.push_back({tb::cycle + 1, reason ? 2u : 0u});
    }
    CHECK(top.take == taken, "taken %u, expected %u", top.take, taken);
    if (!judged) CHECK(!top.ev_error, "an error without a piece");
    // What is handed over at the edge.
    if (top.s_bvalid && top.s_bready) answers.pop_front();
    if (top.tx_valid && top.tx_ready) {
      if (flits.front().tail) --inside[leaving];
      flits.pop_front();
    }
    if (top.pop) {
      descriptors[top.head_vpid].pop_front();
      if (dead[top.head_vpid]) --dead[top.head_vpid];
    }
    if (taken) {
      unsigned v = unsigned(FIELD(judge.addr, PIO_SRC_VPID));
      if (taken == 2) descriptors[v].push_back(coming);
      else {
        ++inside[v];
        flits.insert(flits.end(), packet.begin(), packet.end());
      }
    }
    judged = false;
    if (top.s_awvalid && top.s_awready) {
      open.push_back(bus.front());
      bus.pop_front();
      aw_up = false;
    }
    if (top.s_wvalid && top.s_wready) {
      w_up = false;
      if (++beat > open.front().len) {
        judge = open.front();
        judged = true;
        open.pop_front();
        beat = 0;
      }
    }
    if (ack >= 0) {
      Window& x = windows[ack];
      x.here = 0, x.retry = false, x.refused = 0;
      ++acks;
    }
    was_on = top.on;
    edge();
  }

  // Keeps a few pieces on the bus, of any process.
  void feed() {
    while (bus.size() < 3) {
      unsigned at = unsigned(random.below(32));
      if (scripts[at].empty()) write(at);
      if (scripts[at].empty()) continue;
      bus.push_back(scripts[at].front());
      scripts[at].pop_front();
    }
  }
};

}  // namespace

static void scenario(Test& t) {
  t.top.here = kNode;
  t.top.nodes = TB_NODES;
  t.reset();
  for (unsigned v = 0; v < 16; ++v) t.top.stamps[v] = tb::stamp(v == kBare ? 0 : 1 + unsigned(t.random.below(0xffff)), unsigned(t.random.below(0x10000)));
  t.top.on_next = 0x7fff7fff;
  for (int phase = 0; phase < 300; ++phase) {
    unsigned aw = t.random.mood(), w = t.random.mood(), b = t.random.mood();
    unsigned flit = t.random.percent(30) ? 0 : t.random.mood(), pop = t.random.percent(30) ? 0 : t.random.mood();
    unsigned ack = t.random.percent(30) ? 0 : unsigned(t.random.below(20)), flip = t.random.percent(50) ? 0 : unsigned(t.random.below(3));
    for (int i = 0; i < 400; ++i) {
      t.feed();
      if (t.random.percent(flip)) t.top.on_next ^= 1u << t.random.below(31);
      t.step(aw, w, b, flit, pop, t.random.percent(ack) ? int(t.random.below(32)) : -1);
    }
    t.top.on_next |= 0x7fff7fff & uint32_t(t.random.next());
  }
  for (unsigned r : {0, 1, 2, 3, NICLOOP_DROP_REASON_DOMAIN}) CHECK(t.reasons[r] > 20, "reason %u came up %u times", r, t.reasons[r]);
  for (unsigned o : t.outcomes) CHECK(o > 200, "lines taken %u, wrong %u, refused %u", t.outcomes[0], t.outcomes[1], t.outcomes[2]);
  CHECK(t.lost > 50 && t.died > 50 && t.assembled > 2000, "%u lines given up, %u dead heads, %u pieces joined", t.lost, t.died, t.assembled);

  // All that was taken leaves; then a standing network refuses what is above VELO_LINES, and
  // nothing waits.
  auto drain = [&] {
    t.bus.clear();
    t.aw_up = false;
    for (int i = 0; i < 4000; ++i) t.step(100, 100, 100, 100, 100);
    CHECK(t.flits.empty() && t.top.idle, "not idle after all was sent");
  };
  drain();
  t.top.on_next = 0;
  t.step(0, 0, 100, 100, 100);
  t.top.on_next = 0xffffffff;
  uint64_t quads[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const Piece line = t.piece(uint32_t(PACK(PIO_LENGTH, 56) | PACK(PIO_DST_NODE, 1)), quads, 0, 13);
  for (unsigned i = 0; i < 40; ++i) t.bus.push_back(line);
  for (int i = 0; i < 400; ++i) t.step(100, 100, 100, 0, 0);
  CHECK(t.bus.empty() && t.top.lines == kLines && t.windows[0].refused == 40 - kLines && t.top.ev_stall, "%zu wait, %u inside, %u refused, stall %u",
        t.bus.size(), t.top.lines, t.windows[0].refused, t.top.ev_stall);
  drain();
  t.step(100, 100, 100, 100, 100, 0);

  // Full rate.
  for (unsigned i = 0; i < kLines; ++i) t.bus.push_back(line);
  uint64_t start = tb::cycle;
  while (!t.bus.empty() || !t.open.empty() || t.judged || !t.flits.empty()) t.step(100, 100, 100, 100, 100);
  CHECK(tb::cycle - start <= kLines * 9 + 13, "%u lines took %llu cycles", kLines, (unsigned long long)(tb::cycle - start));
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
