// sleep: stops the clock of a node in which nothing can happen, so that it costs a simulation nothing.
//
// Job: the node's clock runs while wake is high or a carrier changes, and for LINGER cycles afterwards.
// Handshake: wake is sampled in the low half of clk; the edge that follows reaches the node.
module sleep #(
    parameter int LINKS = 2,
    localparam int LINGER = 4
) (
    input  logic             clk,
    input  logic             wake,
    input  logic [LINKS-1:0] carrier,
    output logic             node_clk
);
  logic [LINKS-1:0] carrier_was;
  logic [2:0]       left;
  logic             on;
  always_ff @(posedge clk) begin
    carrier_was <= carrier;
    if (wake || carrier != carrier_was) left <= 3'(LINGER);
    else if (left != '0) left <= left - 1'b1;
  end
  always_latch if (!clk) on = wake || carrier != carrier_was || left != '0;
  assign node_clk = clk && on;
endmodule
