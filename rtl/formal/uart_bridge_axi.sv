// uart_bridge_axi: uart_bridge keeps the rules of its AXI4-Lite port whatever frames come: an
// address and its data stand until they are taken, one access at a time, and none before the last
// one has been answered, however long that takes. A frame begins no more accesses than it says, of
// its own kind and at its addresses in turn, reads of memory from the last to the first; one that
// comes again with the number of the frame before it begins none. No frame waits longer than
// PATIENCE cycles for an access. Frames are anything: those who make them of bytes, and bytes of
// them, are left out.
module uart_bridge_axi #(
    parameter int PATIENCE = 4
) (
    input logic        clk,
    input logic        rst,
    input logic        awready,
    input logic        wready,
    input logic        bvalid,
    input logic [1:0]  bresp,
    input logic        arready,
    input logic        rvalid,
    input logic [1:0]  rresp,
    input logic [63:0] rdata
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        tx, awvalid, wvalid, bready, arvalid, rready;
  logic [41:0] awaddr, araddr;
  logic [63:0] wdata;
  uart_bridge #(.WORDS(3), .PATIENCE(PATIENCE)) u_dut (
      .clk, .rst, .divisor(16'd8), .rx(1'b1), .tx, .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr),
      .m_wvalid(wvalid), .m_wready(wready), .m_wdata(wdata), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(bresp),
      .m_arvalid(arvalid), .m_arready(arready), .m_araddr(araddr), .m_rvalid(rvalid), .m_rready(rready),
      .m_rdata(rdata), .m_rresp(rresp)
  );
  (* hierconn *) wire [63:0] \u_dut.header ;
  (* hierconn *) wire [4:0]  \u_dut.at ;
  (* hierconn *) wire        \u_dut.owed ;
  (* hierconn *) wire        \u_dut.last_valid ;
  (* hierconn *) wire [23:0] \u_dut.last ;
  (* hierconn *) wire [7:0]  \u_dut.status ;
  (* hierconn *) wire [2:0]  \u_dut.state ;

  // ---- accesses: an address and its data come together, and an answer behind both ----
  logic        aw_stood, w_stood, ar_stood;  // in the cycle before, and were not taken
  logic        owed, owed_write, aw_taken, w_taken, ar_taken, new_write, new_read, came;
  logic [41:0] addr_was;
  logic [63:0] data_was;
  assign new_write = awvalid && !aw_stood;
  assign new_read  = arvalid && !ar_stood;
  assign came      = bvalid || rvalid;
  always_comb if (started && !rst)
    assume ((!bvalid || (owed && owed_write && aw_taken && w_taken)) && (!rvalid || (owed && !owed_write && ar_taken)));
  always_ff @(posedge clk) begin
    aw_stood <= !rst && awvalid && !awready;
    w_stood  <= !rst && wvalid && !wready;
    ar_stood <= !rst && arvalid && !arready;
    addr_was <= awaddr;
    data_was <= wdata;
    owed     <= !rst && (new_write || new_read || (owed && !came));
    aw_taken <= !rst && ((awvalid && awready) || (aw_taken && !came));
    w_taken  <= !rst && ((wvalid && wready) || (w_taken && !came));
    ar_taken <= !rst && ((arvalid && arready) || (ar_taken && !came));
    if (new_write || new_read) owed_write <= new_write;
  end

  // ---- frames ----
  localparam logic [2:0] LISTEN = 3'd0, ASK = 3'd3, BUS = 3'd4, ANSWER = 3'd5;
  // a frame of a length that it should not have is another one than the frame before
  localparam logic [7:0] LENGTH = 8'd5;
  logic [7:0]  seq, op, count;
  logic [39:0] addr, offset;
  logic [2:0]  done, waits;  // accesses of this frame; cycles that it has waited for one
  logic        knew, same;  // the frame before had an access, or was the same as one that did; this one says the same
  logic [23:0] known;
  assign {addr, count, op, seq} = \u_dut.header ;
  assign offset = op == 8'h12 ? 40'(count) - 40'd1 - 40'(done) : 40'(done);
  assign same   = knew && known == {count, op, seq};
  always_ff @(posedge clk) begin
    done  <= rst || \u_dut.state == LISTEN ? '0 : done + 3'(new_write || new_read);
    waits <= rst || \u_dut.state != BUS ? '0 : waits + 1'b1;
    if (rst) knew <= 1'b0;
    else if (\u_dut.state == ANSWER)
        {knew, known} <= {done != '0 || (same && \u_dut.status != LENGTH), count, op, seq};
  end

  always_comb
    if (started && !rst) begin
      assert (bready && rready);
      assert (!aw_stood || (awvalid && awaddr == addr_was));
      assert (!ar_stood || (arvalid && araddr == addr_was));
      assert (!w_stood || (wvalid && wdata == data_was));
      assert (!(awvalid && arvalid) && (!wvalid || !arvalid));
      assert (new_write == (wvalid && !w_stood));
      if (new_write || new_read) begin
        assert (!owed);
        assert (8'(done) < count && count <= 8'd3);
        assert (new_write ? op == 8'h20 || op == 8'h21 || op == 8'h22 : op == 8'h10 || op == 8'h12);
        assert ((new_write ? awaddr : araddr) == {op[1:0], addr + {offset[36:0], 3'b000}});
        assert (!same);
      end
      assert (\u_dut.state != BUS || 32'(waits) < PATIENCE);
      // What ties both sides together, without which reachability finds thousands of clauses.
      assert (!knew || (\u_dut.last_valid && known == \u_dut.last ));
      assert (\u_dut.owed == (owed || new_write || new_read));
      assert (\u_dut.state != ASK || (!\u_dut.owed && 5'(done) == \u_dut.at ));
      assert (\u_dut.state != BUS || 5'(done) + 5'(new_write || new_read) == \u_dut.at + 5'd1);
      assert (!(aw_stood || w_stood) || (owed && owed_write));
      assert (!ar_stood || (owed && !owed_write));
    end

  always_comb begin
    cover (started && !rst && new_read && done == 3'd2 && op == 8'h12);
    cover (started && !rst && \u_dut.state == ANSWER && same && done == '0);
    cover (started && !rst && \u_dut.state == ANSWER && owed && came);
  end
endmodule
