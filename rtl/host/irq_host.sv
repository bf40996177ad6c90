// irq_host: collects the interrupt outputs of any design into one line of the simulation.
//
// Job: LEVEL inputs count while they are asserted. PULSE inputs are latched until software clears
//   them, so that a pulse of one cycle is not lost. irq is asserted while any of them is.
// Handshake: registers, read and written through csr_host: 0x0 the level of every input now (read
//   only), 0x8 latched pulses (write 1 to clear). A pulse in the cycle of its clearing is kept.
// Backpressure: none.
module irq_host #(
    parameter int LINES = 1,
    parameter logic [LINES-1:0] PULSE = '0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [LINES-1:0] lines,
    input  logic             sim_sel,
    input  logic             sim_write,
    input  logic [11:0]      sim_addr,
    input  logic [63:0]      sim_wdata,
    output logic [63:0]      sim_rdata,
    output logic             irq
);
  logic [LINES-1:0] latched, clear;
  assign clear     = sim_sel && sim_write && sim_addr == 12'h8 ? sim_wdata[LINES-1:0] : '0;
  assign sim_rdata = sim_addr == 12'h8 ? 64'(latched) : 64'(lines);
  always @(posedge clk) begin
    latched <= rst ? '0 : (latched & ~clear) | (lines & PULSE);
    irq     <= !rst && (|((latched & ~clear) | (lines & PULSE)) || |(lines & ~PULSE));
  end
endmodule
