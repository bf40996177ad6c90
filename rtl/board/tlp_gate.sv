// tlp_gate: stops a stream of TLPs between two of them, so that a reset of one side cuts none.
//
// Job: passes words while it is open. With stop high it closes behind the last word of a TLP, and
//   opens again when stop is low. A receiver that is reset inside a TLP would take the rest of it
//   for a header; a TLP that a reset sender has begun would swallow the next one.
// Handshake: AXI-Stream; what is offered stays until it is taken. closed: nothing passes.
// Backpressure: that of m_ready while it is open; closed, s_ready is low.
module tlp_gate (
    input  logic clk,
    input  logic rst,
    input  logic stop,
    output logic closed,
    input  logic s_valid,
    output logic s_ready,
    input  logic s_last,
    output logic m_valid,
    input  logic m_ready
);
  logic open_q, inside_q;  // inside: a word of the TLP has passed, its last one has not
  assign m_valid = s_valid && open_q;
  assign s_ready = m_ready && open_q;
  assign closed  = !open_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      open_q   <= 1'b0;
      inside_q <= 1'b0;
    end else if (!open_q) open_q <= !stop;
    else if (m_valid && m_ready) begin
      inside_q <= !s_last;
      open_q   <= !(stop && s_last);
    end else if (!s_valid && !inside_q) open_q <= !stop;
  end
`ifdef FORMAL
  // Whatever comes: what is offered stays until it is taken, and the gate is closed between TLPs
  // only.
  logic formal_started = 1'b0;
  logic s_was, m_was, last_was, between;
  always_ff @(posedge clk) begin
    formal_started <= 1'b1;
    s_was          <= !rst && s_valid && !s_ready;
    m_was          <= !rst && m_valid && !m_ready;
    last_was       <= s_last;
    between        <= rst || (m_valid && m_ready ? s_last : between);
  end
  always_comb begin
    if (!formal_started) assume (rst);
    if (formal_started && s_was) assume (s_valid && s_last == last_was);
    if (formal_started && !rst) begin
      assert (!m_was || m_valid);
      assert (!closed || between);
      assert (between == !inside_q);
      assert (!m_was || open_q);
    end
  end
  always_ff @(posedge clk) cover (formal_started && closed && s_valid && !stop);
  always_ff @(posedge clk) cover (formal_started && stop && !closed && m_valid && m_ready && !s_last);
`endif
endmodule
