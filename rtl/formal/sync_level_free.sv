// sync_level as it may behave, for proofs with several clocks: each bit that changes about when clk
// rises is caught before or after its change, at will.
module sync_level #(
    parameter int W      = 1,
    parameter int STAGES = 2
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] d,
    output logic [W-1:0] q
);
  (* gclk *) logic step;
  logic [W-1:0] d_was, early;
  always_ff @(posedge step) d_was <= d;
  assign early = $anyseq;
  logic [STAGES*W-1:0] stages;
  always_ff @(posedge clk) stages <= rst ? '0 : (STAGES * W)'({stages, (d & early) | (d_was & ~early)});
  assign q = stages[STAGES*W-1-:W];
endmodule
