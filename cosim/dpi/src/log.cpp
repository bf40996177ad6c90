#include "log.h"

#include <unistd.h>

#include <cstdio>

namespace nicloop {
namespace {

int sink = -1;

// Of the thread that prints: nodes may fail on several at once.
thread_local std::string partial_line, last_line;

ssize_t tee_write(void*, const char* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (data[i] != '\n') {
      if (partial_line.size() < 1024) partial_line += data[i];
    } else if (!partial_line.empty()) {
      last_line.swap(partial_line);
      partial_line.clear();
    }
  }
  size_t done = 0;
  while (sink >= 0 && done < size) {
    ssize_t n = write(sink, data + done, size - done);
    if (n <= 0) break;  // nobody reads the log: not the simulation's concern
    done += size_t(n);
  }
  return ssize_t(size);
}

}  // namespace

void tee_stdout(int descriptor) {
  sink = descriptor;
  cookie_io_functions_t functions{};
  functions.write = tee_write;
  FILE* tee = fopencookie(nullptr, "w", functions);
  if (tee == nullptr) return;
  if (stdout != nullptr) std::fflush(stdout);
  setvbuf(tee, nullptr, _IOLBF, 4096);
  stdout = tee;
}

void end_tee() {
  if (stdout != nullptr) std::fclose(stdout);
  stdout = nullptr;
}

std::string take_last_line() {
  if (stdout != nullptr) std::fflush(stdout);
  std::string line;
  line.swap(last_line);
  return line;
}

}  // namespace nicloop
