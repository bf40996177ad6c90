// border.h: the far ends of links that lead from nodes of this process to nodes that are simulated
// elsewhere.
//
// A node of the RTL sees a whole link: words with sequence numbers, acknowledgements, credit counts
// and a CRC. Whoever simulates the neighbour (cosim/mixed) knows only what passes the router's port
// there: flits and credits. The border stands between the two and is what link.sv of the neighbour
// would be, register by register, as long as wires break nothing:
//
//   cycle t      the neighbour's router sends a flit, or a flit leaves its input buffer
//   cycle t + 1  post(): the flit, or the credit, is at the neighbour's end of the link
//   cycle t + 2  the node's link takes the word with the flit (t + 3: with the credit)
//
//   cycle w      a word leaves the node: out() has its flit, and the entries that it tells to be free
//
// An edge of the neighbour's end is made up for when the node has its next, so that what is for
// cycle t + 1 may still be posted while the nodes stand there.
//
// The node's link says hello when it comes out of reset (link_session.sv) and is answered that this
// end knows it.
//
// A wire that breaks words needs the whole protocol at both ends, so cosim/mixed refuses faults of
// wires, and a word that does not fit is an error here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol.h"
#include "wiring.h"

namespace nicloop {

// The widths of a link's words, as link.sv derives them.
struct WordFormat {
  static constexpr uint32_t kMaxVcs = 6;  // of a torus: twice the classes
  uint32_t vcs, vc_bits, seq_bits, count_bits, user_bits, depth;
  WordFormat(bool torus, uint32_t vc_depth);
};

class Border {
 public:
  static constexpr uint32_t kMaxVcs = WordFormat::kMaxVcs;

  // here has a bit for each node of this process.
  Border(const Shape& shape, uint64_t here, const WordFormat& format);

  // Takes a frame: what is at the neighbour's end of a link in a cycle, now or later. False: *error
  // says what is wrong.
  bool post(const Command& command, uint64_t now, std::string* error);

  // The neighbours' ends have their edge of a cycle; put(node, link, word) has a word at a node in
  // the next.
  template <typename Put>
  void tick(uint64_t cycle, Put put) {
    for (Edge& e : edges_) {
      if (e.at_rest()) continue;
      uint8_t word[32];
      if (step(&e, cycle, word)) put(e.node, e.link, word);
    }
  }
  // A node sends a word in this cycle. May be called by the threads of different nodes.
  void take(uint32_t node, uint32_t link, const void* word);
  // Looks at what the nodes have sent in a cycle.
  void collect(uint64_t cycle);

  bool active() const;
  // What has left since the last clear_out(), in order of cycles.
  const std::vector<Event>& out() const { return out_; }
  void clear_out() { out_.clear(); }
  // Why the border can no longer be trusted, or empty.
  const std::string& broken() const { return broken_; }

 private:
  struct Post {
    uint64_t at, data;
    uint32_t flags;
  };
  // Keeps its memory.
  template <typename T>
  class Fifo {
   public:
    bool empty() const { return head_ == items_.size(); }
    const T& front() const { return items_[head_]; }
    const T& back() const { return items_.back(); }
    void push(const T& item) { items_.push_back(item); }
    void pop() {
      if (++head_ == items_.size()) {
        items_.clear();
        head_ = 0;
      }
    }

   private:
    std::vector<T> items_;
    size_t head_ = 0;
  };
  // The neighbour's end of one link. Names as in link_tx.sv and link_rx.sv.
  struct Edge {
    uint32_t node, link;
    Fifo<Post> flits;
    Fifo<uint64_t> credits[kMaxVcs];  // cycles
    uint32_t pending = 0;             // in these queues
    bool word_valid = false, fresh = false;  // fresh: came in the cycle before, or in the present one
    uint8_t word[32], came[32];              // from the node: for the coming edge, and the one behind it
    uint64_t seen = 0; // the counts of entries that the node has told of
    bool status_pending = false, freed_unsent = false, anchor_in_flight = false, peer_valid = false, out_valid = false;
    uint32_t expected = 0, next_seq = 0, base = 0, anchor_seq = 0, peer_ack = 0;
    uint32_t freed_here[kMaxVcs] = {};

    bool at_rest() const {
      return !word_valid && !fresh && !status_pending && !freed_unsent && !peer_valid && !out_valid && pending == 0;
    }
  };
  struct Control {
    bool hello, nack, sequenced, flit, head, tail;
    uint32_t vc, seq, ack;
    uint64_t freed;
  };

  Control unpack(const uint8_t* word) const;
  void pack(const Edge& edge, bool send, const Post* flit, uint8_t* word) const;
  void pack_hello(const Edge& edge, uint8_t number, uint8_t* word) const;
  void seal(uint64_t data, unsigned __int128 bits, uint8_t* word) const;
  bool step(Edge* edge, uint64_t cycle, uint8_t* word);
  uint32_t credits_at(Edge* edge, uint64_t cycle);
  void fail(const Edge& edge, uint64_t cycle, const char* what);
  Edge* find(uint32_t node, uint32_t link);

  const WordFormat format_;
  std::vector<Edge> edges_;
  int16_t index_[kMaxNodes][kMaxLinks];  // of an edge, or -1
  std::vector<Event> out_;
  std::string broken_;
};

// The fields of a frame's id.
constexpr uint32_t kEdgeFlit = 1 << 8, kEdgeHead = 1 << 9, kEdgeTail = 1 << 10;
constexpr uint32_t kEdgeLinkMask = 0xff, kEdgeVcShift = 12, kEdgeVcMask = 0xf, kEdgeFreedShift = 16;

}  // namespace nicloop
