// velo_completer: random packets, about half of them broken; random
// stalls on AW, W, B; DMA errors; mailboxes of 1..5 slots that software empties at random.
// - up to DEPTH slots are under way, and told in their order; the rate of the smallest
//   packets, whatever the memory's latency;
// - good packets reach their mailbox in order: address, payload, zeros behind it, slot header;
// - idle is high exactly when no packet is inside, active when something moves;
// - broken ones are dropped with the right reason and header: bad CRC, missing head, tail or both,
//   wrong number of flits, other types (long ones too), bad length, other node, other domain,
//   mailbox off, DMA error, mailbox full and spent;
// - a slot tells of packets dropped for a full mailbox before it;
// - a full mailbox stalls, holds what is behind it, and goes on when the read pointer moves;
// - a stalled packet whose mailbox is switched off is dropped, and one that is being written then
//   does not count;
// - every flit is taken; headers of either VC are welcome.
// The mailbox table is the bench's own model; regfile_tb tests the real one.
#include "Vvelo_completer.h"
#include "axi_memory.h"

namespace {

constexpr unsigned kNode = 5, kOff = 15, kDepth = TB_DEPTH;

struct Expected {
  uint64_t header;
  std::vector<uint64_t> payload;
  unsigned reason;
};

struct Mailbox {
  uint32_t slots = 1, ahead = 0, rp = 0;  // ahead: slots begun
  uint64_t base = 0;
  bool on = true;
  unsigned pdid = 0;
  bool overflowed = false;
};

// A slot under way: in memory at a cycle.
struct Slot {
  Expected e;
  uint32_t seq;
  bool overflowed;
  uint64_t at;
};

struct Test : tb::Bench<Vvelo_completer> {
  tb::Readys readys{random};
  Mailbox box[16];
  std::deque<tb::Flit> flits;
  std::deque<Expected> expected;
  bool offered = false;  // what is offered stays until it is taken
  tb::Inside inside;
  tb::Activity activity;
  unsigned still = 0;        // cycles in which nothing was inside
  bool look_timed = false;   // a full mailbox may hold for a time only
  unsigned busy_percent = 0; // of the cycles the mailbox table answers nothing
  bool full_if_off = false;
  bool have_addr = false, only_friends = false, short_ones = false;
  uint64_t addr = 0, now = 0;
  std::vector<uint64_t> burst;
  std::deque<Slot> flying;   // begun, oldest first
  size_t landed = 0;         // of them, all beats are in memory
  unsigned latency = 0;      // of its answers; 0: at random
  unsigned most = 0;         // were under way
  unsigned errors_percent = 0, lost_percent = 0, spent_percent = 0, lost = 0, overflows = 0;
  unsigned reasons[16] = {}, written = 0, stalls = 0;

  Test(int argc, char** argv) : Bench(argc, argv) {
    for (unsigned v = 0; v < 16; ++v) box[v] = {uint32_t(1 + random.below(5)), 0, 0, random.next() & 0xffffffffc0, v != kOff, v == 13 ? 0 : 1 + unsigned(random.below(3))};
    for (unsigned v = 0; v < 16; ++v) top.stamps[v] = tb::stamp(box[v].pdid, unsigned(random.below(0x10000)));
  }

  uint64_t header(unsigned vc, unsigned type, unsigned length, unsigned piggyback, unsigned node, unsigned vpid) {
    return PACK(HEADER_ANSWER, vc) | PACK(HEADER_TYPE, type) | PACK(HEADER_KIND, random.below(4)) | PACK(HEADER_PIGGYBACK, piggyback) |
           PACK(HEADER_LENGTH, length) | PACK(HEADER_MARK, random.below(256)) | PACK(HEADER_SRC_VPID, random.below(16)) |
           PACK(HEADER_SRC_NODE, random.below(4096)) | PACK(HEADER_DST_VPID, vpid) | PACK(HEADER_DST_NODE, node);
  }

  void send(const std::vector<tb::Flit>& list, const Expected& e) {
    for (const tb::Flit& f : list) flits.push_back(f);
    expected.push_back(e);
    ++reasons[e.reason];
  }

  std::vector<uint64_t> payload(unsigned quads) {
    std::vector<uint64_t> p(quads);
    for (uint64_t& q : p) q = random.next();
    return p;
  }

  void send_good(unsigned vc, unsigned vpid) {
    unsigned piggyback = random.below(2), length = random.below(piggyback ? 55 : 57);
    if (short_ones) piggyback = 0, length = 8;
    uint64_t h = header(vc, NICLOOP_PACKET_TYPE_VELO, length, piggyback, kNode, vpid);
    auto p = payload((length + 2 * piggyback + 7) / 8);
    unsigned pdid = only_friends || random.percent(90) ? box[vpid].pdid : unsigned(random.below(5));
    auto list = tb::packet(h, p, tb::stamp(pdid, unsigned(random.below(0x10000))));
    if (pdid != box[vpid].pdid || pdid == 0) send(list, {h, p, NICLOOP_DROP_REASON_DOMAIN});
    else send(list, {h, p, box[vpid].on ? NICLOOP_DROP_REASON_NONE : NICLOOP_DROP_REASON_MAILBOX_OFF});
  }

  void send_broken(unsigned vc) {
    unsigned type = NICLOOP_PACKET_TYPE_VELO, length = 16 + random.below(41), node = kNode, quads = (length + 7) / 8;
    unsigned how = random.below(9), reason = 0;
    if (how == 0) type = (2 + random.below(15)) & 15, quads = random.below(65), reason = NICLOOP_DROP_REASON_BAD_TYPE;
    if (how == 1) length = 57 + random.below(200), quads = (length + 7) / 8, reason = NICLOOP_DROP_REASON_BAD_LENGTH;
    if (how == 2) node = kNode ^ (1 + random.below(4095)), reason = NICLOOP_DROP_REASON_NO_SUCH_NODE;
    if (how == 3) quads = random.percent(50) ? quads - 1 : quads + 1 + random.below(20), reason = NICLOOP_DROP_REASON_TRUNCATED;
    uint64_t h = header(vc, type, length, 0, node, random.below(15));
    auto list = tb::packet(h, payload(quads), tb::stamp(1, 0));
    if (how == 4 || how == 7) {
      // Any bit but those the network may change.
      size_t victim = random.below(list.size());
      uint64_t bit = 1ull << random.below(64);
      if (victim == 0) bit &= ~(NICLOOP_HEADER_ANSWER_MASK | NICLOOP_HEADER_MARK_MASK);
      if (bit == 0) victim = 1, bit = 1;
      list[victim].data ^= bit;
      if (victim == 0) h ^= bit;
      reason = NICLOOP_DROP_REASON_CRC;
    }
    if (how == 5) list.pop_back(), reason = NICLOOP_DROP_REASON_TRUNCATED;
    if (how == 6) list.erase(list.begin()), h = 0, reason = NICLOOP_DROP_REASON_TRUNCATED;
    if (how == 8) list.erase(list.begin()), list.pop_back(), h = 0, reason = NICLOOP_DROP_REASON_TRUNCATED;
    bool whole = how != 5 && how != 8;
    send(list, {h, {}, reason});
    if (!whole) send_good(vc, random.below(15));  // its head shows that a tail is missing
  }

  // The packet that is judged.
  Expected take() {
    CHECK(!expected.empty(), "something happens, and nothing is expected");
    Expected e = expected.front();
    expected.pop_front();
    return e;
  }

  void check_slot(const Slot& f) {
    const Expected& e = f.e;
    const Mailbox& m = box[FIELD(e.header, HEADER_DST_VPID)];
    std::vector<uint64_t> want(8);
    unsigned bytes = FIELD(e.header, HEADER_LENGTH) + 2 * FIELD(e.header, HEADER_PIGGYBACK);
    for (unsigned i = 0; i < bytes; ++i) want[i / 8] |= (e.payload[i / 8] >> i % 8 * 8 & 0xff) << i % 8 * 8;
    want[7] = slot_header(f);
    CHECK(addr == m.base + (f.seq - 1) % m.slots * 64, "slot at %llx", (unsigned long long)addr);
    CHECK(burst.size() == 8, "%zu beats", burst.size());
    for (int i = 0; i < 8; ++i) {
      CHECK(burst[i] == want[i], "quadword %d: %016llx, expected %016llx", i, (unsigned long long)burst[i], (unsigned long long)want[i]);
    }
  }

  uint64_t slot_header(const Slot& f) {
    uint64_t h = f.e.header;
    return PACK(SLOT_SRC_VPID, FIELD(h, HEADER_SRC_VPID)) | PACK(SLOT_SRC_NODE, FIELD(h, HEADER_SRC_NODE)) | PACK(SLOT_LENGTH, FIELD(h, HEADER_LENGTH)) |
           PACK(SLOT_KIND, FIELD(h, HEADER_KIND)) | PACK(SLOT_PIGGYBACK, FIELD(h, HEADER_PIGGYBACK)) | PACK(SLOT_OVERFLOW, f.overflowed) | PACK(SLOT_SEQ, f.seq);
  }

  void offer_flit(unsigned percent) {
    offered = !flits.empty() && (offered || random.percent(percent));
    top.in_valid = offered;
    if (!offered) return;
    const tb::Flit& f = flits.front();
    top.in_flit[0] = uint32_t(f.data), top.in_flit[1] = uint32_t(f.data >> 32), top.in_flit[2] = f.tail << 1 | f.head;
  }

  void answer_look() {
    const Mailbox& m = box[top.look_vpid];
    // The table does not define "full" of a mailbox that is off.
    top.look_on = m.on, top.look_full = m.on ? m.ahead - m.rp >= m.slots : full_if_off;
    top.look_addr = m.base + m.ahead % m.slots * 64, top.look_seq = m.ahead + 1;
    top.look_overflowed = m.overflowed;
  }

  void memory(unsigned aw, unsigned w, unsigned b) {
    bool always = aw == 100 && w == 100;
    top.m_awready = random.percent(aw) && readys.address(always), top.m_wready = random.percent(w) && readys.data(always);
    top.m_bvalid = landed > told_now && (latency ? flying[told_now].at + latency <= now : random.percent(b));
    top.m_bresp = top.m_bvalid && random.percent(errors_percent) ? 2 : 0;
  }

  // What the oldest slot under way came to.
  void tell() {
    CHECK(top.ended == told_now, "an answer is told %u, expected %zu", top.ended, told_now);
    if (!top.ended) return;
    const Slot& f = flying.front();
    CHECK(top.ended_seq == f.seq && top.ended_vpid == FIELD(f.e.header, HEADER_DST_VPID), "slot %u of VPID %u, expected %u", top.ended_seq, top.ended_vpid, f.seq);
    CHECK(top.ended_bad == told_bad, "bad %u", top.ended_bad);
    bool good = !told_bad && !top.ended_lost;
    CHECK(top.commit == good && (good || top.ev_drop), "commit %u, drop %u", top.commit, top.ev_drop);
    if (good) CHECK(top.slot_header == slot_header(f), "slot header %016llx", (unsigned long long)top.slot_header);
    written += good;
    unsigned reason = told_bad ? NICLOOP_DROP_REASON_DMA_ERROR : NICLOOP_DROP_REASON_MAILBOX_OFF;
    lost += !told_bad && top.ended_lost;
    if (!good) CHECK(top.packet_header == f.e.header && top.drop_reason == reason, "drop of %016llx, reason %u, expected %016llx, %u", (unsigned long long)top.packet_header, top.drop_reason, (unsigned long long)f.e.header, reason);
    flying.pop_front();
  }

  // The packet in front is refused, or its mailbox full for too long.
  void refuse() {
    Mailbox& m = box[top.look_vpid];
    Expected e = take();
    CHECK(top.packet_header == e.header, "event about %016llx, expected %016llx", (unsigned long long)top.packet_header, (unsigned long long)e.header);
    if (top.overflow) {
      CHECK(m.ahead - m.rp >= m.slots && m.on && top.look_spent, "overflow of mailbox %u, which has room or time", top.look_vpid);
      CHECK(e.reason == NICLOOP_DROP_REASON_NONE && top.drop_reason == NICLOOP_DROP_REASON_OVERFLOW, "overflow with reason %u, drop for %u", e.reason, top.drop_reason);
      m.overflowed = true, ++overflows;
    } else {
      CHECK(e.reason != NICLOOP_DROP_REASON_NONE && top.drop_reason == e.reason, "drop reason %u, expected %u", top.drop_reason, e.reason);
    }
  }

  void begin() {
    Mailbox& m = box[top.look_vpid];
    Expected e = take();
    CHECK(e.reason == NICLOOP_DROP_REASON_NONE, "a packet is written that should be dropped for %u", e.reason);
    CHECK(m.ahead - m.rp < m.slots, "a slot that nobody has read is overwritten");
    flying.push_back({e, ++m.ahead, m.overflowed, 0});
    m.overflowed = false;
    most = std::max(most, unsigned(flying.size()));
    CHECK(flying.size() <= kDepth, "%zu slots under way", flying.size());
  }

  void step(unsigned in, unsigned aw, unsigned w, unsigned b) {
    top.look_spent = random.percent(spent_percent), top.look_timed = look_timed && random.percent(50);
    offer_flit(in);
    memory(aw, w, b);
    top.ended_lost = random.percent(lost_percent);
    full_if_off = random.percent(50);
    top.table_busy = random.percent(busy_percent);
    settle();
    answer_look();
    settle();
    Mailbox& m = box[top.look_vpid];
    bool spoiled = told_now && (told_bad || top.ended_lost);
    CHECK(top.ev_stranger == (!spoiled && top.ev_drop && top.drop_reason == NICLOOP_DROP_REASON_DOMAIN), "stranger %u, reason %u", top.ev_stranger, top.drop_reason);
    CHECK(!top.stall || m.ahead - m.rp >= m.slots, "stalls for mailbox %u, which is not full", top.look_vpid);
    CHECK(!top.stall || !top.look_spent, "mailbox %u stalls and has no time left", top.look_vpid);
    stalls += top.stall;
    CHECK(!top.overflow || top.ev_drop, "an overflow without a drop");
    if (top.begun) begin();
    bool tells = told_now;
    tell();
    if (top.ev_drop && !spoiled) refuse();
    landed -= tells;
    readys.clock(top);
    if (top.m_awvalid && top.m_awready) {
      CHECK(!have_addr, "a second address before the data of the first");
      have_addr = true;
      addr = top.m_awaddr;
    }
    if (top.m_wvalid && top.m_wready) {
      burst.push_back(top.m_wdata);
      CHECK(top.m_wlast == (burst.size() == 8), "wlast at beat %zu", burst.size());
    }
    if (have_addr && burst.size() == 8) {
      flying[landed].at = now;
      check_slot(flying[landed++]);
      have_addr = false, burst.clear();
    }
    CHECK(top.m_bready, "an answer is not taken");
    look_at_rest(spoiled);
    told_now = top.m_bvalid, told_bad = top.m_bresp != 0;
    if (top.in_valid && top.in_ready) flits.pop_front(), offered = false;
    ++now;
    edge();
  }
  // idle and active against the packets inside.
  void look_at_rest(bool spoiled) {
    bool address = top.m_awvalid && top.m_awready, data = top.m_wvalid && top.m_wready;
    activity.clock(top.active, tb::bits(top.in_valid && top.in_ready, top.ev_drop, address, data, top.m_bvalid, top.ended, top.table_busy),
                   tb::bits(top.m_awvalid, top.m_wvalid, top.begun));
    CHECK(!top.stall || !top.look_timed || top.active, "not active while the time of a full mailbox runs");
    if (!inside.cutting(top)) CHECK(top.idle == inside.none(), "idle %u, %d packets inside", top.idle, inside.whole);
    still = inside.none() && !top.in_valid && !top.table_busy ? still + 1 : 0;
    CHECK(still < 3 || !top.active, "active, and nothing is inside");
    inside.clock(top, int(top.ev_drop && !spoiled) + int(top.ended));
  }
  // The memory takes and answers nothing: the unit stops by itself.
  void stand_still() {
    spent_percent = busy_percent = 0, look_timed = false;
    for (int i = 0; i < 2500; ++i) step(100, 0, 0, 0);
    for (int i = 0; i < 10; ++i) {
      step(100, 0, 0, 0);
      CHECK(!top.active, "active, and nothing can move");
    }
  }
  size_t told_now = 0;  // an answer came in the cycle before
  bool told_bad = false;

  void software(unsigned percent) {
    Mailbox& m = box[random.below(16)];
    if (random.percent(percent)) m.rp += uint32_t(random.below(m.ahead - m.rp + 1));
  }

  bool drained() { return expected.empty() && flits.empty() && flying.empty(); }
};

void drain(Test* t, unsigned in, unsigned aw, unsigned w, unsigned b, unsigned rp) {
  for (int i = 0; !t->drained(); ++i) {
    CHECK(i < 400000, "stuck: %zu packets expected", t->expected.size());
    t->step(in, aw, w, b);
    t->software(rp);
  }
}

}  // namespace

static void scenario(Test& t) {
  t.top.here = kNode;
  t.reset();
  for (int phase = 0; phase < 60; ++phase) {
    for (int i = 0; i < 30; ++i) {
      unsigned vc = t.random.below(2);
      t.random.percent(55) ? t.send_good(vc, t.random.below(16)) : t.send_broken(vc);
    }
    t.errors_percent = phase % 4 == 3 ? 20 : 0;
    t.lost_percent = phase % 4 == 1 ? 20 : 0;
    t.spent_percent = phase % 3 == 1 ? 30 : 0;
    t.latency = phase % 5 == 2 ? 200 : 0;
    t.look_timed = phase % 3 == 1;
    t.busy_percent = phase % 6 == 4 ? 60 : 0;
    if (phase % 10 == 3) t.stand_still();
    drain(&t, t.random.mood(), t.random.mood(), t.random.mood(), t.random.mood(), phase % 3 != 2 ? 2 : t.random.mood());
  }
  for (unsigned r = 1; r < 8; ++r) {
    if (r != NICLOOP_DROP_REASON_WINDOW_OFF) CHECK(t.reasons[r] > 10, "reason %u came up %u times", r, t.reasons[r]);
  }
  CHECK(t.written > 500 && t.stalls > 50, "%u slots, %u stall cycles: the scenario lost its point", t.written, t.stalls);
  CHECK(t.reasons[NICLOOP_DROP_REASON_DOMAIN] > 10, "%u strangers", t.reasons[NICLOOP_DROP_REASON_DOMAIN]);
  CHECK(t.lost > 20, "%u slots lost: the scenario lost its point", t.lost);
  CHECK(t.overflows > 8, "%u overflows: the scenario lost its point", t.overflows);
  t.errors_percent = t.lost_percent = t.spent_percent = t.latency = t.busy_percent = 0;
  t.look_timed = false;

  // A full mailbox holds the packet to another one behind it.
  t.only_friends = true;
  for (Mailbox& m : t.box) m.rp = m.ahead;
  for (unsigned i = 0; i < t.box[3].slots + 1; ++i) t.send_good(0, 3);
  t.send_good(0, 4);
  for (int i = 0; i < 1000; ++i) t.step(100, 100, 100, 100);
  CHECK(t.top.stall && t.expected.size() == 2, "stall %u, %zu packets left, expected 2", t.top.stall, t.expected.size());
  CHECK(!t.top.active && !t.top.idle, "a stalled completer is neither idle nor active");
  t.box[3].rp += 1;
  drain(&t, 100, 100, 100, 100, 0);

  // Switching the mailbox off lets the packet go.
  t.send_good(1, 3);
  for (int i = 0; i < 100; ++i) t.step(100, 100, 100, 100);
  CHECK(t.top.stall, "mailbox 3 is full again and must stall");
  t.box[3].on = false;
  t.expected.front().reason = NICLOOP_DROP_REASON_MAILBOX_OFF;
  drain(&t, 100, 100, 100, 100, 0);

  for (int i = 0; i < 20; ++i) t.step(100, 100, 100, 100);
  CHECK(t.top.idle, "not idle at the end");

  // 12 M packets/s, the smallest, and with room to spare: 10 cycles of 13, whatever the memory's
  // latency.
  t.short_ones = true;
  for (unsigned latency : {1, 4, 20, 50, 100, 140}) {
    constexpr unsigned kPackets = 200;
    for (Mailbox& m : t.box) m.slots = 2 * kPackets;
    t.latency = latency;
    for (unsigned i = 0; i < kPackets; ++i) t.send_good(0, 4);
    uint64_t before = t.now;
    drain(&t, 100, 100, 100, 100, 100);
    uint64_t took = t.now - before, most = 10 * kPackets + latency + 20;
    if (kDepth == 1) most = (latency + 20) * kPackets;  // each waits for the answer to the one before
    CHECK(took <= most, "answers after %u cycles: %llu cycles for %u packets, expected %llu at most", latency, (unsigned long long)took, kPackets, (unsigned long long)most);
  }
  CHECK(t.most == kDepth, "%u slots under way at most: expected %u", t.most, kDepth);
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
