// master_rules: the write masters beside the units that a fence waits for keep the rules of
// fence_client: UNIT 4, the VELO completer, and 5, the notifier, with two writes under way each.
// Whatever network, tables, registers and units say: both are free but for what fence_client is
// about.
module master_rules #(
    parameter int UNIT = 4
) (
    input logic         clk,
    input logic         rst,
    input logic [65:0]  flit,
    input logic         in_valid,
    input logic         awready,
    input logic         wready,
    input logic         bvalid
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic awvalid, wvalid, wlast, bready, c_aw, c_w, c_last;
  generate
    if (UNIT == 4) begin : g_velo
      velo_completer #(.DEPTH(2)) u_dut (
          .clk, .rst, .in_valid, .in_flit(flit), .m_awvalid(awvalid), .m_awready(awready), .m_wvalid(wvalid),
          .m_wready(wready), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready)
      );
    end else begin : g_notifier
      rma_notifier #(.N(2), .DEPTH(2)) u_dut (
          .clk, .rst, .m_awvalid(awvalid), .m_awready(awready), .m_wvalid(wvalid), .m_wready(wready), .m_wlast(wlast),
          .m_bvalid(bvalid), .m_bready(bready)
      );
    end
  endgenerate
  logic [2:0] owed;  // bursts with no answer yet
  logic       aw_gone, w_gone, aw_done, w_done;
  assign aw_done = aw_gone || (awvalid && awready);
  assign w_done  = w_gone || (wvalid && wready && wlast);
  always_ff @(posedge clk) begin
    aw_gone <= !rst && aw_done && !w_done;
    w_gone  <= !rst && w_done && !aw_done;
    owed    <= rst ? '0 : owed + 3'(aw_done && w_done) - 3'(bvalid && bready);
  end
  always_comb if (started && !rst) assume (!bvalid || owed != '0);
  fence_client #(.UNIT(UNIT)) u_client (
      .clk, .rst, .want_aw(awvalid), .want_last(wlast), .awvalid(c_aw), .awready, .wvalid(c_w), .wready, .wlast(c_last),
      .bvalid
  );
  always_comb
    if (started && !rst) assert (c_aw == awvalid && c_w == wvalid && (!wvalid || c_last == wlast) && bready);
  always_ff @(posedge clk) cover (started && !rst && awvalid && owed == 3'd1);
endmodule
