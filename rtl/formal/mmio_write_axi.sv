// mmio_write_axi: mmio_write keeps the rules of its two write ports, a burst for the send windows
// never leaves its 64-byte line, and no register is written without a byte, whatever the host
// writes; a reset of the core at any time leaves it whole accesses, and nothing is offered while it
// lasts. WVALID waits for no READY: it follows the address of a register at once, and in a burst
// for the send windows it is asserted whenever the quadword is there.
module mmio_write_axi (
    input logic        clk,
    input logic        rst,
    input logic        core_rst,
    input logic        want,
    input logic [2:0]  bar,
    input logic [31:0] addr,
    input logic [10:0] len,
    input logic [3:0]  first_be,
    input logic [3:0]  last_be,
    input logic        have,
    input logic        data_bit,
    input logic        ok,
    input logic        r_awready,
    input logic        r_wready,
    input logic        r_bvalid,
    input logic [1:0]  r_bresp,
    input logic        w_awready,
    input logic        w_wready,
    input logic        w_bvalid,
    input logic [1:0]  w_bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // What tlp_rx gives: a legal request, then its quadwords, which stay until they are taken.
  logic        w_ready, q_valid, q_ready, q_last, kept, data_was, ok_was;
  logic [10:0] left;
  assign q_valid = left != '0 && (have || kept);
  assign q_last  = left == 11'd1;
  always_comb begin
    assume (len != '0 && len <= 11'd1024 && addr[1:0] == '0 && 12'(addr[11:2]) + 12'(len) <= 12'd1024);
    assume (len == 11'd1 ? last_be == '0 : first_be != '0 && last_be != '0);
    if (started && kept) assume (data_bit == data_was && ok == ok_was);
  end
  always_ff @(posedge clk) begin
    if (rst) left <= '0;
    else if (want && w_ready && left == '0) left <= 11'((12'(addr[2]) + 12'(len) + 12'd1) >> 1);
    else left <= left - 11'(q_valid && q_ready);
    kept     <= !rst && q_valid && !q_ready;
    data_was <= data_bit;
    ok_was   <= ok;
  end

  logic        r_awvalid, r_wvalid, r_bready, w_awvalid, w_wvalid, w_wlast, w_bready, settled;
  logic [31:0] r_awaddr;
  logic [28:0] w_awaddr;
  logic [63:0] r_wdata, w_wdata;
  logic [7:0]  r_wstrb, w_wstrb, w_awlen;
  mmio_write u_dut (
      .clk, .rst, .core_rst, .w_valid(want && left == '0), .w_ready, .bar, .addr, .len, .first_be, .last_be,
      .q_valid, .q_ready,
      .q_data(64'(data_bit)), .q_ok(ok), .q_last, .m_axil_awvalid(r_awvalid), .m_axil_awready(r_awready),
      .m_axil_awaddr(r_awaddr), .m_axil_wvalid(r_wvalid), .m_axil_wready(r_wready), .m_axil_wdata(r_wdata),
      .m_axil_wstrb(r_wstrb), .m_axil_bvalid(r_bvalid), .m_axil_bready(r_bready), .m_axil_bresp(r_bresp),
      .m_axi_awvalid(w_awvalid), .m_axi_awready(w_awready), .m_axi_awaddr(w_awaddr), .m_axi_awlen(w_awlen),
      .m_axi_wvalid(w_wvalid), .m_axi_wready(w_wready), .m_axi_wdata(w_wdata), .m_axi_wstrb(w_wstrb),
      .m_axi_wlast(w_wlast), .m_axi_bvalid(w_bvalid), .m_axi_bready(w_bready), .m_axi_bresp(w_bresp), .settled
  );
  logic win_aw_gone, win_w_gone;
  axi_write_check #(.BURSTS(1), .W_WAIT(0)) u_registers (
      .clk, .rst(rst || core_rst), .awvalid(r_awvalid), .awready(r_awready), .awaddr(64'(r_awaddr)), .awlen(8'd0),
      .wvalid(r_wvalid), .wready(r_wready), .wdata(r_wdata), .wstrb(r_wstrb), .wlast(1'b1), .bvalid(r_bvalid),
      .bready(r_bready), .bresp(r_bresp), .idle(settled)
  );
  axi_write_check #(.BURSTS(1)) u_windows (
      .clk, .rst(rst || core_rst), .awvalid(w_awvalid), .awready(w_awready), .awaddr(64'(w_awaddr)), .awlen(w_awlen),
      .wvalid(w_wvalid), .wready(w_wready), .wdata(w_wdata), .wstrb(w_wstrb), .wlast(w_wlast), .bvalid(w_bvalid),
      .bready(w_bready), .bresp(w_bresp), .idle(settled), .aw_gone(win_aw_gone), .w_gone(win_w_gone)
  );
  always_comb
    if (started && !rst) begin
      assert (!w_awvalid || (8'(w_awaddr[5:3]) + w_awlen < 8'd8 && w_awlen < 8'd8));
      assert (!r_wvalid || r_wstrb != '0);
      assert (!settled || left == '0);
      assert (core_rst || !(w_awvalid || win_aw_gone) || win_w_gone || !q_valid || w_wvalid);
      assert (!core_rst || !(r_awvalid || r_wvalid || w_awvalid || w_wvalid));
    end
  logic cut;  // an access that the core has begun to take met its reset
  always_ff @(posedge clk) cut <= !rst && (cut || (core_rst && !settled && left != '0 && w_awlen != '0));
  always_ff @(posedge clk) cover (started && cut && !core_rst && w_wvalid && w_wlast);
endmodule
