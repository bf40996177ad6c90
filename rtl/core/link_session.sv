// link_session: both ends of a link agree that what they number starts anew, whichever of them was
// reset.
//
// Job: an end that was reset, by rst or by restart, takes a new number of its own and says hello
//   with it until the other end has told that very number back. Then a session starts here, for a
//   wire delivers words in order: what comes behind such a hello was sent after the other end had
//   heard of this reset. Until then nothing but hellos is sent or taken. An end with a session that
//   hears a hello of another number, or one that does not know its own, ends its session: the other
//   was reset.
//
//        reset                    hello with mine told back             rst, restart,
//   ──► OPEN ───────────────────────────────────────────────► UP ──►    or a strange hello ──► OPEN
//
// Handshake: in_hello with what the word says; hello_due until hello_sent. start: the session
//   starts, up from the next cycle on; stop: it ends, up until then. In the first cycle after an
//   end no hello goes and no session starts: a flit may be on its way from the router, and the
//   entries that are free are not counted yet.
// Back-pressure: none; a hello is sent instead of one word.
//
// A hello: my number, the number heard from the other end (echoes: there is one), up: no answer
//   needed. Numbers survive resets, so that of consecutive sessions differ. Any power-up value is
//   correct. The register has a stated one because its next value depends on its own: without it a
//   four-state simulator computes X + 1 = X forever and up stays X. Proofs and benches define
//   ANY_POWER_UP and start with an arbitrary number.
module link_session #(
    parameter int NUMBER_W = 8,
    parameter int PERIOD   = 32,  // cycles between hellos that nobody answers
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
  logic               reset, reset_was, up_was, meant, known, due, calm;
  logic [TIMER_W-1:0] timer;
  assign reset = rst || restart;
  assign meant = in_hello && in_echoes && in_echo == number;
  assign known = echoes && in_number == echo;
  assign start = meant && !up && !up_was && !restart;
  assign stop  = up && (restart || (in_hello && !(meant && known)));
  assign calm  = up && up_was && !due && !in_hello && !reset && !reset_was;  // nothing below would change

  always_ff @(posedge clk) if (!calm) begin
    reset_was <= reset;
    if (reset && !reset_was) number <= number + 1'b1;
    up_was <= !rst && up;
    if (rst || stop) up <= 1'b0;
    else if (start) up <= 1'b1;
    if (reset) {echoes, echo} <= '0;  // echo too: it is sent in every hello
    else if (in_hello) {echoes, echo} <= {1'b1, in_number};
    if (reset) due <= 1'b1;
    else if (in_hello && !(up && meant && known && in_up)) due <= 1'b1;
    else if (hello_sent) due <= 1'b0;
    else if (!up && carrier && timer == '0) due <= 1'b1;
    if (up || due || !carrier) timer <= TIMER_W'(PERIOD - 1);
    else timer <= timer - 1'b1;
  end
  assign hello_due = due && (up || !up_was);
  assign active    = carrier && (!up || due);
endmodule
