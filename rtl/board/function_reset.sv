// function_reset: resets of the core while its host goes on.
//
// Job: brings the core through a reset that its host asks for (asked, or flr as long as it is
//   high), or that it needs because it answers no more (lost), and through the first one.
//
//   RUN ──asked, flr─► DRAIN ──answers out, or PATIENCE──► HOLD ──core is down──► CLEAR ──► RELEASE ──core is up──► RUN
//    └────lost─────────────────────────────────────────────┘
//
//   DRAIN    open low: what comes is refused, what is with the core is answered by it
//   HOLD     cut, hold: the core is reset, what it owes is answered in its stead
//   CLEAR    clear too: this side of the FIFOs is reset while theirs is. clear_seen is clear, there
//            and back: three
//   edges of both clocks have passed
//   RELEASE  hold ends, when flr has
// Handshake: levels, all of clk's domain. together: for the first reset, in which all nodes start;
//   of a later one neighbours may be at work.
// Backpressure: DRAIN ends by itself. HOLD to RELEASE need the core's clock: without it the state
//   stays, and everything is refused meanwhile.
module function_reset #(
    parameter int PATIENCE = 4096
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       asked,
    input  logic       flr,
    input  logic       lost,
    input  logic       busy,        // the core owes an answer
    input  logic       core_down,
    input  logic       core_up,
    input  logic       clear_seen,
    output logic       open,
    output logic       cut,
    output logic       hold,
    output logic       clear,
    output logic       together,
    output logic       starts       // a reset, for a cycle
);
  typedef enum logic [2:0] {RUN, DRAIN, HOLD, CLEAR, RELEASE} state_t;
  localparam int T_W = $clog2(PATIENCE + 1);
  state_t         state;
  logic [T_W-1:0] waited;
  // Registers, since they cross into the core's domain, and reset without an edge of clk: were it
  // slow, the core would go through its reset on what was asked before.
  always_ff @(posedge clk or posedge rst)
    if (rst) begin
      state    <= HOLD;
      starts   <= 1'b0;
      waited   <= '0;
      open     <= 1'b0;
      cut      <= 1'b1;
      hold     <= 1'b1;
      clear    <= 1'b0;
      together <= 1'b1;
    end else begin
      starts <= 1'b0;
      waited <= state != DRAIN ? '0 : waited == T_W'(PATIENCE) ? waited : waited + 1'b1;
      case (state)
        RUN:
        if (lost || !core_up) begin
          {open, cut, hold, together, starts} <= 5'b01101;
          state <= HOLD;
        end else if (asked || flr) begin
          {open, together, starts} <= 3'b001;
          state <= DRAIN;
        end
        DRAIN:
        if (!busy || lost || waited == T_W'(PATIENCE)) begin
          {cut, hold} <= 2'b11;
          state <= HOLD;
        end
        HOLD:
        if (core_down) begin
          clear <= 1'b1;
          state <= CLEAR;
        end
        CLEAR:
        if (clear_seen && !flr) begin
          {hold, clear} <= 2'b00;
          state <= RELEASE;
        end
        default:
        if (core_up && !clear_seen) begin
          {open, cut} <= 2'b10;
          state <= RUN;
        end
      endcase
    end
endmodule
