// uart_frame.h: what goes over a serial line to a board, as a bench makes it and reads it.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kHello = 0x01, kReadReg = 0x10, kReadMemory = 0x12, kWriteReg = 0x20, kWindow = 0x21, kWriteMemory = 0x22;

// Straight from RFC 1662 and the standard's text of the CRC; knows nothing of the design.
struct Framer {
  static uint32_t crc(const Bytes& body) {
    uint32_t c = ~0u;
    for (uint8_t b : body)
      for (int i = 0; i < 8; ++i) {
        uint32_t out = (c ^ (b >> i)) & 1;
        c = (c >> 1) ^ (out ? 0xedb88320u : 0);
      }
    return ~c;
  }
  static Bytes frame(uint8_t seq, uint8_t op, uint8_t count, uint64_t addr, const std::vector<uint64_t>& data) {
    Bytes body{seq, op, count};
    for (int i = 0; i < 5; ++i) body.push_back(uint8_t(addr >> 8 * i));
    for (uint64_t q : data)
      for (int i = 0; i < 8; ++i) body.push_back(uint8_t(q >> 8 * i));
    uint32_t c = crc(body);
    for (int i = 0; i < 4; ++i) body.push_back(uint8_t(c >> 8 * i));
    Bytes line{0x7e};
    for (uint8_t b : body) {
      if (b == 0x7e || b == 0x7d) {
        line.push_back(0x7d);
        b ^= 0x20;
      }
      line.push_back(b);
    }
    line.push_back(0x7e);
    return line;
  }
  // Bodies that came, without their CRC.
  std::deque<Bytes> come;
  Bytes part;
  bool escaped = false;
  void feed(uint8_t b) {
    if (b == 0x7e) {
      if (part.size() >= 12) {
        Bytes body(part.begin(), part.end() - 4);
        uint32_t c = crc(body);
        if (std::memcmp(&c, &part[part.size() - 4], 4) == 0) come.push_back(body);
      }
      part.clear();
      escaped = false;
    } else if (b == 0x7d) {
      escaped = true;
    } else {
      part.push_back(escaped ? b ^ 0x20 : b);
      escaped = false;
    }
  }
};
