// bare.cpp: the yardstick. A test bench around the same mesh in one process:
// no socket, no other process, no command queue but a FIFO per port. It does what
// workload.go does, message for message, so the cycles must agree.
//
//   bare DIMS pingpong|stream
//
// Each number on standard input is a round: go on until so many transactions are done in all. The
// answer is a line with its cycles, nanoseconds elapsed, and nanoseconds of processor time.
#include <time.h>
#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "dpi.h"
#include "log.h"
#include "mesh.h"
#include "node.h"

using namespace nicloop;

namespace {

// The mailboxes of both benches; see workload.go.
constexpr uint64_t kBase = 0x10000, kSlots = 1024, kBatch = 64, kWindow = 16;

struct Reg {
  uint32_t addr;
  uint64_t value;
};
struct Line {
  uint32_t addr;
  uint64_t quad;
};

class Bench final : public Bus {
 public:
  explicit Bench(const Shape& shape)
      : mesh_(shape, 1, [this](uint32_t n) { return std::make_unique<VerilatedNode>(&context_, n); }),
        reg_(shape.nodes()),
        pio_(shape.nodes()),
        memory_(shape.nodes(), std::vector<uint64_t>(kBase / 8 + kSlots * 8)) {
    set_bus(this);
    mesh_.reset(8);
    for (uint32_t node = 0; node < 2; ++node) {
      post(node, 0x10200, 1);
      post(node, 0x10000, kBase);
      post(node, 0x10008, kSlots);
      post(node, 0x10010, 3);
    }
    while (cycles < 200) cycle();
  }

  void send(uint32_t from, uint32_t to, uint64_t quad) {
    pio_[from].push_back({to << 19 | 8u << 6, quad});
    pending_.pio |= 1ull << from;
  }

  // Clocks until message n (from 0) lies in the mailbox of node; returns its payload.
  uint64_t receive(uint32_t node, uint64_t n) {
    uint64_t at = kBase + n % kSlots * 64;
    awaited_node_ = node;
    awaited_ = at;
    for (arrived_ = false; !arrived_;) cycle();
    return payload(node, n);
  }

  uint64_t payload(uint32_t node, uint64_t n) {
    const uint64_t* slot = &memory_[node][kBase / 8 + n % kSlots * 8];
    if (slot[7] >> 32 != ((n + 1) & 0xffffffff)) die("sequence number");
    return slot[0];
  }

  void consumed(uint32_t node, uint64_t count) {
    if (count % kBatch == 0) post(node, 0x20000, count);
  }

  [[noreturn]] void die(const char* what) {
    std::fprintf(stderr, "bare bench: wrong %s at cycle %llu\n", what, static_cast<unsigned long long>(cycles));
    std::exit(1);
  }

  uint64_t cycles = 0;

  void reg_next(uint32_t node, bool* write, uint32_t* addr, uint64_t* data) override {
    *write = true;
    *addr = reg_[node].front().addr;
    *data = reg_[node].front().value;
    reg_[node].pop_front();
    if (reg_[node].empty()) pending_.reg &= ~(1ull << node);
  }
  void reg_done(uint32_t, uint32_t resp, uint64_t) override {
    if (resp != 0) die("register answer");
  }
  void pio_next(uint32_t node, uint32_t* addr, uint32_t* quads, PioLine* line) override {
    *addr = pio_[node].front().addr;
    *quads = 1;
    *line = {};
    line->quad[0] = pio_[node].front().quad;
    pio_[node].pop_front();
    if (pio_[node].empty()) pending_.pio &= ~(1ull << node);
  }
  void pio_done(uint32_t, uint32_t resp) override {
    if (resp != 0) die("answer to a line");
  }
  void pio_line(uint32_t) override {}
  void pio_left(uint32_t, uint32_t) override {}
  uint32_t dma_write(uint32_t node, uint64_t addr, uint32_t quads, const uint64_t* data, uint64_t) override {
    if (addr / 8 + quads > memory_[node].size()) die("DMA address");
    std::memcpy(&memory_[node][addr / 8], data, quads * 8);
    arrived_ |= node == awaited_node_ && addr == awaited_;
    return 0;
  }
  uint32_t dma_read(uint32_t, uint64_t, uint32_t, uint64_t*) override { die("DMA read"); }
  void trace(const TraceRecord&) override {}
  void fault(FaultKind, const std::string& text) override { die(text.c_str()); }

 private:
  void post(uint32_t node, uint32_t addr, uint64_t value) {
    reg_[node].push_back({addr, value});
    pending_.reg |= 1ull << node;
  }
  void cycle() {
    mesh_.tick(pending_);
    ++cycles;
  }

  VerilatedContext context_;
  Mesh<VerilatedNode> mesh_;
  Pending pending_;
  std::vector<std::deque<Reg>> reg_;
  std::vector<std::deque<Line>> pio_;
  std::vector<std::vector<uint64_t>> memory_;
  uint32_t awaited_node_ = 0;
  uint64_t awaited_ = 0;
  bool arrived_ = false;
};

void ping_pong(Bench* b, uint64_t from, uint64_t to) {
  for (uint64_t n = from; n < to; ++n) {
    b->send(0, 1, n);
    if (b->receive(1, n) != n) b->die("ping");
    b->consumed(1, n + 1);
    b->send(1, 0, ~n);
    if (b->receive(0, n) != ~n) b->die("pong");
    b->consumed(0, n + 1);
  }
}

// Sixteen under way; when eight of them have arrived eight more are sent.
void stream(Bench* b, uint64_t from, uint64_t to) {
  uint64_t sent = from, done = from;
  while (done < to) {
    while (sent < to && sent < done + kWindow) {
      b->send(0, 1, sent);
      ++sent;
    }
    uint64_t upto = std::min(done + kWindow / 2, to);
    b->receive(1, upto - 1);
    for (; done < upto; ++done) {
      if (b->payload(1, done) != done) b->die("stream");
      b->consumed(1, done + 1);
    }
  }
}

uint64_t now_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

void round(Bench* b, void (*run)(Bench*, uint64_t, uint64_t), uint64_t from, uint64_t to) {
  uint64_t cycles = b->cycles, processor = now_ns(CLOCK_PROCESS_CPUTIME_ID), start = now_ns(CLOCK_MONOTONIC);
  run(b, from, to);
  uint64_t elapsed = now_ns(CLOCK_MONOTONIC) - start;
  processor = now_ns(CLOCK_PROCESS_CPUTIME_ID) - processor;
  cycles = b->cycles - cycles;
  for (uint64_t x : {cycles, elapsed, processor}) std::printf("%llu ", static_cast<unsigned long long>(x));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  if (argc != 3 || !parse_dims(argv[1], shape.dims)) {
    std::fprintf(stderr, "usage: %s XxYxZ pingpong|stream\n", argv[0]);
    return 2;
  }
  auto* run = std::strcmp(argv[2], "stream") == 0 ? stream : ping_pong;
  Bench bench(shape);
  unsigned long long from = 0, to;
  for (; std::scanf("%llu", &to) == 1; from = to) round(&bench, run, from, to);
  return 0;
}
