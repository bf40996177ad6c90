// axil_issue: random reads and writes; a slave that takes address and data at random times and
// answers at random times; answers that nobody asked for.
// - an access begins in the cycle behind its request, with address and data of a write together,
//   and each is offered until it is taken;
// - the next access does not begin before the answer to the one before has been taken;
// - the answer is offered, and the request taken, in the cycle of the slave's answer;
// - an answer without an access is neither taken nor passed on.
#include "Vaxil_issue.h"
#include "tb.h"

namespace {

struct Test : tb::Bench<Vaxil_issue> {
  unsigned ask = 100, take = 100, answer = 100, accept = 100;  // percent
  bool request = false, write = false;  // offered to the unit
  bool outstanding = false;             // the access has begun
  bool aw = false, w = false, ar = false;
  bool answered = false;                // what the slave offers stays until it is taken
  unsigned reads = 0, writes = 0, strays = 0;

  using Bench::Bench;

  void step() {
    if (!request && random.percent(ask)) request = true, write = random.percent(50);
    top.req_valid = request, top.req_write = request ? write : random.percent(50);
    top.m_awready = random.percent(take), top.m_wready = random.percent(take), top.m_arready = random.percent(take);
    bool due = outstanding && !aw && !w && !ar, stray = !outstanding && random.percent(10);
    answered = due && (answered || random.percent(answer));
    bool either = random.percent(50);
    top.m_bvalid = (answered && write) || (stray && either), top.m_rvalid = (answered && !write) || (stray && !either);
    top.rsp_ready = random.percent(accept);
    settle();

    CHECK(top.m_awvalid == aw && top.m_wvalid == w && top.m_arvalid == ar, "AWVALID %u, WVALID %u, ARVALID %u, expected %u, %u, %u", top.m_awvalid, top.m_wvalid,
          top.m_arvalid, aw, w, ar);
    CHECK(top.rsp_valid == answered, "an answer is offered: %u, expected %u", top.rsp_valid, answered);
    bool takes = outstanding && top.rsp_ready, done = answered && top.rsp_ready;
    CHECK(top.m_bready == takes && top.m_rready == takes, "BREADY %u, RREADY %u, expected %u", top.m_bready, top.m_rready, takes);
    CHECK(top.req_ready == done, "the request is taken: %u, expected %u", top.req_ready, done);

    bool begins = request && !outstanding;
    aw = aw ? !top.m_awready : begins && write;
    w = w ? !top.m_wready : begins && write;
    ar = ar ? !top.m_arready : begins && !write;
    strays += stray, reads += done && !write, writes += done && write;
    if (begins) outstanding = true;
    if (done) outstanding = request = answered = false;
    edge();
  }
};

void scenario(Test& t) {
  t.reset();
  for (int phase = 0; phase < 60; ++phase) {
    t.ask = t.random.mood(), t.take = t.random.mood(), t.answer = t.random.mood(), t.accept = t.random.mood();
    for (int i = 0; i < 300; ++i) t.step();
  }
  CHECK(t.reads > 300 && t.writes > 300 && t.strays > 100, "%u reads, %u writes, %u stray answers: the scenario lost its point", t.reads, t.writes, t.strays);
}

}  // namespace

int main(int argc, char** argv) { tb::lives<Test>(argc, argv, scenario); }
