// bus_master_queue: no DMA request that the core had queued when Bus Master Enable was low leaves
// behind that, however short the clear, however long the stream of TLPs stands and whenever the
// core is reset. request_gate, pcie_write, pcie_read and tlp_tx, joined as in nic_pcie. Looks at
// one cycle in which requests were disabled, any: addresses taken up to then have bit 12 low, later
// ones high.
module bus_master_queue (
    input logic        clk,
    input logic        rst,
    input logic        core_rst,
    input logic        bus_master,
    input logic        pick,
    input logic        awvalid,
    input logic [10:0] awaddr,
    input logic        awlen,
    input logic        wvalid,
    input logic        wlast,
    input logic        bready,
    input logic        arvalid,
    input logic [10:0] araddr,
    input logic        np_ok,
    input logic        m_ready
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  logic disabled_q;  // the cycle that is looked at has been
  logic awready, wready, bvalid, arready;
  logic beat_taken, beat;  // beat: the last one of a burst is due
  assign beat_taken = wvalid && wready;
  always_ff @(posedge clk) begin
    disabled_q <= !rst && (disabled_q || (pick && !bus_master));
    if (rst || core_rst || (awvalid && awready) || (beat_taken && wlast)) beat <= 1'b0;
    else if (beat_taken) beat <= 1'b1;
  end
  always_comb begin
    if (!started) assume (rst);
    // Bursts of one or two quadwords, none across a line.
    assume (awaddr[2:0] == '0 && araddr[2:0] == '0 && !(awlen && awaddr[5:3] == '1));
    if (beat) assume (wlast);
  end

  logic         may_request, hold, write_idle, read_queued, read_idle, ask, ticket, four, odd, done, dropped,
      np_valid, np_done, np_four, rvalid, pending, m_valid, m_both, m_last, tx_idle;
  logic [127:0] header, np_header;
  logic [10:0]  len;
  logic [63:0]  quad, m_data;
  logic [7:0]   index;
  request_gate u_gate (.clk, .rst, .bus_master, .flr(1'b0), .queued(!write_idle || read_queued), .may_request, .hold);
  pcie_write #(.QUADS(16), .HEADERS(2)) u_write (
      .clk, .rst, .core_rst, .bus_master(may_request), .hold, .mps(3'd0), .id(16'h0), .s_awvalid(awvalid),
      .s_awready(awready), .s_awaddr(64'({disabled_q, 1'b0, awaddr})), .s_awlen({7'h0, awlen}), .s_wvalid(wvalid),
      .s_wready(wready), .s_wdata(64'h0), .s_wstrb(8'hff), .s_wlast(wlast), .s_bvalid(bvalid), .s_bready(bready), .ask,
      .ticket, .header, .four, .odd, .len, .quad, .index, .done, .dropped, .idle(write_idle)
  );
  pcie_read #(.TAGS(2), .SLOT(64), .TICK(2), .HOLD(0), .LONG(2)) u_read (
      .clk, .rst, .core_rst, .flr(1'b0), .bus_master(may_request), .hold, .ext_tag_enable(1'b0), .mrrs(3'd0),
      .id(16'h0), .s_arvalid(arvalid), .s_arready(arready), .s_araddr(64'({disabled_q, 1'b0, araddr})),
      .s_arlen(8'd0), .s_rvalid(rvalid), .s_rready(1'b1), .np_valid, .np_done, .np_dropped(dropped), .np_header,
      .np_four, .c_valid(1'b0), .c_data(1'b0), .c_poisoned(1'b0), .c_status(3'd0), .c_count(12'd0), .c_lower(7'd0),
      .c_len(11'd0), .c_requester(16'h0), .c_tag(8'h0), .q_valid(1'b0), .q_data(64'h0), .q_ok(1'b0), .q_last(1'b0),
      .pending, .queued(read_queued), .idle(read_idle)
  );
  tlp_tx #(.N(1), .DEPTH(2), .REQUESTS(1)) u_tx (
      .clk, .rst, .may_request, .ask, .ticket, .header, .four, .odd, .len, .quad, .index, .done, .dropped, .np_valid,
      .np_done, .np_header, .np_four, .np_ok, .m_valid, .m_ready, .m_data, .m_both, .m_last, .idle(tx_idle)
  );
  (* hierconn *) wire [2:0]   \u_tx.state ;
  (* hierconn *) wire [127:0] \u_tx.now_header ;
  localparam logic [2:0] FIRST = 3'd1;

  logic begins, was_first, taken_q, disabled_qq;  // a TLP begins; its start was a cycle before
  assign begins = \u_tx.state == FIRST && (!was_first || taken_q);
  always_ff @(posedge clk) begin
    was_first   <= !rst && \u_tx.state == FIRST;
    taken_q     <= m_valid && m_ready;
    disabled_qq <= !rst && (disabled_q || (pick && !bus_master));
  end
  always_comb
    if (started && !rst) assert (!(begins && disabled_qq) || \u_tx.now_header [64 + 12]);
  always_ff @(posedge clk) cover (started && begins && disabled_qq && \u_tx.now_header [64 + 12]);
  always_ff @(posedge clk) cover (started && hold && np_valid && !may_request);
endmodule
