// rr_arbiter: against a naive model that walks from the last one served; one-hot; without advance
// the grant stays; nobody who keeps asking waits for more than N - 1 services of others.
#include "Vrr_arbiter.h"
#include "tb.h"

int main(int argc, char** argv) {
  tb::Bench<Vrr_arbiter> b(argc, argv);
  auto& t = b.top;
  int last = TB_N - 1;
  unsigned waited[TB_N] = {};
  b.reset();
  for (int i = 0; i < 20000; ++i) {
    t.req = b.random.next() & b.random.next() & ((1u << TB_N) - 1);
    if (i % 3 == 0) t.req = (1u << TB_N) - 1;
    t.advance = b.random.percent(70);
    b.settle();
    unsigned expected = 0;
    for (int k = 1; k <= TB_N && expected == 0; ++k) expected = t.req & 1u << (last + k) % TB_N;
    CHECK(t.grant == expected, "requests %x after %d: grant %x, expected %x", t.req, last, t.grant, expected);
    if (t.advance && expected != 0) {
      last = __builtin_ctz(expected);
      for (int k = 0; k < TB_N; ++k) {
        waited[k] = (t.req >> k & 1) && k != last ? waited[k] + 1 : 0;
        CHECK(waited[k] < TB_N, "requester %d was passed over %u times", k, waited[k]);
      }
    }
    for (int k = 0; k < TB_N; ++k) {
      if (!(t.req >> k & 1)) waited[k] = 0;
    }
    b.edge();
  }
}
