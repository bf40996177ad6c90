// axi_memory.h: memory behind an AXI master without IDs, for benches: several outstanding bursts,
// random latency, random stalls, responses in order, and every dependency that AXI allows a slave
// between VALID and READY (A3.3.1). It holds the master to AXI: a payload is stable until it is
// taken, bursts end with their 64-byte line.
//
// Whether a line answers with an error is a property of its address, so that a bench can foresee
// it.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "tb.h"

namespace tb {

struct Store {
  std::unordered_map<uint64_t, uint8_t> written;
  unsigned bad_per_1000 = 0;  // lines that answer with an error
  uint64_t space = ~0ull;     // bits of an address that count

  static uint64_t hash(uint64_t x) { return Random{x}.next(); }
  uint8_t get(uint64_t addr) const {
    addr &= space;
    auto it = written.find(addr);
    return it == written.end() ? uint8_t(hash(addr)) : it->second;
  }
  uint64_t quad(uint64_t addr) const {
    uint64_t q = 0;
    for (int i = 0; i < 8; ++i) q |= uint64_t(get(addr + i)) << 8 * i;
    return q;
  }
  bool bad(uint64_t addr) const { return hash((addr & space) / 64 ^ 0x5a5a5a) % 1000 < bad_per_1000; }
  bool bad(uint64_t addr, unsigned bytes) const {
    for (uint64_t a = addr / 64; a <= (addr + bytes - 1) / 64; ++a)
      if (bad(a * 64)) return true;
    return false;
  }
};

// What one end offers and the other has not taken must not change.
struct Steady {
  bool held = false;
  uint64_t payload[3] = {};
  void watch(const char* what, bool valid, bool ready, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
    CHECK(!held || (valid && a == payload[0] && b == payload[1] && c == payload[2]), "%s: withdrawn or changed before it was taken", what);
    held = valid && !ready;
    payload[0] = a, payload[1] = b, payload[2] = c;
  }
};

inline void check_burst(uint64_t addr, unsigned len) {
  CHECK(addr % 8 == 0 && addr % 64 / 8 + len < 8, "burst of %u quadwords at %llx", len + 1, (unsigned long long)addr);
}

// What a slave waits for before it asserts a READY. A master that waits for one of them deadlocks
// with some.
enum class Order {
  kAny,                // nothing: READY may be asserted before VALID
  kAddressAfterData,   // AWREADY after WVALID
  kAddressAfterLast,   // AWREADY after the burst's last beat has been taken
  kDataAfterAddress,   // WREADY after AWVALID
  kDataAfterTaken,     // WREADY after the address has been taken
  kAfterBoth,          // either READY after both VALIDs; ARREADY after ARVALID
  kOrders,
};

// The READYs of a slave that takes a burst at a time, for benches with a memory of their own.
// Behind every burst another order is drawn. A slave without stalls (always) keeps its READYs
// asserted.
struct Readys {
  Random& random;
  Order order = Order::kAny;
  bool address_seen = false, data_seen = false;     // VALID in the cycle before, not taken
  bool address_taken = false, data_taken = false;   // of the open burst; data: at least one beat
  bool last_taken = false;

  bool address(bool always) const {
    switch (always ? Order::kAny : order) {
      case Order::kAddressAfterData: return data_seen || data_taken;
      case Order::kAddressAfterLast: return last_taken;
      case Order::kAfterBoth: return address_seen && (data_seen || data_taken);
      default: return true;
    }
  }
  bool data(bool always) const {
    switch (always ? Order::kAny : order) {
      case Order::kDataAfterAddress: return address_taken || address_seen;
      case Order::kDataAfterTaken: return address_taken;
      case Order::kAfterBoth: return data_seen && (address_taken || address_seen || data_taken);
      default: return true;
    }
  }
  template <class T>
  void clock(const T& top) {  // behind settle(), in front of edge()
    address_seen = top.m_awvalid && !top.m_awready, data_seen = top.m_wvalid && !top.m_wready;
    address_taken |= top.m_awvalid && top.m_awready, data_taken |= top.m_wvalid && top.m_wready;
    last_taken |= top.m_wvalid && top.m_wready && top.m_wlast;
    if (!address_taken || !last_taken) return;
    address_taken = data_taken = last_taken = false;
    order = Order(random.below(unsigned(Order::kOrders)));
  }
};

struct Moods {
  unsigned addr = 100, data = 100, answer = 100, latency = 1;
  Order order = Order::kAny;
};

struct ReadMemory {
  struct Burst {
    uint64_t addr, due, data[8];
    unsigned len;
  };
  Store& store;
  Random& random;
  Moods mood;
  std::deque<Burst> bursts;
  uint64_t data = 0;            // on the channel now
  unsigned beat = 0, most = 0;  // most: bursts under way at a time
  uint64_t taken = 0;           // bursts whose data was taken whole
  bool offered = false, address_seen = false;  // ARVALID in the cycle before
  Steady address;

  template <class T>
  void drive(T& top) {
    top.m_arready = random.percent(mood.addr) && (mood.order != Order::kAfterBoth || address_seen);
    bool due = !bursts.empty() && cycle >= bursts.front().due;
    offered = due && (offered || random.percent(mood.data));
    top.m_rvalid = offered;
    data = offered ? bursts.front().data[beat] : random.next();
    top.m_rlast = offered && beat == bursts.front().len;
    set_data(top, offered && store.bad(bursts.front().addr) ? 2 : 0, 0);
  }
  template <class T>
  void clock(T& top) {
    address.watch("read address", top.m_arvalid, top.m_arready, top.m_araddr, top.m_arlen);
    address_seen = top.m_arvalid && !top.m_arready;
    if (offered && top.m_rready) {
      offered = false;
      if (beat++ == bursts.front().len) bursts.pop_front(), beat = 0, ++taken;
    }
    if (top.m_arvalid && top.m_arready) {
      check_burst(top.m_araddr, top.m_arlen);
      Burst b{top.m_araddr, cycle + mood.latency, {}, top.m_arlen};
      for (unsigned i = 0; i <= b.len; ++i) b.data[i] = store.quad(b.addr + 8 * i);
      bursts.push_back(b);
      most = std::max<unsigned>(most, unsigned(bursts.size()));
    }
  }

 private:
  // A multiplexer does not see the data: it goes to all.
  template <class T>
  auto set_data(T& top, unsigned resp, int) -> decltype(top.m_rdata, void()) { top.m_rdata = data, top.m_rresp = resp; }
  template <class T>
  void set_data(T&, unsigned, long) {}
};

struct WriteMemory {
  struct Beat {
    uint64_t data;
    uint8_t strobes;
    bool last;
  };
  struct Burst {
    uint64_t addr;
    std::vector<Beat> beats;
  };
  struct Address {
    uint64_t addr;
    unsigned len;
  };
  struct Answer {
    uint64_t due;
    bool bad;
  };
  Store& store;
  Random& random;
  Moods mood;
  std::deque<Address> addresses;
  std::deque<Beat> beats;
  std::deque<Answer> answers;
  std::deque<Burst> done;  // whole bursts, for the bench to look at; it may clear them
  unsigned most = 0;       // answers awaited at a time
  uint64_t answered = 0;
  bool offered = false;
  bool address_seen = false, data_seen = false;  // AWVALID and WVALID in the cycle before, not taken
  unsigned lasts = 0;                            // bursts whose data has been taken, not their address
  Steady address, data;

  template <class T>
  void drive(T& top) {
    top.m_awready = random.percent(mood.addr) && may_take_address();
    top.m_wready = random.percent(mood.data) && may_take_data();
    offered = !answers.empty() && cycle >= answers.front().due && (offered || random.percent(mood.answer));
    top.m_bvalid = offered;
    set_response(top, offered && answers.front().bad ? 2 : 0, 0);
  }
  template <class T>
  void clock(T& top) {
    address.watch("write address", top.m_awvalid, top.m_awready, top.m_awaddr, top.m_awlen);
    data.watch("write data", top.m_wvalid, top.m_wready, top.m_wdata, top.m_wstrb, top.m_wlast);
    address_seen = top.m_awvalid && !top.m_awready;
    data_seen = top.m_wvalid && !top.m_wready;
    if (offered && top.m_bready) offered = false, answers.pop_front(), ++answered;
    if (top.m_awvalid && top.m_awready) {
      check_burst(top.m_awaddr, top.m_awlen);
      addresses.push_back({top.m_awaddr, top.m_awlen});
    }
    if (top.m_wvalid && top.m_wready) {
      beats.push_back({top.m_wdata, uint8_t(top.m_wstrb), bool(top.m_wlast)});
      if (top.m_wlast) ++lasts;
    }
    while (!addresses.empty() && beats.size() > addresses.front().len) take_burst();
    most = std::max<unsigned>(most, unsigned(answers.size()));
  }

 private:
  bool may_take_address() const {
    // Data of a burst whose address has not been taken counts as seen: it is here.
    bool here = !beats.empty() && addresses.empty();
    switch (mood.order) {
      case Order::kAddressAfterData: return data_seen || here;
      case Order::kAddressAfterLast: return lasts > addresses.size();
      case Order::kAfterBoth: return address_seen && (data_seen || here);
      default: return true;
    }
  }
  bool may_take_data() const {
    bool due = !addresses.empty();  // the address of the next beat has been taken
    switch (mood.order) {
      case Order::kDataAfterAddress: return due || address_seen;
      case Order::kDataAfterTaken: return due;
      case Order::kAfterBoth: return data_seen && (due || address_seen || !beats.empty());
      default: return true;
    }
  }
  void take_burst() {
    --lasts;
    Address a = addresses.front();
    Burst b{a.addr, {}};
    addresses.pop_front();
    bool bad = store.bad(a.addr);
    for (unsigned i = 0; i <= a.len; ++i) {
      Beat t = beats.front();
      beats.pop_front();
      CHECK(t.last == (i == a.len), "wlast at beat %u of %u", i, a.len + 1);
      b.beats.push_back(t);
      for (int k = 0; k < 8; ++k)
        if (!bad && t.strobes >> k & 1) store.written[(a.addr & store.space) + 8 * i + k] = uint8_t(t.data >> 8 * k);
    }
    done.push_back(b);
    answers.push_back({cycle + mood.latency, bad});
  }
  // A multiplexer has no response of its own: it goes to all.
  template <class T>
  static auto set_response(T& top, unsigned resp, int) -> decltype(top.m_bresp, void()) { top.m_bresp = resp; }
  template <class T>
  static void set_response(T&, unsigned, long) {}
};

inline Moods moods(Random& r) {
  return {r.mood(), r.mood(), r.mood(), unsigned(1 + r.below(r.percent(50) ? 4 : 60)),
          Order(r.below(unsigned(Order::kOrders)))};
}

}  // namespace tb
