// bare.cpp: the yardstick. A test bench around the same Verilated model in one process:
// no socket, no other process, no command queue but a FIFO per port. It does what
// workload.go does, message for message, so the cycles must agree.
//
//   bare pingpong|stream WARMUP TRANSACTIONS  ->  CYCLES NANOSECONDS
#include <time.h>
#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "Vsim_top.h"
#include "dpi.h"
#include "log.h"
#include "nl_config.h"

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
  Bench() : memory_(NL_NODES, std::vector<uint64_t>(kBase / 8 + kSlots * 8)) {
    set_bus(this);
    top_.rst = 1;
    for (int i = 0; i < 8; ++i) edge();
    top_.rst = 0;
    for (uint32_t node = 0; node < 2; ++node) {
      post(node, 0x10000, kBase);
      post(node, 0x10008, kSlots);
      post(node, 0x10010, 3);
    }
    while (cycles < 200) cycle();
  }
  ~Bench() override { top_.final(); }

  void send(uint32_t from, uint32_t to, uint64_t quad) {
    pio_[from].push_back({to << 18 | 8u << 6, quad});
    top_.pio_pending |= 1ull << from;
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
    if (reg_[node].empty()) top_.reg_pending &= ~(1ull << node);
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
    if (pio_[node].empty()) top_.pio_pending &= ~(1ull << node);
  }
  void pio_done(uint32_t, uint32_t resp) override {
    if (resp != 0) die("answer to a line");
  }
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
    top_.reg_pending |= 1ull << node;
  }
  void cycle() {
    edge();
    ++cycles;
  }
  void edge() {
    top_.clk = 0;
    top_.eval();
    context_.timeInc(3200);
    top_.clk = 1;
    top_.eval();
    context_.timeInc(3200);
  }

  VerilatedContext context_;
  Vsim_top top_{&context_};
  std::deque<Reg> reg_[NL_NODES];
  std::deque<Line> pio_[NL_NODES];
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

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s pingpong|stream WARMUP TRANSACTIONS\n", argv[0]);
    return 2;
  }
  auto* run = std::strcmp(argv[1], "stream") == 0 ? stream : ping_pong;
  uint64_t warmup = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
  Bench bench;
  run(&bench, 0, warmup);
  uint64_t cycles = bench.cycles, start = now_ns();
  run(&bench, warmup, warmup + count);
  uint64_t end = now_ns();
  std::printf("%llu %llu\n", static_cast<unsigned long long>(bench.cycles - cycles), static_cast<unsigned long long>(end - start));
  return 0;
}
