// uart_line.h: the other end of a serial line, bit by bit, 8N1: bytes to the level that a board's
// rx has in a cycle, and back from the level of its tx. Of the bits either way some are wrong, by
// chance and seed. Knows no Verilator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace nicloop {

class UartLine {
 public:
  // A bit takes divisor cycles and is wrong with the chance noise.
  UartLine(unsigned divisor, double noise, uint64_t seed) : divisor_(divisor), wrong_below_(uint64_t(noise * 0x1p63)), random_(seed) {}

  void send(const uint8_t* bytes, size_t n) { out_.insert(out_.end(), bytes, bytes + n); }
  size_t unsent() const { return out_.size(); }

  // The level that the board sees in the next cycle.
  bool drive() {
    if (out_cycles_ > 0) {
      --out_cycles_;
      return level_;
    }
    if (out_bits_ == 0) {
      level_ = true;
      if (out_.empty()) return level_;
      out_shift_ = uint16_t(0x200 | out_.front() << 1);
      out_.pop_front();
      out_bits_ = kBits;
    }
    level_ = ((out_shift_ & 1) != 0) != wrong();
    out_shift_ >>= 1;
    --out_bits_;
    out_cycles_ = divisor_ - 1;
    return level_;
  }

  // Takes the level that the board gives in a cycle; bits are looked at in their middle.
  void sample(bool level) {
    if (in_bits_ == 0) {
      if (!level) {
        in_bits_ = kBits;
        in_cycles_ = divisor_ / 2;
      }
      return;
    }
    if (in_cycles_-- > 0) return;
    in_cycles_ = divisor_ - 1;
    if (in_bits_ == 1) {
      if (level) came_.push_back(in_byte_);
    } else if (in_bits_ < kBits) {
      in_byte_ = uint8_t(in_byte_ >> 1 | (level != wrong() ? 0x80 : 0));
    }
    --in_bits_;
  }

  // Nothing is on the line, either way.
  bool quiet() const { return out_.empty() && out_bits_ == 0 && out_cycles_ == 0 && in_bits_ == 0; }
  std::vector<uint8_t>& came() { return came_; }

 private:
  static constexpr unsigned kBits = 10;  // of a byte: start, eight, stop

  // splitmix64, as rtl/tb/tb.h has it.
  bool wrong() {
    if (wrong_below_ == 0) return false;
    uint64_t z = (random_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> 1 < wrong_below_;
  }

  const unsigned divisor_;
  const uint64_t wrong_below_;
  uint64_t random_;
  std::deque<uint8_t> out_;
  unsigned out_bits_ = 0, out_cycles_ = 0;
  uint16_t out_shift_ = 0;
  bool level_ = true;
  unsigned in_bits_ = 0, in_cycles_ = 0;
  uint8_t in_byte_ = 0;
  std::vector<uint8_t> came_;
};

}  // namespace nicloop
