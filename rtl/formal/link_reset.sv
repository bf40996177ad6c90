// link_reset: link_pair with ends that are reset by themselves at any time, over wires that lose
// and corrupt.
module link_reset (
    input logic        clk,
    input logic        rst,
    input logic [1:0]  carrier,
    input logic [1:0]  want,
    input logic [1:0]  want_vc,
    input logic [1:0]  want_tail,
    input logic [1:0]  restart,
    input logic [1:0]  wipe,
    input logic [3:0]  free,
    input logic [1:0]  lost,
    input logic [1:0]  bad,
    input logic [29:0] noise
);
  link_pair #(.RESET(1), .DATA_W(6), .NUMBER_W(3), .SETTLED(14)) u_pair (
      .clk, .rst, .carrier, .want, .want_vc, .want_tail, .give_up(2'b00), .restart, .wipe, .free, .lost, .bad, .noise
  );
endmodule
