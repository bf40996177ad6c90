// tb.h: what every block bench shares: clock, seed, random choices, and one way to fail.
//
// A bench sets inputs, calls settle(), reads outputs and decides what was handed over, then calls
// edge(). check() ends the program with the seed and the line that runs the same thing again.
#pragma once

#include <verilated.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "nicloop.h"

namespace tb {

#include "inputs.h"  // by scripts/rtl-test: drive_zeros(top), for what a bench does not drive

inline uint64_t seed = 1;
inline uint64_t cycle = 0;

[[noreturn]] inline void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::fprintf(stderr, "%s: cycle %llu: ", TB_NAME, (unsigned long long)cycle);
  std::vfprintf(stderr, format, args);
  std::fprintf(stderr, "\nseed %llu; again: scripts/rtl-test %s --seed %llu\n", (unsigned long long)seed, TB_NAME,
               (unsigned long long)seed);
  va_end(args);
  std::_Exit(1);
}

#define CHECK(condition, ...) \
  do {                        \
    if (!(condition)) tb::fail(__VA_ARGS__); \
  } while (0)

// splitmix64: small, and the same everywhere.
struct Random {
  uint64_t state = 0;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }
  bool percent(unsigned p) { return below(100) < p; }
  // Stalls come in moods: mostly ready, half, mostly blocked.
  unsigned mood() { static const unsigned p[] = {100, 90, 50, 10}; return p[below(4)]; }
};

// CRC-32 bit by bit, straight from the standard's text; knows nothing of the design.
inline uint32_t crc32(const std::vector<uint64_t>& quads) {
  uint32_t crc = 0xffffffff;
  for (uint64_t q : quads) {
    for (int bit = 0; bit < 64; ++bit) {
      uint32_t out = (crc ^ uint32_t(q >> bit)) & 1;
      crc = (crc >> 1) ^ (out ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

inline uint64_t field(uint64_t word, int lsb, int width) { return word >> lsb & (~0ull >> (64 - width)); }
#define FIELD(word, name) tb::field(word, NICLOOP_##name##_LSB, NICLOOP_##name##_W)
#define PACK(name, value) (uint64_t(value) << NICLOOP_##name##_LSB & NICLOOP_##name##_MASK)

// Read before a model is made: they say what its registers hold then.
struct Arguments {
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::strncmp(argv[i], "+seed=", 6) == 0) seed = std::strtoull(argv[i] + 6, nullptr, 0);
    }
    Verilated::commandArgs(argc, argv);
  }
};

template <class Model>
struct Bench {
  const Arguments arguments;
  Model top;
  Random random;

  Bench(int argc, char** argv) : arguments(argc, argv) {
    random.state = seed;
    drive_zeros(top);
  }
  void settle() {
    top.clk = 0;
    top.eval();
  }
  void edge() {
    top.clk = 1;
    top.eval();
    ++cycle;
  }
  void tick() {
    settle();
    edge();
  }
  void reset() {
    top.rst = 1;
    for (int i = 0; i < 3; ++i) tick();
    top.rst = 0;
  }
};

// A flit as it stands on a channel.
struct Flit {
  unsigned vc;
  bool head, tail;
  uint64_t data;
  bool operator==(const Flit& o) const { return vc == o.vc && head == o.head && tail == o.tail && data == o.data; }
};

// Life and domain of a process, as a tail and the stamps of all processes have them.
inline uint32_t stamp(unsigned pdid, unsigned life) { return life << 16 | pdid; }

// A whole packet with a correct tail. The CRC takes answer and mark of the header, and itself,
// as 0.
inline std::vector<Flit> packet(uint64_t header, const std::vector<uint64_t>& payload, uint32_t stamp = 0, unsigned vc = 0) {
  std::vector<uint64_t> covered{header & ~(NICLOOP_HEADER_ANSWER_MASK | NICLOOP_HEADER_MARK_MASK)};
  covered.insert(covered.end(), payload.begin(), payload.end());
  std::vector<Flit> flits{{vc, true, false, header}};
  for (uint64_t q : payload) flits.push_back({vc, false, false, q});
  covered.push_back(uint64_t(stamp) << 32);
  flits.push_back({vc, false, true, crc32(covered) | uint64_t(stamp) << 32});
  return flits;
}

}  // namespace tb

namespace tb {
inline void (*assertion_failed)(const char* file, int line) = nullptr;  // set by a bench that expects it
}

// An assertion of the design failed: its message is already printed.
void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE {
  if (tb::assertion_failed) tb::assertion_failed(file, line);
  else tb::fail("assertion at %s:%d", file, line);
}
void vl_fatal(const char* file, int line, const char*, const char* what) VL_MT_UNSAFE { tb::fail("%s:%d: %s", file, line, what); }
