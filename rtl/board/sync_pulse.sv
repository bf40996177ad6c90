// sync_pulse: events into another clock domain.
//
// Job: a cycle of s_pulse becomes a cycle of m_pulse. A level that changes with every event crosses
//   (sync_level), and comes back as acknowledgement, so none is lost whatever the clocks are.
// Handshake: pulses. Events that come while one is on its way (s_busy) are one: behind each there
//   is a pulse, and there are no more pulses than events.
// Backpressure: none; s_busy tells.
//
//   clk_s  s_pulse _|^|_______     clk_m  m_pulse _______|^|_
//          sent    ___|^^^^^^^ ──────────►        two registers, then a third to compare with
//          back    ___________|^ ◄────────
module sync_pulse (
    input  logic clk_s,
    input  logic rst_s,
    input  logic s_pulse,
    output logic s_busy,
    input  logic clk_m,
    input  logic rst_m,  // both resets overlap; pulses count when both are over
    output logic m_pulse
);
  logic sent, back, due, seen, seen_was;
  sync_level u_there (.clk(clk_m), .rst(rst_m), .d(sent), .q(seen));
  sync_level u_back (.clk(clk_s), .rst(rst_s), .d(seen_was), .q(back));
  assign s_busy  = due || sent != back;
  assign m_pulse = seen != seen_was;
  always_ff @(posedge clk_s) begin
    due <= !rst_s && (s_pulse || due) && sent != back;
    if (rst_s) sent <= 1'b0;
    else if ((s_pulse || due) && sent == back) sent <= !sent;
  end
  always_ff @(posedge clk_m) seen_was <= !rst_m && seen;
endmodule
