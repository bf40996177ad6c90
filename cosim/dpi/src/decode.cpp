#include "decode.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace nicloop {
namespace {

bool fail(std::string* error, const char* format, ...) __attribute__((format(printf, 2, 3)));

bool fail(std::string* error, const char* format, ...) {
  char text[200];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  *error = text;
  return false;
}

using ull = unsigned long long;

constexpr uint64_t kSegmentGrain = 4096;

bool check_range(const Command& c, const Limits& limits, std::string* error) {
  // Written so that nothing overflows: addr + value may exceed 64 bits.
  if (c.value == 0 || c.addr > limits.memory_bytes || c.value > limits.memory_bytes - c.addr) {
    return fail(error, "watch %u: range of 0x%llx bytes at 0x%llx is empty or leaves the memory of 0x%llx bytes",
                c.id, ull(c.value), ull(c.addr), ull(limits.memory_bytes));
  }
  return true;
}

bool check_segment(const Command& c, const Limits& limits, std::string* error) {
  if (c.value == 0 || c.at > limits.memory_bytes || c.value > limits.memory_bytes - c.at || c.addr + c.value < c.addr) {
    return fail(error, "SEGMENT: 0x%llx bytes from 0x%llx on, at address 0x%llx: empty, or leaves the memory of 0x%llx bytes or all addresses",
                ull(c.value), ull(c.at), ull(c.addr), ull(limits.memory_bytes));
  }
  if (c.at % kSegmentGrain != 0 || c.addr % kSegmentGrain != 0) {
    return fail(error, "SEGMENT: 0x%llx at address 0x%llx: expected multiples of %llu", ull(c.at), ull(c.addr), ull(kSegmentGrain));
  }
  return true;
}

bool uses_node(uint16_t type) {
  switch (type) {
    case kPostReg: case kPostPio: case kReadReg: case kWatch: case kArmPio: case kArmIrq: case kEdge: case kSegment: return true;
    default: return false;
  }
}

bool check(const Command& c, const Limits& limits, std::string* error) {
  if (uses_node(c.type) && c.node >= limits.nodes) {
    return fail(error, "frame 0x%02x: node %u, but there are %u", c.type, c.node, limits.nodes);
  }
  switch (c.type) {
    case kPostReg:
    case kReadReg:
      if (c.addr > 0xffffffffull) return fail(error, "frame 0x%02x: offset 0x%llx exceeds 32 bits", c.type, ull(c.addr));
      return true;
    case kPostPio:
      if (c.id >= limits.vpids) return fail(error, "POST_PIO: VPID %u, but there are %u", c.id, limits.vpids);
      if (c.addr > 0xffffffffull) return fail(error, "POST_PIO: offset 0x%llx exceeds 32 bits", ull(c.addr));
      if (c.value < 1 || c.value > 8) return fail(error, "POST_PIO: %llu quadwords, expected 1..8", ull(c.value));
      return true;
    case kArmPio:
      if (c.id >= limits.vpids) return fail(error, "ARM_PIO: VPID %u, but there are %u", c.id, limits.vpids);
      return true;
    case kWatch: return check_range(c, limits, error);
    case kSegment: return check_segment(c, limits, error);
    case kTrace:
      if (c.value > 1) return fail(error, "TRACE: value %llu, expected 0 or 1", ull(c.value));
      return true;
    case kArm: case kArmIrq: case kRun: case kWaves: case kShutdown: case kRepeat: case kEdge: case kStep: return true;
    default: return fail(error, "frame type 0x%04x is unknown", c.type);
  }
}

}  // namespace

bool decode_command(const uint8_t* data, size_t size, size_t* pos, const Limits& limits,
                    Command* command, PioLine* line, std::string* error) {
  size_t left = size - *pos;
  if (left < sizeof *command) {
    return fail(error, "frame at byte %zu of %zu is cut: expected %zu bytes, found %zu", *pos, size, sizeof *command, left);
  }
  std::memcpy(command, data + *pos, sizeof *command);
  if (!check(*command, limits, error)) return false;
  size_t need = sizeof *command;
  if (command->type == kPostPio) {
    need += sizeof *line;
    if (left < need) {
      return fail(error, "POST_PIO at byte %zu of %zu is cut: expected %zu bytes, found %zu", *pos, size, need, left);
    }
    std::memcpy(line, data + *pos + sizeof *command, sizeof *line);
  }
  *pos += need;
  return true;
}

}  // namespace nicloop
