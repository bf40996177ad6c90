// arguments.h: what the simulator is started with.
//
//   sim SOCKET --dims 4x2x1 [--threads 2] [--wr-latency 4] [--rd-latency 8] [--wire-latency 0] [--waves FILE [--waves-nodes 5,9]]
//       [--ratio 8/5] [--checkpoint 100000] [--coverage FILE] [--only 5,9] [+plusargs...]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wiring.h"

namespace nicloop {

struct Arguments {
  std::string socket, waves_file, coverage_file;
  Shape shape;
  uint32_t threads = 1;
  uint16_t wr_latency = 4, rd_latency = 8;
  uint32_t host_cycles = 8, core_cycles = 5;  // of a node with a host's clock of its own: as many of either take as long
  uint32_t wire_latency = 0;     // cycles, each way, beyond the one that a word takes
  uint64_t waves_nodes = ~0ull;  // bit per node
  uint64_t only = ~0ull;         // the nodes that are simulated here
  uint64_t checkpoint = 0;       // cycles from one to the next; 0: none
};

// False: *error says what was expected and what was found.
bool parse_arguments(int argc, char** argv, Arguments* arguments, std::string* error);

}  // namespace nicloop
