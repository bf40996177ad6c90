// phy_lane: what comes over a lane, aligned.
//
// Job: finds the first character of a column by the comma (K28.5) of idle columns, follows their
//   numbers, and says whether that holds: locked after GOOD whole idle columns in a row; not any
//   more when eight more columns were damaged than idle columns whole, when no idle column came for
//   256 columns, when one has another number or position than is due, twice, or as soon as the PHY
//   has no lock itself. What comes is delayed by delay columns, for lanes that are behind.
// Handshake: a column per cycle. number is that of the column which is in front of the delay.
// Backpressure: none.
module phy_lane #(
    parameter int GOOD = 8
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        phy_ok,
    input  logic [31:0] rx_data,
    input  logic [3:0]  rx_k,
    input  logic [3:0]  rx_bad,   // no character of the code, or of the wrong disparity
    output logic        locked,
    output logic [7:0]  number,
    input  logic [2:0]  delay,
    output logic [31:0] data,
    output logic [3:0]  k
);
  localparam logic [7:0] COMMA = 8'hbc, START = 8'hfb;
  localparam int G_W = $clog2(GOOD + 1);

  // ---- the first character ----
  logic [31:0] data_was, here;
  logic [3:0]  k_was, bad_was, here_k, here_bad;
  logic [1:0]  shift, at;
  logic        comma;
  always_ff @(posedge clk) begin
    data_was <= rx_data;
    k_was    <= rx_k;
    bad_was  <= rx_bad;
  end
  assign here     = 32'({rx_data, data_was} >> {shift, 3'b000});
  assign here_k   = 4'({rx_k, k_was} >> shift);
  assign here_bad = 4'({rx_bad, bad_was} >> shift);
  always_comb begin
    comma = 1'b0;
    at    = '0;
    for (int i = 3; i >= 0; i--)
      if (k_was[i] && !bad_was[i] && data_was[8*i+:8] == COMMA) begin
        comma = 1'b1;
        at    = 2'(i);
      end
  end

  // ---- does it hold ----
  logic           idle, damaged, astray;
  logic [7:0]     next;
  logic [G_W-1:0] good;
  logic [3:0]     trouble;
  logic [7:0]     without;
  assign idle    = here_bad == '0 && here_k == 4'b0001 && here[7:0] == COMMA && here[31:24] == ~here[15:8] &&
      (here[23:16] == 8'hb5 || here[23:16] == 8'h4a);
  assign damaged = here_bad != '0 || (here_k != '0 && !idle && !(here_k == 4'b0001 && here[7:0] == START));
  assign astray  = idle && here[15:8] != next;
  assign number  = idle ? here[15:8] : next;
  always_ff @(posedge clk) begin
    next <= number + 1'b1;
    if (rst || !phy_ok) begin
      locked  <= 1'b0;
      good    <= '0;
      shift   <= '0;
      trouble <= '0;
      without <= '0;
    end else if (!locked) begin
      trouble <= '0;
      without <= '0;
      if (damaged || astray) good <= '0;
      else if (idle && good != G_W'(GOOD)) good <= good + 1'b1;
      if (comma && at != shift && good == '0) shift <= at;
      locked <= good == G_W'(GOOD) && !damaged && !astray;
    end else begin
      without <= idle ? '0 : without + 1'b1;
      if (astray) trouble <= trouble + 4'd4;
      else if (damaged) trouble <= trouble + 1'b1;
      else if (idle && trouble != '0) trouble <= trouble - 1'b1;
      if (trouble >= 4'd8 || &without) begin
        locked <= 1'b0;
        good   <= '0;
      end
    end
  end

  // ---- as late as the last lane ----
  logic [255:0] datas;
  logic [31:0]  ks;
  always_ff @(posedge clk) begin
    datas <= {datas[223:0], here};
    ks    <= {ks[27:0], here_k & ~here_bad};
  end
  assign data = datas[{delay, 5'd0}+:32];
  assign k    = ks[{delay, 2'd0}+:4];
endmodule
