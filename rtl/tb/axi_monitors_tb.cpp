// axi_monitors: every rule that axi_write_monitor and axi_read_monitor check is broken once, and
// the monitor must report it; legal orders of handshakes must pass. Without this bench a monitor
// that checks nothing would make every other bench green.
//
// A case is a list of cycles, separated by "|", behind a reset of two cycles. A word is a signal
// that is 1, or "signal=value"; what is not named is 0.
#include <map>
#include <set>
#include <sstream>

#include "Vaxi_monitors.h"
#include "tb.h"

namespace {

struct Case {
  const char *name, *cycles;
};

const Case kLegal[] = {
    {"address and data together", "awvalid awready wvalid wready wlast | bvalid bready"},
    {"data before its address", "awvalid wvalid wready wlast | awvalid awready | bvalid bready"},
    {"data, then AWVALID", "wvalid wready wlast | awvalid awready | bvalid | bvalid bready"},
    {"held data", "awvalid awready awlen=1 wvalid | wvalid wready | wvalid wlast | wvalid wready wlast | bvalid bready"},
    {"two addresses ahead",
     "awvalid awready wvalid wlast | awvalid awready awlen=1 wvalid wlast | wvalid wready wlast | "
     "wvalid wready bvalid bready | wvalid wready wlast | bvalid bready"},
    {"two reads in order",
     "arvalid arready arlen=1 | arvalid arready rvalid rready | rvalid rready rlast | rvalid rready rlast"},
    {"reads of two IDs out of order",
     "arvalid arready arlen=1 | arvalid arready arid=1 | rvalid rready rlast rid=1 | rvalid rready | rvalid rlast"},
    {"late answers", "awvalid awready wvalid wready wlast arvalid arready | | | bvalid bready rvalid rready rlast"},
    {"held VALIDs",
     "awvalid aw=5 wvalid w=6 wlast arvalid ar=7 | awvalid aw=5 wvalid w=6 wlast arvalid ar=7"},
};

const Case kWrong[] = {
    {"AWVALID withdrawn", "awvalid wvalid wlast | wvalid wlast"},
    {"AWADDR changes", "awvalid aw=1 wvalid wlast | awvalid aw=2 wvalid wlast"},
    {"AWLEN changes", "awvalid awlen=1 wvalid | awvalid awlen=2 wvalid"},
    {"WVALID withdrawn", "awvalid awready wvalid wlast |"},
    {"WDATA changes", "awvalid awready wvalid w=1 wlast | wvalid w=2 wlast"},
    {"WLAST changes", "awvalid wvalid | awvalid wvalid wlast"},
    {"BVALID withdrawn", "awvalid awready wvalid wready wlast | bvalid |"},
    {"BRESP changes", "awvalid awready wvalid wready wlast | bvalid b=0 | bvalid b=2"},
    {"WLAST too early", "awvalid awready awlen=1 wvalid wlast | wvalid wlast"},
    {"WLAST too late", "awvalid awready wvalid | wvalid"},
    {"AWLEN is not what its data had", "awvalid wvalid wready wlast | awvalid awready awlen=0 | bvalid bready | "
                                       "wvalid wready wlast | awvalid awready awlen=1"},
    {"BVALID before the address was taken", "awvalid wvalid wready wlast | awvalid bvalid"},
    {"BVALID before the data was taken", "awvalid awready wvalid wlast | wvalid wlast bvalid"},
    {"a second BVALID for one burst", "awvalid awready wvalid wready wlast | bvalid bready | bvalid"},
    {"WVALID waits for AWREADY", "awvalid | awvalid awready"},
    {"WVALID waits for WREADY", "awvalid awready | wready"},
    {"BVALID waits for BREADY", "awvalid awready wvalid wready wlast | | | | |"},
    {"RVALID waits for RREADY", "arvalid arready | | | | |"},
    {"AWVALID in reset", "rst | rst awvalid"},
    {"WVALID in reset", "rst | rst wvalid"},
    {"BVALID in reset", "rst | rst bvalid"},
    {"ARVALID withdrawn", "arvalid |"},
    {"ARADDR changes", "arvalid ar=1 | arvalid ar=2"},
    {"ARLEN changes", "arvalid arlen=1 | arvalid arlen=2"},
    {"ARID changes", "arvalid arid=0 | arvalid arid=1"},
    {"RVALID withdrawn", "arvalid arready | rvalid rlast |"},
    {"RDATA changes", "arvalid arready | rvalid rlast r=1 | rvalid rlast r=2"},
    {"RVALID before its address was taken", "arvalid | arvalid rvalid rlast"},
    {"RVALID with an ID that was not asked for", "arvalid arready arid=0 | rvalid rid=1 rlast"},
    {"RLAST too early", "arvalid arready arlen=1 | rvalid rready rlast"},
    {"RLAST too late", "arvalid arready | rvalid rready"},
    {"ARVALID in reset", "rst | rst arvalid"},
    {"RVALID in reset", "rst | rst rvalid"},
};

constexpr unsigned kRules = 15;  // assertions of both monitors

std::set<std::string> failed_now;  // file and line of what the present case broke

struct Test : tb::Bench<Vaxi_monitors> {
  Test(int argc, char** argv) : Bench(argc, argv) {}

  void set(const std::string& word) {
    size_t equals = word.find('=');
    unsigned value = equals == std::string::npos ? 1 : unsigned(std::stoul(word.substr(equals + 1)));
#define SIGNAL(name) {#name, [](Vaxi_monitors& t, unsigned v) { t.name = v; }}
    static const std::map<std::string, void (*)(Vaxi_monitors&, unsigned)> signals{
        SIGNAL(rst), SIGNAL(awvalid), SIGNAL(awready), SIGNAL(aw), SIGNAL(awlen), SIGNAL(wvalid), SIGNAL(wready),
        SIGNAL(w), SIGNAL(wlast), SIGNAL(bvalid), SIGNAL(bready), SIGNAL(b), SIGNAL(arvalid), SIGNAL(arready),
        SIGNAL(ar), SIGNAL(arlen), SIGNAL(arid), SIGNAL(rvalid), SIGNAL(rready), SIGNAL(r), SIGNAL(rlast), SIGNAL(rid)};
#undef SIGNAL
    auto it = signals.find(word.substr(0, equals));
    CHECK(it != signals.end(), "no signal is called '%s'", word.c_str());
    it->second(top, value);
  }

  void run(const Case& c) {
    tb::drive_zeros(top);
    reset();
    failed_now.clear();
    std::stringstream cycles(std::string(c.cycles) + " ");
    for (std::string cycle; std::getline(cycles, cycle, '|');) {
      tb::drive_zeros(top);
      std::stringstream words(cycle);
      for (std::string word; words >> word;) set(word);
      tick();
    }
  }
};

void note(const char* file, int line) { failed_now.insert(std::string(file) + ":" + std::to_string(line)); }

}  // namespace

int main(int argc, char** argv) {
  Test t(argc, argv);
  tb::assertion_failed = note;
  for (const Case& c : kLegal) {
    t.run(c);
    CHECK(failed_now.empty(), "%s: reported at %s", c.name, failed_now.begin()->c_str());
  }
  std::set<std::string> rules;
  for (const Case& c : kWrong) {
    t.run(c);
    CHECK(!failed_now.empty(), "%s: not reported", c.name);
    rules.insert(failed_now.begin(), failed_now.end());
  }
  CHECK(rules.size() == kRules, "%zu of %u rules were broken", rules.size(), kRules);
}
