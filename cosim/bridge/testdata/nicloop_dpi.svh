// The imports of rtl/sim/nicloop_dpi.svh, word for word.
import "DPI-C" function void nl_reg_next(input int node, output bit write, output int unsigned addr, output longint unsigned wdata);
import "DPI-C" function void nl_reg_done(input int node, input int resp, input longint unsigned rdata);
import "DPI-C" function void nl_pio_next(input int node, output int unsigned addr, output int unsigned beats, output bit [511:0] data);
import "DPI-C" function void nl_pio_done(input int node, input int resp);
import "DPI-C" function int nl_dma_write(input int node, input longint unsigned addr, input int unsigned beats, input bit [511:0] data, input bit [63:0] strobes);
import "DPI-C" function int nl_dma_read(input int node, input longint unsigned addr, input int unsigned beats, output bit [511:0] data);
import "DPI-C" function void nl_trace(input int node, input int point, input int flags, input int vc, input longint unsigned data);
