#include "wiring.h"

#include <cstdio>

namespace nicloop {

uint32_t Shape::coordinate(uint32_t node, uint32_t dimension) const {
  switch (dimension) {
    case 0: return node % dims[0];
    case 1: return node / dims[0] % dims[1];
    default: return node / dims[0] / dims[1];
  }
}

uint64_t Shape::packed(uint32_t node) const {
  uint64_t bits = uint64_t(nodes()) << 48;
  for (uint32_t d = 0; d < 3; ++d) bits |= uint64_t(coordinate(node, d)) << (24 + 8 * d) | uint64_t(dims[d]) << (8 * d);
  return bits;
}

End across(const Shape& shape, uint32_t node, uint32_t link) {
  uint32_t d = link / 2, size = shape.dims[d], at = shape.coordinate(node, d);
  bool up = link % 2 == 0, edge = at == (up ? size - 1 : 0);
  if (edge && !(shape.torus && size > 2)) return {};
  uint32_t to = up ? (edge ? 0 : at + 1) : (edge ? size - 1 : at - 1);
  uint32_t step = d == 0 ? 1 : d == 1 ? shape.dims[0] : shape.dims[0] * shape.dims[1];
  return {node + to * step - at * step, link ^ 1, true};
}

bool parse_dims(const std::string& text, uint32_t dims[3]) {
  int used = 0;
  if (std::sscanf(text.c_str(), "%3ux%3ux%3u%n", &dims[0], &dims[1], &dims[2], &used) != 3 || size_t(used) != text.size()) return false;
  for (int d = 0; d < 3; ++d) {
    if (dims[d] < 1 || dims[d] > 255) return false;
  }
  return true;
}

}  // namespace nicloop
