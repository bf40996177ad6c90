// hello.h: what the simulator says of itself, from what cosim/build wrote.
#pragma once

#include <string>

#include "nl_config.h"  // NL_VPIDS, NL_DESC_HASH, NL_BUILD_HASH
#include "nl_model.h"   // NL_PORTS
#include "protocol.h"
#include "wiring.h"

namespace nicloop {

inline int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

inline Hello make_hello(const Shape& shape) {
  Hello hello{kMagic, kVersion, shape.nodes(), {shape.dims[0], shape.dims[1], shape.dims[2]}, NL_VPIDS, NL_DESC_HASH, {}};
  const char* hash = NL_BUILD_HASH;
  for (size_t i = 0; i < sizeof hello.build_hash; ++i) {
    hello.build_hash[i] = uint8_t(hex_digit(hash[2 * i]) << 4 | hex_digit(hash[2 * i + 1]));
  }
  return hello;
}

// False: *error says that the nodes have too few ports for the shape.
inline bool enough_ports(const Shape& shape, std::string* error) {
  if ((shape.dims[1] <= 1 || NL_PORTS >= 5) && (shape.dims[2] <= 1 || NL_PORTS >= 7)) return true;
  *error = "this simulator has nodes of " + std::to_string(NL_PORTS) + " ports: too few for so many dimensions";
  return false;
}

}  // namespace nicloop
