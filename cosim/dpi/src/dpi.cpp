#include "dpi.h"

#include <verilated.h>

#include <cstdio>
#include <cstdlib>

#include "Vsim_node__Dpi.h"
#include "log.h"

namespace nicloop {
namespace {

Bus* bus;

uint64_t quad(const svBitVecVal* words, uint32_t i) { return words[2 * i] | uint64_t(words[2 * i + 1]) << 32; }

// The line printed just before says more than file and number.
void report(FaultKind kind, const char* what, const char* file, int line) {
  std::string text = take_last_line();
  std::string where = std::string(file != nullptr ? file : "?") + ":" + std::to_string(line);
  if (text.find(where) == std::string::npos) text = where + ": " + what + (text.empty() ? "" : ": " + text);
  if (bus == nullptr) {  // before the handshake is over
    std::fprintf(stderr, "%s\n", text.c_str());
    std::exit(1);
  }
  bus->fault(kind, text);
}

}  // namespace

void set_bus(Bus* to) { bus = to; }

}  // namespace nicloop

using nicloop::bus;

extern "C" {

void nl_reg_next(int node, svBit* write, unsigned int* addr, unsigned long long* wdata) {
  bool is_write = false;
  uint64_t data = 0;
  bus->reg_next(uint32_t(node), &is_write, addr, &data);
  *write = is_write;
  *wdata = data;
}

void nl_reg_done(int node, int resp, unsigned long long rdata) { bus->reg_done(uint32_t(node), uint32_t(resp), rdata); }

void nl_pio_next(int node, unsigned int* addr, unsigned int* beats, svBitVecVal* data) {
  nicloop::PioLine line;
  bus->pio_next(uint32_t(node), addr, beats, &line);
  for (int i = 0; i < 8; ++i) {
    data[2 * i] = uint32_t(line.quad[i]);
    data[2 * i + 1] = uint32_t(line.quad[i] >> 32);
  }
}

void nl_pio_done(int node, int resp) { bus->pio_done(uint32_t(node), uint32_t(resp)); }

void nl_pio_line(int node) { bus->pio_line(uint32_t(node)); }

void nl_pio_left(int node, int vpid) { bus->pio_left(uint32_t(node), uint32_t(vpid)); }

int nl_dma_write(int node, unsigned long long addr, unsigned int beats, const svBitVecVal* data, const svBitVecVal* strobes) {
  uint64_t quads[8];
  for (uint32_t i = 0; i < 8; ++i) quads[i] = nicloop::quad(data, i);
  return int(bus->dma_write(uint32_t(node), addr, beats, quads, nicloop::quad(strobes, 0)));
}

int nl_dma_read(int node, unsigned long long addr, unsigned int beats, svBitVecVal* data) {
  uint64_t quads[8] = {};
  uint32_t resp = bus->dma_read(uint32_t(node), addr, beats, quads);
  for (int i = 0; i < 8; ++i) {
    data[2 * i] = uint32_t(quads[i]);
    data[2 * i + 1] = uint32_t(quads[i] >> 32);
  }
  return int(resp);
}

void nl_trace(int node, int point, int flags, int vc, unsigned long long data) {
  bus->trace({0, data, uint16_t(node), uint8_t(point), uint8_t(flags), uint8_t(vc), {}});
}

}  // extern "C"

// Verilator's hooks (compiled with VL_USER_STOP, VL_USER_FATAL and VL_USER_FINISH).

void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE {
  nicloop::report(nicloop::kFaultAssert, "$stop", file, line);
}

void vl_finish(const char* file, int line, const char*) VL_MT_UNSAFE {
  nicloop::report(nicloop::kFaultFinish, "$finish", file, line);
}

void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE {
  nicloop::report(nicloop::kFaultFatal, message, file, line);
  throw nicloop::ModelDied{};
}
