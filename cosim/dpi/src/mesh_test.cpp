// mesh_test.cpp: the mesh without Verilator: wiring, crew, and a mesh of small nodes against one
// that is as simple as can be (every node in every cycle, one thread, no sleep).
//
//   mesh_test SEED
#include "mesh.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using namespace nicloop;

uint64_t seed;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "FAILED with seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
  std::exit(1);
}

void expect(bool ok, const std::string& what) {
  if (!ok) fail(what);
}

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 29;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 32;
}

// A node that keeps a hash of everything it sees with the cycle at which it saw it. Fuel comes with
// words and commands; as long as there is some it sends words, changes its interrupt and breaks or
// mends a wire now and then.
struct Small {
  static constexpr uint32_t kLinks = kMaxLinks, kWordBytes = 8, kVcDepth = 1;

  uint64_t hash = 0, cycle = 0, slept_ = 0;
  uint32_t n = 0, fuel = 0, valid = 0, down = 0, carrier_ = 0, rx_valid = 0;
  uint64_t rx_words[kLinks] = {}, words[kLinks] = {};
  bool rst = false, reg = false, pio = false, up = false, dies = false;
  uint64_t checks = 0;  // of credits

  void start(uint32_t node, const Shape&, uint32_t) { n = node; }
  void reset(bool on) { rst = on; }
  void start_links() {}
  void trace(bool) {}
  void commands(bool r, bool p) { reg = r, pio = p; }
  void carrier(uint32_t mask) { carrier_ = mask; }
  void slept(uint64_t cycles) { slept_ = cycles; }
  void rx(uint32_t mask, const void* from) {
    rx_valid = mask;
    std::memcpy(rx_words, from, sizeof rx_words);
  }
  uint32_t moments() const { return 2; }
  uint32_t lasts(uint32_t) const { return 3200; }
  void moment(uint32_t i) {
    if (i == 1) edge();
  }
  void settle() {}
  void check_credits() {
    expect(fuel == 0, "credits are checked while a node is busy");
    ++checks;
  }
  void edge() {
    if (rst) {
      *this = fresh();
      return;
    }
    cycle = ++edges + slept_;
    for (uint32_t l = 0; l < kLinks; ++l) {
      if (rx_valid >> l & 1) take(rx_words[l] + l);
    }
    if (reg) take(1);
    if (pio) take(2);
    valid = 0;
    if (fuel > 0) burn();
  }
  uint32_t tx_valid() const { return valid; }
  uint32_t wire_down() const { return down; }
  const void* tx_word(uint32_t l) const { return &words[l]; }
  bool irq() const { return up; }
  bool idle() const { return fuel == 0; }
  bool active() const { return fuel > 0 && carrier_ != 0; }

 private:
  uint64_t edges = 0;

  Small fresh() const {
    Small s;
    s.n = n, s.carrier_ = carrier_, s.hash = mix(n + seed), s.rst = rst;
    return s;
  }
  void take(uint64_t word) {
    hash = mix(hash ^ mix(word ^ cycle << 8));
    fuel = std::min(fuel + uint32_t(hash & 3), 6u);
  }
  void burn() {
    --fuel;
    hash = mix(hash + 1);
    uint32_t link = uint32_t(hash % kLinks);
    valid = 1u << link;
    words[link] = hash;
    up = (hash >> 20 & 3) == 0;
    if ((hash >> 24 & 31) == 0) down ^= 1u << (hash >> 32) % kLinks;
    if (dies && hash % 5 == 0) throw ModelDied{};
  }
};

// What Mesh promises, in the plainest way.
struct Plain {
  Shape shape;
  std::vector<Small> nodes;
  std::vector<uint32_t> carrier;
  struct Word {
    uint32_t node, link;
    uint64_t word, at;  // the cycle that brings it
  };
  std::vector<Word> wires;
  uint64_t died = 0, cycle = 0, arrived = 0;  // arrived: the cycle after that of the last word
  const uint32_t latency;

  Plain(const Shape& s, uint64_t dying, uint32_t wire_latency) : shape(s), nodes(s.nodes()), carrier(s.nodes()), latency(wire_latency) {
    for (uint32_t n = 0; n < s.nodes(); ++n) {
      nodes[n].start(n, s, 0);
      nodes[n].reset(true);
      set_carrier(n);
      nodes[n].edge();
      nodes[n].reset(false);
      nodes[n].dies = dying >> n & 1;
    }
  }
  void set_carrier(uint32_t n) {
    carrier[n] = 0;
    for (uint32_t l = 0; l < kMaxLinks; ++l) {
      End to = across(shape, n, l);
      if (to.connected && ((nodes[n].down >> l | nodes[to.node].down >> to.link) & 1) == 0) carrier[n] |= 1u << l;
    }
    nodes[n].carrier(carrier[n]);
  }
  bool tick(const Pending& pending) {
    bool dead = false;
    std::vector<Word> sent;
    for (uint32_t n = 0; n < nodes.size(); ++n) {
      Small& node = nodes[n];
      uint64_t words[kMaxLinks] = {};
      uint32_t valid = 0;
      for (const Word& w : wires) {
        if (w.node == n && w.at == cycle && (carrier[n] >> w.link & 1)) valid |= 1u << w.link, words[w.link] = w.word;
      }
      node.commands(pending.reg >> n & 1, pending.pio >> n & 1);
      node.rx(valid, words);
      try {
        node.edge();
      } catch (const ModelDied&) {
        dead = true;
      }
      for (uint32_t l = 0; l < kMaxLinks; ++l) {
        End to = across(shape, n, l);
        if ((node.valid >> l & 1) && to.connected && (latency == 0 || (carrier[n] >> l & 1))) sent.push_back({to.node, to.link, node.words[l], cycle + 1 + latency});
      }
    }
    for (const Word& w : wires) {
      if (w.at > cycle) sent.push_back(w);
    }
    ++cycle;
    for (uint32_t n = 0; n < nodes.size(); ++n) set_carrier(n);
    wires.clear();
    for (const Word& w : sent) {
      arrived = std::max(arrived, w.at + 1);
      if (carrier[w.node] >> w.link & 1) wires.push_back(w);
    }
    return !dead;
  }
};

void compare(Mesh<Small>& mesh, const Plain& plain, uint64_t cycle) {
  std::string at = " in cycle " + std::to_string(cycle);
  uint64_t irq = 0;
  bool active = false;
  for (uint32_t n = 0; n < plain.nodes.size(); ++n) {
    const Small &a = mesh.node(n), &b = plain.nodes[n];
    expect(a.hash == b.hash && a.fuel == b.fuel && a.down == b.down, "node " + std::to_string(n) + " differs" + at);
    irq |= uint64_t(b.up) << n;
    active |= b.active();
  }
  if (plain.latency != 0) active |= plain.cycle < plain.arrived;
  expect(mesh.irq() == irq, "irq differs" + at);
  expect(mesh.active() == active, "active differs" + at);
}

uint64_t against_plain(const Shape& shape, uint32_t threads, uint64_t dying, bool watched, uint32_t latency) {
  Plain plain(shape, dying, latency);
  Mesh<Small> mesh(shape, threads, [](uint32_t) { return std::make_unique<Small>(); }, ~0ull, nullptr, latency);
  mesh.reset(3);
  for (uint32_t n = 0; n < shape.nodes(); ++n) mesh.node(n).dies = dying >> n & 1;
  if (watched) mesh.watch(0x5, [](uint32_t) {});
  uint64_t random = mix(seed ^ shape.packed(0) ^ threads), cycles = 6000, all = shape.nodes() == 64 ? ~0ull : (1ull << shape.nodes()) - 1;
  for (uint64_t c = 0; c < cycles; ++c) {
    random = mix(random + c);
    bool busy = c / 500 % 3 != 0;  // sometimes nobody has anything to do
    Pending pending;
    if (busy) pending.reg = all & mix(random) & mix(random + 1), pending.pio = all & mix(random + 2) & mix(random + 3);
    else if (random % 64 == 0) pending.reg = 1ull << random / 64 % shape.nodes();
    bool alive = plain.tick(pending), told = true;
    try {
      mesh.tick(pending);
    } catch (const ModelDied&) {
      told = false;
    }
    expect(alive == told, "a node died and that was not told, in cycle " + std::to_string(c));
    compare(mesh, plain, c);
  }
  expect(mesh.cycles() == cycles, "cycles are counted");
  expect(dying != 0 || mesh.node(0).checks > 0, "credits were never checked");
  if (!watched) expect(mesh.steps() < cycles * shape.nodes() * 9 / 10, "nobody slept");
  return mesh.steps();
}

void wiring() {
  for (uint32_t x : {1u, 2u, 3u, 5u}) {
    for (uint32_t y : {1u, 2u, 4u}) {
      for (uint32_t z : {1u, 2u, 3u}) {
        for (bool torus : {false, true}) {
          Shape s;
          s.dims[0] = x, s.dims[1] = y, s.dims[2] = z, s.torus = torus;
          for (uint32_t n = 0; n < s.nodes(); ++n) {
            for (uint32_t l = 0; l < kMaxLinks; ++l) {
              End to = across(s, n, l);
              uint32_t d = l / 2, size = s.dims[d], at = s.coordinate(n, d);
              bool inside = l % 2 == 0 ? at + 1 < size : at > 0;
              expect(to.connected == (inside || (torus && size > 2)), "which wires there are");
              if (!to.connected) continue;
              End back = across(s, to.node, to.link);
              expect(back.connected && back.node == n && back.link == l, "a wire leads back");
              expect(s.coordinate(to.node, d) == (at + (l % 2 == 0 ? 1 : size - 1)) % size, "a wire leads one step on");
            }
          }
        }
      }
    }
  }
}

void crew() {
  Crew crew(3);
  std::vector<std::atomic<uint32_t>> done(300);
  const std::function<void(uint32_t)> step = [&](uint32_t i) { done[i].fetch_add(1); };
  for (uint32_t round = 0; round < 2000; ++round) {
    uint32_t count = uint32_t(mix(seed + round) % done.size());
    for (auto& d : done) d.store(0);
    crew.run(count, step);
    for (uint32_t i = 0; i < done.size(); ++i) expect(done[i].load() == (i < count ? 1u : 0u), "every step once");
  }
}

// In a forked process the other threads are gone: the mesh goes on alone, with the same result.
void forked() {
  Shape shape;
  shape.dims[0] = 4, shape.dims[1] = 4;
  Mesh<Small> mesh(shape, 2, [](uint32_t) { return std::make_unique<Small>(); });
  mesh.reset(3);
  auto go = [&] {
    for (uint64_t c = 0; c < 3000; ++c) mesh.tick({mix(seed + c) & 0xffff, 0});
    uint64_t hash = 0;
    for (uint32_t n = 0; n < shape.nodes(); ++n) hash = mix(hash ^ mesh.node(n).hash);
    return uint8_t(hash);
  };
  for (uint64_t c = 0; c < 1000; ++c) mesh.tick({mix(c) & 0xffff, 0});
  pid_t child = fork();
  if (child == 0) {
    mesh.forget_threads();
    _exit(go());
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == go(), "a fork goes on with the same result");
}

}  // namespace

int main(int argc, char** argv) {
  seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  wiring();
  crew();
  forked();
  const uint32_t sizes[][3] = {{2, 1, 1}, {3, 3, 1}, {4, 4, 4}};
  for (const auto& d : sizes) {
    for (bool torus : {false, true}) {
      Shape shape;
      std::copy(d, d + 3, shape.dims);
      shape.torus = torus;
      uint64_t steps = against_plain(shape, 1, 0, false, 0);
      against_plain(shape, 3, 0, false, 0);
      against_plain(shape, 2, 0x1f, false, 0);
      against_plain(shape, 1, 0, true, 0);
      against_plain(shape, 1, 0, false, 1);
      against_plain(shape, 3, 0x2, false, kMaxWireLatency);
      std::printf("seed %llu: %ux%ux%u torus %d: same, %llu edges\n", static_cast<unsigned long long>(seed), d[0], d[1], d[2], torus,
                  static_cast<unsigned long long>(steps));
    }
  }
}
