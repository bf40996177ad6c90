// rma_responder: random requests of all processes, good and bad, several under way, and refusals of
// the completer between them; random times of translation, memory, network and notifier; packets
// broken on the way, pages refused, lines that fail, fences.
// - every request is answered once, in order: the bytes, the lock's result, or the error of the
//   right kind; behind the answer the notification that was asked for;
// - requests take effect in order: a get sees what the locks before it wrote and nothing of those
//   behind it;
// - what is broken is dropped with its reason, and moves nothing;
// - a fence waits for the accesses before it and for no later ones.
#include "Vrma_responder.h"
#include "rma_unit.h"

namespace {

constexpr unsigned kHere = 3;

struct Event {
  bool noti;
  std::vector<uint64_t> packet;
  tb::Note note;
  unsigned serial = 0;  // of a notification: its request's translation, from 0
};

struct Refusal {
  uint64_t header, ext;
  unsigned code;
  uint32_t stamp;
};

struct Test : tb::Bench<Vrma_responder> {
  tb::Store store, after;  // memory; what it holds when all that was sent is done
  tb::ReadMemory reads{store, random};
  tb::WriteMemory writes{store, random};
  tb::Translator atu{random};
  tb::Notifier notifier{random};
  tb::Sink sink{random};
  tb::Feeder feeder{random};
  tb::Fences fences{random};
  tb::Inside inside;
  tb::Activity activity;
  unsigned errors = 0, failed = 0;  // reported; foreseen
  int answers = 0;                  // that have been made and not sent, or not told
  bool left = false;                // a request ended in the cycle before
  std::deque<Event> expected;
  unsigned translations = 0;    // foreseen
  std::vector<unsigned> lives;  // by translation: of the process, when its request was looked at
  unsigned restarts = 0;
  bool translating = false;
  uint32_t stamps_before[16] = {};
  std::deque<std::vector<uint64_t>> refused;  // the answers to the completer's refusals
  std::deque<Refusal> refusals;
  std::deque<unsigned> drops;
  std::deque<uint64_t> awaited;  // addresses of writes without an answer
  unsigned codes[16] = {}, gets = 0, swaps = 0, kept = 0, notes = 0, dropped = 0, fence = 0, from_completer = 0, strangers = 0;

  using Bench::Bench;

  static uint64_t back(uint64_t h, unsigned type, unsigned length) {
    return tb::header(type, unsigned(FIELD(h, HEADER_OP)), length, unsigned(FIELD(h, HEADER_DST_VPID)), kHere,
                      unsigned(FIELD(h, HEADER_SRC_VPID)), unsigned(FIELD(h, HEADER_SRC_NODE)));
  }
  static std::vector<uint64_t> error(uint64_t h, uint64_t ext, uint64_t bytes_minus_1, unsigned unit, unsigned command, unsigned code, uint32_t stamp) {
    bool last = FIELD(h, HEADER_OP) & NICLOOP_RMA_OP_LAST_MASK;
    return {back(h, NICLOOP_PACKET_TYPE_RMA_ERROR, 16), ext, tb::note_word(unsigned(bytes_minus_1) + 1, unit, command, code, last, 0, 0), stamp};
  }

  void send() {
    bool lock = random.percent(30), wrong = random.percent(8);
    unsigned vpid = unsigned(random.below(16)), op = unsigned(random.below(32)), tag = unsigned(random.next() & 0xffff);
    uint64_t nla = random.next() & ((1ull << 48) - 1), bytes = 1 + random.below(random.percent(50) ? 16 : NICLOOP_RMA_MTU);
    if (random.percent(50)) vpid = 2, nla = 0x7000 + random.below(64) * 4;  // where many meet
    if (lock) nla &= ~3ull, bytes = 4;
    else nla -= std::max<int64_t>(0, int64_t(nla % 4096 + bytes) - 4096);
    if (wrong && lock) nla |= 1 + random.below(3);
    if (wrong && !lock && random.percent(50)) bytes = NICLOOP_RMA_MTU + 1 + random.below(1024 - NICLOOP_RMA_MTU);
    else if (wrong && !lock) nla = (nla & ~4095ull) + 4097 - bytes, wrong = bytes > 1;
    uint64_t h = tb::header(lock ? NICLOOP_PACKET_TYPE_RMA_LOCK_REQ : NICLOOP_PACKET_TYPE_RMA_GET_REQ, op, 16, unsigned(random.below(16)),
                            unsigned(random.below(4096)), vpid, kHere);
    uint64_t ext = tb::extension(nla, tag), to = random.next() & ((1ull << 48) - 1);
    uint64_t quad = lock ? random.next() : to | PACK(RMA_GET_BYTES_MINUS_1, bytes - 1);
    if (lock && random.percent(50)) quad |= 0xf0000000ull << 32;
    if (lock && random.percent(30)) quad = word(tb::Translator::translate(nla, vpid), 4) << NICLOOP_RMA_LOCK_COMPARE_LSB | uint32_t(quad);  // just enough
    unsigned life = unsigned(random.below(0x10000)), pdid = random.percent(95) ? top.stamps[vpid] & 0xffff : unsigned(random.below(5));
    uint32_t stamp = tb::stamp(pdid, life);
    if (unsigned reason = feeder.send(h, {ext, quad}, stamp)) {
      drops.push_back(reason);
      return;
    }
    foresee(h, ext, quad, nla, vpid, unsigned(bytes), lock, wrong, stamp);
  }

  void foresee(uint64_t h, uint64_t ext, uint64_t quad, uint64_t nla, unsigned vpid, unsigned bytes, bool lock, bool wrong, uint32_t stamp) {
    unsigned command = lock ? NICLOOP_RMA_COMMAND_FCAA : NICLOOP_RMA_COMMAND_GET, code = NICLOOP_RMA_ERROR_NONE;
    uint64_t at = tb::Translator::translate(nla, vpid);
    unsigned pdid = stamp & 0xffff;
    if (pdid == 0 || pdid != (top.stamps[vpid] & 0xffff)) code = NICLOOP_RMA_ERROR_DOMAIN;
    else if (!(top.rma_on >> vpid & 1)) code = NICLOOP_RMA_ERROR_WINDOW_OFF;
    else if (wrong) code = NICLOOP_RMA_ERROR_BOUNDS;
    unsigned serial = translations;
    translations += code == NICLOOP_RMA_ERROR_NONE;
    if (code == NICLOOP_RMA_ERROR_NONE) code = atu.error(nla, vpid);
    if (code == NICLOOP_RMA_ERROR_NONE && store.bad(at, bytes)) code = NICLOOP_RMA_ERROR_DMA;
    ++codes[code], failed += code != 0;
    if (code != NICLOOP_RMA_ERROR_NONE) {
      expected.push_back({false, error(h, ext, bytes - 1, NICLOOP_RMA_UNIT_RESPONDER, command, code, stamp), {}});
      return;
    }
    std::vector<uint64_t> p;
    if (lock) {
      uint32_t old = uint32_t(word(at, 4));
      bool success = old <= FIELD(quad, RMA_LOCK_COMPARE);
      uint32_t now = old + uint32_t(FIELD(quad, RMA_LOCK_ADD));
      if (success)
        for (int k = 0; k < 4; ++k) after.written[at + k] = uint8_t(now >> 8 * k);
      p = {back(h, NICLOOP_PACKET_TYPE_RMA_LOCK_RSP, 16), ext,
           PACK(RMA_RESULT_TAG, FIELD(ext, RMA_EXT_TAG)) | PACK(RMA_RESULT_SUCCESS, success) | PACK(RMA_RESULT_OLD, old)};
      (success ? swaps : kept)++;
    } else {
      p = {back(h, NICLOOP_PACKET_TYPE_RMA_GET_RSP, 8 + bytes), tb::extension(FIELD(quad, RMA_GET_NLA), unsigned(FIELD(ext, RMA_EXT_TAG)))};
      for (unsigned i = 0; i < bytes; i += 8) p.push_back(word(at + i, bytes - i));
      ++gets;
    }
    p.push_back(stamp);  // the answer has that of its request
    expected.push_back({false, p, {}});
    unsigned op = unsigned(FIELD(h, HEADER_OP));
    bool last = op & NICLOOP_RMA_OP_LAST_MASK;
    if (op & NICLOOP_RMA_OP_NOTI_RESPONDER_MASK && (last || op & NICLOOP_RMA_OP_EACH_MASK))
      expected.push_back({true, {}, {vpid, {ext, tb::note_word(bytes, NICLOOP_RMA_UNIT_RESPONDER, command, 0, last, unsigned(FIELD(h, HEADER_SRC_VPID)),
                                                               unsigned(FIELD(h, HEADER_SRC_NODE)))}}, serial});
  }
  uint64_t word(uint64_t at, unsigned n) {
    uint64_t q = 0;
    for (unsigned k = 0; k < 8 && k < n; ++k) q |= uint64_t(after.get(at + k)) << 8 * k;
    return q;
  }

  void refuse() {
    static const unsigned types[] = {NICLOOP_PACKET_TYPE_RMA_PUT, NICLOOP_PACKET_TYPE_RMA_IMM_PUT, NICLOOP_PACKET_TYPE_RMA_NOTI};
    static const unsigned commands[] = {NICLOOP_RMA_COMMAND_PUT, NICLOOP_RMA_COMMAND_IMM_PUT, NICLOOP_RMA_COMMAND_NOTI_PUT};
    unsigned i = unsigned(random.below(3)), bytes = 1 + unsigned(random.below(NICLOOP_RMA_MTU));
    Refusal r{tb::header(types[i], unsigned(random.below(32)), 8 + bytes, unsigned(random.below(16)), unsigned(random.below(4096)),
                         unsigned(random.below(16)), kHere), random.next(), 1 + unsigned(random.below(9)), uint32_t(random.next())};
    refusals.push_back(r);
    refused.push_back(error(r.header, r.ext, bytes - 1, NICLOOP_RMA_UNIT_COMPLETER, commands[i], r.code, r.stamp));
  }

  void step() {
    top.here = kHere;
    reads.drive(top), writes.drive(top), atu.drive(top), notifier.drive(top), sink.drive(top), feeder.drive(top), fences.drive(top, fence);
    if (writes.answers.empty()) top.m_bresp = 0;
    set_read_response();
    top.moves = random.percent(20), top.wr_vpid = random.below(16), top.wr_pdid = top.stamps[top.wr_vpid] & 0xffff;
    top.err_valid = !refusals.empty();
    if (top.err_valid) top.err_header = refusals.front().header, top.err_ext = refusals.front().ext, top.err_code = refusals.front().code, top.err_stamp = refusals.front().stamp;
    settle();
    if (top.m_arvalid && top.m_arready) fences.begin(top.m_araddr);
    if (top.m_awvalid && top.m_awready) fences.begin(top.m_awaddr), awaited.push_back(top.m_awaddr);
    uint64_t ending = reads.bursts.empty() ? 0 : reads.bursts.front().addr;
    bool ends = top.m_rvalid && top.m_rready && top.m_rlast;
    if (top.atu_valid && !translating) lives.push_back(stamps_before[top.atu_vpid] >> 16);
    translating = top.atu_valid && !top.atu_done;
    for (unsigned v = 0; v < 16; ++v) stamps_before[v] = top.stamps[v];
    look_at_rest();
    if (top.err_valid && top.err_ready) refusals.pop_front();
    strangers += top.ev_stranger;
    if (top.ev_drop) {
      CHECK(!drops.empty() && top.drop_reason == drops.front(), "dropped for %u, expected %u", top.drop_reason, drops.empty() ? 0 : drops.front());
      drops.pop_front(), ++dropped;
    }
    fences.clock(top, atu);
    if (ends) fences.end(ending);
    if (top.m_bvalid && top.m_bready) fences.end(awaited.front()), awaited.pop_front();
    atu.clock(top, top.atu_need), notifier.clock(top), sink.clock(top), feeder.clock(top), reads.clock(top), writes.clock(top);
    judge();
    edge();
    // The process that is asked begins another life, which is not told of this request.
    if (translating && random.percent(10)) top.stamps[top.atu_vpid] += 1u << 16, ++restarts;
  }
  void look_at_rest() {
    errors += top.ev_error;
    bool sent = top.tx_valid && top.tx_ready, refusal = top.err_valid && top.err_ready;
    CHECK(top.ev_packet == (sent && top.tx_tail), "ev_packet %u", top.ev_packet);
    activity.clock(top.active, tb::bits(top.in_valid && top.in_ready, top.ev_drop, top.ev_rx, top.atu_valid, refusal, sent, top.noti_done, top.m_arvalid, top.m_rvalid, top.m_awvalid, top.m_wvalid, top.m_bvalid),
                   tb::bits(top.tx_valid, top.noti_valid, top.m_arvalid, top.m_awvalid, top.m_wvalid, top.atu_valid));
    if (!inside.cutting(top)) {
      CHECK(top.idle == (inside.none() && answers == 0), "idle %u, %d requests inside, %d answers", top.idle, inside.whole, answers);
      // behind the answer to a lock it looks once more whether that is alone
      CHECK(top.busy == (inside.whole > 0) || (top.busy && left), "busy %u, %d requests inside", top.busy, inside.whole);
    }
    still = inside.none() && answers == 0 && !top.in_valid && !top.err_valid ? still + 1 : 0;
    CHECK(still < 4 || !top.active, "active, and nothing is inside");
    left = top.ev_rx;
    answers += int(top.ev_rx) + int(refusal);
    inside.clock(top, int(top.ev_rx) + int(top.ev_drop));
  }
  unsigned still = 0;  // cycles in which nothing was inside
  // The network and the notifier take nothing: the unit stops by itself.
  void stand_still() {
    unsigned take[] = {notifier.take, sink.take};
    notifier.take = sink.take = 0;
    while (feeder.flits.size() < 200) send();
    for (int i = 0; i < 4000; ++i) step();
    for (int i = 0; i < 10; ++i) {
      step();
      CHECK(!top.active, "active, and nothing can move");
    }
    notifier.take = take[0], sink.take = take[1];
  }
  void set_read_response() { top.m_rresp = reads.offered && store.bad(reads.bursts.front().addr) ? 2 : 0; }

  void judge() {
    for (const auto& p : sink.packets) {
      if (!refused.empty() && p == refused.front()) {
        refused.pop_front(), ++from_completer, --answers;
        continue;
      }
      CHECK(!expected.empty() && !expected.front().noti && p == expected.front().packet, "packet %016llx %016llx %016llx of %zu quadwords, expected %s",
            (unsigned long long)p[0], (unsigned long long)p[1], (unsigned long long)p[2], p.size(),
            expected.empty() ? "nothing" : expected.front().noti ? "a notification" : "another");
      expected.pop_front();
      if (expected.empty() || !expected.front().noti) --answers;
    }
    sink.packets.clear();
    if (!notifier.taken) return;
    const tb::Note& n = notifier.now;
    CHECK(!expected.empty() && expected.front().noti && expected.front().note == n, "VPID %u: notification %016llx %016llx, expected %s", n.vpid,
          (unsigned long long)n.words[0], (unsigned long long)n.words[1], expected.empty() ? "nothing" : expected.front().noti ? "another" : "a packet");
    uint32_t stamp = tb::stamp(top.stamps[n.vpid] & 0xffff, lives[expected.front().serial]);
    CHECK(notifier.stamp == stamp, "VPID %u: told with stamp %08x, expected %08x", n.vpid, notifier.stamp, stamp);
    expected.pop_front(), ++notes, --answers;
  }

  bool drained() const { return expected.empty() && refused.empty() && drops.empty() && feeder.flits.empty() && top.idle && !fences.waits; }
};

}  // namespace

static void scenario(Test& t) {
  t.store.space = (1ull << tb::kSerial) - 1;
  t.top.rma_on = 0xffff;
  tb::give_stamps(t.top, t.random);
  t.reset();
  for (int phase = 0; phase < 80; ++phase) {
    t.store.bad_per_1000 = 30, t.atu.bad_per_100 = phase % 4 ? 5 : 0;
    t.top.rma_on = phase % 4 ? 0xffff : unsigned(t.random.next()) | 1 << 2;
    t.reads.mood = tb::moods(t.random), t.writes.mood = tb::moods(t.random);
    t.atu.delay = 3 + unsigned(t.random.below(t.random.percent(50) ? 2 : 30));
    t.notifier.take = t.random.mood(), t.sink.take = t.random.mood(), t.feeder.offer = t.random.mood(), t.fence = 2;
    unsigned ask = t.random.percent(50) ? 100 : 3;
    for (int i = 0; i < 2000; ++i) {
      if (t.feeder.flits.size() < 40 && t.random.percent(ask)) t.send();
      if (t.refusals.empty() && t.random.percent(2)) t.refuse();
      t.step();
    }
    if (phase % 10 == 3) t.stand_still();
    t.fence = 0;
    // What lost its tail ends with the next head.
    while (!t.drops.empty() && t.drops.back() == NICLOOP_DROP_REASON_TRUNCATED) t.send();
    for (int i = 0; !t.drained(); ++i) {
      CHECK(i < 400000, "stuck: %zu answers, %zu refusals, %zu drops, %zu flits", t.expected.size(), t.refused.size(), t.drops.size(), t.feeder.flits.size());
      t.step();
    }
    for (int i = 0; i < 10; ++i) t.step();
    CHECK(t.errors == t.failed, "%u errors reported, expected %u", t.errors, t.failed);
    for (const auto& [at, byte] : t.after.written) CHECK(t.store.get(at) == byte, "byte %llx is %02x, expected %02x", (unsigned long long)at, t.store.get(at), byte);
    CHECK(t.store.written.size() == t.after.written.size(), "%zu bytes were written, expected %zu", t.store.written.size(), t.after.written.size());
  }
  unsigned bad[] = {NICLOOP_RMA_ERROR_TRANSLATION, NICLOOP_RMA_ERROR_RIGHTS, NICLOOP_RMA_ERROR_OWNER, NICLOOP_RMA_ERROR_BOUNDS, NICLOOP_RMA_ERROR_WINDOW_OFF,
                    NICLOOP_RMA_ERROR_DMA, NICLOOP_RMA_ERROR_DOMAIN};
  for (unsigned code : bad) CHECK(t.codes[code] > 5, "error %u came %u times: the scenario lost its point", code, t.codes[code]);
  CHECK(t.strangers == t.codes[NICLOOP_RMA_ERROR_DOMAIN], "%u strangers, expected %u", t.strangers, t.codes[NICLOOP_RMA_ERROR_DOMAIN]);
  CHECK(t.restarts > 100 && t.gets > 1000 && t.swaps > 200 && t.kept > 100 && t.notes > 300 && t.dropped > 100 && t.from_completer > 50 && t.reads.most > 4 && t.fences.done > 300 &&
            t.fences.held > 100, "%u gets, %u and %u locks, %u notifications, %u drops, %u refusals, %u bursts, %u fences, %u cycles held: the scenario lost its point",
        t.gets, t.swaps, t.kept, t.notes, t.dropped, t.from_completer, t.reads.most, t.fences.done, t.fences.held);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
