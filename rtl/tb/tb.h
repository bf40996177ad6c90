// tb.h: what every block bench shares: clock, seed, random choices, and one way to fail.
//
// A bench sets inputs, calls settle(), reads outputs and decides what was handed over, then calls
// edge(). check() ends the program with the seed and the line that runs the same thing again.
//
// lives() runs a scenario on a model that has been reset in the middle of other traffic: registers
// without a reset, or with a wrong one, show only then.
#pragma once

#include <verilated.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "nicloop.h"

namespace tb {

#include "ports.h"  // by scripts/rtl-test: each_input(top, f), each_output(top, f)

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
  std::fflush(stdout);  // the message of an assertion of the design; _Exit() would drop it
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

// Inputs that are not random in reset: clocks, and the VALIDs of AXI, which it wants low then.
inline bool is_fixed(const std::string& name) {
  bool axi = name.rfind("m_", 0) == 0 || name.rfind("s_", 0) == 0;
  return name.rfind("clk", 0) == 0 || name == "rst" || (axi && name.size() > 5 && name.substr(name.size() - 5) == "valid");
}

// Inputs that a bench does not drive are 0, while registers and memories start with random values.
template <class Top>
void drive_zeros(Top& top) {
  each_input(top, [](const char*, auto& port, unsigned) { std::memset(&port, 0, sizeof port); });
}

// Random bits on the other inputs.
template <class Top>
void drive_random(Top& top, Random& random) {
  each_input(top, [&](const char* name, auto& port, unsigned width) {
    auto* byte = reinterpret_cast<uint8_t*>(&port);
    if (is_fixed(name)) std::memset(byte, 0, sizeof port);
    for (unsigned at = 0; at < 8 * sizeof port && !is_fixed(name); at += 8) {
      unsigned used = width <= at ? 0 : width - at;
      byte[at / 8] = uint8_t(random.next()) & (used >= 8 ? 0xff : (1u << used) - 1);
    }
  });
}

// While rst is high and all other inputs are 0, no output offers, accepts or reports anything.
template <class Top>
void check_quiet(Top& top) {
  static const std::vector<std::string> pulses{"pop", "commit", "begun", "ended", "stall", "irq", "done", "lost", "overflow"};
  each_output(top, [&](const char* port_name, auto& port, unsigned) {
    std::string name = port_name, end = name.size() < 5 ? "" : name.substr(name.size() - 5);
    bool pulse = std::find(pulses.begin(), pulses.end(), name) != pulses.end();
    if (end != "valid" && name.rfind("ev_", 0) != 0 && !pulse) return;
    static const uint8_t zeros[sizeof port] = {};
    CHECK(std::memcmp(&port, zeros, sizeof port) == 0, "%s is high in reset", port_name);
  });
}

// Thrown by edge() at the cycle `cut`, see lives().
struct Cut {};
inline uint64_t cut = ~0ull;
inline unsigned life = 0;  // a scenario that is cut has its own random choices

template <class Model>
struct Bench {
  const Arguments arguments;
  Model& top;  // one for all lives
  Random random;

  Bench(int argc, char** argv) : arguments(argc, argv), top(model()) {
    random.state = seed + life * 0x5851f42d4c957f2dull;
    drive_zeros(top);
  }
  static Model& model() {
    static auto* one = new Model;
    return *one;
  }
  void settle() {
    top.clk = 0;
    top.eval();
  }
  void edge() {
    top.clk = 1;
    top.eval();
    if (cycle++ == cut) throw Cut{};
  }
  void tick() {
    settle();
    edge();
  }
  // One to three cycles; inputs are random meanwhile, then again what they were before.
  void reset() {
    std::vector<uint8_t> inputs;
    each_input(top, [&](const char*, auto& port, unsigned) {
      auto* byte = reinterpret_cast<uint8_t*>(&port);
      inputs.insert(inputs.end(), byte, byte + sizeof port);
    });
    top.rst = 1;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) drive_random(top, random), top.rst = 1, tick();
    drive_zeros(top);
    top.rst = 1;
    settle();
    check_quiet(top);
    size_t at = 0;
    each_input(top, [&](const char*, auto& port, unsigned) {
      std::memcpy(&port, &inputs[at], sizeof port);
      at += sizeof port;
    });
    top.rst = 0;
  }
};

// Runs a scenario several times on one model. All runs but the last are cut at a random cycle, so
// that the next begins with a reset in the middle of traffic.
template <class Test>
void lives(int argc, char** argv, void (*scenario)(Test&), unsigned cycles = 3000, unsigned cuts = 12) {
  Random random;
  for (life = cuts; life > 0; --life) {
    Test t(argc, argv);
    random.state = seed ^ life << 8;
    cut = cycle + 1 + random.below(cycles);
    try {
      scenario(t);
    } catch (const Cut&) {
    }
  }
  cut = ~0ull;
  Test t(argc, argv);
  scenario(t);
}

// Checks the output active of a unit, which is high while something moves or will move by itself.
// A simulation stops the clock of a unit whose active is low.
struct Activity {
  bool active_before = true;
  uint64_t offers_before = ~0ull;

  // events: what the unit takes, hands over or reports in this cycle; offers: its valid outputs.
  void clock(bool active, uint64_t events, uint64_t offers) {
    CHECK(active || events == 0, "not active, but events %llx", (unsigned long long)events);
    CHECK(active_before || (offers & ~offers_before) == 0, "outputs %llx rise behind a cycle that is not active", (unsigned long long)offers);
    active_before = active, offers_before = offers;
  }
};

template <class... Bits>
uint64_t bits(Bits... bit) {
  uint64_t all = 0;
  return ((all = all << 1 | uint64_t(bool(bit))), ...), all;
}

// A flit as it stands on a channel.
struct Flit {
  unsigned vc;
  bool head, tail;
  uint64_t data;
  bool operator==(const Flit& o) const { return vc == o.vc && head == o.head && tail == o.tail && data == o.data; }
};

// Counts the packets inside a unit with in_valid, in_ready and in_flit. A packet that lost its tail
// ends with the next head, some cycles before that is taken: meanwhile the count may be one too
// low.
struct Inside {
  bool open = false;  // part of a packet has been taken
  int whole = 0;      // packets that were taken to their end and are not done

  template <class T>
  bool cutting(const T& top) const { return top.in_valid && (top.in_flit[2] & 1) != 0 && open; }
  bool none() const { return !open && whole == 0; }
  // done: packets that the unit is done with in this cycle
  template <class T>
  void clock(const T& top, int done) {
    if (top.in_valid && top.in_ready) {
      bool tail = (top.in_flit[2] & 2) != 0;
      whole += int(cutting(top)) + int(tail);
      open = !tail;
    }
    whole -= done;
  }
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
