#include "arguments.h"

#include <cstdlib>

#include "protocol.h"

namespace nicloop {
namespace {

bool parse_number(const std::string& text, uint64_t low, uint64_t high, uint64_t* value) {
  char* end;
  *value = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && *value >= low && *value <= high;
}

bool parse_nodes(const std::string& text, uint32_t nodes, uint64_t* mask) {
  *mask = 0;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    uint64_t n;
    if (!parse_number(text.substr(at, end - at), 0, nodes - 1, &n)) return false;
    *mask |= 1ull << n;
    at = end + 1;
  }
  return true;
}

bool parse_ratio(const std::string& text, uint32_t* host, uint32_t* core) {
  size_t slash = text.find('/');
  uint64_t a, b;
  if (slash == std::string::npos || !parse_number(text.substr(0, slash), 1, kMaxRatio, &a) || !parse_number(text.substr(slash + 1), 1, kMaxRatio, &b)) return false;
  *host = uint32_t(a), *core = uint32_t(b);
  return a <= 8 * b && b <= 8 * a;
}

// Takes one option and its value.
bool parse_option(const std::string& name, const std::string& value, Arguments* a) {
  uint64_t n = 0;
  if (name == "--dims") return parse_dims(value, a->shape.dims) && a->shape.nodes() <= kMaxNodes;
  if (name == "--waves") return !(a->waves_file = value).empty();
  if (name == "--coverage") return !(a->coverage_file = value).empty();
  if (name == "--waves-nodes") return parse_nodes(value, a->shape.nodes(), &a->waves_nodes);
  if (name == "--only") return parse_nodes(value, a->shape.nodes(), &a->only);
  if (name == "--checkpoint") return parse_number(value, 1, ~0ull, &a->checkpoint);
  if (name == "--threads") return parse_number(value, 1, 64, &n) && (a->threads = uint32_t(n), true);
  if (name == "--wr-latency") return parse_number(value, 1, 65535, &n) && (a->wr_latency = uint16_t(n), true);
  if (name == "--rd-latency") return parse_number(value, 1, 65535, &n) && (a->rd_latency = uint16_t(n), true);
  if (name == "--ratio") return parse_ratio(value, &a->host_cycles, &a->core_cycles);
  if (name == "--wire-latency") return parse_number(value, 0, kMaxWireLatency, &n) && (a->wire_latency = uint32_t(n), true);
  return false;
}

}  // namespace

bool parse_arguments(int argc, char** argv, Arguments* a, std::string* error) {
  if (argc < 2) {
    *error = std::string("usage: ") + argv[0] +
             " SOCKET --dims XxYxZ [--threads N] [--wr-latency N] [--rd-latency N] [--wire-latency N] [--ratio N/N] [--waves FILE [--waves-nodes N,N]] [--checkpoint N]"
             " [--coverage FILE] [--only N,N] [+plusargs...]";
    return false;
  }
  a->socket = argv[1];
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] == '+') continue;
    if (i + 1 == argc || !parse_option(argv[i], argv[i + 1], a)) {
      *error = std::string("argument ") + argv[i] + (i + 1 == argc ? ": a value is missing" : std::string(" ") + argv[i + 1] + ": not understood");
      return false;
    }
    ++i;
  }
  uint64_t all = a->shape.nodes() == 64 ? ~0ull : (1ull << a->shape.nodes()) - 1;
  if (a->wire_latency != 0 && (a->only & all) != all) {
    *error = "--wire-latency with --only: wires to nodes elsewhere have none";
    return false;
  }
  return true;
}

}  // namespace nicloop
