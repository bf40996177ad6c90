// xilinx_models: simulation: the ports of Xilinx primitives and IP that tops of boards use. Not for
// synthesis: yosys has black boxes of the primitives, and vivado/acorn.tcl makes the IP.

// Differential buffer of a transceiver's reference clock.
module IBUFDS_GTE2 (
    input  logic I,
    input  logic IB,
    input  logic CEB,
    output logic O,
    output logic ODIV2
);
  assign O     = I && !IB && !CEB;
  assign ODIV2 = O;
endmodule

// pcie_7x_0: a Xilinx 7-series integrated block from its user side, with the program as the other
// end of the link.
//
// Job: passes TLPs between DPI and the block's two streams (pcie_phy_model). The user clock is the
//   reference clock here. The configuration registers are the program's. user_reset_out falls some
//   cycles after PERST# and user_lnk_up rises some more after that.
// Handshake: as PG054; once per cycle nl_board_tlp is called with the word that was taken from the
//   NIC, if any, and returns the next one for it.
// Backpressure: tready falls at random when the program says so (bit 1 of flags).
module pcie_7x_0 #(
    parameter int LANES   = 4,
    parameter int W       = 128,
    parameter int SERIES7 = 1  // 0: streams as LitePCIe has them
) (
    input  logic             sys_clk,
    input  logic             sys_rst_n,
    input  logic [LANES-1:0] pci_exp_rxp,
    input  logic [LANES-1:0] pci_exp_rxn,
    output logic [LANES-1:0] pci_exp_txp,
    output logic [LANES-1:0] pci_exp_txn,
    output logic             user_clk_out,
    output logic             user_reset_out,
    output logic             user_lnk_up,
    output logic             m_axis_rx_tvalid,
    input  logic             m_axis_rx_tready,
    output logic [W-1:0]     m_axis_rx_tdata,
    output logic [W/8-1:0]   m_axis_rx_tkeep,
    output logic             m_axis_rx_tlast,
    output logic [21:0]      m_axis_rx_tuser,
    input  logic             rx_np_ok,
    input  logic             rx_np_req,
    input  logic             s_axis_tx_tvalid,
    output logic             s_axis_tx_tready,
    input  logic [W-1:0]     s_axis_tx_tdata,
    input  logic [W/8-1:0]   s_axis_tx_tkeep,
    input  logic             s_axis_tx_tlast,
    input  logic [3:0]       s_axis_tx_tuser,
    input  logic             tx_cfg_gnt,
    input  logic [2:0]       fc_sel,
    output logic [7:0]       fc_nph,
    output logic [7:0]       cfg_bus_number,
    output logic [4:0]       cfg_device_number,
    output logic [2:0]       cfg_function_number,
    output logic [15:0]      cfg_command,
    output logic [15:0]      cfg_dcommand,
    output logic             cfg_interrupt_msixenable,
    output logic             cfg_interrupt_msixfm,
    output logic             cfg_received_func_lvl_rst,
    input  logic             cfg_trn_pending,
    output logic             cfg_to_turnoff,
    input  logic             cfg_turnoff_ok
);
  // in: word to the NIC; out: word from it. Both {bar, last, both, valid}. config: command,
  // dcommand, id, flags.
  import "DPI-C" context function void nl_board_tlp(input bit [63:0] out_word, input int out_mark,
      input bit [63:0] status, input bit in_free, output bit [63:0] in_word, output int in_mark,
      output bit [63:0] settings);
  logic        in_valid, in_ready, out_valid, out_last, take, idle;
  logic [63:0] in_word, out_word, settings, next_word, next_settings, status;
  int          in_mark, next_mark;
  logic [1:0]  out_keep;
  logic [4:0]  since;
  assign user_clk_out = sys_clk;
  assign pci_exp_txp  = pci_exp_rxp;
  assign pci_exp_txn  = pci_exp_rxn;
  assign in_valid     = in_mark[0];
  // what the program may look at
  assign status       = {58'h0, idle, cfg_turnoff_ok, cfg_trn_pending, rx_np_ok && rx_np_req, tx_cfg_gnt, user_lnk_up};
  always_ff @(posedge sys_clk or negedge sys_rst_n)
    if (!sys_rst_n) since <= '0;
    else if (since != '1) since <= since + 1'b1;
  assign user_reset_out            = since < 5'd16;
  assign user_lnk_up               = since == '1;
  assign cfg_command               = settings[15:0];
  assign cfg_dcommand              = settings[31:16];
  assign {cfg_bus_number, cfg_device_number, cfg_function_number} = settings[47:32];
  assign cfg_interrupt_msixenable  = settings[48];
  assign cfg_interrupt_msixfm      = settings[49];
  assign cfg_received_func_lvl_rst = settings[50];
  assign cfg_to_turnoff            = settings[51];
  assign take                      = settings[52];
  assign fc_nph                    = fc_sel == 3'b100 ? settings[63:56] : 8'h0;
  always @(posedge sys_clk)
    if (!user_lnk_up) begin
      in_mark  <= 0;
      settings <= '0;
    end else begin
      nl_board_tlp(out_word, {28'h0, out_last, out_keep[1], 1'b0, out_valid && take}, status, !in_valid || in_ready,
          next_word, next_mark, next_settings);
      settings <= next_settings;
      if (!in_valid || in_ready) begin
        in_word <= next_word;
        in_mark <= next_mark;
      end
      assert (s_axis_tx_tuser == '0) else $error("pcie_7x_0: s_axis_tx_tuser %b", s_axis_tx_tuser);
    end
  pcie_phy_model #(.SERIES7(SERIES7), .W(W)) u_streams (
      .clk(sys_clk), .rst(user_reset_out), .s_tlp_valid(in_valid), .s_tlp_ready(in_ready), .s_tlp_data(in_word),
      .s_tlp_keep({in_mark[1], 1'b1}), .s_tlp_last(in_mark[2]), .s_tlp_bar(in_mark[6:4]), .m_tlp_valid(out_valid),
      .m_tlp_ready(take), .m_tlp_data(out_word), .m_tlp_keep(out_keep), .m_tlp_last(out_last),
      .rx_valid(m_axis_rx_tvalid), .rx_ready(m_axis_rx_tready), .rx_data(m_axis_rx_tdata), .rx_keep(m_axis_rx_tkeep),
      .rx_last(m_axis_rx_tlast), .rx_user(m_axis_rx_tuser), .tx_valid(s_axis_tx_tvalid), .tx_ready(s_axis_tx_tready),
      .tx_data(s_axis_tx_tdata), .tx_keep(s_axis_tx_tkeep), .tx_last(s_axis_tx_tlast), .idle
  );
endmodule

module BUFG (
    input  logic I,
    output logic O
);
  assign O = I;
endmodule

// MMCM of gtp_clocks: CLKOUT0 has the rate of the input, CLKOUT1 half of it. The rates that are set
// are not looked at.
module MMCME2_BASE #(
    parameter real CLKIN1_PERIOD    = 0.0,
    parameter real CLKFBOUT_MULT_F  = 5.0,
    parameter int  DIVCLK_DIVIDE    = 1,
    parameter real CLKOUT0_DIVIDE_F = 1.0,
    parameter int  CLKOUT1_DIVIDE   = 1
) (
    input  logic CLKIN1,
    input  logic CLKFBIN,
    output logic CLKFBOUT,
    input  logic RST,
    input  logic PWRDWN,
    output logic CLKOUT0,
    output logic CLKOUT1,
    output logic LOCKED
);
  logic       half = 1'b0;
  logic [4:0] edges = '0;
  assign CLKFBOUT = CLKIN1;
  assign CLKOUT0  = CLKIN1;
  assign CLKOUT1  = half;
  assign LOCKED   = edges == '1 && !RST && !PWRDWN;
  always @(posedge CLKIN1) begin
    half  = !half;
    edges = edges == '1 ? edges : edges + 1'b1;
  end
endmodule

// PLL of a GTP quad. In simulation its reference clock is the clock of the bits.
module GTPE2_COMMON #(
    parameter int PLL0_FBDIV      = 4,
    parameter int PLL0_FBDIV_45   = 5,
    parameter int PLL0_REFCLK_DIV = 1
) (
    input  logic       GTREFCLK0,
    input  logic [2:0] PLL0REFCLKSEL,
    input  logic       PLL0RESET,
    input  logic       PLL0LOCKEN,
    input  logic       PLL0PD,
    input  logic       PLL1PD,
    input  logic       BGBYPASSB,
    input  logic       BGMONITORENB,
    input  logic       BGPDB,
    input  logic [4:0] BGRCALOVRD,
    input  logic       RCALENB,
    output logic       PLL0LOCK,
    output logic       PLL0OUTCLK,
    output logic       PLL0OUTREFCLK
);
  logic [9:0] cycles = '0;
  assign PLL0OUTCLK    = GTREFCLK0;
  assign PLL0OUTREFCLK = GTREFCLK0;
  assign PLL0LOCK      = cycles == '1;
  always @(posedge GTREFCLK0)
    if (PLL0RESET || PLL0PD || !PLL0LOCKEN || PLL0REFCLKSEL != 3'b001) cycles <= '0;
    else if (cycles != '1) cycles <= cycles + 1'b1;
endmodule

// GTPE2_CHANNEL: the ports and attributes that gtp_link uses, bit by bit.
//
// Job: 8b/10b with running disparity, 40 bits per cycle of TXUSRCLK2, a bit per cycle of PLL0CLK on
//   GTPTXP, the first transmitted bit of a character being its bit a. The receiver samples with
//   PLL0CLK too: the recovered clock of a real one follows the other end. It aligns to commas when
//   told to, and gives disparity errors and codes that do not exist. The reset of the receiver
//   obeys the order that UG482 asks for: DRP 0x11 bit 11 is clear when GTRXRESET falls, and set
//   again before RXRESETDONE rises.
module GTPE2_CHANNEL #(
    parameter int          TX_DATA_WIDTH      = 20,
    parameter int          RX_DATA_WIDTH      = 20,
    parameter int          TXOUT_DIV          = 2,
    parameter int          RXOUT_DIV          = 2,
    parameter int          TX_CLK25_DIV       = 7,
    parameter int          RX_CLK25_DIV       = 7,
    parameter logic [9:0]  ALIGN_COMMA_ENABLE = 10'b0001111111,
    parameter int          ALIGN_COMMA_WORD   = 1,
    parameter              ALIGN_COMMA_DOUBLE = "FALSE",
    parameter              ALIGN_MCOMMA_DET   = "TRUE",
    parameter logic [9:0]  ALIGN_MCOMMA_VALUE = 10'b1010000011,
    parameter              ALIGN_PCOMMA_DET   = "TRUE",
    parameter logic [9:0]  ALIGN_PCOMMA_VALUE = 10'b0101111100,
    parameter              CLK_CORRECT_USE    = "TRUE",
    parameter              RXBUF_EN           = "TRUE",
    parameter              TXBUF_EN           = "TRUE",
    parameter              RX_XCLK_SEL        = "RXREC",
    parameter logic [31:0] PMA_RSV            = '0,
    parameter logic [31:0] PMA_RSV2           = '0,
    parameter logic [15:0] RX_BIAS_CFG        = '0,
    parameter logic [82:0] RXCDR_CFG          = '0
) (
    input  logic        PLL0CLK,
    input  logic        PLL0REFCLK,
    input  logic        PLL1CLK,
    input  logic        PLL1REFCLK,
    input  logic [1:0]  TXSYSCLKSEL,
    input  logic [1:0]  RXSYSCLKSEL,
    input  logic        GTTXRESET,
    input  logic        GTRXRESET,
    input  logic        TXUSERRDY,
    input  logic        RXUSERRDY,
    output logic        TXRESETDONE,
    output logic        RXRESETDONE,
    output logic        RXPMARESETDONE,
    input  logic        DRPCLK,
    input  logic [8:0]  DRPADDR,
    input  logic        DRPEN,
    input  logic        DRPWE,
    input  logic [15:0] DRPDI,
    output logic [15:0] DRPDO,
    output logic        DRPRDY,
    input  logic [2:0]  TXOUTCLKSEL,
    output logic        TXOUTCLK,
    input  logic        TXUSRCLK,
    input  logic        TXUSRCLK2,
    input  logic        TX8B10BEN,
    input  logic [31:0] TXDATA,
    input  logic [3:0]  TXCHARISK,
    output logic        GTPTXP,
    output logic        GTPTXN,
    input  logic [2:0]  RXOUTCLKSEL,
    output logic        RXOUTCLK,
    input  logic        RXUSRCLK,
    input  logic        RXUSRCLK2,
    input  logic        RX8B10BEN,
    input  logic        RXCOMMADETEN,
    input  logic        RXPCOMMAALIGNEN,
    input  logic        RXMCOMMAALIGNEN,
    output logic        RXBYTEISALIGNED,
    output logic [31:0] RXDATA,
    output logic [3:0]  RXCHARISK,
    output logic [3:0]  RXDISPERR,
    output logic [3:0]  RXNOTINTABLE,
    input  logic        GTPRXP,
    input  logic        GTPRXN,
    input  logic [1:0]  RXELECIDLEMODE,
    input  logic [3:0]  TXDIFFCTRL,
    input  logic [2:0]  LOOPBACK,
    input  logic [1:0]  TXPD,
    input  logic [1:0]  RXPD
);
  // ---- 8b/10b: codes abcdei fghj with a in bit 9, at negative running disparity ----
  function automatic logic [5:0] six(input logic [4:0] x, input logic k);
    case (x)
      0: six = 6'b100111;
      1: six = 6'b011101;
      2: six = 6'b101101;
      3: six = 6'b110001;
      4: six = 6'b110101;
      5: six = 6'b101001;
      6: six = 6'b011001;
      7: six = 6'b111000;
      8: six = 6'b111001;
      9: six = 6'b100101;
      10: six = 6'b010101;
      11: six = 6'b110100;
      12: six = 6'b001101;
      13: six = 6'b101100;
      14: six = 6'b011100;
      15: six = 6'b010111;
      16: six = 6'b011011;
      17: six = 6'b100011;
      18: six = 6'b010011;
      19: six = 6'b110010;
      20: six = 6'b001011;
      21: six = 6'b101010;
      22: six = 6'b011010;
      23: six = 6'b111010;
      24: six = 6'b110011;
      25: six = 6'b100110;
      26: six = 6'b010110;
      27: six = 6'b110110;
      28: six = k ? 6'b001111 : 6'b001110;
      29: six = 6'b101110;
      30: six = 6'b011110;
      default: six = 6'b101011;
    endcase
  endfunction
  function automatic logic [3:0] four(input logic [2:0] y, input logic k28, input logic alternate);
    case (y)
      0: four = 4'b1011;
      1: four = k28 ? 4'b0110 : 4'b1001;
      2: four = k28 ? 4'b1010 : 4'b0101;
      3: four = 4'b1100;
      4: four = 4'b1101;
      5: four = k28 ? 4'b0101 : 4'b1010;
      6: four = k28 ? 4'b1001 : 4'b0110;
      default: four = alternate ? 4'b0111 : 4'b1110;
    endcase
  endfunction
  // The code of a character, and the disparity behind it (1: positive).
  function automatic logic [10:0] encode(input logic [7:0] c, input logic k, input logic positive);
    logic [5:0] s;
    logic [3:0] f;
    logic       middle, k28, alternate;
    k28       = k && c[4:0] == 5'd28;
    s         = six(c[4:0], k);
    middle    = positive ^ ($countones(s) != 3);
    if (positive && ($countones(s) != 3 || s == 6'b111000)) s = ~s;
    alternate = k || (middle ? c[4:0] == 11 || c[4:0] == 13 || c[4:0] == 14 : c[4:0] == 17 || c[4:0] == 18 ||
        c[4:0] == 20);
    f         = four(c[7:5], k28, alternate);
    encode[10] = middle ^ ($countones(f) != 2);
    if (middle && ($countones(f) != 2 || k28 || c[7:5] == 3'd3)) f = ~f;
    encode[9:0] = {s, f};
  endfunction
  // By code: exists at a disparity, K, character.
  logic [8:0] character[1024];
  logic [1:0] exists[1024];
  initial begin
    logic [10:0] code;
    for (int i = 0; i < 1024; i++) exists[i] = '0;
    for (int k = 0; k < 2; k++)
      for (int c = 0; c < 256; c++)
        if (k == 0 || c[4:0] == 28 || (c[7:5] == 7 && (c[4:0] == 23 || c[4:0] == 27 || c[4:0] == 29 || c[4:0] == 30)))
          for (int d = 0; d < 2; d++) begin
            code = encode(c[7:0], k[0], d[0]);
            exists[code[9:0]][d]  = 1'b1;
            character[code[9:0]]  = {k[0], c[7:0]};
          end
  end

  // ---- clocks: a cycle of 20 bits, in the middle of which data change ----
  logic [4:0] tx_bit = '0, rx_bit = '0;
  always @(posedge PLL0CLK) begin
    tx_bit <= tx_bit == 5'd19 ? '0 : tx_bit + 1'b1;
    rx_bit <= rx_bit == 5'd19 ? '0 : rx_bit + 1'b1;
  end
  assign TXOUTCLK = TXOUTCLKSEL == 3'b010 && tx_bit < 5'd10;
  assign RXOUTCLK = RXOUTCLKSEL == 3'b010 && rx_bit < 5'd10;

  // ---- transmitter ----
  logic [39:0] tx_code, tx_shift;
  logic [5:0]  tx_left = '0;
  logic        tx_disparity = 1'b0, tx_fresh = 1'b0, tx_seen = 1'b0;
  always @(posedge TXUSRCLK2) begin
    logic [10:0] code;
    for (int i = 0; i < 4; i++) begin
      code = encode(TXDATA[i*8+:8], TXCHARISK[i], tx_disparity);
      for (int b = 0; b < 10; b++) tx_code[i*10+b] = code[9-b];
      tx_disparity = code[10];
    end
    tx_fresh = !tx_fresh;
  end
  always @(posedge PLL0CLK) begin
    if (tx_left == 0 || tx_fresh != tx_seen) begin
      tx_shift = tx_code;
      tx_left  = 6'd40;
      tx_seen  = tx_fresh;
    end
    GTPTXP   <= tx_shift[0] && !GTTXRESET && TX8B10BEN;
    GTPTXN   <= !tx_shift[0];
    tx_shift = tx_shift >> 1;
    tx_left  = tx_left - 1'b1;
  end

  // ---- receiver: the newest bit is bit 9 ----
  logic [9:0]  window = '0;
  logic [39:0] rx_codes = '0, rx_whole = '0;
  logic [3:0]  in_code = '0;
  logic [1:0]  at = '0;
  logic        rx_disparity = 1'b0, rx_aligned = 1'b0;
  always @(posedge PLL0CLK) begin
    window  = {GTPRXP, window[9:1]};
    in_code = in_code == 4'd9 ? '0 : in_code + 1'b1;
    if (RXCOMMADETEN && ((RXPCOMMAALIGNEN && window == ALIGN_PCOMMA_VALUE) ||
        (RXMCOMMAALIGNEN && window == ALIGN_MCOMMA_VALUE))) begin
      in_code    = '0;
      rx_aligned = 1'b1;
    end
    if (GTRXRESET) rx_aligned = 1'b0;
    if (in_code == 0) begin
      rx_codes = {window, rx_codes[39:10]};
      at       = at + 1'b1;
      if (at == 0) rx_whole = rx_codes;
    end
  end
  always @(posedge RXUSRCLK2) begin
    logic [9:0] code;
    for (int i = 0; i < 4; i++) begin
      for (int b = 0; b < 10; b++) code[9-b] = rx_whole[i*10+b];
      RXNOTINTABLE[i]    <= exists[code] == 0;
      RXDISPERR[i]       <= !exists[code][rx_disparity];
      RXDATA[i*8+:8]     <= character[code][7:0];
      RXCHARISK[i]       <= character[code][8] && RX8B10BEN;
      if ($countones(code) != 5) rx_disparity = $countones(code) > 5;
    end
    RXBYTEISALIGNED <= rx_aligned && RXRESETDONE;
  end

  // ---- resets and the DRP ----
  logic [15:0] drp_11 = 16'h0800;
  logic [7:0]  tx_wait = '0, rx_wait = '0;
  logic        order_ok = 1'b0, reset_was = 1'b1;
  assign RXPMARESETDONE = rx_wait > 8'd20 && rx_wait < 8'd60 || rx_wait == '1;
  assign TXRESETDONE    = tx_wait == '1;
  assign RXRESETDONE    = rx_wait == '1 && order_ok && drp_11[11];
  always @(posedge DRPCLK) begin
    DRPRDY <= DRPEN;
    DRPDO  <= DRPADDR == 9'h011 ? drp_11 : '0;
    if (DRPEN && DRPWE && DRPADDR == 9'h011) drp_11 <= DRPDI;
    reset_was <= GTRXRESET;
    if (GTRXRESET) order_ok <= 1'b0;
    else if (reset_was) order_ok <= !drp_11[11];
    tx_wait <= GTTXRESET || !TXUSERRDY ? '0 : tx_wait == '1 ? tx_wait : tx_wait + 1'b1;
    // The second half of the reset waits until the bit is restored.
    rx_wait <= GTRXRESET || !RXUSERRDY ? '0 : rx_wait == '1 || (rx_wait == 8'd70 && !drp_11[11]) ? rx_wait :
        rx_wait + 1'b1;
  end
endmodule
