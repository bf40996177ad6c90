// fuzz_frames.cpp: random and mutated messages against decoder and executor, with a
// model that answers at random. Deterministic: the same seed does the same.
//
//   fuzz_frames SEED MESSAGES
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "bridge.h"

using namespace nicloop;

namespace {

std::mt19937_64 generator;

uint64_t random_below(uint64_t n) { return generator() % n; }

// Takes what is pending, answers, writes and traces, all at random.
class FakeModel final : public Hardware {
 public:
  Bus* bus = nullptr;
  Border* border = nullptr;  // node 0 of four is here, node 1 is not

  void tick(uint64_t reg_pending, uint64_t pio_pending) override {
    ++ticks;
    for (uint32_t node = 0; node < 4; ++node) {
      if (reg_open_[node] && random_below(2)) reg_open_[node] = false, bus->reg_done(node, uint32_t(random_below(4)), generator());
      if (pio_open_[node] && random_below(2)) pio_open_[node] = false, bus->pio_done(node, uint32_t(random_below(4)));
      if (pio_open_[node] && random_below(2)) bus->pio_line(node);
      if (random_below(8) == 0) bus->pio_left(node, uint32_t(random_below(kMaxVpids)));
      if (reg_pending >> node & 1 && !reg_open_[node]) take_reg(node);
      if (pio_pending >> node & 1 && !pio_open_[node]) take_pio(node);
      if (random_below(8) == 0) write(node);
      bus->trace({0, generator(), uint16_t(node), 0, 0, 0, {}});
    }
    if (border != nullptr) exchange();
    if (random_below(100000) == 0) bus->fault(kFaultAssert, std::string(random_below(400), 'x'));
  }
  uint64_t irq() const override { return uint32_t(generator() & generator() & 15); }
  bool idle() const override { return random_below(2); }
  bool active() const override { return random_below(16) == 0; }
  void set_trace(bool) override {}
  bool set_waves(uint64_t, uint64_t) override { return random_below(2); }

  uint64_t ticks = 0;

 private:
  void exchange() {
    border->tick(ticks - 1, [](uint32_t node, uint32_t, const void*) {
      if (node != 0 && node != 2) std::abort();
    });
    uint64_t word[4];
    for (uint64_t& w : word) w = generator() & generator() & generator();
    if (random_below(64) == 0) border->take(0, 0, word);
    border->collect(ticks);
  }
  void take_reg(uint32_t node) {
    bool is_write;
    uint32_t addr;
    uint64_t data;
    bus->reg_next(node, &is_write, &addr, &data);
    reg_open_[node] = true;
  }
  void take_pio(uint32_t node) {
    uint32_t addr, quads;
    PioLine line;
    bus->pio_next(node, &addr, &quads, &line);
    if (quads < 1 || quads > 8) std::abort();
    pio_open_[node] = true;
  }
  void write(uint32_t node) {
    uint64_t data[8] = {generator()};
    uint64_t addr = random_below(4) == 0 ? generator() : random_below(9000);
    bus->dma_write(node, addr & ~7ull, uint32_t(random_below(10)), data, random_below(2) == 0 ? ~0ull : generator());
    bus->dma_read(node, addr & ~7ull, uint32_t(random_below(10)), data);
  }
  bool reg_open_[4] = {}, pio_open_[4] = {};
};

class FakeOutbox final : public Outbox {
 public:
  void put(const Event&, const Text* text) override {
    if (text != nullptr && text->text[sizeof text->text - 1] != 0) std::abort();
    ++events;
  }
  bool pulse(uint64_t) override { return random_below(4) != 0; }
  uint64_t events = 0;
};

// A frame that is mostly right: the executor is to see something, too.
size_t make_frame(uint8_t* out) {
  Command c{};
  c.type = uint16_t(1 + random_below(random_below(8) == 0 ? 40 : 10));
  c.node = uint16_t(random_below(random_below(16) == 0 ? 70000 : 4));
  c.id = uint32_t(random_below(random_below(16) == 0 ? ~0ull : 16));
  c.at = random_below(random_below(8) == 0 ? ~0ull : 20000);
  c.addr = random_below(random_below(8) == 0 ? ~0ull : 8192);
  c.value = random_below(random_below(8) == 0 ? ~0ull : 8);
  if (random_below(6) == 0) c.type = random_below(2) ? kEdge : kStep;
  if (c.type == kEdge && random_below(8) != 0) c.id = uint32_t(random_below(2) << 8 | random_below(3) << 12 | random_below(8) << 16);
  if (random_below(40) == 0) c.type = kSegment;
  if (c.type == kSegment && random_below(4) != 0) {
    c.at = 4096 * random_below(3);
    c.addr = random_below(4) == 0 ? generator() & ~4095ull : 4096 * random_below(4);
    c.value = random_below(4097);
  }
  if (c.type == kRun || c.type == kReadReg || c.type == kStep) c.at = random_below(30000);
  std::memcpy(out, &c, sizeof c);
  if (c.type != kPostPio) return sizeof c;
  for (size_t i = 0; i < sizeof(PioLine); ++i) out[sizeof c + i] = uint8_t(generator());
  return sizeof c + sizeof(PioLine);
}

size_t make_message(uint8_t* out) {
  size_t size = 0;
  for (uint64_t n = random_below(12); n > 0; --n) size += make_frame(out + size);
  for (uint64_t n = random_below(3); n > 0 && size > 0 && random_below(4) == 0; --n) out[random_below(size)] = uint8_t(generator());
  if (random_below(16) == 0) size = random_below(size + 1);
  return size;
}

struct Counts {
  uint64_t executed = 0, refused = 0, sessions = 0;
};

// One session: it ends with the first error, as the real one does.
void session(uint64_t* messages, Counts* counts, FakeOutbox* outbox, uint64_t* ticks) {
  const Limits limits{4, 16, 8192};
  Control control{};
  std::vector<uint64_t> memory(4 * 8192 / 8);
  std::vector<TraceRecord> trace(random_below(2) ? kMinTrace : 0);
  Shared shared{&control, reinterpret_cast<uint8_t*>(memory.data()), trace.data(), trace.size()};
  FakeModel model;
  Bridge bridge(limits, shared, &model, outbox);
  model.bus = &bridge;
  const Shape shape{{2, 2, 1}, false};
  Border border(shape, 0b0101, WordFormat(false, 16));
  if (random_below(2)) {
    bridge.set_border(&border);
    model.border = &border;
  }
  for (; *messages > 0; --*messages) {
    uint8_t scratch[4096];
    size_t size = make_message(scratch);
    std::vector<uint8_t> message(scratch, scratch + size);  // exact, so that reading beyond is caught
    for (size_t pos = 0; pos < size;) {
      Command command;
      PioLine line{};
      std::string error;
      size_t before = pos;
      if (!decode_command(message.data(), size, &pos, limits, &command, &line, &error)) {
        if (error.empty()) std::abort();
        ++counts->refused;
        *ticks += model.ticks;
        return;
      }
      if (pos <= before || pos > size) std::abort();
      ++counts->executed;
      auto result = bridge.execute(command, line, &error);
      if (result != Bridge::Result::kOk) {
        *ticks += model.ticks;
        return;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  uint64_t seed = std::strtoull(argv[1], nullptr, 10), messages = std::strtoull(argv[2], nullptr, 10);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  generator.seed(seed);
  Counts counts;
  FakeOutbox outbox;
  uint64_t ticks = 0;
  for (; messages > 0; ++counts.sessions) {
    session(&messages, &counts, &outbox, &ticks);
    messages -= messages > 0;
  }
  std::printf("%llu sessions, %llu frames executed, %llu refused, %llu events, %llu cycles\n",
              static_cast<unsigned long long>(counts.sessions), static_cast<unsigned long long>(counts.executed),
              static_cast<unsigned long long>(counts.refused), static_cast<unsigned long long>(outbox.events),
              static_cast<unsigned long long>(ticks));
  return 0;
}
