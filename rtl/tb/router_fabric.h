// router_fabric.h: reference functions for a mesh or torus, and all its routers joined.
#pragma once

#include <memory>

#include "tb.h"

namespace fabric {

constexpr unsigned kNobody = ~0u;

inline unsigned coordinate(const unsigned* dims, unsigned node, unsigned d) {
  return d == 0 ? node % dims[0] : d == 1 ? node / dims[0] % dims[1] : node / (dims[0] * dims[1]);
}

// Dimensions, position and number of nodes, for a router with SHAPE_INPUT (shape_t).
inline uint64_t shape(const unsigned* dims, unsigned node) {
  uint64_t value = uint64_t(dims[0] * dims[1] * dims[2]) << 48;
  for (unsigned d = 0; d < 3; ++d) value |= uint64_t(dims[d]) << 8 * d | uint64_t(coordinate(dims, node, d)) << (24 + 8 * d);
  return value;
}

inline bool wraps(const unsigned* dims, bool torus, unsigned node, unsigned port) {
  if (port == 0 || !torus) return false;
  unsigned d = (port - 1) / 2, c = coordinate(dims, node, d);
  return dims[d] > 2 && c == (port % 2 ? dims[d] - 1 : 0);
}

inline unsigned neighbour(const unsigned* dims, bool torus, unsigned node, unsigned port) {
  unsigned d = (port - 1) / 2, c = coordinate(dims, node, d), step = d == 0 ? 1 : d == 1 ? dims[0] : dims[0] * dims[1];
  bool up = port % 2;
  if (c == (up ? dims[d] - 1 : 0)) {
    if (!wraps(dims, torus, node, port)) return kNobody;
    return up ? node - (dims[d] - 1) * step : node + (dims[d] - 1) * step;
  }
  return up ? node + step : node - step;
}

// Walks in both directions and takes the shorter one.
inline unsigned route(const unsigned* dims, bool torus, unsigned here, unsigned dst) {
  for (unsigned d = 0; d < 3; ++d) {
    unsigned steps[2] = {0, 0};
    for (unsigned way = 0; way < 2; ++way) {
      unsigned at = here;
      while (at != kNobody && coordinate(dims, at, d) != coordinate(dims, dst, d)) at = neighbour(dims, torus, at, 1 + 2 * d + way), ++steps[way];
      if (at == kNobody) steps[way] = kNobody;
    }
    if (steps[0] != 0) return 1 + 2 * d + (steps[1] < steps[0]);
  }
  return 0;
}

inline unsigned next_vc(const unsigned* dims, bool torus, unsigned here, unsigned from, unsigned to, unsigned vc) {
  unsigned traffic = vc % NICLOOP_VCS, crossed = vc / NICLOOP_VCS;
  if (to == 0) return traffic;
  bool straight = from != 0 && (from - 1) / 2 == (to - 1) / 2;
  return traffic + NICLOOP_VCS * ((straight && crossed) || wraps(dims, torus, here, to));
}

template <class Router, unsigned kPorts, unsigned kVcs>
class Fabric {
  static constexpr unsigned kClasses = NICLOOP_VCS, kVcW = kVcs == NICLOOP_TORUS_VCS ? 3 : 2;
  using Packet = std::vector<tb::Flit>;
  struct Node {
    Router top;
    std::deque<tb::Flit> out[kClasses];
    unsigned credits[kClasses], owed[kClasses] = {};
    Packet current[kClasses];
  };
  const unsigned* dims_;
  bool torus_;
  tb::Random* random_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::deque<Packet>> flows_;  // source, destination, class
  size_t waiting_ = 0;

  std::deque<Packet>& flow(unsigned src, unsigned dst, unsigned traffic) { return flows_[(src * nodes_.size() + dst) * kClasses + traffic]; }

  void send(unsigned src, unsigned dst, unsigned traffic, unsigned quads) {
    std::vector<uint64_t> payload(quads);
    for (uint64_t& q : payload) q = random_->next();
    Packet p = tb::packet(PACK(HEADER_SRC_NODE, src) | PACK(HEADER_DST_NODE, dst), payload, 0, traffic);
    for (const tb::Flit& f : p) nodes_[src]->out[traffic].push_back(f);
    flow(src, dst, traffic).push_back(p);
    ++waiting_;
  }

  // On the way from one node to another.
  unsigned routers(unsigned from, unsigned to) {
    unsigned count = 1;
    for (; from != to; ++count) from = neighbour(dims_, torus_, from, route(dims_, torus_, from, to));
    return count;
  }

  void deliver(unsigned n) {
    Node& at = *nodes_[n];
    unsigned v = at.top.tx_vc & ((1u << kVcW) - 1);
    CHECK(v < kClasses, "node %u: delivered on VC %u", n, v);
    tb::Flit f{v, bool(at.top.tx_head & 1), bool(at.top.tx_tail & 1), at.top.tx_data[0] | uint64_t(at.top.tx_data[1]) << 32};
    Packet& c = at.current[v];
    if (f.head) {
      auto& from = flow(unsigned(FIELD(f.data, HEADER_SRC_NODE)), n, v);
      CHECK(c.empty() && !from.empty(), "node %u: unexpected packet %016llx", n, (unsigned long long)f.data);
      c = from.front();
      from.pop_front();
      c.front().data += PACK(HEADER_MARK, routers(unsigned(FIELD(f.data, HEADER_SRC_NODE)), n));
      --waiting_;
    }
    CHECK(!c.empty() && f == c.front(), "node %u VC %u: flit %016llx is not the next of its flow", n, v, (unsigned long long)f.data);
    c.erase(c.begin());
    ++at.owed[v];
  }

  void inject(unsigned n) {
    Node& at = *nodes_[n];
    unsigned v = unsigned(random_->below(kClasses));
    for (unsigned i = 1; i < kClasses && (at.out[v].empty() || at.credits[v] == 0); ++i) v = (v + 1) % kClasses;
    bool valid = !at.out[v].empty() && at.credits[v] != 0;
    at.top.rx_valid = (at.top.rx_valid & ~1u) | valid;
    if (!valid) return;
    tb::Flit f = at.out[v].front();
    at.out[v].pop_front();
    --at.credits[v];
    at.top.rx_vc = (at.top.rx_vc & ~((1u << kVcW) - 1)) | v;
    at.top.rx_head = (at.top.rx_head & ~1u) | f.head;
    at.top.rx_tail = (at.top.rx_tail & ~1u) | f.tail;
    at.top.rx_data[0] = uint32_t(f.data), at.top.rx_data[1] = uint32_t(f.data >> 32);
  }

  // What leaves by a port arrives at the neighbour in the next cycle; so do credits.
  void carry(unsigned n, unsigned p) {
    unsigned peer = neighbour(dims_, torus_, n, p), back = (p - 1 ^ 1) + 1;
    if (peer == kNobody) return;
    auto& to = nodes_[n]->top;
    const auto& from = nodes_[peer]->top;
    auto copy = [&](auto& into, auto word, unsigned width) {
      const uint64_t mask = (uint64_t(1) << width) - 1, bits = uint64_t(word) >> back * width & mask;
      into = decltype(+into)((uint64_t(into) & ~(mask << p * width)) | bits << p * width);
    };
    copy(to.rx_valid, from.tx_valid, 1), copy(to.rx_head, from.tx_head, 1), copy(to.rx_tail, from.tx_tail, 1);
    copy(to.rx_vc, from.tx_vc, kVcW);
    copy(to.tx_credit, from.rx_credit, kVcs);
    to.rx_data[2 * p] = from.tx_data[2 * back], to.rx_data[2 * p + 1] = from.tx_data[2 * back + 1];
  }

  void step(unsigned percent) {
    for (auto& n : nodes_) n->top.clk = 0, n->top.eval();
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      CHECK(nodes_[n]->top.route_errors == 0, "node %u discards", n);
      if (nodes_[n]->top.tx_valid & 1) deliver(n);
      for (unsigned v = 0; v < kClasses; ++v) nodes_[n]->credits[v] += nodes_[n]->top.rx_credit >> v & 1;
    }
    for (auto& n : nodes_) n->top.clk = 1, n->top.eval();  // takes the inputs of this cycle
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      for (unsigned p = 1; p < kPorts; ++p) carry(n, p);
    }
    for (unsigned n = 0; n < nodes_.size(); ++n) {
      inject(n);
      auto& at = *nodes_[n];
      at.top.tx_credit &= ~((uint64_t(1) << kVcs) - 1);
      for (unsigned v = 0; v < kClasses; ++v) {
        if (at.owed[v] != 0 && random_->percent(percent)) at.top.tx_credit |= 1u << v, --at.owed[v];
      }
    }
    ++tb::cycle;
  }

 public:
  Fabric(const unsigned* dims, bool torus, unsigned depth, tb::Random* random) : dims_(dims), torus_(torus), random_(random) {
    unsigned count = dims[0] * dims[1] * dims[2];
    flows_.resize(count * count * kClasses);
    for (unsigned n = 0; n < count; ++n) {
      nodes_.push_back(std::make_unique<Node>());
      tb::drive_zeros(nodes_.back()->top);
      Router& top = nodes_.back()->top;
      std::fill_n(nodes_.back()->credits, kClasses, depth);
      top.here = n, top.shape = shape(dims, n), top.port_up = 1, top.rst = 1, top.closed = (1u << kPorts) - 2;
      for (unsigned p = 1; p < kPorts; ++p) top.port_up |= unsigned(neighbour(dims, torus, n, p) != kNobody) << p;
      for (int i = 0; i < 3; ++i) top.clk = 0, top.eval(), top.clk = 1, top.eval();
      top.rst = top.closed = 0;
      top.tx_credit = ((uint64_t(1) << kPorts * kVcs) - 1) & ~((uint64_t(1) << kVcs) - 1);  // links give their credits
      for (unsigned i = 0; i < depth; ++i) top.clk = 0, top.eval(), top.clk = 1, top.eval();
      top.tx_credit = 0;
    }
  }

  // One direction at a time, every node sends half way round: the way in which a ring locks up.
  // Then all directions at once, then everybody to anybody.
  void run() {
    for (unsigned way = 0; way < 6; ++way) {
      if (dims_[way / 2] > 1) phase(way, way);
    }
    for (int i = 0; i < 3; ++i) phase(0, 5), phase(kAnywhere, kAnywhere);
  }

 private:
  static constexpr unsigned kAnywhere = 6;

  // Half way round (up and down alike, where it is equally long) or to the edge.
  unsigned opposite(unsigned src, unsigned way) {
    unsigned dst = src;
    for (unsigned k = 0; k < (dims_[way / 2] - way % 2) / 2; ++k) {
      unsigned next = neighbour(dims_, torus_, dst, 1 + way);
      if (next != kNobody) dst = next;
    }
    return dst;
  }

  void phase(unsigned first, unsigned last) {
    unsigned count = unsigned(nodes_.size());
    for (unsigned src = 0; src < count; ++src) {
      for (int i = 0; i < 60; ++i) {
        unsigned way = first + unsigned(random_->below(last - first + 1));
        unsigned dst = way == kAnywhere ? unsigned(random_->below(count)) : opposite(src, way);
        send(src, dst, unsigned(random_->below(kClasses)), unsigned(random_->below(12)));
      }
    }
    unsigned percent = random_->mood();
    for (int quiet = 0; waiting_ != 0;) {
      size_t before = waiting_;
      step(percent);
      quiet = waiting_ == before ? quiet + 1 : 0;
      CHECK(quiet < 5000, "routes %u to %u: %zu packets stand still", first, last, waiting_);
    }
    for (int i = 0; i < 400; ++i) step(100);
    for (unsigned n = 0; n < count; ++n) CHECK(nodes_[n]->top.idle, "node %u is not idle when all has arrived", n);
  }
};

}  // namespace fabric
