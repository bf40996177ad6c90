// gtp_link_dut: two links that face each other over gtp_link and the model of its transceiver; the
// bench owns all clocks and the bits between the pads. Bit 0 and the lower half of each vector
// belong to one end, bit 1 and the upper half to the other.
module gtp_link_dut #(
    parameter int VC_DEPTH = 16
) (
    input  logic         arst,
    input  logic         rst,
    input  logic         clk,
    input  logic         drp_clk,
    input  logic [1:0]   bit_clk,
    input  logic [1:0]   rx_bit,
    output logic [1:0]   tx_bit,
    input  logic [1:0]   tx_valid,
    input  logic [127:0] tx_data,
    output logic [3:0]   tx_credit,
    output logic [1:0]   rx_valid,
    output logic [127:0] rx_data,
    input  logic [3:0]   rx_credit,
    output logic [1:0]   carrier,
    output logic [1:0]   up,
    output logic [63:0]  crc_errors,
    output logic [63:0]  downs
);
  localparam int CTRL_W = 7 + 2 * ($clog2(2 * VC_DEPTH + 1) + 1) + 2 * $clog2(VC_DEPTH + 1);
  localparam int USER_W = 32 + (CTRL_W + 31) / 32 * 32;
  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      logic              m_valid, m_ready, s_valid;
      logic [63:0]       m_data, s_data;
      logic [USER_W-1:0] m_user, s_user;
      /* verilator lint_off PINCONNECTEMPTY */
      gtp_link #(.USER_W(USER_W), .CTRL_W(CTRL_W), .PATIENCE(1 << 12)) u_gtp (
          .arst, .clk, .drp_clk, .refclk(bit_clk[e]), .rx_p(rx_bit[e]), .rx_n(!rx_bit[e]), .tx_p(tx_bit[e]), .tx_n(),
          .carrier(carrier[e]), .s_tvalid(m_valid), .s_tready(m_ready), .s_tdata(m_data), .s_tuser(m_user),
          .m_tvalid(s_valid), .m_tdata(s_data), .m_tuser(s_user), .dropped(), .downs(downs[32*e+:32])
      );
      link #(.VCS(2), .VC_DEPTH(VC_DEPTH)) u_link (
          .clk, .rst, .restart(1'b0), .up(up[e]), .resets(), .lost(), .carrier(carrier[e]), .patience('0),
          .tx_valid(tx_valid[e]), .tx_vc(1'b0), .tx_head(1'b1), .tx_tail(1'b1), .tx_data(tx_data[e*64+:64]),
          .tx_credit(tx_credit[e*2+:2]), .rx_valid(rx_valid[e]), .rx_vc(), .rx_head(), .rx_tail(),
          .rx_data(rx_data[e*64+:64]), .rx_credit(rx_credit[e*2+:2]), .m_tvalid(m_valid), .m_tready(m_ready),
          .m_tdata(m_data), .m_tuser(m_user), .s_tvalid(s_valid), .s_tready(), .s_tdata(s_data), .s_tuser(s_user),
          .dead(), .crc_errors(crc_errors[e*32+:32]), .retransmissions(), .timeouts(), .failures(), .cut(),
          .drain(1'b0), .drains(), .drained(), .ev_drained(1'b0), .ev_ended(1'b0), .ev_failure(), .idle(), .active()
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate
endmodule
