// pcie7x_rx_words: pcie7x_rx with 128 bits gives every half of a beat that holds a part of a TLP,
// once and in order, with the right end and BAR, whatever legal beats come, and takes no beat
// before that.
module pcie7x_rx_words (
    input logic       clk,
    input logic       rst,
    input logic       next_valid,
    input logic       next_lower,     // the lower half holds a TLP
    input logic       next_upper,
    input logic       next_lower_ends,
    input logic       next_upper_ends,
    input logic [1:0] next_both,      // of a last half: both dwords are part of the TLP
    input logic [1:0] next_data,      // a bit per half stands for its 64
    input logic [2:0] next_bar,
    input logic       ready
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // ---- the hard block: beats stay until they are taken; open: a TLP goes on in the next beat ----
  logic       valid, open, lower, lower_begins, lower_ends, upper, upper_begins, upper_ends, s_ready;
  logic       in_lower, in_upper;
  logic [1:0] both, data;
  logic [2:0] bar;
  // A TLP has three dwords or more, so none begins and ends in a beat but from the lower half to
  // the upper one.
  assign in_lower = next_lower || open;
  assign in_upper = !in_lower || !(open && next_lower_ends) || next_upper;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid <= 1'b0;
      open  <= 1'b0;
    end else if (!valid || s_ready) begin
      valid <= next_valid;
      if (next_valid) begin
        lower        <= in_lower;
        lower_begins <= in_lower && !open;
        lower_ends   <= open && next_lower_ends;
        upper        <= in_upper;
        upper_begins <= in_upper && (!in_lower || (open && next_lower_ends));
        upper_ends   <= in_upper && in_lower && !(open && next_lower_ends) && next_upper_ends;
        both         <= next_both;
        data         <= next_data;
        bar          <= next_bar;
        open         <= in_upper && !(in_lower && !(open && next_lower_ends) && next_upper_ends);
      end
    end
  end
  logic [4:0] sof, eof;
  assign sof = upper_begins ? 5'b11000 : lower_begins ? 5'b10000 : 5'b00011;
  assign eof = lower_ends ? {2'b10, both[0], 2'b11} : upper_ends ? {2'b11, both[1], 2'b11} : 5'b00011;

  logic        m_valid, m_both, m_last;
  logic [63:0] m_data;
  logic [2:0]  m_bar;
  pcie7x_rx #(.W(128)) u_dut (
      .clk, .rst, .s_valid(valid), .s_ready, .s_data({{64{data[1]}}, {64{data[0]}}}), .s_keep(16'hffff), .s_last(1'b0),
      .s_user({eof, 2'b00, sof, 8'(8'd1 << bar), 2'b00}), .m_valid, .m_ready(ready), .m_data, .m_both, .m_last, .m_bar
  );

  // ---- which half comes next ----
  logic given;  // the lower half of this beat has been taken
  logic is_upper, take;
  assign is_upper = given || !lower;
  assign take     = m_valid && ready;
  always_ff @(posedge clk)
    if (rst || (valid && s_ready)) given <= 1'b0;
    else if (take) given <= 1'b1;
  always_comb
    if (started && !rst) begin
      assert (!m_valid || valid);
      assert (!valid || m_valid);
      if (m_valid) begin
        assert (is_upper ? upper : lower);
        assert (m_data == {64{is_upper ? data[1] : data[0]}});
        assert (m_last == (is_upper ? upper_ends : lower_ends));
        assert (m_both == (!m_last || (is_upper ? both[1] : both[0])));
        if (is_upper ? upper_begins : lower_begins) assert (m_bar == (bar < 3'd6 ? bar : 3'd7));
        assert (s_ready == (ready && (is_upper || !upper)));
      end
    end
  always_ff @(posedge clk) cover (started && take && !is_upper && lower_ends && upper_begins);
  always_ff @(posedge clk) cover (started && take && is_upper && upper_ends && !both[1] && s_ready);
  always_ff @(posedge clk) cover (started && take && !is_upper && lower_ends && !upper && s_ready);
endmodule
