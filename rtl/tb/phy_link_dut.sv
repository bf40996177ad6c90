// phy_link_dut: two links that face each other over PHYs; the bench owns all clocks and what
// happens between the PHYs. Bit 0 and the lower half of each vector belong to the one end, bit 1
// and the upper half to the other.
module phy_link_dut #(
    parameter int LANES    = 1,
    parameter int VC_DEPTH = 16,
    localparam int D_W     = LANES * 32,
    localparam int K_W     = LANES * 4
) (
    input  logic             arst,
    input  logic             rst,
    input  logic [1:0]       clk,
    input  logic [1:0]       tx_clk,
    input  logic [1:0]       rx_clk,
    input  logic [1:0]       tx_valid,
    input  logic [1:0]       tx_vc,
    input  logic [1:0]       tx_head,
    input  logic [1:0]       tx_tail,
    input  logic [127:0]     tx_data,
    output logic [3:0]       tx_credit,
    output logic [1:0]       rx_valid,
    output logic [1:0]       rx_vc,
    output logic [1:0]       rx_head,
    output logic [1:0]       rx_tail,
    output logic [127:0]     rx_data,
    input  logic [3:0]       rx_credit,
    output logic [1:0]       carrier,
    output logic [1:0]       up,
    output logic [63:0]      crc_errors,
    output logic [63:0]      retransmissions,
    output logic [63:0]      failures,
    output logic [63:0]      dropped,
    output logic [63:0]      downs,
    output logic [2*D_W-1:0] out_data,
    output logic [2*K_W-1:0] out_k,
    input  logic [2*LANES-1:0] phy_ok,
    input  logic [2*D_W-1:0] in_data,
    input  logic [2*K_W-1:0] in_k,
    input  logic [2*K_W-1:0] in_bad
);
  localparam int CTRL_W = 7 + 2 * ($clog2(2 * VC_DEPTH + 1) + 1) + 2 * $clog2(VC_DEPTH + 1);
  localparam int USER_W = 32 + (CTRL_W + 31) / 32 * 32;
  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      logic              m_valid, m_ready, s_valid;
      logic [63:0]       m_data, s_data;
      logic [USER_W-1:0] m_user, s_user;
      phy_link #(.LANES(LANES), .USER_W(USER_W), .CTRL_W(CTRL_W), .WATCH(256)) u_phy (
          .arst, .clk(clk[e]), .carrier(carrier[e]), .s_tvalid(m_valid), .s_tready(m_ready), .s_tdata(m_data),
          .s_tuser(m_user), .m_tvalid(s_valid), .m_tdata(s_data), .m_tuser(s_user), .dropped(dropped[32*e+:32]),
          .downs(downs[32*e+:32]), .tx_clk(tx_clk[e]), .tx_data(out_data[D_W*e+:D_W]), .tx_k(out_k[K_W*e+:K_W]),
          .rx_clk(rx_clk[e]), .phy_ok(phy_ok[LANES*e+:LANES]), .rx_data(in_data[D_W*e+:D_W]), .rx_k(in_k[K_W*e+:K_W]),
          .rx_bad(in_bad[K_W*e+:K_W])
      );
      /* verilator lint_off PINCONNECTEMPTY */
      link #(.VCS(2), .VC_DEPTH(VC_DEPTH)) u_link (
          .clk(clk[e]), .rst, .restart(1'b0), .up(up[e]), .resets(), .lost(), .carrier(carrier[e]), .patience('0),
          .tx_valid(tx_valid[e]), .tx_vc(tx_vc[e]), .tx_head(tx_head[e]), .tx_tail(tx_tail[e]),
          .tx_data(tx_data[e*64+:64]), .tx_credit(tx_credit[e*2+:2]), .rx_valid(rx_valid[e]), .rx_vc(rx_vc[e]),
          .rx_head(rx_head[e]), .rx_tail(rx_tail[e]), .rx_data(rx_data[e*64+:64]), .rx_credit(rx_credit[e*2+:2]),
          .m_tvalid(m_valid), .m_tready(m_ready), .m_tdata(m_data), .m_tuser(m_user), .s_tvalid(s_valid), .s_tready(),
          .s_tdata(s_data), .s_tuser(s_user), .dead(), .crc_errors(crc_errors[e*32+:32]),
          .retransmissions(retransmissions[e*32+:32]), .timeouts(), .failures(failures[e*32+:32]), .cut(), .drain(1'b0),
          .drains(), .drained(), .ev_drained(1'b0), .ev_ended(1'b0), .ev_failure(), .idle(), .active()
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate
endmodule
