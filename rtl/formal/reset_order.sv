// Proves of reset_sequencer, with a clock and a reset that come whenever they like: both resets are
// there in the step in which arst is; they fall with an edge of clk alone, have then been high for
// LEAST edges since arst and hold, and link_rst falls with rst or LEAD edges before it, as was
// asked; rst without hold and arst ends.
module reset_order #(
    parameter int LEAST = 3,
    parameter int LEAD  = 4
) (
    input logic clk,
    input logic arst,
    input logic hold,
    input logic together
);
  (* gclk *) logic step;
  logic rst, link_rst, down;
  reset_sequencer #(.LEAST(LEAST), .LEAD(LEAD)) u_dut (.clk, .arst, .hold, .together, .rst, .link_rst, .down);

  logic started = 1'b0, clk_was = 1'b1, rst_was, link_was, edge_now, hold_was, together_was;
  assign edge_now = started && clk && !clk_was;
  logic [4:0] both, apart, quiet;  // edges with both resets; between their ends; without a reason
  always_ff @(posedge step) begin
    started      <= 1'b1;
    clk_was      <= clk;
    rst_was      <= rst;
    link_was     <= link_rst;
    hold_was     <= hold;
    together_was <= together;
    if (arst || !(rst && link_rst)) both <= '0;
    else if (edge_now && both != '1) both <= both + 1'b1;
    if (arst || link_rst || !rst) apart <= '0;
    else if (edge_now && apart != '1) apart <= apart + 1'b1;
    if (arst || !rst || (edge_now && hold_was)) quiet <= '0;
    else if (edge_now && quiet != '1) quiet <= quiet + 1'b1;
  end
  always_comb begin
    // hold and together are registers of clk's domain.
    if (started && !edge_now) assume (hold == hold_was && together == together_was);
    if (!started) assume (arst);
    if (started) begin
      assert (!arst || (rst && link_rst));
      assert (rst || !link_rst);
      assert (!(rst_was && !rst) || (edge_now && !hold_was));
      assert (!(link_was && !link_rst) || (edge_now && !hold_was && 32'(both) >= LEAST));
      assert (!(rst_was && !rst) || (link_was ? !together_was : !together_was || 32'(apart) >= LEAD));
      assert (!(link_was && !link_rst && rst) || together_was);
      assert (!down || (rst && link_rst && 32'(both) >= LEAST));
      assert (32'(quiet) <= LEAST + LEAD + 5);
    end
  end
  always_ff @(posedge step) begin
    cover (started && rst_was && !rst && !link_was);
    cover (started && rst_was && !rst && link_was);
    cover (started && down && hold);
  end
endmodule
