// velo_completer: random packets, about half of them broken; random
// stalls on AW, W, B; DMA errors; mailboxes of 1..5 slots that software empties at random.
// - good packets reach their mailbox in order: address, payload, zeros behind it, slot header;
// - broken ones are dropped with the right reason and header: bad CRC, missing head or tail, wrong number
//   of flits, other types (long ones too), bad length, other node, other domain, mailbox off, DMA error, mailbox full and spent;
// - a slot tells of packets dropped for a full mailbox before it;
// - a full mailbox stalls, holds what is behind it, and goes on when the read pointer moves;
// - a stalled packet whose mailbox is switched off is dropped, and one that is being written then does not count;
// - every flit is taken; headers of either VC are welcome.
// The mailbox table is the bench's own model; regfile_tb tests the real one.
#include "Vvelo_completer.h"
#include "tb.h"

namespace {

constexpr unsigned kNode = 5, kOff = 15;

struct Expected {
  uint64_t header;
  std::vector<uint64_t> payload;
  unsigned reason;
};

struct Mailbox {
  uint32_t slots = 1, wp = 0, rp = 0;
  uint64_t base = 0;
  bool on = true;
  unsigned pdid = 0;
  bool overflowed = false;
};

struct Test : tb::Bench<Vvelo_completer> {
  Mailbox box[16];
  std::deque<tb::Flit> flits;
  std::deque<Expected> expected;
  bool offered = false;  // what is offered stays until it is taken
  bool have_addr = false, only_friends = false;
  uint64_t addr = 0;
  std::vector<uint64_t> burst;
  unsigned wait = 0, errors_percent = 0, lost_percent = 0, spent_percent = 0, lost = 0, overflows = 0;
  unsigned reasons[16] = {}, written = 0, stalls = 0;

  Test(int argc, char** argv) : Bench(argc, argv) {
    for (unsigned v = 0; v < 16; ++v) box[v] = {uint32_t(1 + random.below(5)), 0, 0, random.next() & 0xffffffffc0, v != kOff, v == 13 ? 0 : 1 + unsigned(random.below(3))};
    for (unsigned v = 0; v < 16; ++v) top.stamps[v] = tb::stamp(box[v].pdid, unsigned(random.below(0x10000)));
  }

  uint64_t header(unsigned vc, unsigned type, unsigned length, unsigned piggyback, unsigned node, unsigned vpid) {
    return PLACE(HEADER_VC, vc) | PLACE(HEADER_TYPE, type) | PLACE(HEADER_KIND, random.below(4)) | PLACE(HEADER_PIGGYBACK, piggyback) |
           PLACE(HEADER_LENGTH, length) | PLACE(HEADER_MARK, random.below(256)) | PLACE(HEADER_SRC_VPID, random.below(16)) |
           PLACE(HEADER_SRC_NODE, random.below(4096)) | PLACE(HEADER_DST_VPID, vpid) | PLACE(HEADER_DST_NODE, node);
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
    uint64_t h = header(vc, NICLOOP_PACKET_TYPE_VELO, length, piggyback, kNode, vpid);
    auto p = payload((length + 2 * piggyback + 7) / 8);
    unsigned pdid = only_friends || random.percent(90) ? box[vpid].pdid : unsigned(random.below(5));
    auto list = tb::packet(h, p, tb::stamp(pdid, unsigned(random.below(0x10000))));
    if (pdid != box[vpid].pdid || pdid == 0) send(list, {h, p, NICLOOP_DROP_REASON_DOMAIN});
    else send(list, {h, p, box[vpid].on ? NICLOOP_DROP_REASON_NONE : NICLOOP_DROP_REASON_MAILBOX_OFF});
  }

  void send_broken(unsigned vc) {
    unsigned type = NICLOOP_PACKET_TYPE_VELO, length = 16 + random.below(41), node = kNode, quads = (length + 7) / 8;
    unsigned how = random.below(8), reason = 0;
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
      if (victim == 0) bit &= ~(NICLOOP_HEADER_VC_MASK | NICLOOP_HEADER_MARK_MASK);
      if (bit == 0) victim = 1, bit = 1;
      list[victim].data ^= bit;
      if (victim == 0) h ^= bit;
      reason = NICLOOP_DROP_REASON_CRC;
    }
    if (how == 5) list.pop_back(), reason = NICLOOP_DROP_REASON_TRUNCATED;
    if (how == 6) list.erase(list.begin()), h = 0, reason = NICLOOP_DROP_REASON_TRUNCATED;
    bool whole = how != 5;
    send(list, {h, {}, reason});
    if (!whole) send_good(vc, random.below(15));  // its head shows that a tail is missing
  }

  // The packet that an event is about.
  Expected take(uint64_t h) {
    CHECK(!expected.empty(), "event about %016llx, nothing expected", (unsigned long long)h);
    Expected e = expected.front();
    CHECK(e.header == h, "event about %016llx, expected %016llx", (unsigned long long)h, (unsigned long long)e.header);
    expected.pop_front();
    return e;
  }

  void check_slot(const Expected& e, Mailbox* m) {
    std::vector<uint64_t> want(8);
    unsigned bytes = FIELD(e.header, HEADER_LENGTH) + 2 * FIELD(e.header, HEADER_PIGGYBACK);
    for (unsigned i = 0; i < bytes; ++i) want[i / 8] |= (e.payload[i / 8] >> i % 8 * 8 & 0xff) << i % 8 * 8;
    want[7] = PLACE(SLOT_SRC_VPID, FIELD(e.header, HEADER_SRC_VPID)) | PLACE(SLOT_SRC_NODE, FIELD(e.header, HEADER_SRC_NODE)) |
              PLACE(SLOT_LENGTH, FIELD(e.header, HEADER_LENGTH)) | PLACE(SLOT_KIND, FIELD(e.header, HEADER_KIND)) |
              PLACE(SLOT_PIGGYBACK, FIELD(e.header, HEADER_PIGGYBACK)) | PLACE(SLOT_OVERFLOW, m->overflowed) | PLACE(SLOT_SEQ, m->wp + 1);
    CHECK(m->wp - m->rp < m->slots, "a slot that nobody has read is overwritten");
    CHECK(addr == m->base + m->wp % m->slots * 64, "slot at %llx", (unsigned long long)addr);
    CHECK(burst.size() == 8, "%zu beats", burst.size());
    for (int i = 0; i < 8; ++i) {
      CHECK(burst[i] == want[i], "quadword %d: %016llx, expected %016llx", i, (unsigned long long)burst[i], (unsigned long long)want[i]);
    }
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
    top.look_on = m.on, top.look_full = m.wp - m.rp >= m.slots;
    top.look_addr = m.base + m.wp % m.slots * 64, top.look_seq = m.wp + 1;
    top.look_lost = random.percent(lost_percent);
    top.look_overflowed = m.overflowed;
  }

  void step(unsigned in, unsigned aw, unsigned w, unsigned b) {
    top.look_spent = random.percent(spent_percent);
    offer_flit(in);
    top.m_awready = random.percent(aw), top.m_wready = random.percent(w);
    top.m_bvalid = have_addr && burst.size() == 8 && (wait == 0 || --wait == 0) && (top.m_bvalid || random.percent(b));
    top.m_bresp = !top.m_bvalid ? top.m_bresp : random.percent(errors_percent) ? 2 : 0;
    settle();
    answer_look();
    settle();
    Mailbox& m = box[top.look_vpid];
    CHECK(top.ev_stranger == (top.ev_drop && top.drop_reason == NICLOOP_DROP_REASON_DOMAIN), "stranger %u, reason %u", top.ev_stranger, top.drop_reason);
    CHECK(!top.stall || m.wp - m.rp >= m.slots, "stalls for mailbox %u, which is not full", top.look_vpid);
    stalls += top.stall;
    if (top.m_awvalid && top.m_awready) {
      CHECK(!have_addr, "a second burst before the first is acknowledged");
      have_addr = true;
      addr = top.m_awaddr;
    }
    if (top.m_wvalid && top.m_wready) {
      burst.push_back(top.m_wdata);
      CHECK(top.m_wlast == (burst.size() == 8), "wlast at beat %zu", burst.size());
    }
    bool done = top.m_bvalid && top.m_bready;
    CHECK(top.commit == (done && top.m_bresp == 0 && !top.look_lost), "commit %u", top.commit);
    CHECK(!top.overflow || (m.wp - m.rp >= m.slots && m.on && top.look_spent), "overflow of mailbox %u, which has room or time", top.look_vpid);
    CHECK(!top.stall || !top.look_spent, "mailbox %u stalls and has no time left", top.look_vpid);
    if (top.overflow) {
      Expected e = take(top.packet_header);
      CHECK(e.reason == NICLOOP_DROP_REASON_NONE && top.ev_drop && top.drop_reason == NICLOOP_DROP_REASON_OVERFLOW, "overflow with reason %u, drop for %u", e.reason, top.drop_reason);
      m.overflowed = true, ++overflows;
    } else if (done || top.ev_drop) {
      Expected e = take(top.packet_header);
      bool reached = e.reason == NICLOOP_DROP_REASON_NONE;
      CHECK(done == reached, "packet %016llx: written %u, expected %u", (unsigned long long)e.header, done, reached);
      unsigned reason = done && top.m_bresp != 0 ? unsigned(NICLOOP_DROP_REASON_DMA_ERROR) : e.reason;
      if (done && reason == 0 && top.look_lost) reason = NICLOOP_DROP_REASON_MAILBOX_OFF, ++lost;
      CHECK(top.ev_drop == (reason != 0), "drop %u, expected reason %u", top.ev_drop, reason);
      CHECK(!top.ev_drop || top.drop_reason == reason, "drop reason %u, expected %u", top.drop_reason, reason);
      if (done) check_slot(e, &m);
      if (top.commit) ++m.wp, ++written, m.overflowed = false;
    }
    if (done) have_addr = false, burst.clear(), wait = random.below(6);
    if (top.in_valid && top.in_ready) flits.pop_front(), offered = false;
    edge();
  }

  void software(unsigned percent) {
    Mailbox& m = box[random.below(16)];
    if (random.percent(percent)) m.rp += uint32_t(random.below(m.wp - m.rp + 1));
  }

  bool drained() { return expected.empty() && flits.empty(); }
};

void drain(Test* t, unsigned in, unsigned aw, unsigned w, unsigned b, unsigned rp) {
  for (int i = 0; !t->drained(); ++i) {
    CHECK(i < 400000, "stuck: %zu packets expected", t->expected.size());
    t->step(in, aw, w, b);
    t->software(rp);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
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
    drain(&t, t.random.mood(), t.random.mood(), t.random.mood(), t.random.mood(), phase % 3 == 0 ? 2 : t.random.mood());
  }
  for (unsigned r = 1; r < 8; ++r) {
    if (r != NICLOOP_DROP_REASON_WINDOW_OFF) CHECK(t.reasons[r] > 10, "reason %u came up %u times", r, t.reasons[r]);
  }
  CHECK(t.written > 500 && t.stalls > 50, "%u slots, %u stall cycles: the scenario lost its point", t.written, t.stalls);
  CHECK(t.reasons[NICLOOP_DROP_REASON_DOMAIN] > 10, "%u strangers", t.reasons[NICLOOP_DROP_REASON_DOMAIN]);
  CHECK(t.lost > 20, "%u slots lost: the scenario lost its point", t.lost);
  CHECK(t.overflows > 8, "%u overflows: the scenario lost its point", t.overflows);
  t.errors_percent = t.lost_percent = t.spent_percent = 0;

  // A full mailbox holds the packet to another one behind it.
  t.only_friends = true;
  for (Mailbox& m : t.box) m.rp = m.wp;
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
}
