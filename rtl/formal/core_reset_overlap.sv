// Proves of core_reset, with two clocks that rise whenever they like and bits that are caught
// before or after their change (sync_level_free): accesses go to the core (open) just when both
// sides of the FIFOs were reset together for three edges of each clock, as async_fifo asks, and
// neither is any more; whenever the core is reset, what it owes is cut; after the first reset links
// are let go with the core.
module core_reset_overlap #(
    parameter int LEAST = 4
) (
    input logic aclk,
    input logic clk,
    input logic arst,
    input logic asked,
    input logic flr,
    input logic lost,
    input logic busy
);
  (* gclk *) logic step;
  logic arst_a, clear_a, open, cut, starts, cleared, nic_rst, link_rst;
  core_reset #(.PATIENCE(2), .LEAST(LEAST), .LEAD(2)) u_dut (
      .arst, .aclk, .asked, .flr, .lost, .busy, .arst_a, .clear_a, .open, .cut, .starts, .cleared, .clk, .nic_rst,
      .link_rst
  );
  logic started = 1'b0, aclk_was = 1'b1, clk_was = 1'b1, a_edge, c_edge, both, both_was, asked_was, flr_was, lost_was,
      busy_was, rst_was, link_was, opened, ran, settled;
  logic [1:0] a_count, c_count;
  assign a_edge = started && aclk && !aclk_was;
  assign c_edge = started && clk && !clk_was;
  assign both   = clear_a && nic_rst;
  always_ff @(posedge step) begin
    started  <= 1'b1;
    aclk_was <= aclk;
    clk_was  <= clk;
    both_was <= both;
    rst_was  <= nic_rst;
    link_was <= link_rst;
    {asked_was, flr_was, lost_was, busy_was} <= {asked, flr, lost, busy};
    // Counted anew with every reset of the core.
    if (!started || (nic_rst && !rst_was)) {a_count, c_count} <= '0;
    else if (both && both_was) begin
      if (a_edge && a_count != 2'd3) a_count <= a_count + 1'b1;
      if (c_edge && c_count != 2'd3) c_count <= c_count + 1'b1;
    end
    ran     <= started && !arst && !arst_a && settled && (ran || open);
    settled <= started && !arst_a && (settled || a_edge);  // registers of aclk's domain have seen its reset
  end
  always_comb begin
    if (!started) assume (arst);
    if (started && !a_edge) assume ({asked, flr, lost, busy} == {asked_was, flr_was, lost_was, busy_was});
    if (started && settled) begin
      assert (!open || (!clear_a && !nic_rst));
      assert (!open || !cut);
      assert (!open || (a_count == 2'd3 && c_count == 2'd3));
      assert (!nic_rst || cut);
      assert (!(ran && rst_was && !nic_rst) || link_was);
    end
  end
  always_ff @(posedge step) begin
    cover (started && settled && ran && starts && busy);
    cover (started && settled && ran && rst_was && !nic_rst);
  end
endmodule
