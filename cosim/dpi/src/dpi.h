// dpi.h: joins the DPI imports of rtl/sim/nicloop_dpi.svh and Verilator's stop hooks to
// one Bus. The adapter only converts types.
#pragma once

#include "bridge.h"

namespace nicloop {

// All calls of the model go to bus from now on; nullptr while there is none.
void set_bus(Bus* bus);

}  // namespace nicloop
