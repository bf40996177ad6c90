// gtp_link: a link of nic_core over one GTP transceiver of a Xilinx 7-series device (GTPE2_CHANNEL,
// 8b/10b).
//
// Job: phy_link with one lane, the transceiver, its PLL, reset (gtp_reset) and clocks. 5 Gb/s from
//   a reference clock of 125 MHz: four characters per cycle of 125 MHz. A word takes 5 columns, so
//   a link carries 25 million words per second (1.6 Gb/s of payload). The comma detector aligns
//   characters; columns are aligned by phy_rx.
// Handshake: that of phy_link. drp_clk runs freely. clk is the core's clock. arst resets all but
// the core. Backpressure: that of phy_link.
//
//   attributes  those that UG482 or the transceiver wizard prescribe for 8b/10b with elastic
//               buffers at full rate (divider 1); the others keep their defaults
module gtp_link #(
    parameter int USER_W   = 96,
    parameter int CTRL_W   = 37,
    parameter int PATIENCE = 1 << 19
) (
    input  logic              arst,
    input  logic              clk,
    input  logic              drp_clk,
    input  logic              refclk,    // of IBUFDS_GTE2
    input  logic              rx_p,
    input  logic              rx_n,
    output logic              tx_p,
    output logic              tx_n,
    output logic              carrier,
    input  logic              s_tvalid,
    output logic              s_tready,
    input  logic [63:0]       s_tdata,
    input  logic [USER_W-1:0] s_tuser,
    output logic              m_tvalid,
    output logic [63:0]       m_tdata,
    output logic [USER_W-1:0] m_tuser,
    output logic [31:0]       dropped,
    output logic [31:0]       downs
);
  // ---- clocks: usr 250 MHz of two characters, usr2 125 MHz of four, aligned to each other, each
  // way ----
  logic tx_out, tx_usr, tx_usr2, tx_locked, rx_out, rx_usr, rx_usr2, rx_locked;
  gtp_clocks u_tx_clocks (.in(tx_out), .usr(tx_usr), .usr2(tx_usr2), .locked(tx_locked));
  gtp_clocks u_rx_clocks (.in(rx_out), .usr(rx_usr), .usr2(rx_usr2), .locked(rx_locked));

  // ---- reset ----
  logic        drp_rst, pll_lock, tx_done, rx_done, pma_done, pll_reset, tx_reset, rx_reset, user_ready, ready,
      drp_en, drp_we, drp_rdy;
  logic [8:0]  drp_addr;
  logic [15:0] drp_di, drp_do;
  reset_sync u_drp_rst (.clk(drp_clk), .arst, .rst(drp_rst));
  gtp_reset #(.PATIENCE(PATIENCE)) u_reset (
      .clk(drp_clk), .rst(drp_rst), .pll_lock, .tx_reset_done(tx_done), .rx_reset_done(rx_done),
      .rx_pma_reset_done(pma_done), .pll_reset, .tx_reset, .rx_reset, .user_ready, .ready, .drp_addr, .drp_en, .drp_we,
      .drp_di, .drp_do, .drp_rdy
  );

  // ---- transceiver ----
  logic        pll_clk, pll_refclk, aligned, ok;
  logic [31:0] tx_data, rx_data;
  logic [3:0]  tx_k, rx_k, disparity_error, not_in_table;
  /* verilator lint_off PINMISSING */
  GTPE2_COMMON #(.PLL0_FBDIV(4), .PLL0_FBDIV_45(5), .PLL0_REFCLK_DIV(1)) u_pll (
      .GTREFCLK0(refclk), .PLL0REFCLKSEL(3'b001), .PLL0RESET(pll_reset), .PLL0LOCKEN(1'b1), .PLL0PD(1'b0),
      .PLL1PD(1'b1), .BGBYPASSB(1'b1), .BGMONITORENB(1'b1), .BGPDB(1'b1), .BGRCALOVRD(5'b11111), .RCALENB(1'b1),
      .PLL0LOCK(pll_lock), .PLL0OUTCLK(pll_clk), .PLL0OUTREFCLK(pll_refclk)
  );
  GTPE2_CHANNEL #(
      .TX_DATA_WIDTH(40), .RX_DATA_WIDTH(40), .TXOUT_DIV(1), .RXOUT_DIV(1), .TX_CLK25_DIV(5), .RX_CLK25_DIV(5),
      .ALIGN_COMMA_ENABLE(10'b1111111111), .ALIGN_COMMA_WORD(1), .ALIGN_COMMA_DOUBLE("FALSE"),
      .ALIGN_MCOMMA_DET("TRUE"), .ALIGN_MCOMMA_VALUE(10'b1010000011), .ALIGN_PCOMMA_DET("TRUE"),
      .ALIGN_PCOMMA_VALUE(10'b0101111100), .CLK_CORRECT_USE("FALSE"), .RXBUF_EN("TRUE"), .TXBUF_EN("TRUE"),
      .RX_XCLK_SEL("RXREC"), .PMA_RSV(32'h00000333), .PMA_RSV2(32'h00002040), .RX_BIAS_CFG(16'b0000111100110011),
      .RXCDR_CFG(83'h0000107FE406001041010)
  ) u_channel (
      .PLL0CLK(pll_clk), .PLL0REFCLK(pll_refclk), .PLL1CLK(1'b0), .PLL1REFCLK(1'b0), .TXSYSCLKSEL(2'b00),
      .RXSYSCLKSEL(2'b00), .GTTXRESET(tx_reset), .GTRXRESET(rx_reset), .TXUSERRDY(user_ready && tx_locked),
      .RXUSERRDY(user_ready && rx_locked), .TXRESETDONE(tx_done), .RXRESETDONE(rx_done), .RXPMARESETDONE(pma_done),
      .DRPCLK(drp_clk), .DRPADDR(drp_addr), .DRPEN(drp_en), .DRPWE(drp_we), .DRPDI(drp_di), .DRPDO(drp_do),
      .DRPRDY(drp_rdy), .TXOUTCLKSEL(3'b010), .TXOUTCLK(tx_out), .TXUSRCLK(tx_usr), .TXUSRCLK2(tx_usr2),
      .TX8B10BEN(1'b1), .TXDATA(tx_data), .TXCHARISK(tx_k), .GTPTXP(tx_p), .GTPTXN(tx_n), .RXOUTCLKSEL(3'b010),
      .RXOUTCLK(rx_out), .RXUSRCLK(rx_usr), .RXUSRCLK2(rx_usr2), .RX8B10BEN(1'b1), .RXCOMMADETEN(1'b1),
      .RXPCOMMAALIGNEN(1'b1), .RXMCOMMAALIGNEN(1'b1), .RXBYTEISALIGNED(aligned), .RXDATA(rx_data), .RXCHARISK(rx_k),
      .RXDISPERR(disparity_error), .RXNOTINTABLE(not_in_table), .GTPRXP(rx_p), .GTPRXN(rx_n), .RXELECIDLEMODE(2'b11),
      .TXDIFFCTRL(4'b1000), .LOOPBACK(3'b000), .TXPD(2'b00), .RXPD(2'b00)
  );
  /* verilator lint_on PINMISSING */

  // ---- link: bits are being received when the receiver is out of reset and has found a comma ----
  logic ready_r, rx_rst;
  reset_sync u_rx_rst (.clk(rx_usr2), .arst, .rst(rx_rst));
  sync_level u_ready (.clk(rx_usr2), .rst(rx_rst), .d(ready), .q(ready_r));
  assign ok = ready_r && aligned;
  phy_link #(.LANES(1), .USER_W(USER_W), .CTRL_W(CTRL_W)) u_link (
      .arst, .clk, .carrier, .s_tvalid, .s_tready, .s_tdata, .s_tuser, .m_tvalid, .m_tdata, .m_tuser, .dropped, .downs,
      .tx_clk(tx_usr2), .tx_data, .tx_k, .rx_clk(rx_usr2), .phy_ok(ok), .rx_data, .rx_k,
      .rx_bad(disparity_error | not_in_table)
  );
endmodule
