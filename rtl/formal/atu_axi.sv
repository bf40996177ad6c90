// atu_axi: atu keeps the rules of its read port, one quadword at a time, whatever its clients and
// registers do.
module atu_axi (
    input logic        clk,
    input logic        rst,
    input logic [1:0]  want,
    input logic [95:0] nla,
    input logic [3:0]  wr_table,
    input logic [63:0] wr_data,
    input logic        wr_base,
    input logic        wr_pages,
    input logic        flush_all,
    input logic        arready,
    input logic        rvalid,
    input logic [63:0] rdata
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // A request stays until it is done.
  logic [1:0]  valid, kept, done;
  logic [95:0] held;
  logic        active, arvalid, rready;
  logic [63:0] araddr;
  assign valid = want | kept;
  always_ff @(posedge clk) begin
    kept <= rst ? '0 : valid & ~done;
    for (int i = 0; i < 2; i++) if (!kept[i]) held[i*48+:48] <= nla[i*48+:48];
  end
  atu #(.N(2), .ENTRIES(2)) u_dut (
      .clk, .rst, .valid, .nla({kept[1] ? held[95:48] : nla[95:48], kept[0] ? held[47:0] : nla[47:0]}), .done,
      .m_arvalid(arvalid), .m_arready(arready), .m_araddr(araddr), .m_rvalid(rvalid), .m_rready(rready),
      .m_rdata(rdata), .flush_all, .wr_table, .wr_data, .wr_base, .wr_pages, .active
  );
  logic [5:0] awaited;
  axi_read_check #(.BURSTS(2)) u_check (
      .clk, .rst, .arvalid, .arready, .araddr, .arlen(8'd0), .rvalid, .rready, .rdata, .rresp('0), .rlast(1'b1),
      .idle(!active), .awaited
  );
  always_comb if (started && !rst) assert (awaited == 6'(rready) && !(arvalid && rready));
endmodule
