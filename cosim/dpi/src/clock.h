// clock.h: the machine's clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace nicloop {

// Nanoseconds since some moment; never goes back.
inline uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

}  // namespace nicloop
