// wiring.h: which link of which node leads where. Pure arithmetic, as rtl/README.md has it: node
// numbers are x + dim_x * (y + dim_y * z); link l goes along dimension l / 2, up for even l, and
// arrives there on link l ^ 1.
#pragma once

#include <cstdint>
#include <string>

namespace nicloop {

constexpr uint32_t kMaxLinks = 6;
constexpr uint32_t kMaxWireLatency = 64;
constexpr uint32_t kMaxRatio = 64;  // either side of a ratio of clocks

// The size and kind of a mesh, as the simulator is told when it starts.
struct Shape {
  uint32_t dims[3] = {1, 1, 1};
  bool torus = false;

  uint32_t nodes() const { return dims[0] * dims[1] * dims[2]; }
  // Of a node, dimension 0 is x.
  uint32_t coordinate(uint32_t node, uint32_t dimension) const;
  // What sim_node's port `shape` wants: {nodes, z, y, x of the node, dim_z, dim_y, dim_x}.
  uint64_t packed(uint32_t node) const;
};

// One end of a wire: a link of a node.
struct End {
  uint32_t node = 0, link = 0;
  bool connected = false;
};

// Where link `link` of node `node` leads. A torus has wrap wires in every dimension of more than
// two nodes: with two, the neighbour up is the neighbour down, and the one wire between them stands
// for both.
End across(const Shape& shape, uint32_t node, uint32_t link);

// Reads "4x2x1". False: it is not three numbers from 1 to 255.
bool parse_dims(const std::string& text, uint32_t dims[3]);

}  // namespace nicloop
