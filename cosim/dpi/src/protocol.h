// protocol.h: what crosses the socket and what lies in the shared memory.
//
// One message (SOCK_SEQPACKET keeps the boundaries) is a batch of whole frames,
// all little endian, at most kMaxMessage bytes. Go sends commands, the simulator
// events. RUN and READ_REG are answered by one batch of events that ends with
// STOPPED (in several messages if need be); nothing else is answered. A HEARTBEAT
// may come before the answer. A message that cannot be understood ends the session
// with an ERROR frame that says why.
//
// cosim/bridge/frames.go is the other half; its test compares every size and offset.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nicloop {

constexpr uint64_t kMagic = 0x3147444252434c4eull;  // "NLCRBDG1"
constexpr uint32_t kVersion = 4;
constexpr size_t kMaxMessage = 32768;
constexpr uint32_t kMaxNodes = 64;
constexpr uint32_t kMaxVpids = 16;
constexpr uint64_t kForever = ~0ull;

// Types 0x0001..0x003f are commands, 0x0041..0x007f events; of 0x0100..0x01ff, which are for links
// that leave the simulator, those below 0x0140 are commands. Everything else is invalid.
enum CommandType : uint16_t {
  kPostReg = 0x01,   // node, at, addr, value
  kPostPio = 0x02,   // node, id = VPID, at, addr, value = quadwords; a piece of a line, as PioLine, follows
  kReadReg = 0x03,   // node, addr, id = 0; time passes until the answer, at most until `at`; value = slack as of STEP;
                     // id = 1 goes on with the read that a full trace buffer interrupted
  kWatch = 0x04,     // node, id, addr, value = bytes; ids count from 0 without a gap
  kArm = 0x05,       // id
  kArmPio = 0x06,    // node, id = VPID, value = count
  kArmIrq = 0x07,    // node
  kRun = 0x08,       // at = deadline
  kTrace = 0x09,     // value = 1 on, 0 off
  kWaves = 0x0a,     // dump the cycles at..value-1 into the file given at the start
  kShutdown = 0x0b,  // finish the model and exit with status 0
  // Some nodes of the mesh are simulated elsewhere (border.h):
  kEdge = 0x100,     // node, at, id = link [7:0], flit, head, tail [10:8], VC [15:12], credits by VC [21:16]; value = the flit:
                     // this is at the neighbour's end of the node's link in cycle `at`
  kStep = 0x101,     // at = deadline, id = slack, value = 1: also while quiet. RUN that also ends when the simulator is
                     // quiet, and `slack` cycles after the first EDGE_OUT
  kRepeat = 0x0c,    // dump the cycles at..value-1, which are past, by repeating them from the nearest checkpoint
  kSegment = 0x0d,   // node, at, addr, value = bytes: the NIC finds the byte `at` + i of its memory at addr + i. Without any: all
                     // of it at address 0. Each a multiple of 4096 but the bytes of the last; none
                     // overlaps another
};

enum EventType : uint16_t {
  kStopped = 0x41,   // id = StopFlags, cycle: last frame of every answer
  kWatchHit = 0x42,  // node, id = watch, a = address of the write, b = its bytes
  kPioHit = 0x43,    // node, id = VPID, a = count
  kIrqHit = 0x44,    // node
  kRegValue = 0x45,  // node, id = AXI response, a = offset, b = value
  kBusError = 0x46,  // node, id = AXI response | port << 8, a = offset of the refused write
  kDmaError = 0x47,  // node, a = address, b = bytes: outside the node's memory
  kFault = 0x48,     // id = FaultKind, a Text follows: the model is no longer to be trusted
  kHeartbeat = 0x49, // cycle: still running
  kError = 0x4a,     // a Text follows: a command could not be understood; the session ends
  kEdgeOut = 0x140,  // node, id as in EDGE, cycle, b = the flit: a word that leaves on a link to a node outside
  kRepeated = 0x4b,  // id = 1 done, 0 failed; a = cycle of the checkpoint, b = first cycle that was dumped
};

enum StopFlags : uint32_t {
  kStopQuiet = 1,      // only software can change anything
  kStopIdle = 2,       // everything is empty
  kStopTraceFull = 4,  // drain the trace and run again: no one above needs to know
  kStopNoAnswer = 8,   // READ_REG: `at` came, or nothing moves, and there is no answer
};

constexpr uint32_t kReadResume = 1;

enum FaultKind : uint32_t { kFaultAssert = 0, kFaultFatal = 1, kFaultFinish = 2 };
enum Port : uint32_t { kPortReg = 0, kPortPio = 1 };

struct Command {
  uint16_t type;
  uint16_t node;
  uint32_t id;
  uint64_t at;
  uint64_t addr;
  uint64_t value;
};

struct PioLine {
  uint64_t quad[8];  // quadwords as written, first one first; the rest is 0
};

struct Event {
  uint16_t type;
  uint16_t node;
  uint32_t id;
  uint64_t cycle;
  uint64_t a;
  uint64_t b;
};

struct Text {
  char text[224];  // ends with at least one NUL
};

// Handshake: the simulator says Hello, Go checks it and answers Welcome together
// with the descriptor of the shared memory; the simulator resets the model and
// says STOPPED at cycle 0. Magic and version keep their offset for ever.
struct Hello {
  uint64_t magic;
  uint32_t version;
  uint32_t nodes;
  uint32_t dims[3];
  uint32_t vpids;
  uint64_t desc_hash;
  uint8_t build_hash[32];
};

struct Welcome {
  uint64_t magic;
  uint32_t version;
  uint32_t nodes;
  uint64_t memory_bytes;   // DMA memory of one node, a multiple of 4096
  uint64_t memory_offset;  // of node 0's memory; node n's is n * memory_bytes further
  uint64_t trace_offset;
  uint64_t trace_records;  // 0: no trace
  uint64_t shared_bytes;   // of the whole shared memory
  uint8_t build_hash[32];
};

// The shared memory starts with the control block. Only the simulator
// writes it. Behind it lie the message buffers, the trace buffer and the nodes' memories.
struct Control {
  uint64_t cycle;          // now and then while running, exact when stopped
  uint64_t trace_count;    // records that the last run left in the trace buffer
  uint64_t pio_taken[kMaxNodes][kMaxVpids];  // pieces answered, but for those that made whole a line which has not left
};

// A message buffer carries one message past the socket while its receiver waits at it: a message of
// the socket costs two system calls and more, as much as dozens of cycles. The receiver sets
// Looking before it sends what the message will answer, then perhaps Sleeping, on which it sleeps
// as a futex, and Idle when it has taken the message or will rather sleep in the socket, where
// alone it sees the other end die. The sender writes into a buffer that is Looking or Sleeping, and
// owns the message's way only if it can exchange that for Full; else it sends the same bytes
// through the socket. Who finds Sleeping wakes the futex. So that nothing overtakes, once one
// message of an exchange (from the first command to STOPPED) took the socket the rest does too; a
// buffer that is Full of 0 bytes sends its receiver there.
enum MsgBufferState : uint32_t { kMsgBufferIdle = 0, kMsgBufferLooking = 1, kMsgBufferFull = 2, kMsgBufferSleeping = 3 };

struct MsgBuffer {
  uint32_t state;
  uint32_t bytes;
  uint32_t look_ns;  // of commands: how long to look for the next message; 0: sleep at once
  uint8_t zero[52];  // the rest of the cache line
  uint8_t data[4032];
};

constexpr size_t kCommandBuffer = 12288;  // where they lie in the shared memory
constexpr size_t kEventBuffer = 16384;
constexpr size_t kMsgBuffersEnd = 20480;

struct TraceRecord {
  uint64_t cycle;
  uint64_t data;
  uint16_t node;
  uint8_t point;
  uint8_t flags;
  uint8_t vc;
  uint8_t zero[3];
};

static_assert(sizeof(Command) == 32 && offsetof(Command, node) == 2 && offsetof(Command, id) == 4 &&
              offsetof(Command, at) == 8 && offsetof(Command, addr) == 16 && offsetof(Command, value) == 24);
static_assert(sizeof(PioLine) == 64);
static_assert(sizeof(Event) == 32 && offsetof(Event, node) == 2 && offsetof(Event, id) == 4 &&
              offsetof(Event, cycle) == 8 && offsetof(Event, a) == 16 && offsetof(Event, b) == 24);
static_assert(sizeof(Text) == 224);
static_assert(sizeof(Hello) == 72 && offsetof(Hello, version) == 8 && offsetof(Hello, dims) == 16 &&
              offsetof(Hello, desc_hash) == 32 && offsetof(Hello, build_hash) == 40);
static_assert(sizeof(Welcome) == 88 && offsetof(Welcome, memory_bytes) == 16 &&
              offsetof(Welcome, shared_bytes) == 48 && offsetof(Welcome, build_hash) == 56);
static_assert(sizeof(Control) == 16 + 8 * kMaxNodes * kMaxVpids && sizeof(Control) <= kCommandBuffer);
static_assert(sizeof(MsgBuffer) == 4096 && offsetof(MsgBuffer, bytes) == 4 && offsetof(MsgBuffer, look_ns) == 8 && offsetof(MsgBuffer, data) == 64);
static_assert(sizeof(TraceRecord) == 24 && offsetof(TraceRecord, node) == 16 && offsetof(TraceRecord, vc) == 20);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are copied as they lie in memory");

}  // namespace nicloop
