// link_session: makes both ends of a link restart their sequence numbers together, whichever of
// them was reset.
//
// Job: an end that was reset, by rst or by restart, takes a new session number and sends it in
//   hello words until the peer echoes that very number. Then its session starts: a wire delivers
//   words in order, so every word behind such a hello was sent after the peer had seen this reset.
//   Until then only hellos are sent and accepted. An end in a session ends it when it receives a
//   hello with another number, or one that does not echo its own: the peer was reset.
//
//        reset                    hello that echoes my number           rst, restart,
//   ──► OPEN ───────────────────────────────────────────────► UP ──►    or a foreign hello ──► OPEN
//
// Handshake: in_hello with the fields of the hello; hello_due until hello_sent. start: the session
//   starts, up from the next cycle on; stop: it ends, up until then. In the first cycle after an
//   end no hello is sent and no session starts: a flit may be on its way from the router, and the
//   free entries have not been counted yet.
// Backpressure: none; a hello is sent instead of one word.
//
// A hello: my number, the last number received from the peer (echoes: there is one), up: no answer
//   needed. Numbers survive resets, so that those of consecutive sessions differ. Any power-up
//   value is correct. The register has a stated one because its next value depends on its own:
//   without it a four-state simulator computes X + 1 = X forever and up stays X. Proofs and benches
//   define ANY_POWER_UP and start with an arbitrary number.
module link_session #(
    parameter int NUMBER_W = 8,
    parameter int PERIOD   = 32,  // cycles between unanswered hellos
    localparam int TIMER_W = $clog2(PERIOD)
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                restart,
    input  logic                carrier,
    input  logic                in_hello,
    input  logic                in_up,
    input  logic                in_echoes,
    input  logic [NUMBER_W-1:0] in_echo,
    input  logic [NUMBER_W-1:0] in_number,
    output logic                hello_due,
    input  logic                hello_sent,
    output logic                echoes,
    output logic [NUMBER_W-1:0] echo,
`ifdef ANY_POWER_UP
    output logic [NUMBER_W-1:0] number,
`else
    output logic [NUMBER_W-1:0] number = '0,
`endif
    output logic                up,
    output logic                start,
    output logic                stop,
    output logic                active
);
  logic               reset, reset_q, up_q, echo_matches, number_known, due, quiescent;
  logic [TIMER_W-1:0] timer;
  assign reset        = rst || restart;
  assign echo_matches = in_hello && in_echoes && in_echo == number;
  assign number_known = echoes && in_number == echo;
  assign start        = echo_matches && !up && !up_q && !restart;
  assign stop         = up && (restart || (in_hello && !(echo_matches && number_known)));
  assign quiescent    = up && up_q && !due && !in_hello && !reset && !reset_q;  // no register below would change

  always_ff @(posedge clk) if (!quiescent) begin
    reset_q <= reset;
    if (reset && !reset_q) number <= number + 1'b1;
    up_q <= !rst && up;
    if (rst || stop) up <= 1'b0;
    else if (start) up <= 1'b1;
    if (reset) {echoes, echo} <= '0;  // echo too: it is sent in every hello
    else if (in_hello) {echoes, echo} <= {1'b1, in_number};
    if (reset) due <= 1'b1;
    else if (in_hello && !(up && echo_matches && number_known && in_up)) due <= 1'b1;
    else if (hello_sent) due <= 1'b0;
    else if (!up && carrier && timer == '0) due <= 1'b1;
    if (up || due || !carrier) timer <= TIMER_W'(PERIOD - 1);
    else timer <= timer - 1'b1;
  end
  assign hello_due = due && (up || !up_q);
  assign active    = carrier && (!up || due);
endmodule
