// skid: order and content under random stalls; m_valid and m_data hold until m_ready; s_ready is a
// register (does not follow m_ready within a cycle); full throughput.
#include "Vskid.h"
#include "tb.h"

int main(int argc, char** argv) {
  tb::Bench<Vskid> b(argc, argv);
  auto& t = b.top;
  std::deque<uint64_t> inside;
  bool held = false;
  uint64_t held_data = 0;
  unsigned longest = 0;
  b.reset();
  for (int phase = 0; phase < 40; ++phase) {
    unsigned in = phase == 0 ? 100 : b.random.mood(), out = phase == 0 ? 100 : b.random.mood(), run = 0;
    for (int i = 0; i < 200; ++i) {
      t.s_valid = b.random.percent(in);
      t.s_data = b.random.next();
      t.m_ready = 0;
      b.settle();
      unsigned ready = t.s_ready;
      t.m_ready = b.random.percent(out);
      b.settle();
      CHECK(ready == t.s_ready, "s_ready follows m_ready");
      CHECK(!held || (t.m_valid && t.m_data == held_data), "the offered word changed before it was taken");
      bool push = t.s_valid && t.s_ready, pop = t.m_valid && t.m_ready;
      CHECK(t.m_valid == !inside.empty(), "m_valid %u with %zu words inside", t.m_valid, inside.size());
      if (pop) {
        CHECK(t.m_data == inside.front(), "read %llx, expected %llx", (unsigned long long)t.m_data, (unsigned long long)inside.front());
        inside.pop_front();
      }
      if (push) inside.push_back(t.s_data);
      CHECK(inside.size() <= 2, "%zu words in two registers", inside.size());
      held = t.m_valid && !t.m_ready;
      held_data = t.m_data;
      run = pop ? run + 1 : 0;
      longest = std::max(longest, run);
      b.edge();
    }
  }
  CHECK(longest > 100, "longest run without a gap: %u cycles", longest);
}
