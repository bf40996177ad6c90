// Proves of sync_pulse, with two clocks that rise whenever they like and bits that are caught
// before or after their change (sync_level_free): no pulse comes without an event, and behind the
// last event one has come before s_busy falls, which it does within twelve rounds, an edge of each
// clock or more, when nothing new comes.
module sync_pulse_once (
    input logic clk_s,
    input logic clk_m,
    input logic rst_s,
    input logic rst_m,
    input logic s_pulse
);
  (* gclk *) logic step;
  logic s_busy, m_pulse;
  sync_pulse u_dut (.clk_s, .rst_s, .s_pulse, .s_busy, .clk_m, .rst_m, .m_pulse);

  logic started = 1'b0, clk_s_was = 1'b1, clk_m_was = 1'b1, in_was, out_was, s_edge, m_edge;
  assign s_edge = started && clk_s && !clk_s_was;
  assign m_edge = started && clk_m && !clk_m_was;
  // Once, from reset: both resets for three edges of both clocks.
  logic       running = 1'b0;
  logic [1:0] s_count, m_count;
  always_ff @(posedge step) begin
    started   <= 1'b1;
    clk_s_was <= clk_s;
    clk_m_was <= clk_m;
    in_was    <= s_pulse && running;
    out_was   <= m_pulse && running;
    if (s_edge && s_count != 2'd3) s_count <= s_count + 1'b1;
    if (m_edge && m_count != 2'd3) m_count <= m_count + 1'b1;
    running <= s_count == 2'd3 && m_count == 2'd3;
  end
  always_comb begin
    assume (rst_s == !running && rst_m == !running);
    if (!started) assume (!running && s_count == '0 && m_count == '0);
  end

  // Events and pulses of the edges in this step; a pulse is out when its cycle is over.
  logic       came, went, owed, owed_now;
  logic [1:0] more, more_now;  // events without a pulse, 3 for more
  assign came     = s_edge && in_was;
  assign went     = m_edge && out_was;
  assign more_now = came && !went ? (more == 2'd3 ? 2'd3 : more + 1'b1) : went && !came && more != '0 ? more - 1'b1 :
      more;
  assign owed_now = came || (owed && !went);
  logic [3:0] rounds;
  logic       s_ticked, m_ticked;
  always_ff @(posedge step) begin
    more <= running ? more_now : '0;
    owed <= running && owed_now;
    if (!running || came || !s_busy) {rounds, s_ticked, m_ticked} <= '0;
    else begin
      s_ticked <= (s_ticked || s_edge) && !(s_ticked && m_ticked);
      m_ticked <= (m_ticked || m_edge) && !(s_ticked && m_ticked);
      if (s_ticked && m_ticked && rounds != '1) rounds <= rounds + 1'b1;
    end
  end
  always_comb
    if (started && running) begin
      assert (!went || more != '0);
      assert (s_busy || !owed_now);
      assert (rounds <= 4'd12);
    end
  always_ff @(posedge step) begin
    cover (started && went && more == 2'd2);
    cover (started && running && !s_busy && in_was);
  end
endmodule
