// phy_rx: lanes joined, and words out of their columns.
//
// Job: delays each lane so that columns of one number meet (the lanes say theirs); ok when all are
//   locked and none is more than seven columns ahead. Makes words of what phy_tx made of them,
//   whatever damage they have: the link's CRC finds it. A word in which another column begins, or
//   whose lanes do not begin together, is dropped. far_ok: the other end says that it receives.
// Handshake: m_valid for a cycle. ev_dropped, a pulse.
// Backpressure: none; words come COLUMNS cycles apart or more.
module phy_rx #(
    parameter int LANES  = 1,
    parameter int WORD_W = 133,
    parameter int GOOD   = 8,
    localparam int BYTES   = (WORD_W + 7) / 8,
    localparam int COLUMNS = 1 + (BYTES - 3 * LANES + 4 * LANES - 1) / (4 * LANES)
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [LANES-1:0]    phy_ok,
    input  logic [LANES*32-1:0] rx_data,
    input  logic [LANES*4-1:0]  rx_k,
    input  logic [LANES*4-1:0]  rx_bad,
    output logic                ok,
    output logic                far_ok,
    output logic                m_valid,
    output logic [WORD_W-1:0]   m_word,
    output logic                ev_dropped
);
  localparam int WHOLE_W = 24 * LANES + 32 * LANES * (COLUMNS - 1);
  localparam int C_W = $clog2(COLUMNS + 1);
  logic [LANES-1:0]    locked;
  logic [LANES*8-1:0]  number;
  logic [LANES*3-1:0]  delay;
  logic [LANES*32-1:0] data;
  logic [LANES*4-1:0]  k;
  generate
    for (genvar l = 0; l < LANES; l++) begin : g_lane
      phy_lane #(.GOOD(GOOD)) u_lane (
          .clk, .rst, .phy_ok(phy_ok[l]), .rx_data(rx_data[32*l+:32]), .rx_k(rx_k[4*l+:4]), .rx_bad(rx_bad[4*l+:4]),
          .locked(locked[l]), .number(number[8*l+:8]), .delay(delay[3*l+:3]), .data(data[32*l+:32]), .k(k[4*l+:4])
      );
    end
  endgenerate

  // ---- how far each is ahead of the last ----
  logic signed [7:0] ahead[LANES], least;
  logic              near;
  always_comb begin
    least = '0;
    for (int l = 0; l < LANES; l++) begin
      ahead[l] = $signed(number[8*l+:8] - number[7:0]);
      if (ahead[l] < least) least = ahead[l];
    end
    near = 1'b1;
    for (int l = 0; l < LANES; l++) if (8'(ahead[l] - least) > 8'd7) near = 1'b0;
  end
  always_ff @(posedge clk) begin
    ok <= !rst && &locked && near;
    for (int l = 0; l < LANES; l++) if (!ok) delay[3*l+:3] <= 3'(ahead[l] - least);
  end

  // ---- columns ----
  logic [LANES-1:0] starts, idles, plain;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      starts[l] = k[4*l+:4] == 4'b0001 && data[32*l+:8] == 8'hfb;
      idles[l]  = k[4*l+:4] == 4'b0001 && data[32*l+:8] == 8'hbc;
      plain[l]  = k[4*l+:4] == '0;
    end
  logic [WHOLE_W-1:0] bytes;
  logic [C_W-1:0]     left;
  logic [24*LANES-1:0] first;
  always_comb for (int l = 0; l < LANES; l++) first[24*l+:24] = data[32*l+8+:24];
  always_ff @(posedge clk) begin
    m_valid    <= ok && left == C_W'(1) && &plain;
    ev_dropped <= ok && ((left != '0 && !(&plain)) || (starts != '0 && !(&starts)));
    if (!ok || !(&starts || &plain)) left <= '0;
    else if (&starts) left <= C_W'(COLUMNS - 1);
    else if (left != '0) left <= left - 1'b1;
    if (&starts) bytes[24*LANES-1:0] <= first;
    else if (left != '0)  // columns come in from above
      bytes[WHOLE_W-1:24*LANES] <= (WHOLE_W - 24 * LANES)'({data, bytes[WHOLE_W-1:24*LANES]} >> (32 * LANES));
    if (!ok) far_ok <= 1'b0;
    else if (&idles && data[31:24] == ~data[15:8] && (data[23:16] == 8'hb5 || data[23:16] == 8'h4a))
        far_ok <= data[23:16] == 8'hb5;
  end
  assign m_word = bytes[WORD_W-1:0];
endmodule
