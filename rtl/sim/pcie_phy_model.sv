// pcie_phy_model: simulation: the PCIe hard block of a board, between a root complex and a shim.
//
// Job: gives the TLPs of root_complex in the stream format of a hard block, and takes those of the
//   NIC from it. With SERIES7 0 the format is that of LitePCIe's S7PCIEPHY, with 1 that of a Xilinx
//   7-series integrated block; W 128 of the latter straddles: the next TLP begins in the upper half
//   of a beat in whose lower half one ends. Written from the formats' descriptions, without the
//   code of the shims, so that an error in one does not hide in the other.
// Handshake: TLPs as in docs/decisions/0020, 64 bits a word, on the root complex's side. Where a
//   format leaves a value open (tkeep and tlast of 128 bits, BAR hit inside a TLP) it is not what a
//   careless reader would expect.
// Backpressure: a beat waits in a register; a lower half waits up to three cycles for a TLP that
// may straddle.
module pcie_phy_model #(
    parameter int SERIES7 = 1,
    parameter int W       = 128
) (
    input  logic           clk,
    input  logic           rst,
    // root complex
    input  logic           s_tlp_valid,
    output logic           s_tlp_ready,
    input  logic [63:0]    s_tlp_data,
    input  logic [1:0]     s_tlp_keep,
    input  logic           s_tlp_last,
    input  logic [2:0]     s_tlp_bar,
    output logic           m_tlp_valid,
    input  logic           m_tlp_ready,
    output logic [63:0]    m_tlp_data,
    output logic [1:0]     m_tlp_keep,
    output logic           m_tlp_last,
    // board
    output logic           rx_valid,
    input  logic           rx_ready,
    output logic [W-1:0]   rx_data,
    output logic [W/8-1:0] rx_keep,
    output logic           rx_last,
    output logic [21:0]    rx_user,     // of a 7-series block; 9:2 BAR hit
    input  logic           tx_valid,
    output logic           tx_ready,
    input  logic [W-1:0]   tx_data,
    input  logic [W/8-1:0] tx_keep,
    input  logic           tx_last,
    output logic           idle
);
  function automatic logic [31:0] reversed(input logic [31:0] d);
    reversed = {d[7:0], d[15:8], d[23:16], d[31:24]};
  endfunction
  // Payload dwords of a word are reversed, header dwords are not. at: dwords before the word in its
  // TLP.
  function automatic logic [63:0] order(input logic [63:0] d, input int unsigned at, input int unsigned header);
    order = {at + 1 >= header ? reversed(d[63:32]) : d[63:32], at >= header ? reversed(d[31:0]) : d[31:0]};
  endfunction

  // ---- root complex to board ----
  localparam logic [4:0] NONE = 5'b00011;           // what tuser has where no TLP begins or ends
  logic [63:0]   lower;
  logic          lower_used, lower_begins, lower_ends, lower_both;
  logic [2:0]    lower_bar;
  int unsigned   waited, down_at, down_header, up_at, up_header;
  logic          down_begins;
  // A word is taken when the beat that it completes has room.
  logic          room;
  assign room        = !rx_valid || rx_ready;
  assign s_tlp_ready = room;
  assign idle        = !rx_valid && !lower_used && !s_tlp_valid && !tx_valid;
  // A beat of a 128-bit stream, of the halves that are used.
  task automatic emit(input logic [63:0] up, input logic up_used, input logic up_begins, input logic up_ends,
      input logic up_both, input logic [2:0] up_bar);
    logic [4:0] sof, eof;
    logic [2:0] bar;
    sof = NONE;
    eof = NONE;
    bar = up_used && up_begins ? up_bar : lower_bar;
    if (lower_begins) sof = 5'b10000;
    if (up_used && up_begins) sof = 5'b11000;
    if (lower_ends) eof = lower_both ? 5'b10111 : 5'b10011;
    if (up_used && up_ends) eof = up_both ? 5'b11111 : 5'b11011;
    rx_valid <= 1'b1;
    rx_data  <= W'({up_used ? up : ~lower, lower});
    if (SERIES7 != 0) begin
      rx_keep <= '1;
      rx_last <= 1'b0;
      rx_user <= {eof, 2'b00, sof, 8'(1 << bar), 2'b00};
    end else begin
      rx_keep <= '1;
      rx_last <= lower_ends || (up_used && up_ends);
      rx_user <= {12'h0, 8'(1 << bar), 2'b00};
    end
    lower_used = 1'b0;
    lower_ends = 1'b0;
    waited     = 0;
  endtask
  always @(posedge clk) begin
    logic [63:0] word;
    if (rst) begin
      rx_valid    <= 1'b0;
      lower_used   = 1'b0;
      lower_ends   = 1'b0;
      down_at      = 0;
      waited       = 0;
    end else begin
      if (rx_ready) rx_valid <= 1'b0;
      if (s_tlp_valid && s_tlp_ready) begin
        down_begins = down_at == 0;
        if (down_begins) down_header = s_tlp_data[29] ? 4 : 3;
        word    = order(s_tlp_data, down_at, down_header);
        down_at = s_tlp_last ? 0 : down_at + 2;
        if (W == 64) begin
          rx_valid <= 1'b1;
          rx_data  <= W'(word);
          rx_keep  <= {{(W/16){s_tlp_keep[1]}}, {(W/16){1'b1}}};
          rx_last  <= s_tlp_last;
          rx_user  <= {12'h0, down_begins ? 8'(1 << s_tlp_bar) : 8'h0, 2'b00};
        end else if (lower_used) begin
          emit(word, 1'b1, down_begins, s_tlp_last, s_tlp_keep[1], s_tlp_bar);
        end else begin
          lower        = word;
          lower_used   = 1'b1;
          lower_begins = down_begins;
          lower_ends   = s_tlp_last;
          lower_both   = s_tlp_keep[1];
          lower_bar    = s_tlp_bar;
          // LitePCIe aligns what straddles.
          if (SERIES7 == 0 && lower_ends) emit('0, 1'b0, 1'b0, 1'b0, 1'b0, 3'd0);
        end
      end else if (room && lower_used && lower_ends) begin
        waited = waited + 1;
        if (waited == 3) emit('0, 1'b0, 1'b0, 1'b0, 1'b0, 3'd0);
      end
    end
  end

  // ---- board to root complex: a beat as one word or two ----
  logic upper, more;
  assign more        = W == 128 && !upper && tx_keep[W/16];
  assign m_tlp_valid = tx_valid;
  assign m_tlp_data  = order(upper ? tx_data[W-1-:64] : tx_data[63:0], up_at, up_at == 0 ? 4 : up_header);
  assign m_tlp_keep  = {upper ? tx_keep[W/8-1] : tx_keep[7], 1'b1};
  assign m_tlp_last  = tx_last && !more;
  assign tx_ready    = m_tlp_ready && !more;
  always @(posedge clk) begin
    if (rst) begin
      upper <= 1'b0;
      up_at <= 0;
    end else if (m_tlp_valid && m_tlp_ready) begin
      if (up_at == 0) up_header <= tx_data[29] ? 4 : 3;
      up_at <= m_tlp_last ? 0 : up_at + 2;
      upper <= more;
    end
    if (!rst && tx_valid)
      for (int i = 0; i < W / 32; i++) begin
        assert (tx_keep[i*4+:4] == 4'h0 || tx_keep[i*4+:4] == 4'hf)
          else $error("pcie_phy_model: tkeep %x", tx_keep);
        assert (tx_last || tx_keep[i*4]) else $error("pcie_phy_model: tkeep %x inside a TLP", tx_keep);
      end
  end
endmodule
