// link_cut: link_pair with links that are given up while packets are partly through.
module link_cut (
    input logic        clk,
    input logic        rst,
    input logic [1:0]  carrier,
    input logic [1:0]  want,
    input logic [1:0]  want_vc,
    input logic [1:0]  want_tail,
    input logic [1:0]  give_up,
    input logic [3:0]  free,
    input logic [1:0]  lost,
    input logic [1:0]  bad,
    input logic [29:0] noise
);
  link_pair #(.CUT(1)) u_pair (.clk, .rst, .carrier, .want, .want_vc, .want_tail, .give_up, .restart(2'b00),
      .wipe(2'b00), .free, .lost, .bad, .noise);
endmodule
