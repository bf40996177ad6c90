// irq_host: collects the interrupt outputs of any design into one line of the simulation.
//
// Job: LEVEL inputs count while they are asserted. PULSE inputs are latched until software clears
//   them, so that a pulse of one cycle is not lost. irq is asserted while any of them is.
// Handshake: registers, read and written through csr_host: 0x0 the level of every input now (read
//   only), 0x8 latched pulses (write 1 to clear). A pulse in the cycle of its clearing is kept.
// Backpressure: none.
`include "nicloop_dpi.svh"

module irq_host #(
    parameter int LINES = 1,
    parameter logic [LINES-1:0] PULSE = '0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [11:0]      node_id,
    input  logic             trace_on,
    input  logic [LINES-1:0] lines,
    input  logic             sim_sel,
    input  logic             sim_write,
    input  logic [11:0]      sim_addr,
    input  logic [63:0]      sim_wdata,
    output logic [63:0]      sim_rdata,
    output logic             irq,
    output logic             idle       // irq follows all that has happened
);
  logic [LINES-1:0] latched, clear, pulses;
  logic             any;
  assign clear     = sim_sel && sim_write && sim_addr == 12'h8 ? sim_wdata[LINES-1:0] : '0;
  assign sim_rdata = sim_addr == 12'h8 ? 64'(latched) : 64'(lines);
  assign pulses    = (latched & ~clear) | (lines & PULSE);
  assign any       = |pulses || |(lines & ~PULSE);
  assign idle      = irq == any && latched == pulses;
  logic [LINES-1:0] shown;
  always @(posedge clk) begin
    shown <= rst ? '0 : lines;
    if (!rst && trace_on && lines != shown) nl_trace(32'(node_id), 37, 0, 0, 64'(lines));
  end
  always @(posedge clk) begin
    latched <= rst ? '0 : pulses;
    irq     <= !rst && any;
  end
endmodule
