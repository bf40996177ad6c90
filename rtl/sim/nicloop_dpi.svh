// What the simulation asks of the world outside, all called from always @(posedge clk) only.
`ifndef NICLOOP_DPI_SVH
`define NICLOOP_DPI_SVH

// The next register access of a node. Called when reg_pending[node] and the engine is free.
import "DPI-C" function void nl_reg_next(
    input int node, output bit write, output int unsigned addr, output longint unsigned wdata);

// Its answer: AXI resp 0 OKAY, 2 SLVERR, 3 DECERR. The next access may be fetched at the same edge.
import "DPI-C" function void nl_reg_done(input int node, input int resp, input longint unsigned rdata);

// The next piece of a line. Called when pio_pending[node] and the engine is free: all beats of the
// piece before have left, their answer may still be on its way.
import "DPI-C" function void nl_pio_next(
    input int node, output int unsigned addr, output int unsigned beats, output bit [511:0] data);

// Answers come in the order of the pieces. A cycle before it, nl_pio_line tells that the oldest one
// without an answer made a line whole that was taken; nl_pio_left that one has left its window.
import "DPI-C" function void nl_pio_done(input int node, input int resp);
import "DPI-C" function void nl_pio_line(input int node);
import "DPI-C" function void nl_pio_left(input int node, input int vpid);

// One burst of DMA, on its last beat; the bytes with a strobe change now. The result is the AXI
// resp.
import "DPI-C" function int nl_dma_write(
    input int node, input longint unsigned addr, input int unsigned beats, input bit [511:0] data, input bit [63:0] strobes);

// One burst of DMA, at its address; memory is read now. The result is the AXI resp.
import "DPI-C" function int nl_dma_read(
    input int node, input longint unsigned addr, input int unsigned beats, output bit [511:0] data);

// One trace event; see nic_trace.sv for the points. flags: 1 head, 2 tail.
import "DPI-C" function void nl_trace(
    input int node, input int point, input int flags, input int vc, input longint unsigned data);

`endif
