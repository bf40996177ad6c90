// decode.h: from bytes of a message to checked commands. Pure: no socket, no
// model; fuzz_frames.cpp throws anything at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol.h"

namespace nicloop {

// What the commands of a session may name.
struct Limits {
  uint32_t nodes = 0;
  uint32_t vpids = 0;
  uint64_t memory_bytes = 0;
};

// Reads the frame at data[*pos] into command (and line, for POST_PIO) and moves
// *pos behind it. False: the frame is malformed, *error says what was expected and
// what was found, and the outputs must not be used.
bool decode_command(const uint8_t* data, size_t size, size_t* pos, const Limits& limits,
                    Command* command, PioLine* line, std::string* error);

}  // namespace nicloop
