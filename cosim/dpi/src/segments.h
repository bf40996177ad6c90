// segments.h: where the NIC of a node finds its memory: at address 0 in one piece, until the first
// piece is laid; then in these pieces and nowhere else. Looks for different nodes may come from
// different threads.
#pragma once

#include <cstdint>
#include <vector>

namespace nicloop {

struct Segment {
  uint64_t addr, offset, bytes;  // the byte at offset + i of memory has the address addr + i
};

class Segments {
 public:
  // False: it overlaps another.
  bool lay(const Segment& s) {
    for (const Segment& other : list_) {
      if (s.addr < other.addr ? s.bytes > other.addr - s.addr : other.bytes > s.addr - other.addr) return false;
    }
    list_.push_back(s);
    return true;
  }

  // Where a burst lies in a memory of so many bytes; false: not in one piece of it.
  bool find(uint64_t memory_bytes, uint64_t addr, uint64_t bytes, uint64_t* offset) {
    if (list_.empty()) {
      *offset = addr;
      return addr <= memory_bytes && bytes <= memory_bytes - addr;
    }
    // Most bursts lie where the last one did.
    for (size_t n = 0; n < list_.size(); ++n) {
      const Segment& s = list_[last_];
      if (addr >= s.addr && addr - s.addr < s.bytes) {
        *offset = s.offset + (addr - s.addr);
        return bytes <= s.bytes - (addr - s.addr);
      }
      last_ = last_ + 1 < list_.size() ? last_ + 1 : 0;
    }
    return false;
  }

 private:
  std::vector<Segment> list_;
  size_t last_ = 0;
};

}  // namespace nicloop
