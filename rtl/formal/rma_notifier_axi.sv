// rma_notifier_axi: rma_notifier keeps the rules of its write port whatever its units and registers
// do; a notification counts as written only when its answer was good, and a register write waits
// for nothing but reset and the cycles in which a write begins or an answer counts. Nothing is
// written for a notification of another domain or life than its process has when its write begins.
module rma_notifier_axi (
    input logic         clk,
    input logic         rst,
    input logic [1:0]   want,
    input logic [7:0]   vpid,
    input logic [255:0] words,
    input logic [63:0]  stamp,
    input logic [511:0] stamps,
    input logic         shut,
    input logic [3:0]   reg_vpid,
    input logic [63:0]  reg_data,
    input logic [3:0]   reg_write,  // base, slots, switches, read pointer
    input logic         awready,
    input logic         wready,
    input logic         bvalid,
    input logic [1:0]   bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // What a unit tells stays until it is done.
  logic [1:0]   valid, kept, done;
  logic [7:0]   kept_vpid, now_vpid;
  logic [255:0] kept_words, now_words;
  logic [63:0]  kept_stamp, now_stamp;
  assign valid = want | kept;
  always_comb
    for (int i = 0; i < 2; i++) begin
      now_vpid[i*4+:4]      = kept[i] ? kept_vpid[i*4+:4] : vpid[i*4+:4];
      now_words[i*128+:128] = kept[i] ? kept_words[i*128+:128] : words[i*128+:128];
      now_stamp[i*32+:32]   = kept[i] ? kept_stamp[i*32+:32] : stamp[i*32+:32];
    end
  always_ff @(posedge clk) begin
    kept       <= rst ? '0 : valid & ~done;
    kept_vpid  <= now_vpid;
    kept_words <= now_words;
    kept_stamp <= now_stamp;
  end

  logic        busy, restart, wr_ready, awvalid, wvalid, wlast, bready, ev_written, ev_off;
  logic [1:0]  awaiting;
  logic [63:0] awaddr, wdata;
  logic [3:0]  at_vpid;
  logic [7:0]  awlen, wstrb;
  rma_notifier #(.N(2), .DEPTH(2)) u_dut (
      .clk, .rst, .busy, .valid, .vpid(now_vpid), .words(now_words), .stamp(now_stamp), .stamps, .shut, .at_vpid, .done,
      .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr), .m_awlen(awlen), .m_wvalid(wvalid),
      .m_wready(wready), .m_wdata(wdata), .m_wstrb(wstrb), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready),
      .m_bresp(bresp), .wr_ready, .wr_vpid(reg_vpid), .wr_data(reg_data), .wr_base(reg_write[0] && wr_ready),
      .wr_slots(reg_write[1] && wr_ready), .wr_ctrl(reg_write[2] && wr_ready), .wr_rp(reg_write[3] && !busy), .restart,
      .ev_written, .ev_off, .awaiting
  );
  // A process gets another domain with shut, another life with restart: known in the cycle after.
  // Both are register writes, of which there is one.
  always_comb assume (!shut || reg_write == '0);
  logic         moved;
  logic [3:0]   moved_vpid;
  logic [511:0] stamps_was;
  always_ff @(posedge clk) begin
    moved      <= shut || restart;
    moved_vpid <= reg_vpid;
    stamps_was <= stamps;
  end
  always_comb for (int v = 0; v < 16; v++) if (started &&
      !(moved && moved_vpid == 4'(v))) assume (stamps[v*32+:32] == stamps_was[v*32+:32]);

  logic       aw_gone, w_gone;
  logic [7:0] len, beat;
  logic [5:0] awaited;
  axi_write_check #(.W_WAIT(0)) u_check (
      .clk, .rst, .awvalid, .awready, .awaddr, .awlen, .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready,
      .idle(awaiting == '0 && !awvalid && !wvalid), .aw_gone, .w_gone, .len, .beat, .awaited
  );
  // A unit that has something to tell the process that is looked at, of its life and domain of now.
  logic [1:0] theirs, theirs_before;
  logic       writing, answered, good;
  always_comb for (int i = 0; i < 2; i++) theirs[i] = valid[i] && now_vpid[i*4+:4] == at_vpid &&
      now_stamp[i*32+:32] == stamps[{at_vpid, 5'h0}+:32];
  always_ff @(posedge clk) begin
    theirs_before <= theirs;
    writing       <= !rst && (awvalid || wvalid);
    answered      <= !rst && bvalid;
    good          <= bresp == 2'b00;
  end
  always_comb if (started && !rst && !writing && awvalid) assert (theirs_before != '0);

  always_comb
    if (started && !rst) begin
      assert (!answered || ev_written || ev_off);
      assert (wr_ready || busy || answered || (!writing && (awvalid || wvalid)));
      assert (!ev_written || (answered && good));
      assert (bready);
      // What makes it inductive: the steps of a write as they show outside.
      assert (awaiting <= 2'd2 && 6'(awaiting) == awaited + 6'(answered) && (awaiting != 2'd2 || !(awvalid || wvalid)));
      assert (!(busy && (answered || awaited != '0 || awvalid || wvalid)));
      assert (!aw_gone || (wvalid && !awvalid && len == 8'd1));
      assert (!w_gone || (awvalid && !wvalid));
      assert (aw_gone || w_gone || awvalid == wvalid);
      assert (wvalid ? beat == 8'(wlast) : awvalid || beat == '0);
    end
  always_ff @(posedge clk) cover (started && ev_off && !bvalid && valid == 2'b11);
endmodule
