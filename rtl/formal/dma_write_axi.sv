// dma_write_axi: dma_write keeps the rules of its write port for every address and length; a burst
// never leaves its 64-byte line, every beat writes something, and the strobes of a beat are one run
// of bytes. The upper bits of addresses and data are 0: the unit treats all of them alike.
module dma_write_axi (
    input logic        clk,
    input logic        rst,
    input logic        want,
    input logic [11:0] addr,
    input logic [9:0]  bytes,
    input logic        tag,
    input logic        src_bit,
    input logic        awready,
    input logic        wready,
    input logic        bvalid,
    input logic [1:0]  bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);
  always_comb assume (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU) && 13'(addr) + 13'(bytes) <= 13'h1000);

  logic        ready, busy, awvalid, wvalid, wlast, bready;
  logic [63:0] awaddr, wdata;
  logic [7:0]  awlen, wstrb;
  dma_write #(.DEPTH(2)) u_dut (
      .clk, .rst, .ready, .start(want && ready), .addr(64'(addr)), .bytes, .tag, .src_data(64'(src_bit)), .busy,
      .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr), .m_awlen(awlen), .m_wvalid(wvalid),
      .m_wready(wready), .m_wdata(wdata), .m_wstrb(wstrb), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready),
      .m_bresp(bresp)
  );
  axi_write_check #(.W_WAIT(0)) u_check (
      .clk, .rst, .awvalid, .awready, .awaddr, .awlen, .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready,
      .bresp, .idle(1'b0)
  );
  // The caller shows the quadword that is asked for until it is taken.
  logic        held;
  logic        src_was;
  logic [8:0]  after;
  assign after = {1'b0, wstrb} + {1'b0, wstrb & (~wstrb + 1'b1)};  // one run of ones and its lowest bit: a power of two
  always_ff @(posedge clk) begin
    held    <= wvalid && !wready;
    src_was <= src_bit;
  end
  always_comb begin
    if (started && held) assume (src_bit == src_was);
    if (started && !rst) begin
      assert (!awvalid || (8'(awaddr[5:3]) + awlen < 8'd8 && awlen < 8'd8));
      assert (!wvalid || (wstrb != '0 && (after & (after - 1'b1)) == '0));
    end
  end
endmodule
