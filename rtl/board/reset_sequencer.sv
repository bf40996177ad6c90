// reset_sequencer: the resets of nic_core, in their order.
//
// Job: rst and link_rst rise at once, with arst whether clk runs or not, or behind hold; they stay
//   for LEAST cycles or more, and until hold is over. Where all nodes start together link_rst then
//   falls LEAD cycles before rst, so that links have agreed when traffic begins. Where neighbours
//   are at work (together low) it falls with rst: a link that is let go earlier would take flits
//   for a router that is still being reset.
// Handshake: levels. arst at any time; hold and together of clk's domain. down: both are high, and
//   have been for LEAST cycles.
// Backpressure: none.
//
//   arst|hold ^^^|________________________________
//   link_rst  ^^^^^^^^^^^^|_______________________   together
//   rst       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^|______
//   down      _______|^^^^^^^^^^^^^^^^^^^^^|______   of hold; e.g. LEAST behind its rise
//                 LEAST           LEAD
module reset_sequencer #(
    parameter int LEAST = 16,
    parameter int LEAD  = 50
) (
    input  logic clk,
    input  logic arst,
    input  logic hold,
    input  logic together,
    output logic rst,
    output logic link_rst,
    output logic down
);
  localparam int LONG = LEAST > LEAD ? LEAST : LEAD;
  localparam int N_W  = $clog2(LONG + 1);
  logic           here;  // arst in this domain
  logic [N_W-1:0] held, waits;
  reset_sync u_sync (.clk, .arst, .rst(here));
  assign down = link_rst && held == N_W'(LEAST);
  // Registers with an asynchronous reset, not gates behind one: a gate may have a glitch.
  always_ff @(posedge clk or posedge here)
    if (here) begin
      held     <= '0;
      waits    <= '0;
      rst      <= 1'b1;
      link_rst <= 1'b1;
    end else if (!rst) begin
      held     <= '0;
      waits    <= '0;
      rst      <= hold;
      link_rst <= hold;
    end else begin
      if (hold && !link_rst) held <= '0;
      else if (held != N_W'(LEAST)) held <= held + 1'b1;
      if (hold) begin
        waits    <= '0;
        link_rst <= 1'b1;
      end else if (held == N_W'(LEAST)) begin
        if (waits == N_W'(LEAD) || !together) begin
          rst      <= 1'b0;
          link_rst <= 1'b0;
        end else begin
          waits    <= waits + 1'b1;
          link_rst <= 1'b0;
        end
      end
    end
endmodule
