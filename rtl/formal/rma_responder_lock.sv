// rma_responder_lock: a fetch-compare-and-add is alone. While one is under way, from its
// translation to its answer, the responder translates, reads and writes for nobody else; it begins
// when nothing else is under way; its write goes to the word that it has read, after it was read,
// and nothing but a lock writes. busy says so for as long, and eject (see its proof) hands nothing
// to the completer meanwhile. So no two of them, and no put or get, fall between the read and the
// write of one. Two requests may be under way, gets are of 8 bytes at most, and all addresses lie
// in one page, since what a unit does with one depends on its place in a line. rma_collect and
// rma_sender are as their owner sees them.
module rma_responder_lock (
    input logic         clk,
    input logic         rst,
    input logic [15:0]  rma_on,
    input logic [511:0] stamps,
    input logic         err_valid,
    input logic         atu_done,
    input logic [3:0]   atu_error,
    input logic         arready,
    input logic         rvalid,
    input logic [1:0]   rresp,
    input logic [63:0]  rdata,
    input logic         awready,
    input logic         wready,
    input logic         bvalid,
    input logic [1:0]   bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        busy, atu_valid, arvalid, rready, awvalid, wvalid, wlast, bready, ev_rx;
  logic [1:0]  need;
  logic [63:0] araddr, awaddr;
  logic [7:0]  arlen;
  logic [47:0] nla;
  rma_responder #(.BUFFERS(2)) u_dut (
      .clk, .rst, .rma_on, .stamps, .busy, .err_valid, .atu_valid, .atu_nla(nla), .atu_need(need),
      .atu_done(atu_valid && atu_done), .atu_error, .atu_addr({52'h0, nla[11:0]}), .fence(1'b0), .m_arvalid(arvalid),
      .m_arready(arready), .m_araddr(araddr), .m_arlen(arlen), .m_rvalid(rvalid), .m_rready(rready), .m_rdata(rdata),
      .m_rresp(rresp), .m_rlast(1'b1), .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr), .m_wvalid(wvalid),
      .m_wready(wready), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(bresp), .ev_rx
  );

  (* hierconn *) wire [63:0] \u_dut.quad , \u_dut.addr ;
  always_comb if (started) assume (\u_dut.quad [57:51] == '0);
  // Memory answers what was asked.
  logic [9:0] beats;  // asked for, and not here
  logic       aw_gone, w_gone, b_due;
  always_ff @(posedge clk) begin
    beats   <= rst ? '0 : beats + (arvalid && arready ? 10'(arlen) + 10'd1 : '0) - 10'(rvalid && rready);
    aw_gone <= !rst && !bvalid && (aw_gone || (awvalid && awready));
    w_gone  <= !rst && !bvalid && (w_gone || (wvalid && wready && wlast));
  end
  assign b_due = aw_gone && w_gone;
  always_comb if (started && !rst) assume ((!rvalid || beats != '0) && (!bvalid || b_due));

  // The lock: translated, asked for, read, written.
  logic        lock, open, asked, was_read;
  logic [60:0] word;
  assign lock = open || (atu_valid && need[1]);
  always_ff @(posedge clk) begin
    open     <= !rst && lock && !ev_rx;
    asked    <= !rst && lock && !ev_rx && (asked || (open && arvalid && arready));
    was_read <= !rst && lock && !ev_rx && (was_read || (open && rvalid && rready));
    if (arvalid && arready) word <= araddr[63:3];
  end
  logic translated;
  always_ff @(posedge clk) translated <= !rst && lock && !ev_rx && (translated || (atu_valid && atu_done));
  always_comb
    if (started && !rst) begin
      if (lock && !open) assert (beats == '0 && !arvalid && !awvalid && !wvalid && !aw_gone && !w_gone);
      if (translated) assert (!atu_valid);
      if (asked) assert (!arvalid);
      if (awvalid || wvalid) assert (lock && was_read && beats == '0);
      if (awvalid) assert (awaddr[63:3] == word);
      // What makes it inductive: the word is where the translation said.
      if (asked) assert (word == \u_dut.addr [63:3]);
      if (open && arvalid) assert (araddr[63:3] == \u_dut.addr [63:3]);
      if (awvalid) assert (awaddr[63:3] == \u_dut.addr [63:3]);
      if (lock || beats != '0 || arvalid || aw_gone || w_gone) assert (busy);
    end
  logic again;  // one has written, and the next
  always_ff @(posedge clk) begin
    again <= !rst && (again || (bvalid && b_due));
    cover (started && !rst && again && awvalid && awready);
  end
endmodule
