// rma_completer: random packets of every kind that it takes, good and bad, several writes awaited;
// random times of translation, memory, notifier and responder; packets broken on the way, pages
// refused, lines that fail, fences.
// - the bytes of every good packet reach memory, each once, and no others do;
// - in order of arrival: the notification that was asked for, or the error to where it belongs; not
//   before the memory has answered for the data;
// - what is broken or unknown is dropped with its reason, and moves nothing;
// - a fence waits for the writes before it and for no later ones, nor for anything to be told;
// - writes stream: 35 cycles for 256 bytes over a long latency.
#include "Vrma_completer.h"
#include "rma_unit.h"

namespace {

constexpr unsigned kHere = 3, kMoves = 9;  // kMoves: no answer is for it

struct Event {
  bool refusal;        // an error for the responder; else a notification
  uint64_t header, ext;
  unsigned code;
  tb::Note note;
  uint32_t stamp;      // of the request, or of the process that is told
  uint64_t serial;     // translation of the data before it, 0: none
};

struct Test : tb::Bench<Vrma_completer> {
  tb::Store store, after;  // memory; what it holds when all that was sent is done
  tb::WriteMemory writes{store, random};
  tb::Translator atu{random};
  tb::Notifier notifier{random};
  tb::Feeder feeder{random};
  tb::Fences fences{random};
  tb::Inside inside;
  tb::Activity activity;
  unsigned errors = 0, failed = 0;  // reported; foreseen
  std::deque<Event> expected;
  std::deque<unsigned> drops;
  std::deque<uint64_t> awaited;  // addresses of bursts without an answer
  uint64_t serials = 0;
  unsigned good = 0, taken = 0, notes = 0, refusals = 0, dropped = 0, fence = 0, take_error = 100, codes[16] = {}, lates = 0, strangers = 0;
  bool whole = false, error_open = false;

  using Bench::Bench;

  void send() {
    static const unsigned requests[] = {NICLOOP_PACKET_TYPE_RMA_PUT, NICLOOP_PACKET_TYPE_RMA_IMM_PUT, NICLOOP_PACKET_TYPE_RMA_NOTI};
    static const unsigned answers[] = {NICLOOP_PACKET_TYPE_RMA_GET_RSP, NICLOOP_PACKET_TYPE_RMA_LOCK_RSP, NICLOOP_PACKET_TYPE_RMA_ERROR};
    unsigned kind = whole ? 0 : unsigned(random.below(3)), type = TB_ANSWERS ? answers[kind] : requests[kind], vpid = unsigned(random.below(16));
    if (TB_ANSWERS && vpid == kMoves) vpid = 0;
    bool mine = whole || !random.percent(4), data = kind == 0 || (!TB_ANSWERS && kind == 1);
    if (!mine) type = TB_ANSWERS ? requests[kind] : answers[kind];
    unsigned bytes = whole ? NICLOOP_RMA_MTU : kind == 0 ? 1 + unsigned(random.below(random.percent(50) ? 16 : NICLOOP_RMA_MTU)) : data ? 1 + unsigned(random.below(8)) : 8;
    uint64_t nla = random.next() & ((1ull << 48) - 1);
    bool wrong = data && bytes > 1 && !whole && random.percent(5);
    if (wrong) nla = (nla & ~4095ull) + 4097 - bytes;
    else if (data) nla -= std::max<int64_t>(0, int64_t(nla % 4096 + bytes) - 4096);
    if (whole) nla &= ~255ull;
    unsigned op = whole ? 0 : unsigned(random.below(32));
    uint64_t h = tb::header(type, op, 8 + bytes, unsigned(random.below(16)), unsigned(random.below(4096)), vpid, kHere);
    std::vector<uint64_t> payload{tb::extension(nla, unsigned(random.next() & 0xffff))};
    for (unsigned i = 0; i < bytes; i += 8) payload.push_back(random.next());
    // An answer is for the life that asked, a request from any life of the same domain.
    uint32_t stamp = top.stamps[vpid];
    if (!TB_ANSWERS) stamp = tb::stamp(stamp & 0xffff, unsigned(random.below(0x10000)));
    if (!whole && random.percent(5)) stamp = TB_ANSWERS && random.percent(50) ? stamp ^ 1u << (16 + random.below(16)) : tb::stamp(unsigned(random.below(5)), stamp >> 16);
    bool late = TB_ANSWERS && stamp != top.stamps[vpid];
    unsigned reason = whole ? pure(h, payload, stamp) : feeder.send(h, payload, stamp);
    if (reason == 0 && !mine) reason = NICLOOP_DROP_REASON_BAD_TYPE;
    if (reason == 0 && TB_ANSWERS && !(top.rma_on >> vpid & 1)) reason = NICLOOP_DROP_REASON_WINDOW_OFF;
    if (reason == 0 && late) reason = NICLOOP_DROP_REASON_LATE, ++lates;
    if (reason != 0) drops.push_back(reason);
    else foresee(h, payload, vpid, bytes, nla, kind, data, wrong, stamp);
  }
  unsigned pure(uint64_t h, const std::vector<uint64_t>& payload, uint32_t stamp) {
    for (const tb::Flit& f : tb::packet(h, payload, stamp)) feeder.flits.push_back(f);
    return NICLOOP_DROP_REASON_NONE;
  }

  void foresee(uint64_t h, const std::vector<uint64_t>& payload, unsigned vpid, unsigned bytes, uint64_t nla, unsigned kind, bool data, bool wrong, uint32_t stamp) {
    ++good;
    uint64_t ext = payload[0], quad = payload[1], serial = 0, at = tb::Translator::translate(nla, vpid);
    unsigned code = NICLOOP_RMA_ERROR_NONE;
    unsigned pdid = stamp & 0xffff;
    if (!TB_ANSWERS && (pdid == 0 || pdid != (top.stamps[vpid] & 0xffff))) code = NICLOOP_RMA_ERROR_DOMAIN;
    else if (!(top.rma_on >> vpid & 1)) code = NICLOOP_RMA_ERROR_WINDOW_OFF;
    else if (wrong) code = NICLOOP_RMA_ERROR_BOUNDS;
    else if (data) serial = ++serials, code = atu.error(nla, vpid);
    if (code == 0 && data) {
      for (unsigned i = 0; i < bytes; ++i)
        if (!store.bad(at + i)) after.written[at + i] = uint8_t(payload[1 + i / 8] >> i % 8 * 8);
      if (store.bad(at, bytes)) code = NICLOOP_RMA_ERROR_DMA;
    }
    ++codes[code], failed += code != 0;
    bool error = TB_ANSWERS && kind == 2, last = FIELD(h, HEADER_OP) & NICLOOP_RMA_OP_LAST_MASK;
    if (code != 0 && !TB_ANSWERS) {
      expected.push_back({true, h, ext, code, {}, stamp, serial});
      return;
    }
    bool asks = FIELD(h, HEADER_OP) & NICLOOP_RMA_OP_NOTI_COMPLETER_MASK && (last || FIELD(h, HEADER_OP) & NICLOOP_RMA_OP_EACH_MASK);
    if (!asks && !error && code == 0) return;
    static const unsigned commands[2][3] = {{NICLOOP_RMA_COMMAND_PUT, NICLOOP_RMA_COMMAND_IMM_PUT, NICLOOP_RMA_COMMAND_NOTI_PUT},
                                            {NICLOOP_RMA_COMMAND_GET, NICLOOP_RMA_COMMAND_FCAA, 0}};
    uint64_t word = tb::note_word(TB_ANSWERS && kind == 1 ? 4 : bytes, NICLOOP_RMA_UNIT_COMPLETER, commands[TB_ANSWERS][kind], code, last,
                                  unsigned(FIELD(h, HEADER_SRC_VPID)), unsigned(FIELD(h, HEADER_SRC_NODE)));
    uint64_t low = (1ull << NICLOOP_RMA_NOTI_PEER_VPID_LSB) - 1;
    if (error) word = (word & ~low) | (quad & low);
    bool own = TB_ANSWERS ? kind == 1 : kind == 2;
    expected.push_back({false, 0, 0, 0, {vpid, {own ? quad : ext, word}}, top.stamps[vpid], serial});
  }

  void step() {
    top.here = kHere;
    writes.drive(top), atu.drive(top), notifier.drive(top), feeder.drive(top), fences.drive(top, fence);
    top.err_ready = 0;
    // A process that gets the domain it has, or one for which no answer comes.
    top.moves = random.percent(20), top.wr_vpid = TB_ANSWERS ? kMoves : random.below(16);
    top.wr_pdid = top.stamps[top.wr_vpid] & 0xffff;
    settle();
    top.err_ready = top.err_valid && random.percent(take_error);
    settle();
    if (top.m_awvalid && top.m_awready) fences.begin(top.m_awaddr), awaited.push_back(top.m_awaddr);
    if (top.ev_drop) {
      CHECK(!drops.empty() && top.drop_reason == drops.front(), "dropped for %u, expected %u", top.drop_reason, drops.empty() ? 0 : drops.front());
      drops.pop_front(), ++dropped;
    }
    taken += top.ev_rx, strangers += top.ev_stranger;
    look_at_rest();
    judge_refusal();
    fences.clock(top, atu);
    if (top.m_bvalid && top.m_bready) fences.end(awaited.front()), awaited.pop_front();
    atu.clock(top, 0), notifier.clock(top), feeder.clock(top), writes.clock(top);
    judge_note();
    writes.done.clear();
    edge();
  }

  void look_at_rest() {
    errors += top.ev_error;
    activity.clock(top.active, tb::bits(top.in_valid && top.in_ready, top.ev_drop, top.ev_rx, top.atu_valid, top.m_awvalid, top.m_wvalid, top.m_bvalid),
                   tb::bits(top.noti_valid, top.err_valid, top.m_awvalid, top.m_wvalid, top.atu_valid));
    if (!inside.cutting(top)) {
      CHECK(top.idle == inside.none(), "idle %u, %d packets inside", top.idle, inside.whole);
      CHECK(top.busy == (inside.whole > 0), "busy %u, %d packets inside", top.busy, inside.whole);
    }
    still = inside.none() && !top.in_valid ? still + 1 : 0;
    CHECK(still < 4 || !top.active, "active, and nothing is inside");
    // A head that is offered for the first time behind a packet without tail ends that packet, and
    // is taken in the next cycle.
    CHECK(!(ends && top.in_ready) || ended_active, "not active in the cycle in which a head ended a packet");
    ends = inside.cutting(top) && !offered_before && !top.in_ready, ended_active = top.active;
    offered_before = top.in_valid && !top.in_ready;
    inside.clock(top, int(top.ev_rx) + int(top.ev_drop));
  }
  bool ends = false, ended_active = false, offered_before = false;
  unsigned still = 0;  // cycles in which nothing was inside
  // Nobody takes a notification or an error: the unit stops by itself.
  void stand_still() {
    unsigned take[] = {notifier.take, take_error};
    notifier.take = take_error = 0;
    while (feeder.flits.size() < 1500) send();
    for (int i = 0; i < 6000; ++i) step();
    for (int i = 0; i < 10; ++i) {
      step();
      CHECK(!top.active, "active, and nothing can move");
    }
    notifier.take = take[0], take_error = take[1];
  }

  // Asked for before the memory has answered for the data, or never.
  void due(const char* what) {
    CHECK(!expected.empty(), "%s, expected nothing", what);
    uint64_t serial = expected.front().serial;
    CHECK(serial == 0 || fences.bursts.count(serial) == 0, "%s while data of translation %llu is awaited", what, (unsigned long long)serial);
    CHECK(serial == 0 || atu.served >= serial, "%s before its translation", what);
  }
  void judge_refusal() {
    CHECK(!error_open || top.err_valid, "an error went away before it was taken");
    error_open = top.err_valid && !top.err_ready;
    if (!top.err_valid) return;
    due("an error");
    const Event& e = expected.front();
    CHECK(e.refusal && top.err_header == e.header && top.err_ext == e.ext && top.err_code == e.code && top.err_stamp == e.stamp, "error %u of packet %016llx, expected %u of %016llx",
          top.err_code, (unsigned long long)top.err_header, e.code, (unsigned long long)e.header);
    if (top.err_ready) expected.pop_front(), ++refusals;
  }
  void judge_note() {
    if (!top.noti_valid) return;
    due("a notification");
    const tb::Note& n = notifier.now;
    const Event& e = expected.front();
    CHECK(e.refusal || notifier.stamp == e.stamp, "VPID %u: told with stamp %08x, expected %08x", n.vpid, notifier.stamp, e.stamp);
    CHECK(!e.refusal && e.note == n, "VPID %u: notification %016llx %016llx, expected %016llx %016llx", n.vpid, (unsigned long long)n.words[0],
          (unsigned long long)n.words[1], (unsigned long long)e.note.words[0], (unsigned long long)e.note.words[1]);
    if (notifier.taken) expected.pop_front(), ++notes;
  }

  bool drained() const { return expected.empty() && drops.empty() && feeder.flits.empty() && taken == good && top.idle && !fences.waits; }
};

}  // namespace

static void scenario(Test& t) {
  t.store.space = (1ull << tb::kSerial) - 1;
  t.top.rma_on = 0xffff;
  tb::give_stamps(t.top, t.random);
  t.reset();
  for (int phase = 0; phase < 80; ++phase) {
    t.store.bad_per_1000 = 30, t.atu.bad_per_100 = phase % 4 ? 5 : 0;
    t.top.rma_on = phase % 4 ? 0xffff : unsigned(t.random.next()) & 0xffff;
    t.writes.mood = tb::moods(t.random);
    t.atu.delay = 3 + unsigned(t.random.below(t.random.percent(50) ? 2 : 30));
    t.notifier.take = t.random.mood(), t.take_error = t.random.mood(), t.feeder.offer = t.random.mood(), t.fence = 2;
    unsigned ask = t.random.percent(50) ? 100 : 3;
    for (int i = 0; i < 2000; ++i) {
      if (t.feeder.flits.size() < 80 && t.random.percent(ask)) t.send();
      t.step();
    }
    if (phase % 10 == 3) t.stand_still();
    t.fence = 0;
    // What lost its tail ends with the next head.
    while (t.feeder.open) t.send();
    for (int i = 0; !t.drained(); ++i) {
      CHECK(i < 400000, "stuck: %zu events, %zu drops, %zu flits, %u of %u packets", t.expected.size(), t.drops.size(), t.feeder.flits.size(), t.taken, t.good);
      t.step();
    }
    for (int i = 0; i < 10; ++i) t.step();
    CHECK(t.errors == t.failed, "%u errors reported, expected %u", t.errors, t.failed);
    for (const auto& [at, byte] : t.after.written) CHECK(t.store.get(at) == byte, "byte %llx is %02x, expected %02x", (unsigned long long)at, t.store.get(at), byte);
    CHECK(t.store.written.size() == t.after.written.size(), "%zu bytes were written, expected %zu", t.store.written.size(), t.after.written.size());
  }
  for (unsigned code = 1; code <= NICLOOP_RMA_ERROR_DOMAIN; ++code) {
    bool none = code == NICLOOP_RMA_ERROR_BAD_COMMAND || code == NICLOOP_RMA_ERROR_NO_SUCH_NODE || (TB_ANSWERS && (code == NICLOOP_RMA_ERROR_WINDOW_OFF || code == NICLOOP_RMA_ERROR_DOMAIN));
    CHECK(none ? t.codes[code] == 0 : t.codes[code] > 5, "error %u came %u times: the scenario lost its point", code, t.codes[code]);
  }
  CHECK(t.strangers == t.codes[NICLOOP_RMA_ERROR_DOMAIN] && (!TB_ANSWERS || t.lates > 20), "%u strangers, %u late answers", t.strangers, t.lates);
  CHECK(t.notes > 500 && (TB_ANSWERS || t.refusals > 100) && t.dropped > 200 && t.writes.most > 4 && t.fences.done > 300 && t.fences.held > 100,
        "%u notifications, %u errors, %u drops, %u bursts, %u fences, %u cycles held: the scenario lost its point", t.notes, t.refusals, t.dropped, t.writes.most,
        t.fences.done, t.fences.held);

  t.writes.mood = {100, 100, 100, 150};
  t.store.bad_per_1000 = t.atu.bad_per_100 = 0, t.atu.delay = 3, t.feeder.offer = 100, t.whole = true, t.top.rma_on = 0xffff;
  unsigned before = 0;
  for (int i = 0; i < 3800; ++i) {
    if (i == 300) before = t.taken;
    if (t.feeder.flits.size() < 80) t.send();
    t.step();
  }
  CHECK(t.taken - before >= 99, "%u packets of 256 bytes in 3500 cycles, expected 100", t.taken - before);

  // While nothing is told, of a ring that stays full or to a responder that is full, fences end.
  t.whole = false;
  for (int round = 0; round < 20; ++round) {
    t.notifier.take = t.take_error = t.fence = 0;
    for (int i = 0; i < 800; ++i) {
      if (t.feeder.flits.size() < 80) t.send();
      t.step();
    }
    unsigned fences = t.fences.done, taken = t.taken;
    t.fence = 100;
    for (int i = 0; i < 200; ++i) t.step();
    CHECK(t.taken == taken && t.fences.done > fences + 20, "%u packets told, %u fences done within 200 cycles", t.taken - taken, t.fences.done - fences);
    t.notifier.take = t.take_error = 50;
    for (int i = 0; i < 200; ++i) t.step();
  }
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
