// Proves of sync_line, with two clocks that rise whenever they like and bits that are caught before
// or after their change (sync_level_free): q rises only for a rise of d, behind the last rise of d
// it has risen before settled, and it is settled within forty rounds, an edge of each clock or
// more, when d does not change.
module sync_line_edges (
    input logic clk_s,
    input logic clk_m,
    input logic rst_s,
    input logic rst_m,
    input logic d
);
  (* gclk *) logic step;
  logic settled, q;
  sync_line u_dut (.clk_s, .rst_s, .d, .settled, .clk_m, .rst_m, .q);

  logic started = 1'b0, clk_s_was = 1'b1, clk_m_was = 1'b1, s_edge, m_edge;
  assign s_edge = started && clk_s && !clk_s_was;
  assign m_edge = started && clk_m && !clk_m_was;
  // Once, from reset: both resets for three edges of both clocks.
  logic       running = 1'b0;
  logic [1:0] s_count, m_count;
  logic       q_was, d_step, q_step;  // at the last edge of clk_m; in the step before
  always_ff @(posedge step) begin
    started   <= 1'b1;
    clk_s_was <= clk_s;
    clk_m_was <= clk_m;
    d_step    <= d && running;
    q_step    <= q && running;
    if (m_edge) q_was <= q_step;
    if (!running) q_was <= 1'b0;
    if (s_edge && s_count != 2'd3) s_count <= s_count + 1'b1;
    if (m_edge && m_count != 2'd3) m_count <= m_count + 1'b1;
    running <= s_count == 2'd3 && m_count == 2'd3;
  end
  always_comb begin
    assume (rst_s == !running && rst_m == !running);
    if (!started) assume (!running && s_count == '0 && m_count == '0);
    // d is a register of clk_s.
    if (started && running && !s_edge) assume (d == d_step);
  end

  // Rises of d, and of q as the next edge sees them. more: rises of d without one of q, 3 for more.
  logic       came, went, owed, owed_now;
  logic [1:0] more, more_now;
  assign came     = running && d && !d_step;
  assign went     = m_edge && q_step && !q_was;
  assign more_now = came && !went ? (more == 2'd3 ? 2'd3 : more + 1'b1) : went && !came && more != '0 ? more - 1'b1 :
      more;
  assign owed_now = came || (owed && !went);
  logic [5:0] rounds;
  logic       s_ticked, m_ticked;
  always_ff @(posedge step) begin
    more <= running ? more_now : '0;
    owed <= running && owed_now;
    if (!running || d != d_step || settled) {rounds, s_ticked, m_ticked} <= '0;
    else begin
      s_ticked <= (s_ticked || s_edge) && !(s_ticked && m_ticked);
      m_ticked <= (m_ticked || m_edge) && !(s_ticked && m_ticked);
      if (s_ticked && m_ticked && rounds != '1) rounds <= rounds + 1'b1;
    end
  end
  always_comb
    if (started && running) begin
      assert (!went || more != '0);
      assert (!(settled && owed) || (q && !q_was));
      assert (rounds <= 6'd40);
    end
  always_ff @(posedge step) begin
    cover (started && went && more == 2'd2);
    cover (started && running && settled && d && owed);
  end
endmodule
