// fifo: order and content under random stalls of both sides; level equals the number of words
// inside; fills to DEPTH and not further; drains to empty; full throughput while both sides are
// ready. A word is offered in the cycle after it is the oldest, whether or not the reader is ready.
// Not covered: reset in the middle of traffic.
#include "Vfifo.h"
#include "tb.h"

int main(int argc, char** argv) {
  tb::Bench<Vfifo> b(argc, argv);
  auto& t = b.top;
  const unsigned capacity = TB_DEPTH + (TB_FALL_THROUGH ? 0 : 1);  // the output register holds one more
  std::deque<uint8_t> inside;
  bool was_full = false, was_empty_after_full = false, oldest_waits = false;
  b.reset();
  for (int phase = 0; phase < 40; ++phase) {
    unsigned in = b.random.mood(), out = b.random.mood();
    for (int i = 0; i < 200; ++i) {
      t.wr_valid = b.random.percent(in);
      t.wr_data = b.random.next() & 0xff;
      t.rd_ready = b.random.percent(out);
      b.settle();
      CHECK(t.level == inside.size(), "level %u, %zu words inside", t.level, inside.size());
      CHECK(t.wr_ready || inside.size() >= TB_DEPTH, "not ready with %zu of %u words", inside.size(), capacity);
      CHECK(!t.rd_valid || !inside.empty(), "valid while empty");
      if (TB_FALL_THROUGH) CHECK(t.rd_valid == !inside.empty(), "valid %u with %zu words", t.rd_valid, inside.size());
      CHECK(t.rd_valid || !oldest_waits, "not valid with a word of an earlier cycle, reader ready: %u", t.rd_ready);
      bool push = t.wr_valid && t.wr_ready, pop = t.rd_valid && t.rd_ready;
      if (pop) {
        CHECK(t.rd_data == inside.front(), "read %02x, expected %02x", t.rd_data, inside.front());
        inside.pop_front();
      }
      oldest_waits = !inside.empty();
      if (push) inside.push_back(t.wr_data);
      CHECK(inside.size() <= capacity, "%zu words in a FIFO of %u", inside.size(), capacity);
      was_full |= inside.size() == capacity;
      was_empty_after_full |= was_full && inside.empty();
      b.edge();
    }
  }
  CHECK(was_full && was_empty_after_full, "never full and drained: the scenario lost its point");

  // Both sides ready: one word a cycle, unless a single entry cannot be filled and emptied at once.
  t.wr_valid = t.rd_ready = 1;
  unsigned moved = 0;
  for (int i = 0; i < 110; ++i) {
    t.wr_data = i;
    b.settle();
    if (i >= 10) moved += t.rd_valid;
    b.edge();
  }
  CHECK(moved == (TB_DEPTH > 1 ? 100u : 50u), "%u words in 100 cycles", moved);
}
