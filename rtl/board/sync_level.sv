// sync_level: a level into another clock domain.
//
// Job: STAGES registers in a row, so that one which goes metastable has a cycle to settle. Of a
//   vector at most one bit may change per cycle of its own clock (gray code), else the bits of
//   different values mix. d comes from a register of its own domain.
// Handshake: q follows d, STAGES to STAGES + 1 edges of clk later; what lasts no cycle of clk may
//   be missed (sync_pulse).
// Backpressure: none.
module sync_level #(
    parameter int W      = 1,
    parameter int STAGES = 2
) (
    input  logic         clk,
    input  logic         rst,  // q is 0
    input  logic [W-1:0] d,
    output logic [W-1:0] q
);
  (* ASYNC_REG = "TRUE" *) logic [STAGES*W-1:0] stages;
  always_ff @(posedge clk) stages <= rst ? '0 : (STAGES * W)'({stages, d});
  assign q = stages[STAGES*W-1-:W];
endmodule
