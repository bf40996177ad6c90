// rma_trace: tells the host which descriptors have an entry in the window, and when they have left
// it; bound to nic_rma, so the design does not know it. That one has left is told a cycle late,
// when the model's requester knows it.
`include "nicloop_dpi.svh"
module rma_trace (
    input logic        clk,
    input logic        rst,
    input logic [11:0] here,
    input logic        take,
    input logic        pop,
    input logic [3:0]  head_vpid
);
  logic       left;
  logic [3:0] vpid;
  always @(posedge clk) begin
    left <= pop && !rst;
    vpid <= head_vpid;
    if (!rst && take) nl_pio_line(32'(here));
    if (!rst && left) nl_pio_left(32'(here), 32'(vpid));
  end
endmodule

bind nic_rma rma_trace u_trace (.*);
