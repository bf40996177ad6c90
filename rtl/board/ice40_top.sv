// ice40_top: the small NIC on an iCE40 HX8K: the board of a crystal, a serial line and eight
// lights.
//
// Job: nic_uart with nic_velo in it, its link in loopback: what it sends comes back over its own
//   link. MEMORY_BYTES of block RAM hold the mailboxes.
// Handshake: the serial line of uart_bridge at clk / DIVISOR bits per second, 8N1. resting is the
//   NIC's: high while no edge of the clock would change more than its count of cycles. No reset
//   comes from outside: flip-flops of an iCE40 start at 0, and so does the count that ends reset.
//   Links begin before the rest, as in a simulation.
// Backpressure: as nic_uart.
module ice40_top #(
    parameter int VPIDS        = 2,
    parameter int LINK         = 1,
    parameter int MEMORY_BYTES = 4096,
    parameter int DIVISOR      = 8,  // 1.5 Mbaud of 12 MHz
    parameter int VC_DEPTH     = 1,
    localparam int USER_W      = hw_pkg::link_user_w(1, VC_DEPTH)  // one channel
) (
    input  logic clk,
    input  logic rx,
    output logic tx,
    output logic resting,
    output logic irq,
    output logic running  // reset has ended
);
  localparam int RESET_W = 6;
  logic [RESET_W-1:0] count = '0;
  logic               rst, link_rst;
  always_ff @(posedge clk) begin
    if (count != '1) count <= count + 1'b1;
    rst      <= count != '1;
    link_rst <= !count[RESET_W-1] && count[RESET_W-2:0] < (RESET_W - 1)'(8);
  end
  assign running = !rst;

  logic              valid, ready;
  logic [63:0]       data;
  logic [USER_W-1:0] user;
  nic_uart #(.DIM_X(1), .PORTS(2), .VC_DEPTH(VC_DEPTH), .MEMORY_BYTES(MEMORY_BYTES), .VELO_ONLY(1), .VPIDS(VPIDS),
      .LINK(LINK)) u_board (
      .clk, .nic_clk(clk), .rst, .link_rst, .node_id(12'd0), .shape(60'h0), .slept(64'h0), .divisor(16'(DIVISOR)), .rx,
      .tx, .link_up(1'b1), .carrier(1'b1), .m_axis_tvalid(valid), .m_axis_tready(ready), .m_axis_tdata(data),
      .m_axis_tuser(user), .s_axis_tvalid(valid), .s_axis_tready(ready), .s_axis_tdata(data), .s_axis_tuser(user), .irq,
      .resting
  );
endmodule
