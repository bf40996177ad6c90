// phy_tx: words of a link as characters of 8b/10b, for a PHY that has four per lane and cycle.
//
// Job: a column is what all lanes send in a cycle, the first character in the lowest bits. A word
//   is a column whose lanes begin with K27.7, and as many columns behind it as its bytes need: byte
//   0 follows the K of lane 0. Where no word is there an idle column goes, and one every SPACING
//   columns at least, by which the other end aligns bytes and lanes:
//
//   character  0      1               2                      3
//   word       K27.7  byte            byte                   byte        then four bytes per lane and column
//   idle       K28.5  column number   b5 receives, 4a not    ~number
//
// Handshake: valid/ready, taken with the first column. ok tells what this end receives.
// Backpressure: ready once in COLUMNS cycles, and not in an idle column.
module phy_tx #(
    parameter int LANES   = 1,
    parameter int WORD_W  = 133,
    parameter int SPACING = 64,
    localparam int BYTES   = (WORD_W + 7) / 8,
    localparam int COLUMNS = 1 + (BYTES - 3 * LANES + 4 * LANES - 1) / (4 * LANES)
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                ok,
    input  logic                s_valid,
    output logic                s_ready,
    input  logic [WORD_W-1:0]   s_word,
    output logic [LANES*32-1:0] tx_data,
    output logic [LANES*4-1:0]  tx_k
);
  localparam int REST_W = 32 * LANES * (COLUMNS - 1);
  localparam int C_W = $clog2(COLUMNS + 1), S_W = $clog2(SPACING + 1);
  logic [REST_W-1:0]  rest;  // bytes behind the first column
  logic [C_W-1:0]     left;
  logic [S_W-1:0]     since;
  logic [7:0]         number;
  logic [REST_W+24*LANES-1:0] whole;
  assign whole   = (REST_W + 24 * LANES)'(s_word);
  assign s_ready = left == '0 && since != S_W'(SPACING);
  always_ff @(posedge clk) begin
    number <= rst ? '0 : number + 1'b1;
    if (rst) begin
      left  <= '0;
      since <= S_W'(SPACING);
    end else begin
      if (s_valid && s_ready) left <= C_W'(COLUMNS - 1);
      else if (left != '0) left <= left - 1'b1;
      if (left == '0 && !(s_valid && s_ready)) since <= '0;
      else if (since != S_W'(SPACING)) since <= since + 1'b1;
    end
    rest <= s_ready ? whole[24*LANES+:REST_W] : rest >> (32 * LANES);
    for (int l = 0; l < LANES; l++) begin
      if (left != '0) begin
        tx_data[32*l+:32] <= rest[32*l+:32];
        tx_k[4*l+:4]      <= 4'b0000;
      end else begin
        tx_data[32*l+:32] <= s_valid && s_ready ? {whole[24*l+:24], 8'hfb} :
            {~number, ok ? 8'hb5 : 8'h4a, number, 8'hbc};
        tx_k[4*l+:4]      <= 4'b0001;
      end
    end
  end

`ifndef SYNTHESIS
  if (COLUMNS < 2) $fatal(1, "phy_tx: %0d lanes for %0d bits, expected a word of two columns or more", LANES, WORD_W);
`endif
endmodule
