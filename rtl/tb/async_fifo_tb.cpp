// async_fifo: two clocks of random and changing speeds, random writers and readers, resets of both
// sides.
// - words come out once and in order; a word that is not taken stays;
// - it takes 2^A words and one in its output register, then says that it is full, and takes another
//   within a few cycles of a read;
// - a word can be read within a few cycles of its write;
// - in reset no word is taken; behind a reset of both sides it is empty and works as before.
#include "Vasync_fifo.h"
#include "tb.h"

namespace {

constexpr unsigned kWords = 1u << TB_A;

struct Test : tb::Bench<Vasync_fifo> {
  unsigned wr_half = 5, rd_half = 4;
  uint64_t now = 0, wr_at = 5, rd_at = 3;
  unsigned write_percent = 100, read_percent = 100;
  bool compares = false;  // both sides are out of reset
  std::deque<uint64_t> inside;
  bool held = false;
  uint64_t held_data = 0;
  uint64_t last_read = 0, last_write = 0;  // when the last word was taken out, came in
  uint64_t words = 0, fulls = 0, read_edges = 0;

  using Bench::Bench;

  unsigned slow() const { return 2 * std::max(wr_half, rd_half); }

  void write_edge() {
    top.wr_valid = !top.wr_rst && (top.wr_valid || random.percent(write_percent)), top.wr_data = next();
    top.wr_clk = 0, top.eval();
    CHECK(!top.wr_rst || !top.wr_ready, "a word is taken in reset");
    if (compares && top.wr_valid && top.wr_ready) {
      inside.push_back(top.wr_data), last_write = now, ++words;
      CHECK(inside.size() <= kWords + 1, "%zu words inside", inside.size());
    }
    if (compares && !top.wr_ready) {
      ++fulls;
      CHECK(inside.size() >= kWords || now - last_read < 8 * slow(), "full with %zu words", inside.size());
    }
    top.wr_clk = 1, top.eval();
  }
  uint64_t count = 0;
  uint64_t next() { return tb::Random{count + words}.next() & ((1ull << TB_W) - 1); }  // the same until it is taken

  void read_edge() {
    top.rd_ready = random.percent(read_percent);
    ++read_edges;
    top.rd_clk = 0, top.eval();
    if (compares) {
      CHECK(!held || (top.rd_valid && top.rd_data == held_data), "a word is withdrawn before it is taken");
      if (top.rd_valid) {
        CHECK(!inside.empty() && top.rd_data == inside.front(), "word %llx, expected %llx of %zu", (unsigned long long)top.rd_data,
              inside.empty() ? 0ull : (unsigned long long)inside.front(), inside.size());
        if (top.rd_ready) inside.pop_front(), last_read = now;
      } else {
        CHECK(inside.empty() || now - last_write < 8 * slow() || now - last_read < 8 * slow(), "%zu words inside, and none can be read", inside.size());
      }
      held = top.rd_valid && !top.rd_ready, held_data = top.rd_data;
    }
    top.rd_clk = 1, top.eval();
  }

  void run(uint64_t edges) {
    for (uint64_t i = 0; i < edges; ++i) {
      now = std::min(wr_at, rd_at);
      bool write_first = random.percent(50);  // edges of one time
      bool w = wr_at == now, r = rd_at == now;
      if (w && write_first) write_edge();
      if (r) read_edge();
      if (w && !write_first) write_edge();
      if (w) wr_at += 2 * wr_half;
      if (r) rd_at += 2 * rd_half;
      if (tb::cycle++ == tb::cut) throw tb::Cut{};
    }
  }

  // Both resets are high together for three cycles of either clock; they rise and fall one behind
  // the other.
  void reset_both() {
    compares = false;
    auto some = [&] { run(random.below(6)); };
    bool write_first = random.percent(50);
    top.wr_valid = 0;
    (write_first ? top.wr_rst : top.rd_rst) = 1, some(), top.wr_rst = top.rd_rst = 1;
    for (uint64_t from = now; now - from < 5 * slow();) run(1);
    inside.clear(), held = false, count += 1000003;
    CHECK(!top.rd_valid, "a word behind reset");
    write_percent = 0, compares = true;
    (write_first ? top.wr_rst : top.rd_rst) = 0, last_read = last_write = now, some(), top.wr_rst = top.rd_rst = 0;
    last_read = last_write = now;
  }

  void fill_and_drain() {
    write_percent = 100, read_percent = 0;
    for (uint64_t from = now; now - from < 20 * slow() * kWords;) run(1);
    CHECK(inside.size() == kWords + 1, "%zu words until it was full, expected %u", inside.size(), kWords + 1);
    write_percent = 0, read_percent = 100;
    top.wr_valid = 0;
    uint64_t from = read_edges;
    for (; !inside.empty(); run(1))
      CHECK(read_edges - from <= kWords + 2, "%zu words stay, expected one to leave in each cycle", inside.size());
  }
};

void scenario(Test& t) {
  static const unsigned speeds[][2] = {{5, 5}, {5, 4}, {3, 11}, {13, 3}, {4, 5}, {7, 2}};
  for (int phase = 0; phase < 60; ++phase) {
    const unsigned* s = speeds[t.random.below(6)];
    t.wr_half = s[0], t.rd_half = s[1], t.wr_at = t.now + 1 + t.random.below(5), t.rd_at = t.now + 1 + t.random.below(5);
    if (phase % 3 == 0) t.reset_both();
    t.write_percent = t.random.mood(), t.read_percent = t.random.mood();
    t.run(400);
    if (phase % 3 == 2) t.fill_and_drain();
  }
  CHECK(t.words > 500 && t.fulls > 100, "%llu words, full in %llu cycles: the scenario lost its point", (unsigned long long)t.words, (unsigned long long)t.fulls);
}

}  // namespace

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
