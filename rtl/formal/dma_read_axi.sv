// dma_read_axi: dma_read keeps the rules of its read port for every address and length, and a burst
// never leaves its 64-byte line.
module dma_read_axi (
    input logic        clk,
    input logic        rst,
    input logic        want,
    input logic [63:0] addr,
    input logic [9:0]  bytes,
    input logic        tag,
    input logic        take,
    input logic        arready,
    input logic        rvalid,
    input logic        rlast,
    input logic [63:0] rdata,
    input logic [1:0]  rresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);
  always_comb assume (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU) && 13'(addr[11:0]) + 13'(bytes) <= 13'h1000);

  logic        ready, arvalid, rready;
  logic [63:0] araddr;
  logic [7:0]  arlen;
  dma_read #(.DEPTH(2)) u_dut (
      .clk, .rst, .ready, .start(want && ready), .addr, .bytes, .tag, .take, .m_arvalid(arvalid), .m_arready(arready),
      .m_araddr(araddr), .m_arlen(arlen), .m_rvalid(rvalid), .m_rready(rready), .m_rdata(rdata), .m_rresp(rresp),
      .m_rlast(rlast)
  );
  axi_read_check #(.BURSTS(10)) u_check (
      .clk, .rst, .arvalid, .arready, .araddr, .arlen, .rvalid, .rready, .rdata, .rresp, .rlast, .idle(1'b0)
  );
  always_comb if (started && !rst) assert (!arvalid || 8'(araddr[5:3]) + arlen < 8'd8 && arlen < 8'd8);
endmodule
