// regfile (with mailbox_table): random stalls on all five AXI4-Lite channels, reads and writes at
// once.
// - every address of the map and every hole, read and written: OKAY, SLVERR (read-only, partial
//   strobes) or DECERR (hole), and BAD_ACCESS counts exactly the refused ones; reset values and
//   constants;
// - random accesses and events against a model of all registers; base and size of a ring that is on
//   stand still;
// - interrupt: set by events, cleared by writing 1, an event wins over a clear, masked to the line;
// - idle is high exactly when no access is outstanding; CYCLES counts from reset;
// - ERROR_INFO keeps the first error until it is cleared;
// - mailboxes: ring position, full, number of the next packet; switching on resets the pointers,
//   writing an enabled mailbox's switches again does not; a ring of no slots is off; while slots
//   are under way everything can be written, but for the cycles in which one begins or ends; those
//   whose mailbox was switched off are lost;
// - a slot that the memory refuses switches its mailbox off, and those behind it are lost;
// - a read pointer ahead of what was or is written, or behind the ring, is refused, told and
//   counted.
#include <deque>
#include <map>

#include "Vregfile.h"
#include "tb.h"

namespace {

enum Access { RO, RW, W1C };
struct Register {
  const char* name;
  Access access;
};

struct Box {
  uint64_t base = 0, stalls = 0;
  uint32_t slots = 0, wp = 0, ahead = 0, seen = 0, rp = 0, index = 0, ctrl = 0, stamp = 0, left = 0xffffff, overflows = 0;  // stamp: {life, domain}
  bool refused = false, overflowed = false;
  bool full() const { return ahead - rp >= slots; }
};

struct Slot {  // under way
  unsigned vpid;
  uint32_t seq;
  bool lost;
};

struct Test : tb::Bench<Vregfile> {
  std::map<uint32_t, Register> registers;
  std::map<uint32_t, uint64_t> counters;  // by address, ro registers that events move
  Box box[16];
  uint64_t scratch = 0, mask = 0, status = 0, error = 0, bad = 0, patience = NICLOOP_LINK_PATIENCE_AT_RESET, link_ctrl = 0;
  unsigned event_percent = 0, ready_percent = 100;
  bool off_last = false;  // a mailbox was switched off in the cycle before: the last of its slots may end now
  unsigned boxes = 16;  // mailboxes with slots under way: with few of them several in each
  bool stalled = false, looks = false;  // looks: at a mailbox, in which a slot begins in the next cycle
  std::deque<Slot> flying;              // the one that is looked at included
  unsigned moved = 0, refused = 0, lost_slots = 0, failed_slots = 0, shuts = 0;
  unsigned failed_before = 0;  // failed before another of the same mailbox that is under way
  uint32_t stall_info = 0;
  // A write that takes effect at this edge, for the model.
  bool write_now = false;
  uint32_t write_addr = 0;
  uint64_t write_data = 0;

  Test(int argc, char** argv) : Bench(argc, argv) {
#define ADD(name, first, stride, copies, access) \
  for (uint32_t i = 0; i < copies; ++i) registers[first + stride * i] = {#name, access};
    NICLOOP_REGISTERS(ADD)
#undef ADD
    // Page wire belongs to the simulation: to the NIC it is outside the map.
    registers.erase(registers.lower_bound(NICLOOP_REG_WIRE_ERRORS(0)), registers.lower_bound(NICLOOP_REG_WIRE_ERRORS(6)));
    // Those of RMA and of routes belong to rma_regs and route_table, which are not here.
    for (auto at = registers.begin(); at != registers.end();) {
      std::string unit = std::string(at->second.name).substr(0, 4);
      at = unit == "RMA_" || unit == "ATU_" || unit == "NVM_" || unit == "NOTI" || unit == "VELO" || std::string(at->second.name) == "ROUTE" ? registers.erase(at) : std::next(at);
    }
  }

  uint64_t expected(uint32_t addr) {
    Box& b = box[addr >> 12 & 15];
    if (addr >= NICLOOP_REG_LINK_STATUS(1)) return 0;  // one link is built
    if (addr == NICLOOP_REG_LINK_PATIENCE(0)) return patience;
    if (addr == NICLOOP_REG_LINK_CTRL(0)) return link_ctrl;
    if (addr >= NICLOOP_REG_LINK_STATUS(0)) return addr % 4096 == 0 ? 3 : 10 + addr % 4096 / 8;
    if (addr >= 0x20000) return b.rp | PACK(MBOX_RP_REFUSED, b.refused);
    if (addr >= 0x10000) {
      switch (addr & 0xfff) {
        case NICLOOP_REG_MBOX_BASE(0) & 0xfff: return b.base;
        case NICLOOP_REG_MBOX_SLOTS(0) & 0xfff: return b.slots;
        case NICLOOP_REG_MBOX_CTRL(0) & 0xfff: return b.ctrl;
        case NICLOOP_REG_MBOX_WP(0) & 0xfff: return b.wp;
        case NICLOOP_REG_PDID(0) & 0xfff: return b.stamp & 0xffff;
        case NICLOOP_REG_LIFE(0) & 0xfff: return b.stamp >> 16;
        case NICLOOP_REG_LEVEL(0) & 0xfff: return PACK(LEVEL_DESCRIPTORS, top.descriptors) | PACK(LEVEL_FRAGMENTS, top.fragments) | PACK(LEVEL_LINES, top.lines);
        case NICLOOP_REG_HOLD(0) & 0xfff: return PACK(HOLD_MAILBOX, b.left) | PACK(HOLD_RING, top.ring_hold);
        case NICLOOP_REG_OVERFLOW(0) & 0xfff: return PACK(OVERFLOW_MAILBOX, b.overflows) | PACK(OVERFLOW_RING, top.ring_overflows);
        default: return b.stalls;
      }
    }
    switch (addr) {
      case NICLOOP_REG_MAGIC: return NICLOOP_MAGIC_VALUE;
      case NICLOOP_REG_VERSION: return NICLOOP_VERSION_VALUE;
      case NICLOOP_REG_DESC_HASH: return NICLOOP_DESC_HASH_VALUE;
      case NICLOOP_REG_PARAMS:
        return PACK(PARAMS_NODES, 6) | PACK(PARAMS_VPIDS, 16) | PACK(PARAMS_DIM_X, 3) | PACK(PARAMS_DIM_Y, 2) | PACK(PARAMS_DIM_Z, 1) |
               PACK(PARAMS_VC_DEPTH, 9) | PACK(PARAMS_PORTS, 5);
      case NICLOOP_REG_NODE_ID: return 4;
      case NICLOOP_REG_SCRATCH: return scratch;
      case NICLOOP_REG_IRQ_STATUS: return status;
      case NICLOOP_REG_IRQ_MASK: return mask;
      case NICLOOP_REG_ERROR_INFO: return error;
      case NICLOOP_REG_BAD_ACCESS: return bad;
      case NICLOOP_REG_RX_STALL_VPID: return stall_info;
      case NICLOOP_REG_TX_LEVEL: return top.tx_level;
      case NICLOOP_REG_RX_LEVEL: return top.rx_level;
      default: return counters[addr];
    }
  }

  void apply_write() {
    Box& b = box[write_addr >> 12 & 15];
    if (write_addr >= NICLOOP_REG_LINK_STATUS(0)) {
      if (write_addr == NICLOOP_REG_LINK_PATIENCE(0)) patience = write_data & NICLOOP_LINK_PATIENCE_CYCLES_MASK;
      if (write_addr == NICLOOP_REG_LINK_CTRL(0)) link_ctrl = write_data & NICLOOP_LINK_CTRL_DRAIN_MASK;
    } else if (write_addr >= 0x20000) {
      // A slot that began in the cycle before or begins in this one, nobody has seen.
      b.refused = b.seen - uint32_t(write_data) > b.slots;
      if (b.refused) ++counters[NICLOOP_REG_RP_REFUSED], status |= NICLOOP_IRQ_STATUS_ERROR_MASK;
      if (!b.refused) b.rp = uint32_t(write_data);
      refused += b.refused, moved += !b.refused;
    } else if (write_addr >= 0x10000) {
      switch (write_addr & 0xfff) {
        case NICLOOP_REG_MBOX_BASE(0) & 0xfff: b.base = write_data & ~63ull; break;
        case NICLOOP_REG_MBOX_SLOTS(0) & 0xfff: b.slots = write_data & 0xffffff; break;
        case NICLOOP_REG_MBOX_CTRL(0) & 0xfff:
          if (!(b.ctrl & 1) && (write_data & 1)) b.wp = b.ahead = b.rp = b.index = 0, b.refused = b.overflowed = false;
          b.ctrl = write_data & 7;
          break;
        case NICLOOP_REG_HOLD(0) & 0xfff: b.left = write_data & 0xffffff; break;
        case NICLOOP_REG_PDID(0) & 0xfff:
          b.stamp = (b.stamp & ~0xffffu) | (write_data & 0xffff), b.ctrl &= NICLOOP_MBOX_CTRL_IRQ_ARRIVAL_MASK, ++shuts;
          break;
      }
    } else if (write_addr == NICLOOP_REG_SCRATCH) {
      scratch = write_data;
    } else if (write_addr == NICLOOP_REG_IRQ_MASK) {
      mask = write_data & 0x3ffffffff;
    }
  }

  void choose_events() {
    auto event = [&] { return random.percent(event_percent); };
    top.ev_tx_packet = event(), top.ev_tx_stall = event();
    top.ev_tx_error = event(), top.ev_rx_drop = event();
    top.tx_reason = 1 + random.below(3), top.rx_reason = 4 + random.below(5);
    top.tx_src = random.next(), top.tx_dst = random.next(), top.tx_length = random.below(1024);
    top.rx_src = random.next(), top.rx_dst = random.next(), top.rx_length = random.below(1024);
    top.ev_rma_error = event(), top.rma_reason = 1 + random.below(15), top.rma_src = random.next(), top.rma_dst = random.next();
    top.rma_length = random.below(1024), top.ev_link_failure = event(), top.ev_noti_irq = event(), top.noti_vpid = random.below(16);
    top.ev_strangers = event() ? random.below(8) : 0, top.stranger_header = random.next(), top.stranger_pdid = random.next();
    top.descriptors = random.below(8), top.fragments = random.below(17), top.lines = random.below(16);
    top.restart = event(), top.restart_vpid = random.below(16);
    top.route_errors = event() ? random.below(256) : 0;
    // A slot is looked at, begins in the next cycle and ends some cycles later, one after the
    // other.
    top.begun = looks;
    if (!looks) top.look_vpid = random.below(boxes);
    Box& b = box[top.look_vpid];
    size_t begun = flying.size();
    looks = !looks && (b.ctrl & 1) && b.slots != 0 && !b.full() && flying.size() < NICLOOP_DMA_WRITES && event();
    if (looks) flying.push_back({top.look_vpid, b.ahead + 1, false});
    top.ended = begun > top.begun && random.percent(off_last ? 60 : boxes == 16 ? 15 : 4);
    top.ended_bad = random.percent(boxes == 16 ? 5 : 20);
    if (!flying.empty()) top.ended_vpid = flying.front().vpid, top.ended_seq = flying.front().seq;
    top.stall = !looks && !top.begun && box[top.look_vpid].left != 0 && event();
    top.overflow = !looks && !top.begun && !top.stall && (b.ctrl & 1) && event(), top.ev_ring_stall = event();
    top.ring_hold = random.below(1 << 24), top.ring_overflows = random.next();
  }

  void apply_events() {
    Box& b = box[top.look_vpid];
    Box& e = box[top.ended_vpid];
    bool commit = top.ended && !top.ended_bad && !top.ended_lost;
    counters[NICLOOP_REG_TX_PACKETS] += top.ev_tx_packet;
    counters[NICLOOP_REG_TX_STALL] += top.ev_tx_stall;
    counters[NICLOOP_REG_TX_DROPPED] += top.ev_tx_error;
    bool crc = top.ev_rx_drop && top.rx_reason == NICLOOP_DROP_REASON_CRC;
    counters[NICLOOP_REG_RX_CRC_ERRORS] += crc;
    counters[NICLOOP_REG_RX_DROPPED] += top.ev_rx_drop && !crc;
    counters[NICLOOP_REG_ROUTE_ERRORS] += unsigned(__builtin_popcount(top.route_errors));
    counters[NICLOOP_REG_RX_STALL] += top.stall;
    counters[NICLOOP_REG_RX_PACKETS] += commit;
    b.stalls += top.stall;
    if (top.stall && b.left != 0xffffff) --b.left;
    if (top.overflow) ++b.overflows, b.overflowed = true;
    if (top.begun) b.overflowed = false;
    uint64_t set = 0;
    if (top.ev_tx_error || top.ev_rx_drop || top.ev_rma_error || top.ev_link_failure || top.route_errors) set |= NICLOOP_IRQ_STATUS_ERROR_MASK;
    if ((top.stall && !stalled) || top.ev_ring_stall) set |= NICLOOP_IRQ_STATUS_STALL_MASK;
    if (commit && (e.ctrl & NICLOOP_MBOX_CTRL_IRQ_ARRIVAL_MASK)) set |= 1u << top.ended_vpid;
    if (top.ev_noti_irq) set |= 1ull << (NICLOOP_IRQ_STATUS_NOTI_LSB + top.noti_vpid);
    bool clear_error = write_now && write_addr == NICLOOP_REG_ERROR_INFO && (write_data & 1);
    if (write_now && write_addr == NICLOOP_REG_IRQ_STATUS) status &= ~write_data;
    status |= set;
    if (clear_error) error = 0;
    if (!(error & 1) && top.ev_tx_error) error = pack_error(top.tx_reason, top.tx_src, top.tx_dst, top.tx_length);
    if (!(error & 1) && top.ev_rx_drop) error = pack_error(top.rx_reason, top.rx_src, top.rx_dst, top.rx_length);
    if (!(error & 1) && top.ev_rma_error) error = pack_error(top.rma_reason, top.rma_src, top.rma_dst, top.rma_length);
    unsigned strangers = unsigned(__builtin_popcount(top.ev_strangers));
    counters[NICLOOP_REG_DOMAIN_REFUSED] += strangers;
    if (strangers)
      counters[NICLOOP_REG_DOMAIN_LAST] = 1 | PACK(DOMAIN_LAST_TYPE, FIELD(top.stranger_header, HEADER_TYPE)) | PACK(DOMAIN_LAST_SRC, top.stranger_header >> 32) |
                                          PACK(DOMAIN_LAST_DST, top.stranger_header >> 48) | PACK(DOMAIN_LAST_PDID, top.stranger_pdid);
    if (top.restart) box[top.restart_vpid].stamp += 1u << 16;
    stalled = top.stall;
    stall_info = uint32_t(PACK(RX_STALL_VPID_VPID, top.stall ? top.look_vpid : stall_info & 15) | PACK(RX_STALL_VPID_STALLED, top.stall));
    if (commit) ++e.wp;
    if (top.begun) ++b.ahead, b.index = b.index + 1 >= b.slots ? 0 : b.index + 1;
  }

  static uint64_t pack_error(uint64_t reason, uint64_t src, uint64_t dst, uint64_t length) {
    return 1 | PACK(ERROR_INFO_REASON, reason) | PACK(ERROR_INFO_SRC, src) | PACK(ERROR_INFO_DST, dst) | PACK(ERROR_INFO_LENGTH, length);
  }

  void check_look() {
    const Box& b = box[top.look_vpid];
    bool on = (b.ctrl & 1) && b.slots != 0, full = b.full();
    CHECK(top.look_on == on, "mailbox %u: on %u, expected %u", top.look_vpid, top.look_on, on);
    CHECK(!on || b.seen != b.ahead || top.look_full == full, "mailbox %u: full %u, expected %u", top.look_vpid, top.look_full, full);
    CHECK(top.look_seq == b.ahead + 1, "mailbox %u: next %u, expected %u", top.look_vpid, top.look_seq, b.ahead + 1);
    CHECK(top.look_addr == b.base + 64ull * b.index, "mailbox %u: slot at %llx", top.look_vpid, (unsigned long long)top.look_addr);
    for (unsigned v = 0; v < 16; ++v) CHECK(top.stamps[v] == box[v].stamp, "VPID %u: stamp %08x, expected %08x", v, top.stamps[v], box[v].stamp);
    CHECK(top.look_spent == (b.left == 0) && top.look_timed == (b.left != 0xffffff) && top.look_overflowed == b.overflowed, "mailbox %u: spent %u, overflowed %u", top.look_vpid, top.look_spent, top.look_overflowed);
    unsigned windows = 0;
    for (unsigned v = 0; v < 16; ++v) windows |= (box[v].ctrl >> NICLOOP_MBOX_CTRL_WINDOW_LSB & 1) << v;
    CHECK(top.window_on == windows, "windows %04x, expected %04x", top.window_on, windows);
    uint64_t open = status & mask, processes = open | open >> NICLOOP_IRQ_STATUS_NOTI_LSB;
    bool node = open & (NICLOOP_IRQ_STATUS_ERROR_MASK | NICLOOP_IRQ_STATUS_STALL_MASK);
    CHECK(top.irq_lines == ((processes & 0xffff) << 1 | node), "irq_lines %05x with status %09llx, mask %09llx", top.irq_lines, (unsigned long long)status, (unsigned long long)mask);
    CHECK(top.irq == ((status & mask) != 0), "irq %u with status %05llx, mask %05llx", top.irq, (unsigned long long)status, (unsigned long long)mask);
  }

  // An access is outstanding from its request to its answer.
  void check_idle() {
    bool writes = write_open || top.s_awvalid || top.s_wvalid || top.s_bvalid, reads = read_open || top.s_arvalid || top.s_rvalid;
    CHECK(top.writes == writes && top.idle == !(writes || reads) && top.active == !top.idle, "writes %u, idle %u, active %u; outstanding: write %u, read %u",
          top.writes, top.idle, top.active, writes, reads);
    if (top.s_bvalid && top.s_bready) write_open = false;
    if (top.s_rvalid && top.s_rready) read_open = false;
    if (top.s_awvalid && top.s_awready) write_open = true;
    if (top.s_arvalid && top.s_arready) read_open = true;
  }
  bool write_open = false, read_open = false;

  void lose(unsigned vpid) {
    for (Slot& f : flying) f.lost = f.lost || f.vpid == vpid;
  }

  // The edge of a cycle whose inputs are settled.
  void step(bool write_ok) {
    check_look();
    check_idle();
    uint32_t ahead[16];  // as the next cycle's read pointers are compared with it
    for (unsigned v = 0; v < 16; ++v) ahead[v] = box[v].ahead;
    write_now = write_ok && top.wr_take;
    apply_events();
    if (write_now) apply_write();
    bool off = write_now && (write_addr == NICLOOP_REG_MBOX_CTRL(write_addr >> 12 & 15) && write_addr < 0x20000 && !(write_data & 1));
    off = off || (write_now && write_addr == NICLOOP_REG_PDID(write_addr >> 12 & 15));
    const Slot* next = flying.size() > 1 ? &flying[1] : nullptr;
    if (top.ended && top.ended_bad && !flying.front().lost) failed_before += next && next->vpid == flying.front().vpid;
    if (top.ended) {
      Slot f = flying.front();
      flying.pop_front();
      CHECK(top.ended_lost == f.lost, "mailbox %u: lost %u, expected %u", f.vpid, top.ended_lost, f.lost);
      lost_slots += f.lost;
      if (top.ended_bad && !f.lost) box[f.vpid].ctrl &= ~1u, lose(f.vpid), ++failed_slots;
    }
    off_last = off;
    if (off) lose(write_addr >> 12 & 15);
    for (unsigned v = 0; v < 16; ++v) box[v].seen = ahead[v];
    edge();
  }

  uint64_t looked = 0, began = 0;  // cycles of the last look at the counters, and of the last one of reset
  struct Result {
    unsigned wait, resp;
    uint64_t data;
  };

  unsigned write_resp(uint32_t addr, unsigned strobe) {
    auto it = registers.find(addr);
    uint32_t first = addr & ~0xf000u;
    bool stands = (first == NICLOOP_REG_MBOX_BASE(0) || first == NICLOOP_REG_MBOX_SLOTS(0)) && (box[addr >> 12 & 15].ctrl & 1);
    return it == registers.end() ? 3 : it->second.access == RO || stands || strobe != 0xff ? 2 : 0;
  }

  // A write and a read at the same time; either may be absent (address ~0).
  Result access(uint32_t waddr, uint64_t wdata, unsigned strobe, uint32_t raddr) {
    Result r{};
    bool writing = waddr != ~0u, reading = raddr != ~0u;
    bool aw = writing, w = writing, b = writing, ar = reading, rr = reading;
    unsigned want = 0;  // as the write is answered when it is done
    write_addr = waddr, write_data = wdata;
    top.s_awaddr = waddr, top.s_wdata = wdata, top.s_wstrb = strobe, top.s_araddr = raddr;
    while (b || rr) {
      CHECK(++r.wait < 20000, "no answer to an access of %05x/%05x", waddr, raddr);
      top.s_awvalid = aw && (top.s_awvalid || random.percent(ready_percent));
      top.s_wvalid = w && (top.s_wvalid || random.percent(ready_percent));
      top.s_arvalid = ar && (top.s_arvalid || random.percent(ready_percent));
      top.s_bready = random.percent(ready_percent), top.s_rready = random.percent(ready_percent);
      choose_events();
      settle();
      bool aw_done = top.s_awvalid && top.s_awready, w_done = top.s_wvalid && top.s_wready, ar_done = top.s_arvalid && top.s_arready;
      bool known = registers.count(raddr) != 0;
      if (writing && top.wr_take) want = write_resp(waddr, strobe);
      if (top.rd_look) looked = tb::cycle;
      if (top.rd_look && known && event_percent == 0 && raddr != NICLOOP_REG_CYCLES) {
        r.data = expected(raddr);
      }
      bool b_done = top.s_bvalid && top.s_bready, r_done = top.s_rvalid && top.s_rready;
      if (b_done) {
        r.resp = top.s_bresp;
        CHECK(r.resp == want, "write of %05x, strobe %02x: answer %u, expected %u", waddr, strobe, r.resp, want);
        bad += want != 0;
        b = false;
      }
      if (r_done) {
        unsigned expect = known ? 0 : 3;
        CHECK(top.s_rresp == expect, "read of %05x: answer %u, expected %u", raddr, top.s_rresp, expect);
        bad += !known;
        CHECK(raddr != NICLOOP_REG_CYCLES || top.s_rdata == looked - began, "CYCLES is %llu, expected %llu", (unsigned long long)top.s_rdata, (unsigned long long)(looked - began));
        if (event_percent == 0 && raddr != NICLOOP_REG_CYCLES && !writing) {
          CHECK(top.s_rdata == r.data, "read of %05x (%s): %llx, expected %llx", raddr, known ? registers[raddr].name : "hole",
                (unsigned long long)top.s_rdata, (unsigned long long)r.data);
        }
        r.data = top.s_rdata;
        rr = false;
      }
      CHECK(!top.s_awready || (aw_done && w_done), "address and data are taken together");
      step(want == 0);
      if (aw_done) aw = false;
      if (w_done) w = false;
      if (ar_done) ar = false;
    }
    top.s_awvalid = top.s_wvalid = top.s_arvalid = 0;
    return r;
  }
  Result write(uint32_t addr, uint64_t data, unsigned strobe = 0xff) { return access(addr, data, strobe, ~0u); }
  Result read(uint32_t addr) { return access(~0u, 0, 0, addr); }

  void quiet() {
    event_percent = 0;
    for (int i = 0; !flying.empty() || i < 3; ++i) {
      choose_events();
      settle();
      step(false);
    }
  }

  void read_all() {
    for (auto& [addr, reg] : registers) read(addr);
  }
};

}  // namespace

static void scenario(Test& t) {
  t.top.tx_level = 0x5512345678, t.top.rx_level = 0x66669abcdef0;
  t.reset();
  t.began = tb::cycle;
  for (int i = 0; i < 20; ++i) t.tick();  // the mailbox table clears itself

  t.read_all();
  // Slots of a mailbox that is switched on for the first time since reset count.
  t.write(NICLOOP_REG_MBOX_SLOTS(0), 1000), t.write(NICLOOP_REG_MBOX_CTRL(0), 1);
  t.boxes = 1;
  t.event_percent = 30;
  for (int i = 0; i < 300; ++i) t.choose_events(), t.settle(), t.step(false);
  t.boxes = 16;
  t.quiet();
  // A ring of no slots is off.
  t.write(NICLOOP_REG_MBOX_SLOTS(5), 0), t.write(NICLOOP_REG_MBOX_CTRL(5), 1);
  for (int i = 0; i < 100; ++i) t.choose_events(), t.settle(), t.step(false);

  // The whole map and its surroundings.
  t.read_all();
  for (uint32_t page = 0; page < 0x33000; page += 0x1000) {
    for (uint32_t off = 0; off < 0x300; off += 8) {
      t.read(page + off);
      if (t.write_resp(page + off, 0xff) != 0) t.write(page + off, t.random.next());
    }
    t.read(page + 0x800), t.read(page + 0xff8);
  }
  for (uint32_t addr : {0x4u, 0x21u, 0x10001u, 0x1fffffu, 0x80000000u, 0xfffffff8u}) t.read(addr), t.write(addr, 1);
  t.read_all();

  // Random accesses with events.
  std::vector<uint32_t> addresses;
  for (auto& [addr, reg] : t.registers) addresses.push_back(addr);
  for (int phase = 0; phase < 40; ++phase) {
    t.event_percent = phase % 2 ? 30 : 5;
    t.ready_percent = t.random.mood();
    t.boxes = phase % 4 == 3 ? 2 : 16;
    for (unsigned v = 0; v < t.boxes && t.boxes < 16; ++v)
      t.write(NICLOOP_REG_MBOX_CTRL(v), 0), t.write(NICLOOP_REG_MBOX_SLOTS(v), 1000), t.write(NICLOOP_REG_MBOX_CTRL(v), 1);
    for (int i = 0; i < 60; ++i) {
      uint32_t w = addresses[t.random.below(addresses.size())], r = addresses[t.random.below(addresses.size())];
      if (t.random.percent(5)) w = uint32_t(t.random.next()) & 0x3ffff;
      if (t.random.percent(5)) r = uint32_t(t.random.next()) & 0x3ffff;
      uint64_t data = t.random.percent(50) ? t.random.next() : t.random.below(8);
      if (w >= 0x20000 && w < 0x30000 && t.random.percent(80)) data = t.box[w >> 12 & 15].ahead + 2 - t.random.below(8);
      if (!t.flying.empty() && t.random.percent(20)) w = NICLOOP_REG_MBOX_CTRL(t.flying.back().vpid), data = t.random.below(2);
      t.access(t.random.percent(80) ? w : ~0u, data, t.random.percent(95) ? 0xff : t.random.below(255), t.random.percent(50) ? r : ~0u);
    }
    t.quiet();
    t.read_all();
  }
  t.boxes = 16;
  CHECK(t.bad > 1000, "%llu refused accesses: the scenario lost its point", (unsigned long long)t.bad);

  // Interrupts and the first error: clears race with events.
  for (int phase = 0; phase < 300; ++phase) {
    const uint32_t some[] = {NICLOOP_REG_IRQ_STATUS, NICLOOP_REG_IRQ_STATUS, NICLOOP_REG_ERROR_INFO, NICLOOP_REG_IRQ_MASK};
    t.event_percent = 1 + unsigned(t.random.below(20));
    t.ready_percent = 100;
    for (int i = 0; i < 6; ++i) t.write(some[t.random.below(4)], t.random.percent(50) ? ~0ull : t.random.next());
    t.quiet();
    t.read(NICLOOP_REG_IRQ_STATUS), t.read(NICLOOP_REG_ERROR_INFO), t.read(NICLOOP_REG_RX_STALL_VPID);
  }

  // Read pointers of a small ring that move back and forth, also in the cycle in which a slot
  // begins: check_look() compares whether it is full in every cycle.
  t.boxes = 1;
  t.ready_percent = 100;
  for (int phase = 0; phase < 8; ++phase) {
    t.write(NICLOOP_REG_MBOX_CTRL(0), 0), t.write(NICLOOP_REG_MBOX_SLOTS(0), 1 + phase % 4), t.write(NICLOOP_REG_MBOX_CTRL(0), 1);
    t.event_percent = 20;
    for (int i = 0; i < 40 && (t.box[0].ctrl & 1); ++i) t.write(NICLOOP_REG_MBOX_RP(0), t.box[0].ahead - t.random.below(2 + phase % 4));
    t.quiet();
  }
  t.boxes = 16;

  CHECK(t.shuts > 10, "%u shut: the scenario lost its point", t.shuts);
  CHECK(t.moved > 10 && t.refused > 10 && t.lost_slots > 3 && t.failed_slots > 3 && t.failed_before > 3, "%u read pointers moved, %u refused, %u slots lost, %u failed: the scenario lost its point", t.moved,
        t.refused, t.lost_slots, t.failed_slots);

  // While slots are under way everything can be written, in the cycles in which one begins or ends
  // all but switches, base and size, and in that in which one begins no read pointer.
  t.quiet();
  t.ready_percent = 100;
  t.write(NICLOOP_REG_MBOX_CTRL(3), 0);
  for (unsigned what : {0, 1, 2})
    for (uint32_t addr : {uint32_t(NICLOOP_REG_MBOX_RP(3)), uint32_t(NICLOOP_REG_SCRATCH), uint32_t(NICLOOP_REG_MBOX_CTRL(3)),
                          uint32_t(NICLOOP_REG_MBOX_BASE(3)), uint32_t(NICLOOP_REG_MBOX_SLOTS(3))}) {
      t.top.begun = t.top.ended = 0;
      t.top.s_awvalid = t.top.s_wvalid = 1, t.top.s_awaddr = addr, t.top.s_wdata = 7, t.top.s_wstrb = 0xff, t.top.s_bready = 1;
      t.settle();
      CHECK(t.top.s_awready, "%05x: an access waits and none is under way", addr);
      for (int i = 0; i < 3; ++i) t.edge(), t.top.s_awvalid = t.top.s_wvalid = 0, t.settle();
      t.top.begun = what == 1, t.top.ended = what == 2, t.settle();
      bool page = addr >= 0x10000 && addr < 0x20000, pointer = addr >= 0x20000;
      CHECK(t.top.wr_take == !((what && page) || (what == 1 && pointer)), "%05x, begun %u, ended %u: done %u", addr, t.top.begun, t.top.ended, t.top.wr_take);
      t.top.begun = t.top.ended = 0;
      t.reset();
      for (int i = 0; i < 20; ++i) t.tick();
    }
}

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
