// clock_host: a further clock of a design, derived from the first.
//
// Job: toggles so that FROM periods of the output last as long as TO periods of clk, on average
//   exactly; its edges lie on edges of clk. FROM is at most TO: the first clock is the fastest.
module clock_host #(
    parameter int unsigned FROM = 1,
    parameter int unsigned TO   = 1
) (
    input  logic clk,
    input  logic rst,
    output logic out
);
  int unsigned phase;
  logic toggle;
  assign toggle = phase + FROM >= TO;
  // Not reset but started by it: a design with a synchronous reset needs edges meanwhile.
  always @(posedge clk or negedge clk) begin
    phase <= toggle ? phase + FROM - TO : phase + FROM;
    if (toggle) out <= !out;
  end
  /* verilator lint_off UNUSEDSIGNAL */
  /* verilator lint_on UNUSEDSIGNAL */
endmodule
