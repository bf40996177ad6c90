// root_complex.h: the other end of PCIe for benches: memory behind memory requests, completions
// late, in any order of tags, in parts, wrong or never, and a queue of TLPs to the NIC. It holds
// what the NIC sends to the rules of PCIe: headers, lengths, byte enables, 4 KB, payload and
// request sizes, tags.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "axi_memory.h"

namespace tb {

// A TLP as dwords: those of the header as numbers, those of the payload as memory has them, the
// lowest address in bits 7:0.
struct Tlp {
  std::vector<uint32_t> dw;
  unsigned bar = 0;
};

struct Header {
  bool four, data, poisoned;
  unsigned kind, tc, attr, len;  // len: dwords, 1..1024
  unsigned id, tag, first_be, last_be;                  // of a request
  unsigned status, count, lower, to;                    // of a completion
  uint64_t addr = 0;
  static constexpr unsigned MEMORY = 0, LOCKED = 1, COMPLETION = 10, LOCKED_COMPLETION = 11;

  static Header of(const std::vector<uint32_t>& d) {
    Header h{};
    h.four = d[0] >> 29 & 1, h.data = d[0] >> 30 & 1, h.poisoned = d[0] >> 14 & 1, h.kind = d[0] >> 24 & 31;
    h.tc = d[0] >> 20 & 7, h.attr = (d[0] >> 18 & 1) << 2 | (d[0] >> 12 & 3), h.len = d[0] & 1023 ? d[0] & 1023 : 1024;
    h.id = d[1] >> 16;
    if (h.kind == COMPLETION || h.kind == LOCKED_COMPLETION) {
      h.status = d[1] >> 13 & 7, h.count = d[1] & 4095, h.to = d[2] >> 16, h.tag = d[2] >> 8 & 255, h.lower = d[2] & 127;
    } else {
      h.tag = d[1] >> 8 & 255, h.last_be = d[1] >> 4 & 15, h.first_be = d[1] & 15;
      h.addr = h.four ? uint64_t(d[2]) << 32 | d[3] : d[2];
    }
    return h;
  }
  unsigned dwords() const { return 3 + four; }
};

inline std::vector<uint32_t> request(unsigned kind, bool data, uint64_t addr, unsigned len, unsigned first_be, unsigned last_be, unsigned id, unsigned tag,
                                     unsigned tc = 0, unsigned attr = 0) {
  bool four = addr >> 32;
  std::vector<uint32_t> d{uint32_t(four) << 29 | uint32_t(data) << 30 | kind << 24 | tc << 20 | (attr >> 2) << 18 | (attr & 3) << 12 | (len & 1023),
                          id << 16 | tag << 8 | last_be << 4 | first_be};
  if (four) d.push_back(uint32_t(addr >> 32));
  d.push_back(uint32_t(addr));
  return d;
}

inline unsigned bytes_of(unsigned be) { return __builtin_popcount(be); }

// Both streams of nic_pcie, a TLP at a time.
template <class Model, unsigned WIDTH>
struct Streams {
  Model& top;
  Random& random;
  std::deque<Tlp> out;         // to the NIC
  std::vector<uint32_t> in;    // from it, what has come of the TLP
  unsigned offer = 100, take = 100;
  bool held = false;
  size_t at = 0;
  bool was = false;
  uint32_t seen[WIDTH + 2] = {};
  uint64_t beats_out = 0;

  template <class D> static void put(D& port, unsigned i, uint32_t v) {
    if constexpr (WIDTH == 4) port[i] = v;
    else port = i ? (port & 0xffffffffu) | uint64_t(v) << 32 : (port & ~0xffffffffull) | v;
  }
  template <class D> static uint32_t get(const D& port, unsigned i) {
    if constexpr (WIDTH == 4) return port[i];
    else return uint32_t(port >> 32 * i);
  }
  void drive() {
    held = !out.empty() && (held || random.percent(offer));
    top.s_tlp_valid = held;
    unsigned keep = 0;
    for (unsigned i = 0; i < WIDTH; ++i) {
      bool there = held && at + i < out.front().dw.size();
      put(top.s_tlp_data, i, there ? out.front().dw[at + i] : uint32_t(random.next()));
      keep |= unsigned(there) << i;
    }
    if (held) top.s_tlp_bar = out.front().bar;
    top.s_tlp_keep = keep;
    top.s_tlp_last = held && at + WIDTH >= out.front().dw.size();
    top.m_tlp_ready = random.percent(take);
  }
  // A whole TLP from the NIC, or nothing.
  std::vector<uint32_t> clock() {
    if (held && top.s_tlp_ready) {
      held = false, at += WIDTH;
      if (at >= out.front().dw.size()) out.pop_front(), at = 0;
    }
    uint32_t now[WIDTH + 2];
    for (unsigned i = 0; i < WIDTH; ++i) now[i] = get(top.m_tlp_data, i);
    now[WIDTH] = top.m_tlp_keep, now[WIDTH + 1] = top.m_tlp_last;
    CHECK(!was || (top.m_tlp_valid && !std::memcmp(now, seen, sizeof now)), "a beat was withdrawn or changed before it was taken");
    std::memcpy(seen, now, sizeof now);
    was = top.m_tlp_valid && !top.m_tlp_ready;
    if (!top.m_tlp_valid || !top.m_tlp_ready) return {};
    ++beats_out;
    CHECK(top.m_tlp_keep & 1 && !(top.m_tlp_keep & (top.m_tlp_keep + 1)), "keep %x", top.m_tlp_keep);
    CHECK(top.m_tlp_last || top.m_tlp_keep == (1 << WIDTH) - 1, "keep %x in the middle of a TLP", top.m_tlp_keep);
    for (unsigned i = 0; i < WIDTH; ++i)
      if (top.m_tlp_keep >> i & 1) in.push_back(now[i]);
    if (!top.m_tlp_last) return {};
    return std::exchange(in, {});
  }
};

// Memory requests of the NIC: what is legal, and the completions.
struct Requests {
  enum Fate { GOOD, ERROR, POISONED, LOST };
  struct Part {
    uint64_t due;
    Tlp tlp;
    unsigned tag;
    bool last;
  };
  Random& random;
  const Store& store;
  unsigned id = 0, mps = 0, mrrs = 0, rcb = 64, latency = 1;
  unsigned errors_per_1000 = 0, lost_per_1000 = 0, wrong_per_1000 = 0;
  uint64_t patience = 0;              // cycles after which the NIC has given up for sure
  std::map<unsigned, std::deque<Part>> open;  // by tag, in order
  std::map<unsigned, uint64_t> resting;       // tags that were lost, and until when nobody may use them
  uint64_t failed = 0, poisoned = 0, lost = 0, unexpected = 0, reordered = 0, most = 0, split = 0;
  unsigned serial = 0, last_serial = 0;

  void check(const Header& h, size_t dwords) const {
    CHECK(h.kind == Header::MEMORY && h.id == id && !h.poisoned, "kind %u, id %x", h.kind, h.id);
    CHECK(dwords == h.dwords() + (h.data ? h.len : 0), "%zu dwords, the header says %u and %u", dwords, h.dwords(), h.data ? h.len : 0);
    CHECK(h.four == (h.addr >> 32 != 0), "header of %u dwords for address %llx", h.dwords(), (unsigned long long)h.addr);
    CHECK(h.addr % 4 == 0 && h.addr % 4096 + 4 * h.len <= 4096, "%u dwords at %llx cross 4 KB", h.len, (unsigned long long)h.addr);
    CHECK(4 * h.len <= (h.data ? 128u << mps : 128u << mrrs), "%u dwords, mps %u mrrs %u", h.len, mps, mrrs);
    CHECK(h.len == 1 ? h.last_be == 0 && h.first_be : h.first_be && h.last_be, "byte enables %x %x of %u dwords", h.first_be, h.last_be, h.len);
    if (h.len > 2 || (h.len == 2 && h.addr % 8)) {
      CHECK((h.first_be | (h.first_be - 1)) == 15 && (h.last_be & (h.last_be + 1)) == 0, "byte enables %x %x with holes", h.first_be, h.last_be);
    }
  }
  Tlp completion(unsigned tag, unsigned status, unsigned count, unsigned lower, const std::vector<uint32_t>& data, bool poisoned = false) const {
    bool has = !data.empty();
    Tlp t{{uint32_t(has) << 30 | 10u << 24 | uint32_t(poisoned) << 14 | uint32_t(data.size() & 1023), 0x0100u << 16 | status << 13 | (count & 4095),
           id << 16 | tag << 8 | lower}};
    t.dw.insert(t.dw.end(), data.begin(), data.end());
    return t;
  }
  // A read has come: what will become of it.
  Fate read(const Header& h) {
    CHECK(!open.count(h.tag), "tag %u is in use", h.tag);
    CHECK(!resting.count(h.tag) || cycle >= resting[h.tag], "tag %u is used again %llu cycles too early", h.tag, (unsigned long long)(resting[h.tag] - cycle));
    CHECK(h.first_be == 15 && (h.len == 1 || h.last_be == 15), "read with byte enables %x %x", h.first_be, h.last_be);
    uint64_t due = cycle + 1 + random.below(latency);
    Fate fate = random.below(1000) < lost_per_1000 ? LOST : random.below(1000) >= errors_per_1000 ? GOOD : random.percent(50) ? ERROR : POISONED;
    std::deque<Part> parts;
    if (fate != LOST && random.below(1000) < wrong_per_1000) {  // something that is not for it
      ++unexpected;
      unsigned kind = unsigned(random.below(4));  // all but one of its fields as it has to be: where it goes on, how much is left, the tag, whom it is for
      Tlp t = completion(h.tag ^ (kind == 2 ? 0x80 : 0), 0, 4 * h.len + (kind == 1 ? 8 : 0), (h.addr + (kind == 0 ? 8 : 0)) & 127, {1, 2});
      if (kind == 3) t.dw[2] ^= 1 << 19;
      parts.push_back({due, t, h.tag, false});
    }
    unsigned left = 4 * h.len, parts_made = 0;
    bool failing = false;
    for (uint64_t a = h.addr; left && !failing; ++parts_made) {
      unsigned n = left, most_here = unsigned(rcb - a % rcb);
      if (random.percent(60) && n > most_here) n = most_here + rcb * unsigned(random.below((n - most_here) / rcb + 1));
      n = std::min(n, left);
      failing = fate == ERROR || fate == POISONED ? n == left || random.percent(50) : false;
      std::vector<uint32_t> data;
      for (unsigned i = 0; i < n; i += 4) data.push_back(uint32_t(store.quad(a + i)));
      if (failing && fate == ERROR) parts.push_back({due, completion(h.tag, random.percent(50) ? 1 : 4, left, a & 127, {}), h.tag, false});
      else parts.push_back({due, completion(h.tag, 0, left, a & 127, data, failing), h.tag, false});
      a += n, left -= n;
      due += random.below(latency / 4 + 1);
    }
    split += parts_made > 1;
    parts.back().last = true;
    if (failing) ++failed, poisoned += fate == POISONED;
    if (fate == LOST) {
      ++lost;
      resting[h.tag] = cycle + patience * 4 / 3 - 8;
      // Some come late after all.
      if (random.percent(50)) parts.clear();
      for (Part& p : parts) p.due = cycle + patience + 30;
      late.insert(late.end(), parts.begin(), parts.end());
      return LOST;
    }
    if (failing) resting[h.tag] = cycle + patience * 2 / 3 - 8;
    open[h.tag] = parts;
    most = std::max<uint64_t>(most, open.size());
    return fate;
  }
  std::deque<Part> late;

  // Hands completions that are due to the stream.
  void clock(std::deque<Tlp>& out) {
    if (!late.empty() && cycle >= late.front().due) {
      out.insert(out.begin() + !out.empty(), late.front().tlp);
      ++unexpected, ++late_sent;
      late.pop_front();
    }
    if (open.empty() || out.size() > 2) return;
    auto it = open.begin();
    std::advance(it, random.below(open.size()));
    if (cycle < it->second.front().due) return;
    out.push_back(it->second.front().tlp);
    reordered += it != open.begin();
    it->second.pop_front();
    if (it->second.empty()) open.erase(it);
  }
  uint64_t late_sent = 0;
};

}  // namespace tb
