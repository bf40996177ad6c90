// rma_unit.h: what stands around an RMA unit in its bench: translation, notifier, network, fences.
//
// What an address translates to, and whether it is refused, is a property of table, page and
// process, so that a bench can foresee it. A physical address carries the number of its translation
// in its upper bits, which memory ignores: so every burst names the access it belongs to.
#pragma once

#include <set>

#include "axi_memory.h"

namespace tb {

constexpr int kSerial = 44;  // a physical address has its translation's number from this bit on

struct Translator {
  Random& random;
  unsigned bad_per_100 = 0, delay = 3;
  uint64_t served = 0;  // translations so far; numbers begin with 1
  bool open = false;
  uint64_t due = 0, nla = 0, vpid = 0, need = 0;

  // The page of an NLA as a process sees it: its address in memory, or an error.
  unsigned error(uint64_t at, unsigned who) const {
    uint64_t h = Store::hash(at >> 12 ^ uint64_t(who) << 50);
    return h % 100 < bad_per_100 ? NICLOOP_RMA_ERROR_TRANSLATION + unsigned(h >> 32) % 4 : NICLOOP_RMA_ERROR_NONE;
  }
  static uint64_t translate(uint64_t at, unsigned who) {
    return (Store::hash(at >> 12 ^ uint64_t(who) << 56) << 12 & ((1ull << kSerial) - 1)) | (at & 0xfff);
  }

  template <class T>
  void drive(T& top) {
    bool done = open && cycle >= due;
    top.atu_done = done;
    top.atu_error = done ? error(nla, unsigned(vpid)) : random.below(16);
    top.atu_addr = done ? translate(nla, unsigned(vpid)) | (served + 1) << kSerial : random.next();
  }
  template <class T>
  void clock(T& top, uint64_t needs) {
    if (open) CHECK(top.atu_valid && top.atu_nla == nla && top.atu_vpid == vpid && needs == need, "a translation changed before it was done");
    if (open && top.atu_done) {
      open = false, ++served;
    } else if (top.atu_valid && !open) {
      open = true, nla = top.atu_nla, vpid = top.atu_vpid, need = needs, due = cycle + delay - 1;
    }
  }
};

// Fences at random times: hold must stay until no burst of the accesses before is under way, and
// none may come after.
struct Fences {
  Random& random;
  bool waits = false;
  uint64_t upto = 0, passed = 0;  // numbers of translations
  unsigned done = 0, held = 0;
  std::multiset<uint64_t> bursts;  // under way, by their translation

  template <class T>
  void drive(T& top, unsigned percent) { top.fence = !waits && random.percent(percent); }
  template <class T>
  void clock(T& top, const Translator& t) {
    if (top.fence) {
      waits = true, upto = t.served + (top.atu_valid ? 1 : 0);
      CHECK(!top.atu_valid || top.atu_hold, "a fence does not wait for the translation under way");
    }
    if (!waits) return;
    bool before = !bursts.empty() && *bursts.begin() <= upto;
    CHECK(!before || top.atu_hold, "a fence does not wait for the burst of translation %llu", (unsigned long long)*bursts.begin());
    if (top.atu_hold) { held += !top.fence; return; }
    waits = false, passed = upto, ++done;
  }
  void begin(uint64_t addr) {
    CHECK(addr >> kSerial > passed, "a burst of translation %llu, and the fence behind it has passed", (unsigned long long)(addr >> kSerial));
    bursts.insert(addr >> kSerial);
  }
  void end(uint64_t addr) { bursts.erase(bursts.find(addr >> kSerial)); }
};

struct Note {
  unsigned vpid;
  uint64_t words[2];
  bool operator==(const Note& o) const { return vpid == o.vpid && words[0] == o.words[0] && words[1] == o.words[1]; }
};

// The notifier's side: takes a notification after a random time.
struct Notifier {
  Random& random;
  unsigned take = 100;
  bool open = false;
  Note now{};
  bool taken = false;
  uint32_t stamp = 0;  // of it

  template <class T>
  void drive(T& top) { top.noti_done = open && random.percent(take); }
  template <class T>
  void clock(T& top) {
    Note n{top.noti_vpid, {uint64_t(top.noti_words[0]) | uint64_t(top.noti_words[1]) << 32, uint64_t(top.noti_words[2]) | uint64_t(top.noti_words[3]) << 32}};
    CHECK(!open || (top.noti_valid && n == now && top.noti_stamp == stamp), "a notification changed before it was taken");
    stamp = top.noti_stamp;
    taken = top.noti_done;
    open = top.noti_valid && !top.noti_done;
    now = n;
  }
};

// The network's side of a sender: whole packets, with their frame and CRC checked.
struct Sink {
  Random& random;
  unsigned take = 100;
  bool held = false;
  Flit was{};
  std::vector<Flit> flits;
  std::deque<std::vector<uint64_t>> packets;  // header, extension flit, quadwords, and the stamp of the tail

  template <class T>
  void drive(T& top) { top.tx_ready = random.percent(take); }
  template <class T>
  void clock(T& top) {
    Flit f{0, bool(top.tx_head), bool(top.tx_tail), top.tx_data};
    CHECK(!held || (top.tx_valid && f == was), "a flit changed before it was taken");
    held = top.tx_valid && !top.tx_ready, was = f;
    if (!top.tx_valid || !top.tx_ready) return;
    flits.push_back(f);
    if (!f.tail) return;
    std::vector<uint64_t> payload;
    for (size_t i = 1; i + 1 < flits.size(); ++i) payload.push_back(flits[i].data);
    uint32_t stamp = uint32_t(f.data >> 32);
    CHECK(flits == packet(flits[0].data, payload, stamp), "packet %016llx of %zu flits: frame or CRC", (unsigned long long)flits[0].data, flits.size());
    payload.insert(payload.begin(), flits[0].data);
    payload.push_back(stamp);
    packets.push_back(payload);
    flits.clear();
  }
};

// The network's other side: packets into a unit, about a tenth of them broken on the way.
struct Feeder {
  Random& random;
  unsigned offer = 100;
  bool offered = false, open = false;  // open: the packet before has no tail
  std::deque<Flit> flits;

  template <class T>
  void drive(T& top) {
    offered = !flits.empty() && (offered || random.percent(offer));
    Flit f = offered ? flits.front() : Flit{0, random.percent(50), random.percent(50), random.next()};
    top.in_valid = offered;
    top.in_flit[0] = uint32_t(f.data), top.in_flit[1] = uint32_t(f.data >> 32), top.in_flit[2] = unsigned(f.tail) << 1 | unsigned(f.head);
  }
  template <class T>
  void clock(T& top) {
    if (offered && top.in_ready) flits.pop_front(), offered = false;
  }
  // Sends a packet and tells why it will be dropped, if it was broken.
  unsigned send(uint64_t h, const std::vector<uint64_t>& payload, uint32_t stamp) {
    auto list = packet(h, payload, stamp);
    unsigned how = random.percent(90) ? 0 : 1 + unsigned(random.below(5));
    if (open && how == 2) how = 0;  // with the one before it would be one packet
    open = how == 1;
    unsigned reason = how ? NICLOOP_DROP_REASON_TRUNCATED : NICLOOP_DROP_REASON_NONE;
    if (how == 1) list.pop_back();
    if (how == 2) list.erase(list.begin());
    if (how == 3) list = packet(h, std::vector<uint64_t>(payload.begin(), payload.end() - 1), stamp);
    if (how == 4) list[random.below(list.size())].data ^= 1ull << (8 + random.below(16)), reason = NICLOOP_DROP_REASON_CRC;
    if (how == 5) list = packet(h ^ PACK(HEADER_DST_NODE, 1 + random.below(4095)), payload, stamp), reason = NICLOOP_DROP_REASON_NO_SUCH_NODE;
    flits.insert(flits.end(), list.begin(), list.end());
    return reason;
  }
};

// Domains and lives of all processes: few domains, so that many share one; process 12 has none.
template <class T>
inline void give_stamps(T& top, Random& random) {
  for (unsigned v = 0; v < 16; ++v) top.stamps[v] = stamp(v == 12 ? 0 : 1 + unsigned(random.below(3)), unsigned(random.below(0x10000)));
}

inline uint64_t header(unsigned type, unsigned op, unsigned length, unsigned src, unsigned src_node, unsigned dst, unsigned dst_node) {
  return PACK(HEADER_TYPE, type) | PACK(HEADER_OP, op) | PACK(HEADER_LENGTH, length) | PACK(HEADER_SRC_VPID, src) |
         PACK(HEADER_SRC_NODE, src_node) | PACK(HEADER_DST_VPID, dst) | PACK(HEADER_DST_NODE, dst_node);
}

inline uint64_t note_word(unsigned bytes, unsigned unit, unsigned command, unsigned error, bool last, unsigned vpid, unsigned node) {
  return PACK(RMA_NOTI_BYTES_MINUS_1, bytes - 1) | PACK(RMA_NOTI_UNIT, unit) | PACK(RMA_NOTI_COMMAND, command) |
         PACK(RMA_NOTI_ERROR, error) | PACK(RMA_NOTI_LAST, last) | PACK(RMA_NOTI_PEER_VPID, vpid) | PACK(RMA_NOTI_PEER_NODE, node);
}

inline uint64_t extension(uint64_t nla, unsigned tag) { return PACK(RMA_EXT_NLA, nla) | PACK(RMA_EXT_TAG, tag); }

}  // namespace tb
