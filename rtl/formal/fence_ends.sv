// fence_ends: a fence ends, whatever rings and network do. UNIT, one of those that a fence waits
// for (0 completer, 1 completer of answers, 2 responder, 3 requester), ends every access from
// before a fence within CYCLES cycles in which memory and translation do what is asked of them,
// however many others lie between. All else is free: packets and descriptors come or not, the
// unit's packets may never leave, its notifications and errors may never be taken (rings are full),
// other fences follow. Two accesses may be under way, of 8 bytes at most: 1 or 2 bursts each. That
// a unit of RMA_UNDER_WAY accesses of RMA_MTU bytes does the same, for longer, is not shown.
// atu_answers says how long a translation takes among four units, fence_told that the command ends
// with its accesses.
module fence_ends #(
    parameter int UNIT   = 0,
    parameter int CYCLES = 16
) (
    input logic         clk,
    input logic         rst,
    input logic [11:0]  nodes,
    input logic [15:0]  rma_on,
    input logic [511:0] stamps,
    input logic         want_fence,
    input logic         err_ready,
    input logic         err_valid,
    input logic         noti_done,
    input logic [15:0]  waiting,
    input logic [191:0] head,
    input logic         head_dead,
    input logic         atu_done,
    input logic [3:0]   atu_error,
    input logic [63:0]  atu_addr,
    input logic         arready,
    input logic         rvalid,
    input logic [1:0]   rresp,
    input logic         awready,
    input logic         wready,
    input logic         bvalid,
    input logic [1:0]   bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic       fence, hold, atu_valid, arvalid, rready, awvalid, wvalid, wlast, bready, answers;
  logic [7:0] arlen;
  assign answers = atu_valid && atu_done;
  generate
    if (UNIT < 2) begin : g_completer
      rma_completer #(.ANSWERS(UNIT), .TELL(2)) u_dut (
          .clk, .rst, .rma_on, .stamps, .err_ready, .atu_valid, .atu_done(answers), .atu_error, .atu_addr, .fence,
          .atu_hold(hold), .m_awvalid(awvalid), .m_awready(awready), .m_wvalid(wvalid), .m_wready(wready),
          .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(bresp), .noti_done
      );
      assign arvalid = 1'b0;
      assign arlen   = '0;
      assign rready  = 1'b0;
    end else if (UNIT == 2) begin : g_responder
      rma_responder #(.BUFFERS(2)) u_dut (
          .clk, .rst, .rma_on, .stamps, .err_valid, .atu_valid, .atu_done(answers), .atu_error, .atu_addr, .fence,
          .atu_hold(hold), .m_arvalid(arvalid), .m_arready(arready), .m_arlen(arlen), .m_rvalid(rvalid),
          .m_rready(rready), .m_rresp(rresp), .m_rlast(1'b1), .m_awvalid(awvalid), .m_awready(awready),
          .m_wvalid(wvalid), .m_wready(wready), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(bresp),
          .noti_done
      );
    end else begin : g_requester
      rma_requester #(.BUFFERS(2)) u_dut (
          .clk, .rst, .nodes, .waiting, .head, .head_dead, .stamps, .atu_valid, .atu_done(answers), .atu_error,
          .atu_addr, .fence, .atu_hold(hold), .m_arvalid(arvalid), .m_arready(arready), .m_arlen(arlen),
          .m_rvalid(rvalid), .m_rready(rready), .m_rresp(rresp), .m_rlast(1'b1), .noti_done
      );
      assign awvalid = 1'b0;
      assign wvalid  = 1'b0;
      assign wlast   = 1'b0;
      assign bready  = 1'b0;
    end
  endgenerate

  // 8 bytes at most, wherever the unit has their number from.
  (* hierconn *) wire [63:0] \g_completer.u_dut.header , \genblk1.g_responder.u_dut.quad ;
  (* hierconn *) wire [7:0]  \genblk1.g_requester.u_dut.last_byte ;
  logic [9:0] length;
  assign length = \g_completer.u_dut.header [nicloop_pkg::HEADER_LENGTH_LSB+:10];
  always_comb
    if (started)
      if (UNIT < 2) assume (length > 10'd8 && length <= 10'd16);
      else if (UNIT == 2) assume (\genblk1.g_responder.u_dut.quad [nicloop_pkg::RMA_GET_BYTES_MINUS_1_LSB+3+:7] == '0);
      else assume (\genblk1.g_requester.u_dut.last_byte [7:3] == '0);

  // Memory: what it owes, and whether it does all that is asked in this cycle. Data that its unit
  // does not take stands.
  logic [3:0] beats;
  logic [2:0] bursts;  // sent, with no answer yet
  logic       aw_gone, w_gone, aw_done, w_done, serves;
  assign aw_done = aw_gone || (awvalid && awready);
  assign w_done  = w_gone || (wvalid && wready && wlast);
  always_ff @(posedge clk) begin
    beats   <= rst ? '0 : beats + (arvalid && arready ? 4'(arlen) + 4'd1 : '0) - 4'(rvalid && rready);
    bursts  <= rst ? '0 : bursts + 3'(aw_done && w_done) - 3'(bvalid && bready);
    aw_gone <= !rst && aw_done && !w_done;
    w_gone  <= !rst && w_done && !aw_done;
  end
  always_comb if (started && !rst) assume ((!rvalid || beats != '0) && (!bvalid || bursts != '0));
  assign serves = (!atu_valid || atu_done) && (!arvalid || arready) && (beats == '0 || rvalid) &&
      (!awvalid || awready) && (!wvalid || wready) && (bursts == '0 || bvalid);

  // A fence comes when the one before has ended.
  logic       waits;
  logic [5:0] served;
  assign fence = want_fence && !waits;
  always_ff @(posedge clk) begin
    waits  <= !rst && (fence || waits) && hold;
    served <= rst || !waits ? '0 : served + 6'(serves);
  end
  always_comb if (started && !rst && waits) assert (served <= 6'(CYCLES));
  always_ff @(posedge clk) cover (started && !rst && waits && served == 6'(CYCLES / 2 + 1));

  // What fence_client promises to others of this unit.
  logic       c_atu, c_ar, c_r, c_aw, c_w, c_last, over;
  logic [7:0] c_len;
  fence_client #(.UNIT(UNIT)) u_client (
      .clk, .rst, .want_atu(atu_valid), .want_ar(arvalid), .want_two(arlen != '0), .want_r(rready), .want_aw(awvalid),
      .want_last(wlast), .fence, .hold, .atu_valid(c_atu), .atu_done(answers), .arvalid(c_ar), .arready, .arlen(c_len),
      .rvalid, .rready(c_r), .awvalid(c_aw), .awready, .wvalid(c_w), .wready, .wlast(c_last), .bvalid, .over
  );
  always_comb
    if (started && !rst) begin
      assert (c_atu == atu_valid && c_ar == arvalid && c_aw == awvalid && c_w == wvalid);
      assert ((!arvalid || c_len == arlen) && (!rvalid || c_r == rready) && (!wvalid || c_last == wlast) &&
          (!bvalid || bready));
      assert (!over);
    end
endmodule
