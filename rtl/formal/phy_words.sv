// Proves of phy_tx and phy_rx over a wire of one clock that damages nothing, delays every lane by
// as many bytes as it likes, and may lose its lock at any time: every word sent while both ends
// have had ok since comes, whole, once and in order; no word comes that was not sent; ok falls in
// the second cycle behind the lock of any lane. Words of two columns with idle columns between;
// looks at one word, any.
module phy_words #(
    parameter int LANES = 1
) (
    input logic                clk,
    input logic                rst,
    input logic                s_valid,
    input logic [39:0]         s_word,
    input logic [LANES-1:0]    phy_ok,
    input logic [LANES*2-1:0]  offset,
    input logic                mark
);
  localparam int W = 8 * (LANES * 5);
  logic                s_ready, ok, far_ok, m_valid, ev_dropped;
  logic [W-1:0]        m_word;
  logic [LANES*32-1:0] tx_data, rx_data, data_was;
  logic [LANES*4-1:0]  tx_k, rx_k, k_was;
  phy_tx #(.LANES(LANES), .WORD_W(W), .SPACING(3)) u_tx (.clk, .rst, .ok(1'b1), .s_valid, .s_ready, .s_word(W'(s_word)),
      .tx_data, .tx_k);
  phy_rx #(.LANES(LANES), .WORD_W(W), .GOOD(2)) u_rx (
      .clk, .rst, .phy_ok, .rx_data, .rx_k, .rx_bad('0), .ok, .far_ok, .m_valid, .m_word, .ev_dropped
  );
  logic                started = 1'b0;
  logic [LANES*2-1:0]  offset_was;
  always_ff @(posedge clk) begin
    started    <= 1'b1;
    offset_was <= offset;
    data_was   <= tx_data;
    k_was      <= tx_k;
  end
  always_comb begin
    if (!started) assume (rst);
    if (started) assume (!rst && offset == offset_was);
    for (int l = 0; l < LANES; l++) begin
      rx_data[32*l+:32] = 32'({tx_data[32*l+:32], data_was[32*l+:32]} >> {offset[2*l+:2], 3'b000});
      rx_k[4*l+:4]      = 4'({tx_k[4*l+:4], k_was[4*l+:4]} >> offset[2*l+:2]);
    end
  end

  // A word that is looked at, and whether ok has stood since before it left.
  logic        on, sure;
  logic [39:0] word;
  logic [3:0]  age;
  always_ff @(posedge clk)
    if (rst) on <= 1'b0;
    else if (!on && s_valid && s_ready && mark) begin
      on   <= 1'b1;
      word <= s_word;
      age  <= '0;
      sure <= ok;
    end else if (on) begin
      age  <= age + 1'b1;
      sure <= sure && ok;
      if (age == 4'd8) on <= 1'b0;
    end
  // Words under way, by when they left: the time a word takes is the same for all.
  logic [15:0] left_then;
  always_ff @(posedge clk) left_then <= rst ? '0 : {left_then[14:0], s_valid && s_ready};
  logic [1:0] no_lock;
  always_ff @(posedge clk) no_lock <= rst ? '0 : {no_lock[0], !(&phy_ok)};
  // Cycles from s_ready to m_valid: a lane whose columns come as they are has them a cycle later
  // than one that is shifted.
  logic late, due;
  always_comb begin
    late = 1'b0;
    for (int l = 0; l < LANES; l++) if (offset[2*l+:2] == '0) late = 1'b1;
    due = on && sure && ok && age == (late ? 4'd5 : 4'd4);
  end
  always_comb
    if (started && !rst) begin
      assert (!(m_valid && ok) || (late ? left_then[5] : left_then[4]));
      assert (!due || (m_valid && m_word[39:0] == word));
      assert (!no_lock[1] || !ok);
      assert (!(ok && sure && on && age > 4'd6) || !ev_dropped);
    end
  always_ff @(posedge clk) cover (started && due && m_valid && offset == {LANES{2'd3}});
endmodule
