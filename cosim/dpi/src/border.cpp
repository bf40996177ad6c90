#include "border.h"

#include <array>
#include <cstring>

namespace nicloop {
namespace {

// $clog2
uint32_t bits_for(uint32_t values) {
  uint32_t bits = 0;
  while ((1u << bits) < values) ++bits;
  return bits;
}

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? c >> 1 ^ 0xedb88320u : c >> 1;
    table[i] = c;
  }
  return table;
}

// CRC-32 of a word, as link_crc.sv has it: 64 bits of data, then those of control, at least 64.
uint32_t word_crc(const uint8_t* word, uint32_t bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = ~0u;
  for (uint32_t i = 0; i < bytes; ++i) crc = table[uint8_t(crc) ^ word[i]] ^ crc >> 8;
  return ~crc;
}

uint64_t mask(uint32_t bits) { return (1ull << bits) - 1; }

// The control of a word: up to 96 bits.
using Bits = unsigned __int128;

}  // namespace

WordFormat::WordFormat(bool torus, uint32_t vc_depth)
    : vcs(torus ? kMaxVcs : kMaxVcs / 2), vc_bits(bits_for(vcs)), seq_bits(bits_for(vcs * vc_depth + 1) + 1), count_bits(bits_for(vc_depth + 1)),
      user_bits(32 + (6 + vc_bits + 2 * seq_bits + vcs * count_bits + 31) / 32 * 32), depth(vc_depth) {}

Border::Border(const Shape& shape, uint64_t here, const WordFormat& format) : format_(format) {
  for (auto& links : index_) std::fill(std::begin(links), std::end(links), int16_t(-1));
  for (uint32_t n = 0; n < shape.nodes(); ++n) {
    for (uint32_t l = 0; l < kMaxLinks; ++l) {
      if ((here >> n & 1) == 0 || !across(shape, n, l).connected || (here >> across(shape, n, l).node & 1) != 0) continue;
      index_[n][l] = int16_t(edges_.size());
      edges_.emplace_back();
      edges_.back().node = n;
      edges_.back().link = l;
      std::fill(std::begin(edges_.back().freed_here), std::end(edges_.back().freed_here), format.depth);
    }
  }
}

Border::Edge* Border::find(uint32_t node, uint32_t link) {
  if (node >= kMaxNodes || link >= kMaxLinks || index_[node][link] < 0) return nullptr;
  return &edges_[size_t(index_[node][link])];
}

bool Border::post(const Command& c, uint64_t now, std::string* error) {
  uint32_t link = c.id & kEdgeLinkMask, vc = c.id >> kEdgeVcShift & kEdgeVcMask, freed = c.id >> kEdgeFreedShift;
  auto refuse = [&](const std::string& what) {
    *error = "EDGE of node " + std::to_string(c.node) + ", link " + std::to_string(link) + ", cycle " + std::to_string(c.at) + ": " + what;
    return false;
  };
  Edge* e = find(c.node, link);
  if (e == nullptr) return refuse("no link of this process leads out there");
  if (c.at < now) return refuse("expected no cycle before " + std::to_string(now));
  if (vc >= format_.vcs || freed >> format_.vcs != 0) return refuse("expected virtual channels below " + std::to_string(format_.vcs));
  if ((c.id & kEdgeFlit) != 0) {
    if (!e->flits.empty() && e->flits.back().at >= c.at) return refuse("a flit not behind the one before");
    e->flits.push({c.at, c.value, c.id});
    ++e->pending;
  }
  for (uint32_t v = 0; v < format_.vcs; ++v) {
    if ((freed >> v & 1) == 0) continue;
    if (!e->credits[v].empty() && e->credits[v].back() >= c.at) return refuse("a credit not behind the one before");
    e->credits[v].push(c.at);
    ++e->pending;
  }
  return true;
}

Border::Control Border::unpack(const uint8_t* word) const {
  Bits bits = 0;
  std::memcpy(&bits, word + 8, (format_.user_bits - 32) / 8);
  Control c;
  auto take = [&bits](uint32_t n) {
    uint64_t field = uint64_t(bits) & mask(n);
    bits >>= n;
    return field;
  };
  c.freed = take(format_.vcs * format_.count_bits);
  c.ack = uint32_t(take(format_.seq_bits));
  c.seq = uint32_t(take(format_.seq_bits));
  c.vc = uint32_t(take(format_.vc_bits));
  c.tail = take(1);
  c.head = take(1);
  c.flit = take(1);
  c.sequenced = take(1);
  c.nack = take(1);
  c.hello = take(1);
  return c;
}

void Border::pack(const Edge& e, bool send, const Post* flit, uint8_t* word) const {
  Bits bits = 0;
  auto add = [&bits](uint32_t n, uint64_t field) { bits = bits << n | field; };
  add(2, 0);
  add(1, send);
  add(1, flit != nullptr);
  add(1, flit != nullptr && (flit->flags & kEdgeHead) != 0);
  add(1, flit != nullptr && (flit->flags & kEdgeTail) != 0);
  add(format_.vc_bits, flit != nullptr ? flit->flags >> kEdgeVcShift & kEdgeVcMask : 0);
  add(format_.seq_bits, e.next_seq);
  add(format_.seq_bits, e.expected);
  for (uint32_t v = format_.vcs; v-- > 0;) add(format_.count_bits, e.freed_here[v]);
  seal(flit != nullptr ? flit->data : 0, bits, word);
}

// A hello of an end that has taken nothing yet and knows the node's: {hello, up, seq'd, flit,
// echoes, forgot, vc, seq, got, freed}.
void Border::pack_hello(const Edge& e, uint8_t number, uint8_t* word) const {
  constexpr uint64_t kNumber = 1;
  Bits bits = 0b110011;
  auto add = [&bits](uint32_t n, uint64_t field) { bits = bits << n | field; };
  add(format_.vc_bits, 0);
  add(format_.seq_bits, 0);
  add(format_.seq_bits, 0);
  for (uint32_t v = format_.vcs; v-- > 0;) add(format_.count_bits, e.freed_here[v]);
  seal(uint64_t(number) << 8 | kNumber, bits, word);
}

void Border::seal(uint64_t data, unsigned __int128 bits, uint8_t* word) const {
  uint8_t checked[24];
  std::memcpy(checked, &data, 8);
  std::memcpy(checked + 8, &bits, 16);
  uint32_t control_bytes = (format_.user_bits - 32) / 8, crc = word_crc(checked, 8 + std::max(8u, control_bytes));
  std::memcpy(word, checked, 8 + control_bytes);
  std::memcpy(word + 8 + control_bytes, &crc, 4);
}

uint32_t Border::credits_at(Edge* e, uint64_t cycle) {
  uint32_t freed = 0;
  for (uint32_t v = 0; v < format_.vcs; ++v) {
    if (e->credits[v].empty() || e->credits[v].front() != cycle) continue;
    e->credits[v].pop();
    --e->pending;
    freed |= 1u << v;
  }
  return freed;
}

// One clock edge of the neighbour's link: link_rx on what the node sent, then link_tx. True: word
// goes to the node.
bool Border::step(Edge* e, uint64_t cycle, uint8_t* word) {
  const uint32_t seqs = uint32_t(mask(format_.seq_bits));
  bool has_flit = !e->flits.empty() && e->flits.front().at == cycle;
  uint32_t freed = credits_at(e, cycle);
  Control in{};
  if (e->word_valid) in = unpack(e->word);
  if (in.hello) { // while all is in reset: nothing else is to do
    uint8_t number = e->word[0];
    e->word_valid = false;
    if (!in.nack) pack_hello(*e, number, word);
    return !in.nack;
  }
  bool accept = e->word_valid && in.sequenced;
  if (e->word_valid && (in.nack || (accept && in.seq != e->expected))) fail(*e, cycle, "a word was lost or refused");

  bool status = !has_flit && (e->status_pending || (e->freed_unsent && !e->anchor_in_flight));
  bool anchor = status && e->freed_unsent && !e->anchor_in_flight;
  bool send = has_flit || anchor;
  e->out_valid = send || status;
  if (e->out_valid) pack(*e, send, has_flit ? &e->flits.front() : nullptr, word);
  if (has_flit) {
    e->flits.pop();
    --e->pending;
  }

  uint32_t acked = (e->peer_ack - e->base) & seqs;
  bool progress = e->peer_valid && acked != 0;
  if (anchor) {
    e->anchor_in_flight = true;
    e->anchor_seq = e->next_seq;
  } else if (progress && ((e->anchor_seq - e->base) & seqs) < acked) {
    e->anchor_in_flight = false;
  }
  e->status_pending = accept || freed != 0 || (e->status_pending && !e->out_valid);
  e->freed_unsent = freed != 0 || (e->freed_unsent && !send);
  for (uint32_t v = 0; v < format_.vcs; ++v) e->freed_here[v] = (e->freed_here[v] + (freed >> v & 1)) & uint32_t(mask(format_.count_bits));
  if (progress) e->base = e->peer_ack;
  if (send) e->next_seq = (e->next_seq + 1) & seqs;

  if (accept) e->expected = (e->expected + 1) & seqs;
  e->peer_valid = e->word_valid;
  if (e->word_valid) e->peer_ack = in.ack;
  e->word_valid = e->fresh;
  if (e->fresh) std::memcpy(e->word, e->came, sizeof e->word);
  e->fresh = false;
  return e->out_valid;
}

void Border::take(uint32_t node, uint32_t link, const void* word) {
  Edge& e = edges_[size_t(index_[node][link])];
  std::memcpy(e.came, word, 8 + format_.user_bits / 8);
  e.fresh = true;
}

void Border::collect(uint64_t cycle) {
  for (Edge& e : edges_) {
    if (!e.fresh) continue;
    Control c = unpack(e.came);
    if (c.hello) {
      e.seen = c.freed;
      e.word_valid = true;
      e.fresh = false;
      std::memcpy(e.word, e.came, sizeof e.word);
      continue;
    }
    uint32_t id = e.link;
    uint64_t data = 0;
    if (c.flit) {
      id |= kEdgeFlit | (c.head ? kEdgeHead : 0) | (c.tail ? kEdgeTail : 0) | c.vc << kEdgeVcShift;
      std::memcpy(&data, e.came, 8);
    }
    for (uint32_t v = 0; v < format_.vcs; ++v) {
      uint64_t more = ((c.freed >> v * format_.count_bits) - (e.seen >> v * format_.count_bits)) & mask(format_.count_bits);
      if (more > 1) fail(e, cycle, "a count of freed entries jumps");
      if (more != 0) id |= 1u << (kEdgeFreedShift + v);
    }
    e.seen = c.freed;
    if (id != e.link) out_.push_back({kEdgeOut, uint16_t(e.node), id, cycle, 0, data});
  }
}

bool Border::active() const {
  for (const Edge& e : edges_) {
    if (!e.at_rest() || e.base != e.next_seq) return true;
  }
  return false;
}

void Border::fail(const Edge& e, uint64_t cycle, const char* what) {
  if (broken_.empty()) {
    broken_ = "node " + std::to_string(e.node) + ", link " + std::to_string(e.link) + " in cycle " + std::to_string(cycle) + ": " + what +
              "; the wires of a link to a node outside must not break anything";
  }
}

}  // namespace nicloop
