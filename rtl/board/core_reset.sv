// core_reset: the resets of nic_axi, in both clock domains.
//
// Job: joins function_reset on the host's side and reset_sequencer on the core's, and carries
//   between them what each has to know.
// Handshake: arst at any time. aclk's side: asked, flr, lost and busy as function_reset; arst_a is
//   arst there, clear_a the reset of that side of the FIFOs; cleared: core and FIFOs are reset.
//   clk's side: nic_rst, which is the reset of that side of the FIFOs too, and link_rst.
// Backpressure: none.
module core_reset #(
    parameter int PATIENCE = 4096,
    parameter int LEAST    = 16,
    parameter int LEAD     = 50
) (
    input  logic arst,
    input  logic aclk,
    input  logic asked,
    input  logic flr,
    input  logic lost,
    input  logic busy,
    output logic arst_a,
    output logic clear_a,
    output logic open,
    output logic cut,
    output logic starts,
    output logic cleared,
    input  logic clk,
    output logic nic_rst,
    output logic link_rst
);
  logic arst_c, hold, hold_c, together, together_c, clear, clear_c, clear_r, down, down_c, up_c, core_down, core_up;
  reset_sync u_arst_a (.clk(aclk), .arst, .rst(arst_a));
  reset_sync u_arst_c (.clk, .arst, .rst(arst_c));
  sync_level u_hold (.clk, .rst(arst_c), .d(hold), .q(hold_c));
  sync_level u_together (.clk, .rst(arst_c), .d(together), .q(together_c));
  sync_level u_clear (.clk, .rst(arst_c), .d(clear), .q(clear_c));
  sync_level #(.STAGES(3)) u_cleared (.clk(aclk), .rst(arst_a), .d(clear_r), .q(cleared));
  sync_level u_down (.clk(aclk), .rst(arst_a), .d(down_c), .q(core_down));
  sync_level u_up (.clk(aclk), .rst(arst_a), .d(up_c), .q(core_up));
  reset_sequencer #(.LEAST(LEAST), .LEAD(LEAD)) u_sequencer (.clk, .arst, .hold(hold_c), .together(together_c),
      .rst(nic_rst), .link_rst, .down);
  // What the host's side hears is reset without an edge of clk: were clk standing, it would hear
  // how things were before arst.
  always_ff @(posedge clk or posedge arst_c)
    if (arst_c) {down_c, up_c, clear_r} <= '0;
    else begin
      down_c  <= down && hold_c;
      up_c    <= !nic_rst;
      clear_r <= clear_c;
    end
  function_reset #(.PATIENCE(PATIENCE)) u_function (
      .clk(aclk), .rst(arst_a), .asked, .flr, .lost, .busy, .core_down, .core_up, .clear_seen(cleared), .open, .cut,
      .hold, .clear, .together, .starts
  );
  assign clear_a = arst_a || clear;
endmodule
