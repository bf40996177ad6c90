// board_memory: bursts of the NIC and looks of somebody else, at random, against memory that is
// written when the RTL has taken a beat. Bursts leave the memory, falter and wait for their
// answers; a look is answered in the cycle behind it whatever they do. idle is high exactly when no
// burst and no look is outstanding.
#include "Vboard_memory.h"
#include "tb.h"

constexpr uint64_t kBytes = TB_BYTES, kWords = kBytes / 8;

struct Rig {
  tb::Bench<Vboard_memory> b;
  std::vector<uint64_t> memory = std::vector<uint64_t>(kWords);
  unsigned offers = 90, takes = 90, looks = 30;  // percent

  struct Beat {
    uint64_t data;
    unsigned strobes;
  };
  struct Write {
    uint64_t at;  // quadword
    std::deque<Beat> beats;
    bool bad = false;
  };
  struct Read {
    uint64_t at;
    unsigned left;  // beats
  };
  bool shown = false;  // the beat that is offered was in the cycle before
  uint64_t shows = 0;
  bool aw_out = false, w_out = false, ar_out = false;
  std::deque<Write> to_address, to_fill;
  std::deque<bool> answers;
  std::deque<Read> to_ask, to_come;
  // What memory was in the cycles before, the last first.
  std::deque<std::vector<uint64_t>> history;
  uint64_t idle_cycles = 0, beats_in = 0, beats_out = 0, looked = 0, looks_beside = 0, bad_writes = 0, bad_reads = 0;

  bool look_now = false, look_known = false, look_write = false;
  uint64_t look_at = 0;

  Rig(int argc, char** argv) : b(argc, argv) {}

  uint64_t somewhere() {
    switch (b.random.below(10)) {
      case 0: return b.random.next() >> 3;
      case 1: return kWords - 1 - b.random.below(8);
      default: return b.random.below(kWords);
    }
  }
  void draw() {
    if (to_address.size() < 3 && b.random.percent(offers)) {
      Write w;
      w.at = somewhere();
      for (uint64_t n = 1 + b.random.below(8); n > 0; --n) w.beats.push_back({b.random.next(), unsigned(b.random.percent(60) ? 0xff : b.random.below(256))});
      to_address.push_back(w);
    }
    if (to_ask.size() < 3 && b.random.percent(offers)) to_ask.push_back({somewhere(), unsigned(1 + b.random.below(8))});
  }
  void inputs() {
    auto& t = b.top;
    aw_out = !to_address.empty() && (aw_out || b.random.percent(offers));
    t.s_awvalid = aw_out;
    if (aw_out) t.s_awaddr = to_address.front().at << 3;
    w_out = !to_fill.empty() && (w_out || b.random.percent(offers));
    t.s_wvalid = w_out;
    if (w_out) {
      t.s_wdata = to_fill.front().beats.front().data;
      t.s_wstrb = uint8_t(to_fill.front().beats.front().strobes);
      t.s_wlast = to_fill.front().beats.size() == 1;
    }
    t.s_bready = b.random.percent(takes);
    ar_out = !to_ask.empty() && (ar_out || b.random.percent(offers));
    t.s_arvalid = ar_out;
    if (ar_out) {
      t.s_araddr = to_ask.front().at << 3;
      t.s_arlen = uint8_t(to_ask.front().left - 1);
    }
    t.s_rready = b.random.percent(takes);
  }
  bool due = false, due_known = false, due_write = false;
  uint64_t due_value = 0;

  void cycle() {
    auto& t = b.top;
    draw();
    inputs();
    look_now = !due && b.random.percent(looks);
    t.look = look_now;
    look_write = b.random.percent(50);
    look_at = b.random.percent(10) ? b.random.next() & ((1ull << 40) - 1) : b.random.below(kWords) << 3;
    t.look_write = look_write;
    t.look_addr = look_at;
    t.look_value = b.random.next();
    look_known = look_at < kBytes && look_at % 8 == 0;
    b.settle();

    CHECK(t.told == due, "told is %d in the cycle behind a look, expected %d", t.told, due);
    if (due) {
      CHECK(t.told_known == due_known, "an address is known: %d, expected %d", t.told_known, due_known);
      CHECK(due_write || t.told_value == due_value, "a look shows %016llx, expected %016llx", (unsigned long long)t.told_value, (unsigned long long)due_value);
      ++looked;
    }
    bool outstanding = !to_fill.empty() || !answers.empty() || !to_come.empty() || due;
    CHECK(t.idle == !outstanding, "idle is %d, accesses are outstanding: %d", t.idle, outstanding);
    idle_cycles += t.idle;
    due = look_now, due_known = look_known, due_write = look_write;
    due_value = look_known ? memory[look_at >> 3] : 0;
    if (look_now && (t.s_wvalid || t.s_rvalid)) ++looks_beside;

    reads();
    std::vector<uint64_t> before = memory;  // a beat that is read in this cycle shows this
    writes();
    if (look_now && look_write && look_known) memory[look_at >> 3] = t.look_value;
    history.push_front(before);
    if (history.size() > 2) history.pop_back();
    b.edge();
  }
  void writes() {
    auto& t = b.top;
    if (t.s_bvalid) CHECK(!answers.empty(), "an answer to no write");
    if (t.s_bvalid && t.s_bready) {
      CHECK((t.s_bresp == 3) == answers.front() && (t.s_bresp == 0) != answers.front(), "a write is answered with %d, expected %s", t.s_bresp, answers.front() ? "DECERR" : "OKAY");
      bad_writes += answers.front();
      answers.pop_front();
    }
    if (t.s_wvalid && t.s_wready) {
      CHECK(!to_fill.empty(), "a beat without address is taken");
      Write& w = to_fill.front();
      if (w.at < kWords) {
        uint64_t mask = 0;
        for (int i = 0; i < 8; ++i) mask |= (w.beats.front().strobes >> i & 1) != 0 ? 0xffull << 8 * i : 0;
        memory[w.at] = (memory[w.at] & ~mask) | (w.beats.front().data & mask);
      } else {
        w.bad = true;
      }
      ++w.at;
      ++beats_in;
      w.beats.pop_front();
      w_out = false;
      if (w.beats.empty()) {
        answers.push_back(w.bad);
        to_fill.pop_front();
      }
    }
    if (t.s_awvalid && t.s_awready) {
      to_fill.push_back(to_address.front());
      to_address.pop_front();
      aw_out = false;
    }
  }
  // A beat is offered in the second cycle behind that in which it is read, and stays.
  void reads() {
    auto& t = b.top;
    if (t.s_rvalid) {
      CHECK(!to_come.empty(), "a beat of no read");
      Read& r = to_come.front();
      CHECK(t.s_rlast == (r.left == 1), "last is %d with %u beats left", t.s_rlast, r.left);
      CHECK(t.s_rresp == (r.at < kWords ? 0 : 3), "a beat is answered with %d", t.s_rresp);
      if (!shown) shows = r.at < kWords ? history[1][r.at] : 0;
      CHECK(t.s_rdata == shows, "a beat shows %016llx, where %016llx stood when it was read", (unsigned long long)t.s_rdata, (unsigned long long)shows);
      if (t.s_rready) {
        bad_reads += r.at >= kWords;
        ++r.at;
        ++beats_out;
        if (--r.left == 0) to_come.pop_front();
      }
    }
    shown = t.s_rvalid && !t.s_rready;
    if (t.s_arvalid && t.s_arready) {
      to_come.push_back(to_ask.front());
      to_ask.pop_front();
      ar_out = false;
    }
  }
};

int main(int argc, char** argv) {
  Rig r(argc, argv);
  r.b.reset();
  for (uint64_t i = 0; i < kWords; ++i) {  // its first contents are anybody's
    r.memory[i] = r.b.random.next();
    r.b.top.look = r.b.top.look_write = 1;
    r.b.top.look_addr = i << 3;
    r.b.top.look_value = r.memory[i];
    r.b.tick();
    r.b.top.look = 0;
    r.b.tick();
    r.b.tick();
  }
  for (int phase = 0; phase < 40; ++phase) {
    r.offers = r.b.random.mood();
    r.takes = r.b.random.mood();
    r.looks = r.b.random.percent(30) ? 100 : unsigned(r.b.random.below(60));
    if (phase % 4 == 3) r.offers = r.looks = 1, r.takes = 50;  // gaps in which the memory is idle
    for (int i = 0; i < 2000; ++i) r.cycle();
  }
  CHECK(r.beats_in > 5000 && r.beats_out > 5000 && r.looked > 5000 && r.looks_beside > 1000 && r.bad_writes > 50 && r.bad_reads > 50 && r.idle_cycles > 100,
        "too little was tried: %llu beats in, %llu out, %llu looks, %llu of them beside beats, %llu bad writes, %llu bad beats, %llu idle cycles", (unsigned long long)r.beats_in,
        (unsigned long long)r.beats_out, (unsigned long long)r.looked, (unsigned long long)r.looks_beside, (unsigned long long)r.bad_writes, (unsigned long long)r.bad_reads,
        (unsigned long long)r.idle_cycles);
}
