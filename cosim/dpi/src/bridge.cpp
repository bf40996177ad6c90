#include "bridge.h"

#include <cstring>

namespace nicloop {
namespace {

// So many cycles without movement count as quiet: longer than any gap between two
// stages of a pipeline that does not show in `active`.
constexpr uint32_t kCalm = 16;
constexpr uint64_t kPulse = 1024;    // cycles between two looks at the peer: with waves, a fraction of a second
constexpr size_t kMaxFaults = 8;
constexpr uint64_t kTraceMargin = 2048;  // more than one cycle can produce: 25 records of 64 nodes

constexpr uint32_t kSlverr = 2;

uint64_t bit(uint32_t node) { return 1ull << node; }

}  // namespace

void set_text(Text* text, const std::string& from) {
  size_t n = std::min(from.size(), sizeof text->text - 1);
  std::memset(text->text, 0, sizeof text->text);
  std::memcpy(text->text, from.data(), n);
}

Bridge::Bridge(const Limits& limits, const Shared& shared, Hardware* hardware, Outbox* outbox)
    : limits_(limits), shared_(shared), hardware_(hardware), outbox_(outbox) {
  for (auto& node : pio_goal_) std::fill(std::begin(node), std::end(node), kForever);
  fired_.reserve(64);
  errors_.reserve(64);
}

Bridge::Result Bridge::execute(const Command& c, const PioLine& line, std::string* error) {
  switch (c.type) {
    case kPostReg: post(&reg_, c.node, {c.at, c.value, uint32_t(c.addr), true, posts_++}); return Result::kOk;
    case kPostPio: post(&pio_, c.node, {c.at, uint32_t(c.addr), uint32_t(c.value), c.id, line, posts_++}); return Result::kOk;
    case kReadReg: return read(c);
    case kWatch: return watch(c, error);
    case kArm: return arm(c, error);
    case kSegment: return segment(c, error);
    case kArmPio: arm_pio(c); return Result::kOk;
    case kArmIrq: irq_armed_ |= bit(c.node); return Result::kOk;
    case kRun: return run(c.at);
    case kEdge: return edge(c, error);
    case kStep: return step(c, error);
    case kTrace:
      if (c.value != 0 && shared_.trace_records < kMinTrace) {
        *error = "TRACE: the session was opened without a trace buffer";
        return Result::kBad;
      }
      tracing_ = c.value != 0;
      hardware_->set_trace(tracing_);
      return Result::kOk;
    case kWaves:
      if (hardware_->set_waves(c.at, c.value)) return Result::kOk;
      *error = "WAVES: the simulator was started without a file for them";
      return Result::kBad;
    case kRepeat: return repeat(c, error);
    case kShutdown: return Result::kShutdown;
    default: *error = "command " + std::to_string(c.type) + " cannot be executed"; return Result::kBad;
  }
}

// Posted commands.

template <typename T>
void Bridge::refresh_due(PortQueues<T>* port, uint32_t node) {
  if (!port->queue[node].waiting()) {
    port->waiting.clear(node);
    port->due.clear(node);
    return;
  }
  port->waiting.set(node);
  uint64_t at = port->queue[node].front().at;
  if (at <= now_) {
    port->due.set(node);
    return;
  }
  port->due.clear(node);
  uint64_t next = next_due_.load(std::memory_order_relaxed);
  while (at < next && !next_due_.compare_exchange_weak(next, at, std::memory_order_relaxed)) {
  }
}

void Bridge::refresh_all_due() {
  next_due_ = kForever;
  for (uint32_t node = 0; node < limits_.nodes; ++node) {
    refresh_due(&reg_, node);
    refresh_due(&pio_, node);
  }
}

template <typename T>
void Bridge::post(PortQueues<T>* port, uint32_t node, const T& item) {
  port->queue[node].push(item);
  refresh_due(port, node);
  calm_ = 0;
}

template <typename T>
const T* Bridge::take(PortQueues<T>* port, uint32_t node) {
  if ((port->due & bit(node)) == 0) {
    fault(kFaultFatal, "bus model of node " + std::to_string(node) + " asked for a command and none was due");
    throw ModelDied{};
  }
  const T* item = &port->queue[node].front();
  port->queue[node].take();
  port->busy.set(node);
  refresh_due(port, node);
  return item;
}

// The caller must be done with the item before it calls queue.answer().
template <typename T>
const T* Bridge::answered(PortQueues<T>* port, uint32_t node) {
  if ((port->busy & bit(node)) == 0) {
    fault(kFaultFatal, "bus model of node " + std::to_string(node) + " answered a command that it had not taken");
    throw ModelDied{};
  }
  return &port->queue[node].oldest();
}

template <typename T>
void Bridge::retire(PortQueues<T>* port, uint32_t node) {
  port->queue[node].answer();
  if (!port->queue[node].in_flight()) port->busy.clear(node);
}

// Nothing moves, and nothing posted can start to: what waits, waits behind a
// command that the hardware holds.
bool Bridge::settled() const {
  return calm_ >= kCalm && ((reg_.waiting & ~reg_.busy) | (pio_.waiting & ~pio_.busy)) == 0;
}

// Of a register access and a piece of a line that are both due, the one that was posted first.
void Bridge::by_post(uint64_t* reg, uint64_t* pio) const {
  for (uint64_t both = *reg & *pio; both != 0; both &= both - 1) {
    uint32_t node = uint32_t(__builtin_ctzll(both));
    const PostedReg& r = reg_.queue[node].front();
    const PostedPio& p = pio_.queue[node].front();
    bool first = r.at != p.at ? r.at < p.at : r.post < p.post;
    (first ? *pio : *reg) &= ~bit(node);
  }
}

// Conditions.

Bridge::Result Bridge::watch(const Command& c, std::string* error) {
  if (c.id != watches_.size()) {
    *error = "WATCH: expected id " + std::to_string(watches_.size()) + ", found " + std::to_string(c.id);
    return Result::kBad;
  }
  watches_.push_back({c.addr, c.value, c.node, false});
  return Result::kOk;
}

Bridge::Result Bridge::segment(const Command& c, std::string* error) {
  if (segments_[c.node].lay({c.addr, c.at, c.value})) return Result::kOk;
  *error = "SEGMENT: node " + std::to_string(c.node) + ": one at address " + std::to_string(c.addr) + " overlaps another";
  return Result::kBad;
}

Bridge::Result Bridge::arm(const Command& c, std::string* error) {
  if (c.id >= watches_.size()) {
    *error = "ARM: watch " + std::to_string(c.id) + ", but there are " + std::to_string(watches_.size());
    return Result::kBad;
  }
  Watched& w = watches_[c.id];
  if (!w.armed) {
    w.armed = true;
    armed_[w.node].arm(w.addr, w.bytes, c.id);
  }
  return Result::kOk;
}

void Bridge::arm_pio(const Command& c) {
  uint64_t taken = shared_.control->pio_taken[c.node][c.id];
  if (taken >= c.value) {
    fire(kPioHit, c.node, c.id, taken, 0);
  } else {
    pio_goal_[c.node][c.id] = c.value;
  }
}

void Bridge::check_irq() {
  uint64_t up = irq_armed_ & hardware_->irq();
  if (up == 0) return;
  irq_armed_ &= ~up;
  for (uint32_t node = 0; node < limits_.nodes; ++node) {
    if (up & bit(node)) fire(kIrqHit, node, 0, 0, 0);
  }
}

void Bridge::fire(EventType type, uint32_t node, uint32_t id, uint64_t a, uint64_t b) {
  std::lock_guard<std::mutex> lock(reports_);
  fired_.push_back({type, uint16_t(node), id, now_, a, b});
  if (!reading_) wake_ = true;
}

void Bridge::complain(EventType type, uint32_t node, uint32_t id, uint64_t a, uint64_t b) {
  std::lock_guard<std::mutex> lock(reports_);
  errors_.push_back({type, uint16_t(node), id, now_, a, b});
  if (!reading_) wake_ = true;
}

// Time.

Bridge::Result Bridge::run(uint64_t deadline) {
  wake_ = !fired_.empty() || !errors_.empty();
  check_irq();
  Result result = clock(deadline);
  put_edges();
  put_errors();
  put_fired();
  put_stopped(trace_full_ ? uint32_t(kStopTraceFull) : 0);
  return result;
}

Bridge::Result Bridge::read(const Command& c) {
  if (c.id != kReadResume) {
    post(&reg_, c.node, {now_, 0, uint32_t(c.addr), false, posts_++});
    value_ = {};
  }
  wake_ = false;
  reading_ = true;
  slack_ = c.value;
  Result result = clock(c.at);
  reading_ = false;
  put_edges();
  put_errors();
  if (value_.type != 0) {
    outbox_->put(value_);
    put_stopped(0);
  } else {
    put_stopped(trace_full_ ? kStopTraceFull : kStopNoAnswer);
  }
  return result;
}

Bridge::Result Bridge::repeat(const Command& c, std::string* error) {
  if (keeper_ == nullptr) {
    *error = "REPEAT: the simulator was started without checkpoints";
    return Result::kBad;
  }
  Repeated r;
  if (!keeper_->repeat(c.at, c.value, [this] { return outbox_->pulse(now_); }, &r)) return Result::kPeerGone;
  outbox_->put({kRepeated, 0, r.done ? 1u : 0u, now_, r.checkpoint, r.from});
  put_stopped(0);
  return Result::kOk;
}

// Clocks the model until wake_, the deadline, quiet or a full trace buffer.
Bridge::Result Bridge::clock(uint64_t deadline) {
  trace_count_ = 0;
  trace_full_ = false;
  horizon_ = kForever;
  if (!faults_.empty()) wake_ = true;
  if (now_ >= next_due_) refresh_all_due();
  try {
    while (!wake_ && !trace_full_ && now_ < deadline && now_ < horizon_) {
      if (settled() && (deadline == kForever || reading_ || until_quiet_)) break;
      if (now_ >= next_keep_) next_keep_ = keeper_->keep(now_);
      ++now_;
      uint64_t reg = reg_.due, pio = pio_.due;
      if (one_stream_ && (reg & pio) != 0) by_post(&reg, &pio);
      hardware_->tick(reg, pio);
      if (now_ >= next_due_) refresh_all_due();
      calm_ = hardware_->active() ? 0 : std::min(calm_ + 1, kCalm);
      if (border_ != nullptr) look_at_border();
      if (irq_armed_ != 0) check_irq();
      if (now_ % kPulse == 0 && !outbox_->pulse(now_)) return Result::kPeerGone;
    }
  } catch (const ModelDied&) {
    // fault() has recorded why.
  }
  return Result::kOk;
}

// Nodes outside.

Bridge::Result Bridge::edge(const Command& c, std::string* error) {
  if (border_ == nullptr) {
    *error = "EDGE: all nodes are simulated here";
    return Result::kBad;
  }
  calm_ = 0;
  return border_->post(c, now_, error) ? Result::kOk : Result::kBad;
}

Bridge::Result Bridge::step(const Command& c, std::string* error) {
  if (border_ == nullptr) {
    *error = "STEP: all nodes are simulated here";
    return Result::kBad;
  }
  slack_ = c.id;
  until_quiet_ = c.value == 0;
  Result result = run(c.at);
  until_quiet_ = false;
  return result;
}

// Whoever simulates the others must know of the first word that left before more than slack_ cycles
// pass.
void Bridge::look_at_border() {
  if (horizon_ == kForever && !border_->out().empty()) horizon_ = now_ + slack_;
  if (!border_->broken().empty()) fault(kFaultFatal, border_->broken());
}

void Bridge::put_edges() {
  if (border_ == nullptr) return;
  for (const Event& e : border_->out()) outbox_->put(e);
  border_->clear_out();
}

void Bridge::put_errors() {
  auto earlier = [](const Event& x, const Event& y) { return x.cycle != y.cycle ? x.cycle < y.cycle : x.node < y.node; };
  std::stable_sort(errors_.begin(), errors_.end(), earlier);
  std::sort(faults_.begin(), faults_.end(), [](const Fault& x, const Fault& y) {
    return x.event.cycle != y.event.cycle ? x.event.cycle < y.event.cycle : std::strcmp(x.text.text, y.text.text) < 0;
  });
  for (const Fault& f : faults_) outbox_->put(f.event, &f.text);
  for (const Event& e : errors_) outbox_->put(e);
  errors_.clear();
}

void Bridge::put_fired() {
  std::sort(fired_.begin(), fired_.end(), [](const Event& x, const Event& y) {
    if (x.node != y.node) return x.node < y.node;
    return x.type != y.type ? x.type < y.type : x.id < y.id;
  });
  for (const Event& e : fired_) outbox_->put(e);
  fired_.clear();
}

void Bridge::put_stopped(uint32_t flags) {
  if (settled()) flags |= kStopQuiet;
  bool empty = (reg_.waiting | reg_.busy | pio_.waiting | pio_.busy) == 0;
  if (empty && hardware_->idle()) flags |= kStopIdle;
  shared_.control->trace_count = trace_count_;
  __atomic_store_n(&shared_.control->cycle, now_, __ATOMIC_RELEASE);
  outbox_->put({kStopped, 0, flags, now_, 0, 0});
}

// What the model calls.

void Bridge::reg_next(uint32_t node, bool* write, uint32_t* addr, uint64_t* data) {
  const PostedReg* posted = take(&reg_, node);
  *write = posted->write;
  *addr = posted->addr;
  *data = posted->value;
}

void Bridge::reg_done(uint32_t node, uint32_t resp, uint64_t data) {
  const PostedReg* posted = answered(&reg_, node);
  if (!posted->write) {
    value_ = {kRegValue, uint16_t(node), resp, now_, posted->addr, data};  // one read at a time
    wake_ = true;
  } else if (resp != 0) {
    complain(kBusError, node, resp | kPortReg << 8, posted->addr, 0);
  }
  retire(&reg_, node);
}

void Bridge::pio_next(uint32_t node, uint32_t* addr, uint32_t* quads, PioLine* line) {
  const PostedPio* posted = take(&pio_, node);
  *addr = posted->addr;
  *quads = posted->quads;
  *line = posted->line;
}

void Bridge::pio_done(uint32_t node, uint32_t resp) {
  const PostedPio* posted = answered(&pio_, node);
  if (!waits_[node]) pio_left(node, posted->vpid);
  waits_[node] = false;
  if (resp != 0) complain(kBusError, node, resp | kPortPio << 8, posted->addr, 0);
  retire(&pio_, node);
}

void Bridge::pio_left(uint32_t node, uint32_t vpid) {
  uint64_t* counter = &shared_.control->pio_taken[node][vpid];
  uint64_t taken = *counter + 1;
  __atomic_store_n(counter, taken, __ATOMIC_RELEASE);
  if (taken >= pio_goal_[node][vpid]) {
    pio_goal_[node][vpid] = kForever;
    fire(kPioHit, node, vpid, taken, 0);
  }
}

// Where a burst lies in the node's memory; false: outside.
bool Bridge::burst(uint32_t node, uint64_t addr, uint32_t quads, uint64_t* offset) {
  uint64_t bytes = 8ull * quads;
  if (quads == 0 || quads > 8 || addr % 8 != 0 || !segments_[node].find(limits_.memory_bytes, addr, bytes, offset)) {
    complain(kDmaError, node, 0, addr, bytes);
    return false;
  }
  return true;
}

uint32_t Bridge::dma_write(uint32_t node, uint64_t addr, uint32_t quads, const uint64_t* data, uint64_t strobes) {
  uint64_t at;
  if (!burst(node, addr, quads, &at)) return kSlverr;
  uint8_t* to = shared_.memory + node * limits_.memory_bytes + at;
  uint64_t bytes = 8ull * quads, all = quads == 8 ? ~0ull : (1ull << bytes) - 1;
  if ((strobes & all) == all) {
    std::memcpy(to, data, bytes - 8);
    // The header of a slot is its last quadword: who sees it sees the payload.
    __atomic_store_n(reinterpret_cast<uint64_t*>(to + bytes - 8), data[quads - 1], __ATOMIC_RELEASE);
  } else {
    const uint8_t* from = reinterpret_cast<const uint8_t*>(data);
    for (uint64_t i = 0; i < bytes; ++i) {
      if (strobes >> i & 1) to[i] = from[i];
    }
  }
  if (strobes == 0) return 0;
  uint64_t first = uint64_t(__builtin_ctzll(strobes)), last = std::min<uint64_t>(64 - uint64_t(__builtin_clzll(strobes)), bytes);
  armed_[node].touch(at + first, at + last, [&](uint32_t id) {
    watches_[id].armed = false;
    fire(kWatchHit, node, id, at, bytes);
  });
  return 0;
}

uint32_t Bridge::dma_read(uint32_t node, uint64_t addr, uint32_t quads, uint64_t* data) {
  uint64_t at;
  if (!burst(node, addr, quads, &at)) return kSlverr;
  std::memcpy(data, shared_.memory + node * limits_.memory_bytes + at, 8ull * quads);
  if (keeper_ != nullptr) keeper_->read(node, data, quads);
  return 0;
}

void Bridge::trace(const TraceRecord& record) {
  if (!tracing_) return;
  if (trace_count_ == shared_.trace_records) {
    fault(kFaultFatal, "trace buffer overrun: more records in one cycle than it keeps in reserve");
    return;
  }
  TraceRecord& to = shared_.trace[trace_count_++];
  to = record;
  to.cycle = now_;
  trace_full_ |= trace_count_ + kTraceMargin >= shared_.trace_records;
}

void Bridge::fault(FaultKind kind, const std::string& text) {
  std::lock_guard<std::mutex> lock(reports_);
  wake_ = true;
  if (faults_.size() == kMaxFaults) return;
  Fault f{{kFault, 0, uint32_t(kind), now_, 0, 0}, {}};
  set_text(&f.text, text);
  faults_.push_back(f);
}

}  // namespace nicloop
