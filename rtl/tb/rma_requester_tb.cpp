// rma_requester: random descriptors of all processes, good and bad, several fragments under way;
// random times of translation, memory, network and notifier; pages that are refused, lines that
// fail, fences.
// - each process sees what its descriptors say, in order: fragments that cross no page, with their
//   bytes, and behind each the notification it asked for;
// - what is wrong ends the descriptor with one error notification: nothing of the failing fragment
//   leaves, nothing behind it;
// - a fence waits for the reads before it and for no later ones;
// - packets and notifications carry the stamp of their process; a dead descriptor ends without
//   either;
// - puts stream: 35 cycles for 256 bytes over a long latency.
#include "Vrma_requester.h"
#include "rma_unit.h"

namespace {

constexpr unsigned kHere = 1, kNodes = TB_NODES;

struct Descriptor {
  uint64_t word[3];
};

struct Event {
  bool noti;
  std::vector<uint64_t> packet;
  tb::Note note;
};

struct Test : tb::Bench<Vrma_requester> {
  tb::Store store;
  tb::ReadMemory memory{store, random};
  tb::Translator atu{random};
  tb::Notifier notifier{random};
  tb::Sink sink{random};
  tb::Fences fences{random};
  tb::Activity activity;
  std::deque<Descriptor> queue[16];
  std::deque<Event> expected[16];
  unsigned packets = 0, notes = 0, kinds[16] = {}, fence = 0, processes = 16, puts = 0, purged = 0, dead = 0;  // kinds: error notifications by code
  unsigned errors = 0, quiet = 0, quiet_cycles = 0;  // quiet: cycles without work since idle rose

  using Bench::Bench;

  static bool outside(uint64_t nla, uint64_t bytes) { return nla >> 48 != 0 || (nla & ((1ull << 44) - 1)) + bytes - 1 >> 44 != 0; }

  // What a descriptor leads to, from its words alone.
  void foresee(unsigned v, const Descriptor& d) {
    uint64_t w0 = d.word[0], w1 = d.word[1], w2 = d.word[2];
    unsigned command = unsigned(FIELD(w0, RMA_DESC_COMMAND)), node = unsigned(FIELD(w0, RMA_DESC_DST_NODE)), tag = unsigned(FIELD(w0, RMA_DESC_TAG));
    unsigned peer = unsigned(FIELD(w0, RMA_DESC_DST_VPID)), ask = unsigned(w0 >> NICLOOP_RMA_DESC_NOTI_REQUESTER_LSB & 7);
    bool each = FIELD(w0, RMA_DESC_EACH), put = command == NICLOOP_RMA_COMMAND_PUT, get = command == NICLOOP_RMA_COMMAND_GET;
    bool imm = command == NICLOOP_RMA_COMMAND_IMM_PUT, note = command == NICLOOP_RMA_COMMAND_NOTI_PUT, lock = command == NICLOOP_RMA_COMMAND_FCAA;
    uint64_t all = note ? 8 : lock ? 4 : FIELD(w0, RMA_DESC_BYTES_MINUS_1) + 1;
    bool reads = put || get, writes = reads || imm || lock;
    unsigned wrong = NICLOOP_RMA_ERROR_NONE;
    if (!(put || get || imm || note || lock) || (imm && all > 8) || (lock && w2 % 4 != 0)) wrong = NICLOOP_RMA_ERROR_BAD_COMMAND;
    else if (node >= kNodes) wrong = NICLOOP_RMA_ERROR_NO_SUCH_NODE;
    else if ((reads && outside(w1, all)) || (writes && outside(w2, all))) wrong = NICLOOP_RMA_ERROR_BOUNDS;
    for (uint64_t at = 0; at < all;) {
      uint64_t n = std::min<uint64_t>(all - at, NICLOOP_RMA_MTU), from = w1 + at, to = w2 + at;
      if (reads) n = std::min(n, 4096 - from % 4096);
      if (writes) n = std::min(n, 4096 - to % 4096);
      bool last = at + n == all;
      unsigned error = wrong;
      uint64_t source = tb::Translator::translate(from & ((1ull << 48) - 1), v);
      if (error == NICLOOP_RMA_ERROR_NONE && put) error = atu.error(from, v);
      if (error == NICLOOP_RMA_ERROR_NONE && put && store.bad(source, unsigned(n))) error = NICLOOP_RMA_ERROR_DMA;
      bool shape = error == NICLOOP_RMA_ERROR_BAD_COMMAND || error == NICLOOP_RMA_ERROR_BOUNDS;
      uint64_t side = note ? 0 : imm || lock || get ? to : from;
      tb::Note told{v, {tb::extension(side, tag), tb::note_word(unsigned(shape ? all : n), NICLOOP_RMA_UNIT_REQUESTER, command, error,
                                                                last || error != 0, peer, node)}};
      if (error != NICLOOP_RMA_ERROR_NONE) {
        expected[v].push_back({true, {}, told}), ++kinds[error];
        return;
      }
      unsigned op = unsigned(last) << NICLOOP_RMA_OP_LAST_LSB | ask << NICLOOP_RMA_OP_NOTI_REQUESTER_LSB | unsigned(each) << NICLOOP_RMA_OP_EACH_LSB;
      unsigned type = get ? NICLOOP_PACKET_TYPE_RMA_GET_REQ : imm ? NICLOOP_PACKET_TYPE_RMA_IMM_PUT : note ? NICLOOP_PACKET_TYPE_RMA_NOTI :
                      lock ? NICLOOP_PACKET_TYPE_RMA_LOCK_REQ : NICLOOP_PACKET_TYPE_RMA_PUT;
      std::vector<uint64_t> p{tb::header(type, op, unsigned(8 + (put || imm ? n : 8)), v, kHere, peer, node),
                              tb::extension(note ? 0 : get ? from : to, tag)};
      if (put)
        for (unsigned i = 0; i < n; i += 8) p.push_back(quad(source + i, unsigned(n) - i));
      else if (get) p.push_back(PACK(RMA_GET_NLA, to) | PACK(RMA_GET_BYTES_MINUS_1, n - 1));
      else if (imm) p.push_back(w1 >> 8 * at & (~0ull >> (64 - 8 * n)));
      else p.push_back(w1);
      p.push_back(top.stamps[v]);
      expected[v].push_back({false, p, {}});
      if ((ask & 1) && (each || last)) expected[v].push_back({true, {}, told});
      at += n;
    }
  }
  uint64_t quad(uint64_t at, unsigned n) {
    uint64_t q = 0;
    for (unsigned k = 0; k < 8 && k < n; ++k) q |= uint64_t(store.get(at + k)) << 8 * k;
    return q;
  }

  Descriptor make(bool whole) {
    static const unsigned sizes[] = {8, 64, 300, 5000};
    uint64_t bytes = whole ? 1 << 16 : 1 + random.below(sizes[random.below(4)]), mask = (1ull << 44) - 1;
    if (random.percent(puts)) bytes = 1 + random.below(3000);
    unsigned command = whole || random.percent(puts) ? NICLOOP_RMA_COMMAND_PUT : unsigned(1 + random.below(5));
    if (command == NICLOOP_RMA_COMMAND_IMM_PUT) bytes = 1 + random.below(8);
    Descriptor d{{0, random.next() & mask, random.next() & mask}};
    if (command == NICLOOP_RMA_COMMAND_FCAA) d.word[2] &= ~3ull;
    for (int i = 1; i < 3; ++i)
      if (random.percent(15)) d.word[i] |= 0xff0;  // the 4 KB end soon
    if (whole) d.word[1] &= ~4095ull, d.word[2] &= ~4095ull;
    unsigned node = unsigned(random.below(kNodes));
    if (!whole && random.percent(8)) {
      unsigned how = unsigned(random.below(4));
      if (how == 0) command = unsigned(random.below(16));
      if (how == 1) node = kNodes + unsigned(random.below(4096 - kNodes));
      if (how == 2) d.word[1 + random.below(2)] |= 1ull << (48 + random.below(16));
      if (how == 3) d.word[1 + random.below(2)] |= mask & ~1023ull, bytes = 1 + random.below(2000);
    }
    d.word[0] = PACK(RMA_DESC_COMMAND, command) | random.below(16) << NICLOOP_RMA_DESC_NOTI_REQUESTER_LSB |
                PACK(RMA_DESC_DST_VPID, random.below(16)) | PACK(RMA_DESC_DST_NODE, node) | PACK(RMA_DESC_BYTES_MINUS_1, bytes - 1) |
                PACK(RMA_DESC_TAG, random.next());
    if (whole) d.word[0] &= ~(7ull << NICLOOP_RMA_DESC_NOTI_REQUESTER_LSB | NICLOOP_RMA_DESC_EACH_MASK);
    return d;
  }

  void post(unsigned percent, bool whole) {
    unsigned v = unsigned(random.below(processes));
    if (!random.percent(percent) || queue[v].size() >= NICLOOP_RMA_DEPTH) return;
    queue[v].push_back(make(whole));
    foresee(v, queue[v].back());
  }

  void step() {
    top.here = kHere;
    top.nodes = kNodes;
    top.waiting = 0;
    for (unsigned v = 0; v < 16; ++v) top.waiting |= unsigned(!queue[v].empty()) << v;
    memory.drive(top), atu.drive(top), notifier.drive(top), sink.drive(top), fences.drive(top, fence);
    settle();
    const auto& q = queue[top.head_vpid];
    for (int i = 0; i < 3; ++i) {
      uint64_t w = q.empty() ? random.next() : q.front().word[i];
      top.head[2 * i] = uint32_t(w), top.head[2 * i + 1] = uint32_t(w >> 32);
    }
    top.head_dead = dead >> top.head_vpid & 1;
    settle();
    if (top.m_arvalid && top.m_arready) fences.begin(top.m_araddr);
    uint64_t ending = memory.bursts.empty() ? 0 : memory.bursts.front().addr;
    bool ends = top.m_rvalid && top.m_rready && top.m_rlast;
    CHECK(top.ev_purged == (top.pop && top.head_dead), "purged %u", top.ev_purged);
    purged += top.ev_purged;
    if (top.pop) {
      CHECK(!q.empty(), "VPID %u: popped, and has nothing", top.head_vpid);
      queue[top.head_vpid].pop_front();
    }
    fences.clock(top, atu);
    if (ends) fences.end(ending);
    look_at_rest();
    atu.clock(top, 0), notifier.clock(top), sink.clock(top), memory.clock(top);
    judge();
    edge();
  }

  // idle and active against the work that is left, which of dead descriptors is not known; and the
  // count of fragments.
  void look_at_rest() {
    errors += top.ev_error;
    CHECK(top.ev_packet == (top.tx_valid && top.tx_ready && top.tx_tail), "ev_packet %u", top.ev_packet);
    activity.clock(top.active, tb::bits(top.tx_valid && top.tx_ready, top.noti_done, top.m_arvalid, top.m_rvalid, top.pop, top.ev_error, top.atu_valid),
                   tb::bits(top.tx_valid, top.noti_valid, top.m_arvalid, top.atu_valid));
    bool work = top.waiting != 0;
    for (unsigned v = dead ? 8 : 0; v < 16; ++v) work = work || !expected[v].empty();
    CHECK(!top.idle || !work, "idle with work to do");
    bool rests = !work && dead == 0;
    CHECK(top.idle || quiet == 0 || !rests, "not idle any more, and nothing was posted");
    quiet = rests && top.idle ? quiet + 1 : 0;
    CHECK(quiet < 4 || !top.active, "active, %u cycles behind the last work", quiet);
    quiet_cycles += quiet > 4;
    top.level_vpid = top.noti_valid ? top.noti_vpid : random.below(16);
    settle();
    CHECK(!top.noti_valid || top.level_of > 0, "VPID %u: no fragments counted, but a notification", top.noti_vpid);
    CHECK(!top.idle || top.level_of == 0, "VPID %u: idle with %u fragments counted", top.level_vpid, top.level_of);
  }
  // The network and the notifier take nothing: the unit stops by itself.
  void stand_still() {
    unsigned take[] = {notifier.take, sink.take};
    notifier.take = sink.take = 0, memory.mood = {}, atu.delay = 3;
    for (int i = 0; i < 2500; ++i) post(50, false), step();
    for (int i = 0; i < 10; ++i) {
      step();
      CHECK(!top.active, "active, and nothing can move");
    }
    CHECK(!top.idle, "idle with %u descriptors", waiting_of(16));
    notifier.take = take[0], sink.take = take[1];
  }

  void judge() {
    for (const auto& p : sink.packets) {
      auto& e = expected[FIELD(p[0], HEADER_SRC_VPID)];
      CHECK(!e.empty() && !e.front().noti && e.front().packet == p, "VPID %llu: packet %016llx of %zu quadwords, expected %s",
            (unsigned long long)FIELD(p[0], HEADER_SRC_VPID), (unsigned long long)p[0], p.size(), e.empty() ? "nothing" : e.front().noti ? "a notification" : "another");
      e.pop_front(), ++packets;
    }
    sink.packets.clear();
    if (!notifier.taken) return;
    const tb::Note& n = notifier.now;
    CHECK(notifier.stamp == top.stamps[n.vpid], "VPID %u: told with stamp %08x", n.vpid, notifier.stamp);
    auto& e = expected[n.vpid];
    CHECK(!e.empty() && e.front().noti, "VPID %u: notification %016llx %016llx, expected %s", n.vpid, (unsigned long long)n.words[0],
          (unsigned long long)n.words[1], e.empty() ? "nothing" : "a packet");
    const tb::Note& want = e.front().note;
    CHECK(want == n, "VPID %u: notification %016llx %016llx, expected %016llx %016llx", n.vpid, (unsigned long long)n.words[0],
          (unsigned long long)n.words[1], (unsigned long long)want.words[0], (unsigned long long)want.words[1]);
    e.pop_front(), ++notes;
  }

  unsigned waiting_of(unsigned processes) const {
    unsigned n = 0;
    for (unsigned v = 0; v < processes; ++v) n += unsigned(queue[v].size());
    return n;
  }
  bool drained() const {
    for (int v = 0; v < 16; ++v)
      if (!queue[v].empty() || !expected[v].empty()) return false;
    return top.idle && !fences.waits;
  }
};

}  // namespace

static void scenario(Test& t) {
  t.store.space = (1ull << tb::kSerial) - 1;
  tb::give_stamps(t.top, t.random);
  t.reset();
  for (int i = 0; i < 20; ++i) t.step();
  // After reset the turn is at the lowest number.
  unsigned lowest = 1 + unsigned(t.random.below(14));
  for (unsigned v : {lowest, 15u}) t.queue[v].push_back(t.make(false)), t.foresee(v, t.queue[v].back());
  for (int i = 0; i < 3; ++i) t.step();
  CHECK(t.top.head_vpid == lowest, "VPID %u is served first, expected %u", t.top.head_vpid, lowest);
  for (int i = 0; !t.drained(); ++i) {
    CHECK(i < 40000, "stuck");
    t.step();
  }
  for (int phase = 0; phase < 80; ++phase) {
    t.store.bad_per_1000 = t.random.percent(50) ? 10 : 150, t.atu.bad_per_100 = 10;
    t.puts = t.random.percent(50) ? 0 : 90;
    t.processes = t.random.percent(50) ? 16 : 1 + unsigned(t.random.below(2));
    t.memory.mood = tb::moods(t.random);
    t.atu.delay = 3 + unsigned(t.random.below(t.random.percent(50) ? 2 : 30));
    t.notifier.take = t.random.mood(), t.sink.take = t.random.mood(), t.fence = 2;
    unsigned post = t.random.percent(50) ? 50 : 2;
    for (int i = 0; i < 1500; ++i) t.post(post, false), t.step();
    if (phase % 10 == 3) t.stand_still();
    t.fence = 0;
    for (int i = 0; !t.drained(); ++i) {
      CHECK(i < 400000, "stuck");
      t.step();
    }
    for (int i = 0; i < 70; ++i) t.step();
    unsigned failed = 0;
    for (unsigned n : t.kinds) failed += n;
    CHECK(t.errors == failed, "%u errors reported, expected %u", t.errors, failed);
  }
  CHECK(t.quiet_cycles > 500, "%u quiet cycles: the scenario lost its point", t.quiet_cycles);
  for (unsigned code = 1; code <= NICLOOP_RMA_ERROR_DMA; ++code)
    CHECK(code == NICLOOP_RMA_ERROR_WINDOW_OFF || t.kinds[code] > 5, "error %u came %u times: the scenario lost its point", code, t.kinds[code]);
  CHECK(t.packets > 3000 && t.notes > 1000 && t.memory.most > 8 && t.fences.done > 500 && t.fences.held > 100, "%u packets, %u notifications, %u bursts, %u fences, %u cycles held: the scenario lost its point",
        t.packets, t.notes, t.memory.most, t.fences.done, t.fences.held);

  t.memory.mood = {100, 100, 100, 150};
  t.processes = 16;
  t.store.bad_per_1000 = t.atu.bad_per_100 = 0, t.atu.delay = 3, t.notifier.take = t.sink.take = 100;
  for (int i = 0; i < 600; ++i) t.post(100, true), t.step();
  unsigned before = t.packets;
  for (int i = 0; i < 3500; ++i) t.post(100, true), t.step();
  CHECK(t.packets - before >= 99, "%u fragments of 256 bytes in 3500 cycles, expected 100", t.packets - before);

  // Windows that go off leave what waits dead: those that have begun are done up to there, nobody
  // else notices.
  for (int i = 0; !t.drained(); ++i) {
    CHECK(i < 1000000, "stuck");
    t.step();
  }
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 100; ++i) t.post(30, false), t.step();
    unsigned waiting = 0, before = t.purged;
    for (unsigned v = 0; v < 8; ++v) waiting += unsigned(t.queue[v].size());
    t.dead = 0xff;
    for (int i = 0; t.waiting_of(8); ++i) {
      CHECK(i < 4000, "dead descriptors stay");
      t.step();
    }
    CHECK(t.purged - before == waiting, "%u purged of %u", t.purged - before, waiting);
    for (int i = 0; !t.top.idle || t.waiting_of(16); ++i) {
      CHECK(i < 40000, "stuck with dead descriptors");
      t.step();
    }
    for (unsigned v = 0; v < 8; ++v) t.expected[v].clear();
    for (unsigned v = 8; v < 16; ++v) CHECK(t.expected[v].empty(), "VPID %u lost something", v);
    t.dead = 0;
  }
  CHECK(t.purged > 100, "%u purged: the scenario lost its point", t.purged);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
