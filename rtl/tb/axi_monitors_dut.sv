// axi_monitors_dut: the two monitors of AXI ports, for a bench that breaks each of their rules.
module axi_monitors_dut (
    input logic        clk,
    input logic        rst,
    input logic        awvalid,
    input logic        awready,
    input logic [7:0]  aw,
    input logic [7:0]  awlen,
    input logic        wvalid,
    input logic        wready,
    input logic [7:0]  w,
    input logic        wlast,
    input logic        bvalid,
    input logic        bready,
    input logic [7:0]  b,
    input logic        arvalid,
    input logic        arready,
    input logic [7:0]  ar,
    input logic [7:0]  arlen,
    input logic        arid,
    input logic        rvalid,
    input logic        rready,
    input logic [7:0]  r,
    input logic        rlast,
    input logic        rid
);
  axi_write_monitor #(.PAYLOAD_W(8), .DATA_W(8), .RESP_W(8), .W_WAIT(0), .B_WAIT(2)) u_writes (
      .clk, .rst, .awvalid, .awready, .aw, .awlen, .wvalid, .wready, .w, .wlast, .bvalid, .bready, .b
  );
  axi_read_monitor #(.PAYLOAD_W(8), .DATA_W(8), .R_WAIT(2)) u_reads (
      .clk, .rst, .arvalid, .arready, .ar, .arlen, .arid, .rvalid, .rready, .r, .rlast, .rid
  );
endmodule
