// reset_sync: a reset that comes at any time, for one clock domain.
//
// Job: rst rises with arst, whether clk runs or not, and falls with the STAGES-th edge of clk after
// arst. Handshake: levels. Backpressure: none.
module reset_sync #(
    parameter int STAGES = 3
) (
    input  logic clk,
    input  logic arst,
    output logic rst
);
  (* ASYNC_REG = "TRUE" *) logic [STAGES-1:0] stages;
  always_ff @(posedge clk or posedge arst)
    if (arst) stages <= '1;
    else stages <= STAGES'({stages, 1'b0});
  assign rst = stages[STAGES-1];
endmodule
