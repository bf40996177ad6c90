// bridge.h: executes commands against a clocked model and collects events. It knows
// neither sockets nor DPI nor Verilator: the three abstract classes below are all it
// sees, so a fake model and a recorded batch are enough to test or fuzz it.
//
// Time: cycle n is the state after the n-th rising edge since reset. A posted command
// with `at` = n may reach its bus at edge n + 1. Everything that happens at edge n is
// reported together, with cycle n, and a run stops right there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "border.h"
#include "decode.h"
#include "posted.h"
#include "protocol.h"
#include "segments.h"

namespace nicloop {

// The clocked model.
class Hardware {
 public:
  virtual ~Hardware() = default;
  // One whole clock cycle. Bit n of a mask: node n has a command that is due. The model calls Bus
  // from inside, for different nodes perhaps from different threads. May throw ModelDied.
  virtual void tick(uint64_t reg_pending, uint64_t pio_pending) = 0;
  virtual uint64_t irq() const = 0;  // bit per node
  virtual bool idle() const = 0;
  virtual bool active() const = 0;
  virtual void set_trace(bool on) = 0;
  // Dumps the cycles from..to-1. False: no file was given at the start.
  virtual bool set_waves(uint64_t from, uint64_t to) = 0;
};

// Thrown through the model by a failure that it cannot survive.
struct ModelDied {};

// What the model calls, from inside tick. Calls for one node come from one thread, in order; trace
// and everything about time only from one.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual void reg_next(uint32_t node, bool* write, uint32_t* addr, uint64_t* data) = 0;
  virtual void reg_done(uint32_t node, uint32_t resp, uint64_t data) = 0;
  virtual void pio_next(uint32_t node, uint32_t* addr, uint32_t* quads, PioLine* line) = 0;
  virtual void pio_done(uint32_t node, uint32_t resp) = 0;
  virtual void pio_line(uint32_t node) = 0;  // what is answered next made a line whole, which waits now
  virtual void pio_left(uint32_t node, uint32_t vpid) = 0;  // a line has left
  // The bytes whose strobe is set change now, the last quadword last. Returns the AXI response.
  virtual uint32_t dma_write(uint32_t node, uint64_t addr, uint32_t quads, const uint64_t* data, uint64_t strobes) = 0;
  // The memory is read now. Returns the AXI response.
  virtual uint32_t dma_read(uint32_t node, uint64_t addr, uint32_t quads, uint64_t* data) = 0;
  virtual void trace(const TraceRecord& record) = 0;  // record.cycle is filled in
  virtual void fault(FaultKind kind, const std::string& text) = 0;
};

// Where the events go.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void put(const Event& event, const Text* text = nullptr) = 0;
  // Called every few thousand cycles of a run; false: nobody listens any more.
  virtual bool pulse(uint64_t cycle) = 0;
};

// What a repeat came to.
struct Repeated {
  bool done = false;
  uint64_t checkpoint = 0, from = 0;  // it began there; dumped from here on
};

// Keeps states of the whole simulation, and repeats what came after one (checkpoint.h).
class Keeper {
 public:
  virtual ~Keeper() = default;
  // Keeps the state between two cycles. Returns when to keep the next one.
  virtual uint64_t keep(uint64_t now) = 0;
  // What the model has just read from the host's memory; in a repeat it becomes what was read then.
  virtual void read(uint32_t node, uint64_t* data, uint32_t quads) = 0;
  // Dumps the cycles from..to-1. alive() is called meanwhile; false: nobody listens any more.
  virtual bool repeat(uint64_t from, uint64_t to, const std::function<bool()>& alive, Repeated* result) = 0;
};

// The shared memory, mapped.
struct Shared {
  Control* control = nullptr;
  uint8_t* memory = nullptr;  // of all nodes
  TraceRecord* trace = nullptr;
  uint64_t trace_records = 0;  // 0 or at least kMinTrace
};
constexpr uint64_t kMinTrace = 4096;

// The parts of the shared memory at base, as the welcome describes it.
inline Shared shared_at(const Welcome& w, void* base) {
  auto* bytes = static_cast<uint8_t*>(base);
  return {static_cast<Control*>(base), bytes + w.memory_offset, reinterpret_cast<TraceRecord*>(bytes + w.trace_offset), w.trace_records};
}

class Bridge final : public Bus {
 public:
  enum class Result { kOk, kShutdown, kBad, kPeerGone };

  Bridge(const Limits& limits, const Shared& shared, Hardware* hardware, Outbox* outbox);

  // Executes one decoded command. kBad: *error names what is wrong with it.
  Result execute(const Command& command, const PioLine& line, std::string* error);
  // Some nodes are simulated elsewhere; null: none.
  void set_border(Border* border) { border_ = border; }
  // The commands of a node go by one stream: none is due before those that were posted ahead of it,
  // on whichever port.
  void set_one_stream(bool on) { one_stream_ = on; }
  void set_keeper(Keeper* keeper) {
    keeper_ = keeper;
    next_keep_ = 0;
  }
  // Says where the model stands: the last frame of every answer.
  void put_stopped(uint32_t flags);

  void reg_next(uint32_t node, bool* write, uint32_t* addr, uint64_t* data) override;
  void reg_done(uint32_t node, uint32_t resp, uint64_t data) override;
  void pio_next(uint32_t node, uint32_t* addr, uint32_t* quads, PioLine* line) override;
  void pio_done(uint32_t node, uint32_t resp) override;
  void pio_line(uint32_t node) override { waits_[node] = true; }
  void pio_left(uint32_t node, uint32_t vpid) override;
  uint32_t dma_write(uint32_t node, uint64_t addr, uint32_t quads, const uint64_t* data, uint64_t strobes) override;
  uint32_t dma_read(uint32_t node, uint64_t addr, uint32_t quads, uint64_t* data) override;
  void trace(const TraceRecord& record) override;
  void fault(FaultKind kind, const std::string& text) override;

 private:
  struct PostedReg {
    uint64_t at, value;
    uint32_t addr;
    bool write;
    uint64_t post;
  };
  struct PostedPio {
    uint64_t at;
    uint32_t addr, quads, vpid;
    PioLine line;
    uint64_t post;  // counts the commands of both ports
  };
  // A bit per node, which the threads of different nodes may set at once.
  class Mask {
   public:
    operator uint64_t() const { return bits_.load(std::memory_order_relaxed); }
    void set(uint32_t node) { bits_.fetch_or(1ull << node, std::memory_order_relaxed); }
    void clear(uint32_t node) { bits_.fetch_and(~(1ull << node), std::memory_order_relaxed); }

   private:
    std::atomic<uint64_t> bits_{0};
  };
  // One bus port of all nodes. Bit n of a mask belongs to node n.
  template <typename T>
  struct PortQueues {
    PostedQueue<T> queue[kMaxNodes];
    Mask waiting;  // some command is not taken yet
    Mask due;      // and the first of them may be taken now
    Mask busy;     // some command is taken and not answered
  };
  struct Watched {
    uint64_t addr, bytes;
    uint16_t node;
    bool armed;
  };
  struct Fault {
    Event event;
    Text text;
  };

  template <typename T> void post(PortQueues<T>* port, uint32_t node, const T& item);
  template <typename T> const T* take(PortQueues<T>* port, uint32_t node);
  template <typename T> const T* answered(PortQueues<T>* port, uint32_t node);
  template <typename T> void retire(PortQueues<T>* port, uint32_t node);
  template <typename T> void refresh_due(PortQueues<T>* port, uint32_t node);
  void refresh_all_due();
  bool settled() const;
  void by_post(uint64_t* reg, uint64_t* pio) const;

  Result watch(const Command& command, std::string* error);
  Result arm(const Command& command, std::string* error);
  Result segment(const Command& command, std::string* error);
  void arm_pio(const Command& command);
  Result run(uint64_t deadline);
  Result read(const Command& command);
  Result edge(const Command& command, std::string* error);
  Result step(const Command& command, std::string* error);
  void look_at_border();
  void put_edges();
  Result repeat(const Command& command, std::string* error);
  Result clock(uint64_t deadline);
  void check_irq();
  bool burst(uint32_t node, uint64_t addr, uint32_t quads, uint64_t* offset);
  void fire(EventType type, uint32_t node, uint32_t id, uint64_t a, uint64_t b);
  void complain(EventType type, uint32_t node, uint32_t id, uint64_t a, uint64_t b);
  void put_errors();
  void put_fired();

  const Limits limits_;
  const Shared shared_;
  Hardware* const hardware_;
  Outbox* const outbox_;

  Segments segments_[kMaxNodes];
  Border* border_ = nullptr;
  bool until_quiet_ = false;      // also with a deadline
  uint64_t slack_ = 0;            // cycles from the first word out to the end of a run
  uint64_t horizon_ = kForever;   // that end
  Keeper* keeper_ = nullptr;
  uint64_t next_keep_ = kForever;

  bool one_stream_ = false;
  uint64_t posts_ = 0;
  uint64_t now_ = 0;
  PortQueues<PostedReg> reg_;
  PortQueues<PostedPio> pio_;
  std::atomic<uint64_t> next_due_{kForever};  // no front becomes due before this cycle
  uint32_t calm_ = 0;             // cycles since something moved, counted up to kCalm

  std::vector<Watched> watches_;
  ArmedRanges armed_[kMaxNodes];
  uint64_t pio_goal_[kMaxNodes][kMaxVpids];
  bool waits_[kMaxNodes] = {};    // the line that is answered next counts when it has left
  uint64_t irq_armed_ = 0;

  // What several nodes may add to in one cycle. Each list goes out by node, so the order of the
  // threads does not show.
  std::mutex reports_;
  std::vector<Event> fired_;   // wait for the next RUN
  std::vector<Event> errors_;  // wait for the next answer
  std::vector<Fault> faults_;  // stay: the model is not to be trusted any more
  Event value_{};              // answer of READ_REG
  bool reading_ = false;
  std::atomic<bool> wake_{false};  // stop after this cycle
  bool tracing_ = false;
  bool trace_full_ = false;
  uint64_t trace_count_ = 0;
};

// Fills text, cutting what does not fit.
void set_text(Text* text, const std::string& from);

}  // namespace nicloop
