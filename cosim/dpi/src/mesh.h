// mesh.h: all nodes of a simulation, the wires between them, and the clock.
//
// A node is one instance of the verilated sim_node; Node is a template parameter so that a test can
// put in a node of a few lines. What leaves a node comes from registers, so nodes do not depend on
// each other within a cycle: each takes the words that its neighbours sent in the cycle before, in
// any order, on any thread. There are two sets of buffers, one that is read and one that is
// written:
//
//   cycle n      node A: edge, tx word w        -> written to B's entry in set 1
//   cycle n + 1  node B: rx word w from set 1, edge
//
// Wires that take longer have a set more for every cycle, and sets are read one after the other.
//
// A node in which nothing can happen is not evaluated (it sleeps): nothing pends, no word comes, it
// is idle and not active, and so for kLinger cycles. sim_node promises that a clock edge would then
// change nothing but its cycle counter.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "border.h"
#include "bridge.h"
#include "crew.h"
#include "wiring.h"

namespace nicloop {

// What a cycle brings to the nodes. Bit n of a mask is for node n.
struct Pending {
  uint64_t reg = 0, pio = 0;
};

// Node has, besides the types of its ports:
//   static constexpr uint32_t kLinks, kWordBytes, kVcDepth (of a virtual channel)
//   void start(node, shape, link_up)         before the first edge
//   void reset(bool), trace(bool)
//   void start_links()                       takes its links out of reset, all else stays in it
//   void commands(bool reg, bool pio), carrier(mask), slept(cycles), rx(valid mask, words)   inputs of the next edge
//   uint32_t moments(), lasts(i); void moment(i)   the parts of a cycle, evaluated one by one: how many, and how many ps part i lasts
//   void edge()                              the same with one evaluation, if that can be had
//   void settle()                            outputs follow inputs without an edge
//   void check_credits()                     asserts that no credit was lost; called when the mesh is empty and nothing moves
//   mask tx_valid(), wire_down(); const void* tx_word(link); bool irq(), idle(), active()
template <typename Node>
class Mesh {
 public:
  static constexpr uint32_t kLinger = 4;
  static constexpr uint32_t kShareFrom = 6;  // awake nodes: fewer are not worth waking another thread

  // make(n) makes node n. A mesh of which only some nodes are here (a bit each) has a border, which
  // stands for the others. wire_latency is what a word takes beyond the one cycle; a mesh with a
  // border has none.
  Mesh(const Shape& shape, uint32_t threads, const std::function<std::unique_ptr<Node>(uint32_t)>& make, uint64_t only = ~0ull,
       Border* border = nullptr, uint32_t wire_latency = 0)
      : shape_(shape), border_(border), latency_(wire_latency), nodes_(shape.nodes()), states_(shape.nodes()), wires_(2 + wire_latency),
        crew_(threads), shares_(threads > 1) {
    for (auto& set : wires_) set.resize(shape.nodes());
    rotate();
    awake_.reserve(shape.nodes());
    for (uint32_t n = 0; n < shape.nodes(); ++n) {
      if ((only >> n & 1) == 0) continue;
      members_.push_back(uint16_t(n));
      nodes_[n] = make(n);
      uint32_t up = 0;
      for (uint32_t l = 0; l < Node::kLinks; ++l) {
        End to = across(shape, n, l);
        states_[n].to[l] = to;
        if (to.connected) up |= 1u << l;
      }
      states_[n].up = states_[n].carrier = states_[n].carrier_was = uint8_t(up);
      nodes_[n]->start(n, shape, up);
      nodes_[n]->carrier(up);
    }
  }

  Node& node(uint32_t n) { return *nodes_[n]; }
  const std::vector<uint16_t>& members() const { return members_; }
  uint64_t cycles() const { return cycles_; }  // since reset
  uint64_t steps() const { return steps_; }    // edges of nodes in all

  // Links come out of reset before all else. They have the time for three words one way, and to
  // give credits for all entries one by one, so that the first cycle finds them ready. Then
  // firmware may need up to boots cycles, until all are idle.
  void reset(uint32_t edges, uint32_t boots = 0) {
    for (uint16_t n : members_) nodes_[n]->reset(true);
    resetting_ = true;
    for (uint32_t i = 0; i < edges; ++i) tick({});
    for (uint16_t n : members_) nodes_[n]->start_links();
    for (uint32_t i = 0; i < 4 * (latency_ + 5) + Node::kVcDepth + 8; ++i) tick({});
    for (uint16_t n : members_) nodes_[n]->reset(false);
    for (uint32_t i = 0; i < boots && (i == 0 || !idle()); ++i) tick({});
    resetting_ = false;
    cycles_ = steps_ = 0;
    quiet_from_.store(0, std::memory_order_relaxed);
    for (State& s : states_) s.steps = 0;
  }

  void set_trace(bool on) {
    for (uint16_t n : members_) nodes_[n]->trace(on);
    tracing_ = on;
  }

  // Keeps the nodes of a mask awake, so that their waves show every edge, and evaluates all parts
  // of each cycle; seen is told of each of its moments, and how long it lasts. An empty function
  // ends it.
  void watch(uint64_t nodes, std::function<void(uint32_t ps)> seen) {
    watched_ = seen ? nodes : 0;
    seen_ = std::move(seen);
  }

  // After a fork the other threads are gone.
  void forget_threads() {
    crew_.forget_others();
    shares_ = false;
  }

  // One clock cycle. Throws ModelDied when a node did, after all others had their edge.
  void tick(const Pending& pending) {
    if (border_ != nullptr) {
      border_->tick(cycles_, [this](uint32_t n, uint32_t l, const void* word) { send({n, l, true}, word, in_); });
    }
    collect(pending);
    pending_ = pending;
    active_.store(false, std::memory_order_relaxed);
    if (seen_) {
      tick_watched();
    } else if (shares_ && !tracing_ && awake_.size() >= kShareFrom) {
      tick_shared();
    } else {
      for (uint16_t n : awake_) step(n);
    }
    now_ = now_ + 1 == wires_.size() ? 0 : now_ + 1;
    rotate();
    ++cycles_;
    steps_ += awake_.size();
    if (border_ != nullptr) border_->collect(cycles_);
    if (rewire_.load(std::memory_order_relaxed)) set_carriers();
    if (!awake_.empty()) check_credits();
    if (died_.load(std::memory_order_relaxed)) {
      died_.store(false, std::memory_order_relaxed);
      throw ModelDied{};
    }
  }

  // Of the state after the last edge.
  bool active() const { return active_.load(std::memory_order_relaxed) || under_way(); }
  bool idle() const {
    for (uint16_t n : members_) {
      if (!states_[n].idle || any(in_[n].valid)) return false;
    }
    return !under_way();
  }
  uint64_t irq() const { return irq_.load(std::memory_order_relaxed); }

 private:
  // What the next cycle brings one node from its neighbours. A byte per link, so that threads that
  // write to different links of a node do not meet.
  struct Wires {
    alignas(8) uint8_t valid[8] = {};
    alignas(8) uint8_t words[kMaxLinks * Node::kWordBytes] = {};
  };
  struct alignas(64) State {
    uint8_t carrier = 0, carrier_was = 0, up = 0, down = 0;
    uint8_t linger = 0;
    bool idle = true, active = false, irq = false, slept = false;
    uint64_t steps = 0;
    End to[kMaxLinks];
  };

  static bool any(const uint8_t (&valid)[8]) {
    uint64_t all;
    std::memcpy(&all, valid, 8);
    return all != 0;
  }

  bool has_reason(uint32_t n, const Pending& pending) const {
    const State& s = states_[n];
    return resetting_ || !s.idle || s.active || s.carrier != s.carrier_was || any(in_[n].valid) ||
           ((pending.reg | pending.pio | watched_) >> n & 1) != 0;
  }

  // Checks the credits once each time the mesh becomes empty with nothing moving. Credits of a mesh
  // with a border may be outside.
  void check_credits() {
    if (border_ != nullptr || resetting_ || active() || !idle()) {
      credits_checked_ = false;
      return;
    }
    if (credits_checked_) return;
    credits_checked_ = true;
    for (uint16_t n : members_) guarded([&] { nodes_[n]->check_credits(); });
  }

  // Finds who gets an edge in this cycle.
  void collect(const Pending& pending) {
    awake_.clear();
    for (uint16_t n : members_) {
      State& s = states_[n];
      bool reason = has_reason(n, pending);
      if (reason || s.linger != 0) {
        awake_.push_back(n);
        s.linger = reason ? kLinger : uint8_t(s.linger - 1);
      } else {
        s.slept = true;
      }
    }
  }

  void inputs(uint32_t n) {
    State& s = states_[n];
    Node& node = *nodes_[n];
    Wires& in = in_[n];
    if (s.slept) {
      node.slept(cycles_ - s.steps);
      s.slept = false;
    }
    ++s.steps;
    node.commands(pending_.reg >> n & 1, pending_.pio >> n & 1);
    if (s.carrier != s.carrier_was) node.carrier(s.carrier);
    s.carrier_was = s.carrier;
    uint32_t valid = 0;
    for (uint32_t l = 0; l < Node::kLinks; ++l) valid |= uint32_t(in.valid[l]) << l;
    node.rx(valid & s.carrier, in.words);
    if (valid != 0) std::memset(in.valid, 0, sizeof in.valid);
  }

  // Of now_: what is read and what is written.
  void rotate() {
    in_ = wires_[now_].data();
    out_ = wires_[now_ == 0 ? wires_.size() - 1 : now_ - 1].data();
  }

  // Words may be on long wires that no node knows of. Those of a wire that was cut since are gone,
  // which shows only in time.
  bool under_way() const { return latency_ != 0 && cycles_ < quiet_from_.load(std::memory_order_relaxed); }

  // A word is at an end of a wire in the cycle that reads a set of wires.
  void send(const End& to, const void* word, Wires* set) {
    Wires& out = set[to.node];
    out.valid[to.link] = 1;
    std::memcpy(out.words + to.link * Node::kWordBytes, word, Node::kWordBytes);
  }

  void outputs(uint32_t n) {
    State& s = states_[n];
    Node& node = *nodes_[n];
    for (uint32_t left = node.tx_valid(); left != 0; left &= left - 1) {
      uint32_t l = uint32_t(__builtin_ctz(left));
      if (((latency_ == 0 ? s.up : s.carrier) >> l & 1) == 0) continue;  // a long wire must not keep what it does not carry
      if (nodes_[s.to[l].node] != nullptr) {
        send(s.to[l], node.tx_word(l), out_);
        if (latency_ != 0) quiet_from_.store(cycles_ + latency_ + 2, std::memory_order_relaxed);
      } else {
        border_->take(n, l, node.tx_word(l));
      }
    }
    s.idle = node.idle();
    s.active = node.active();
    if (s.active) active_.store(true, std::memory_order_relaxed);
    if (node.irq() != s.irq) {
      s.irq = !s.irq;
      irq_.fetch_xor(1ull << n, std::memory_order_relaxed);
    }
    if (node.wire_down() != s.down) {
      s.down = uint8_t(node.wire_down());
      rewire_.store(true, std::memory_order_relaxed);
    }
  }

  // The edge of one node. What it calls may throw; the others still get theirs, so that what is
  // reported of this cycle does not depend on the order.
  template <typename Edge>
  void guarded(Edge edge) {
    try {
      edge();
    } catch (const ModelDied&) {
      died_.store(true, std::memory_order_relaxed);
    }
  }

  void step(uint32_t n) {
    inputs(n);
    guarded([&] { nodes_[n]->edge(); });
    outputs(n);
  }

  void tick_shared() {
    if (!trial_.shared()) {
      for (uint16_t n : awake_) step(n);
    } else {
      crew_.run(uint32_t(awake_.size()), one_step_);
    }
    trial_.done(uint32_t(awake_.size()));
  }

  void tick_watched() {
    for (uint16_t n : awake_) inputs(n);
    Node& one = *nodes_[awake_.empty() ? members_[0] : awake_[0]];  // moments are the same of all that are awake
    for (uint32_t i = 0, moments = one.moments(); i < moments; ++i) {
      uint32_t ps = one.lasts(i);
      for (uint16_t n : awake_) guarded([&] { nodes_[n]->moment(i); });
      seen_(ps);
    }
    for (uint16_t n : awake_) outputs(n);
  }

  // A wire that an end took down or brought back: both ends see it from the coming edge on, and
  // what they show (whether they are active) follows at once.
  void set_carriers() {
    rewire_.store(false, std::memory_order_relaxed);
    for (uint16_t n : members_) {
      State& s = states_[n];
      uint32_t carrier = s.up & ~s.down;
      for (uint32_t l = 0; l < Node::kLinks; ++l) {
        if (s.to[l].connected && (states_[s.to[l].node].down >> s.to[l].link & 1) != 0) carrier &= ~(1u << l);
      }
      if (carrier == s.carrier) continue;
      s.carrier = uint8_t(carrier);
      for (auto& set : wires_) {
        uint8_t(&valid)[8] = set[n].valid;
        for (uint32_t l = 0; l < Node::kLinks; ++l) valid[l] = valid[l] && (carrier >> l & 1) != 0;
      }
      nodes_[n]->carrier(carrier);
      nodes_[n]->settle();
      s.idle = nodes_[n]->idle();
      s.active = nodes_[n]->active();
    }
    bool active = false;
    for (const State& s : states_) active |= s.active;
    active_.store(active, std::memory_order_relaxed);
  }

  const Shape shape_;
  Border* const border_;
  const uint32_t latency_;
  std::vector<uint16_t> members_;  // the nodes that are here
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<State> states_;
  std::vector<std::vector<Wires>> wires_;
  uint32_t now_ = 0;  // the set of wires that is read
  Wires *in_ = nullptr, *out_ = nullptr;
  std::vector<uint16_t> awake_;
  Pending pending_;
  uint64_t cycles_ = 0, steps_ = 0, watched_ = 0;
  std::function<void(uint32_t)> seen_;
  bool resetting_ = false, tracing_ = false, credits_checked_ = false;
  std::atomic<bool> active_{false}, rewire_{false}, died_{false};
  std::atomic<uint64_t> irq_{0};
  std::atomic<uint64_t> quiet_from_{0};  // with long wires: the cycle in which the last word has arrived

  const std::function<void(uint32_t)> one_step_ = [this](uint32_t i) { step(awake_[i]); };
  Trial trial_;
  Crew crew_;
  bool shares_;
};

}  // namespace nicloop
