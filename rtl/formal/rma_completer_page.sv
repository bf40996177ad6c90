// rma_completer_page: a completer writes nothing but bytes of its packet, in the page that was
// granted for it. Every burst lies in the page that the translation answered for this packet, from
// where its first byte goes to where its last one goes, and has strobes for no other byte; and a
// translation is asked for only when the packet is of the domain of the process it is for (an
// answer: of its life, too), whose window is open. That the page belongs to that process, and
// allows writing, the translation unit shows (atu).
module rma_completer_page #(
    parameter int ANSWERS = 0
) (
    input logic         clk,
    input logic         rst,
    input logic [15:0]  rma_on,
    input logic [511:0] stamps,
    input logic         moves,
    input logic [3:0]   wr_vpid,
    input logic [15:0]  wr_pdid,
    input logic         atu_done,
    input logic [3:0]   atu_error,
    input logic [51:0]  some_page,
    input logic         awready,
    input logic         wready,
    input logic         bvalid,
    input logic [1:0]   bresp,
    input logic         err_ready,
    input logic         noti_done
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        atu_valid, awvalid, wvalid, wlast;
  logic [47:0] nla;
  logic [3:0]  vpid;
  logic [63:0] awaddr;
  logic [7:0]  awlen, wstrb;
  // The translation leaves the place in a page alone.
  rma_completer #(.ANSWERS(ANSWERS), .TELL(2)) u_dut (
      .clk, .rst, .rma_on, .stamps, .moves, .wr_vpid, .wr_pdid, .err_ready, .atu_valid, .atu_nla(nla),
      .atu_vpid(vpid), .atu_done(atu_valid && atu_done), .atu_error, .atu_addr({some_page, nla[11:0]}), .fence(1'b0),
      .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr), .m_awlen(awlen), .m_wvalid(wvalid),
      .m_wready(wready), .m_wstrb(wstrb), .m_wlast(wlast), .m_bvalid(bvalid), .m_bresp(bresp), .noti_done
  );

  // Stamps change when it is said; that of an answer in any way.
  logic         moved;
  logic [3:0]   moved_vpid;
  logic [15:0]  moved_pdid;
  logic [511:0] stamps_was;
  always_ff @(posedge clk) {moved, moved_vpid, moved_pdid, stamps_was} <= {moves, wr_vpid, wr_pdid, stamps};
  always_comb
    if (started)
      for (int v = 0; v < 16; v++)
        if (!(moved && moved_vpid == 4'(v))) begin
          assume (stamps[v*32+:16] == stamps_was[v*32+:16]);
          if (ANSWERS != 0) assume (stamps[v*32+16+:16] == stamps_was[v*32+16+:16]);
        end else if (ANSWERS == 0) assume (stamps[v*32+:16] == moved_pdid);

  // What rma_collect shows: a good packet has bytes, and no more than a fragment has.
  (* hierconn *) wire [63:0] \u_dut.header , \u_dut.ext , \u_dut.addr ;
  (* hierconn *) wire [31:0] \u_dut.stamp ;
  (* hierconn *) wire [60:0] \u_dut.u_write.line ;
  (* hierconn *) wire [6:0]  \u_dut.reason ;
  (* hierconn *) wire [5:0]  \u_dut.u_write.more , \u_dut.u_write.to_go , \u_dut.u_write.beat ;
  (* hierconn *) wire [3:0]  \u_dut.error ;
  (* hierconn *) wire [2:0]  \u_dut.u_write.shift , \u_dut.u_write.end_at , \u_dut.u_write.at ;
  (* hierconn *) wire [1:0]  \u_dut.state ;
  (* hierconn *) wire        \u_dut.have , \u_dut.same , \u_dut.writes , \u_dut.write_start , \u_dut.u_write.sending ,
      \u_dut.u_write.w_sent , \u_dut.u_write.aw_sent , \u_dut.shape_ok ;
  logic [9:0] length, bytes;
  assign length = \u_dut.header [nicloop_pkg::HEADER_LENGTH_LSB+:10];
  assign bytes  = length - 10'd8;
  always_comb if (started && \u_dut.have && \u_dut.reason == '0) assume (length > 10'd8 &&
      length <= 10'd8 + 10'(nicloop_pkg::RMA_MTU));

  // ---- the packet that is translated: the page that was granted for it, if one was ----
  logic        granted;
  logic [51:0] page;
  always_ff @(posedge clk)
    if (rst || \u_dut.state == 2'd0) granted <= 1'b0;
    else if (atu_valid && atu_done) begin
      granted <= atu_error == '0;
      page    <= some_page;
    end
  logic        asks;  // for the first cycle
  logic [31:0] own, own_was, stamp_was;
  assign own = stamps[{\u_dut.header [nicloop_pkg::HEADER_DST_VPID_LSB+:4], 5'h0}+:32];
  logic        on_was;
  always_ff @(posedge clk) begin
    asks      <= !rst && atu_valid;
    own_was   <= own;
    stamp_was <= \u_dut.stamp ;
    on_was    <= rma_on[\u_dut.header [nicloop_pkg::HEADER_DST_VPID_LSB+:4]];
  end

  // ---- the write under way: what it may touch ----
  logic        open;
  logic [51:0] open_page;
  logic [12:0] first, behind;  // bytes of the page
  always_ff @(posedge clk) begin
    open <= !rst && (\u_dut.write_start || (open && \u_dut.u_write.sending ));
    if (\u_dut.write_start ) begin
      open_page <= page;
      first     <= {1'b0, \u_dut.ext [11:0]};
      behind    <= 13'(\u_dut.ext [11:0]) + 13'(bytes);
    end
  end
  logic [12:0] at, beat_at;  // of the burst, of the beat
  assign at      = {1'b0, awaddr[11:0]};
  // Quadwords of the page, of which the last one may end it: of this beat; behind the write, and
  // the burst.
  logic [9:0] quad, end_quad, burst_end;
  assign quad      = 10'(first[11:3]) + 10'(\u_dut.u_write.beat );
  assign end_quad  = 10'((behind + 13'd7) >> 3);
  assign burst_end = end_quad[9:3] == {1'b0, \u_dut.u_write.line [8:3]} ? end_quad :
      {7'(\u_dut.u_write.line [8:3]) + 7'd1, 3'h0};
  assign beat_at   = {quad, 3'h0};
  always_comb
    if (started && !rst) begin
      if (atu_valid && !asks) assert (vpid == \u_dut.header [nicloop_pkg::HEADER_DST_VPID_LSB+:4] && on_was &&
          own_was[15:0] == stamp_was[15:0] && (ANSWERS != 0 ? own_was == stamp_was : own_was[15:0] != '0));
      if (\u_dut.write_start ) assert (granted);
      if (awvalid) begin
        assert (open && awaddr[63:12] == open_page);
        assert (at + 13'd8 > first && at + {2'h0, awlen, 3'h0} < behind);
      end
      if (wvalid)
        for (int i = 0; i < 8; i++) if (wstrb[i]) assert (beat_at + 13'(i) >= first && beat_at + 13'(i) < behind);

      // ---- what makes it inductive ----
      if (\u_dut.have && \u_dut.same ) assert (own[15:0] == \u_dut.stamp [15:0] && (ANSWERS != 0 ?
          own == \u_dut.stamp : own[15:0] != '0));
      if (\u_dut.state == 2'd1 || \u_dut.state == 2'd2) assert (\u_dut.have && \u_dut.reason == '0);
      if (\u_dut.state == 2'd1) assert (\u_dut.writes && \u_dut.shape_ok && !granted);
      if (\u_dut.state == 2'd2 && \u_dut.writes && \u_dut.error == '0)
          assert (granted && \u_dut.addr == {page, \u_dut.ext [11:0]} && \u_dut.shape_ok );
      assert (\u_dut.state != 2'd3);
      if (\u_dut.u_write.sending ) begin
        assert (open && first < behind && behind - first <= 13'(nicloop_pkg::RMA_MTU) && behind <= 13'd4096 &&
            \u_dut.u_write.line [60:9] == open_page);
        assert ({1'b0, \u_dut.u_write.line [8:0]} + 10'(\u_dut.u_write.more ) + 10'd1 == end_quad);
        assert (quad >= {1'b0, \u_dut.u_write.line [8:0]} && quad <= burst_end &&
            (quad == burst_end) == \u_dut.u_write.w_sent );
        assert (\u_dut.u_write.at == quad[2:0] && \u_dut.u_write.to_go == 6'(end_quad - quad - 10'd1));
        assert (\u_dut.u_write.shift == first[2:0] && \u_dut.u_write.end_at == behind[2:0]);
        assert (\u_dut.u_write.beat <= 6'd33);
      end
    end
  logic twice;
  always_ff @(posedge clk) begin
    twice <= !rst && (twice || (open && wvalid && wready && wlast && first[5:0] == 6'h3d));
    cover (started && !rst && twice && wvalid && wready && wlast && behind[2:0] == 3'd1 && page != open_page &&
        granted);
  end
endmodule
