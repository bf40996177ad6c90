// axi_units: in benches, every AXI port of every unit of the core is watched. Those of
// rma_requester, rma_responder and rma_completer are the ports of their dma_read and dma_write.

// A mux's ports towards its units.
module axi_write_units #(
    parameter int N = 2
) (
    input logic            clk,
    input logic            rst,
    input logic [N-1:0]    awvalid,
    input logic [N-1:0]    awready,
    input logic [N*64-1:0] awaddr,
    input logic [N*8-1:0]  awlen,
    input logic [N-1:0]    wvalid,
    input logic [N-1:0]    wready,
    input logic [N*64-1:0] wdata,
    input logic [N*8-1:0]  wstrb,
    input logic [N-1:0]    wlast,
    input logic [N-1:0]    bvalid,
    input logic [N-1:0]    bready
);
  for (genvar i = 0; i < N; i++) begin : g_unit
    axi_write_monitor u_monitor (
        .clk, .rst, .awvalid(awvalid[i]), .awready(awready[i]), .aw(awaddr[i*64+:64]), .awlen(awlen[i*8+:8]),
        .wvalid(wvalid[i]), .wready(wready[i]), .w({wstrb[i*8+:8], wdata[i*64+:64]}), .wlast(wlast[i]),
        .bvalid(bvalid[i]), .bready(bready[i]), .b(2'b00)
    );
  end
endmodule

module axi_read_units #(
    parameter int N = 2
) (
    input logic            clk,
    input logic            rst,
    input logic [N-1:0]    arvalid,
    input logic [N-1:0]    arready,
    input logic [N*64-1:0] araddr,
    input logic [N*8-1:0]  arlen,
    input logic [N-1:0]    rvalid,
    input logic [N-1:0]    rready,
    input logic            rlast
);
  for (genvar i = 0; i < N; i++) begin : g_unit
    axi_read_monitor u_monitor (
        .clk, .rst, .arvalid(arvalid[i]), .arready(arready[i]), .ar(araddr[i*64+:64]), .arlen(arlen[i*8+:8]),
        .arid(1'b0), .rvalid(rvalid[i]), .rready(rready[i]), .r('0), .rlast, .rid(1'b0)
    );
  end
endmodule

bind axi_write_mux axi_write_units #(.N(N)) u_monitor_units (
    .clk, .rst, .awvalid(s_awvalid), .awready(s_awready), .awaddr(s_awaddr), .awlen(s_awlen), .wvalid(s_wvalid),
    .wready(s_wready), .wdata(s_wdata), .wstrb(s_wstrb), .wlast(s_wlast), .bvalid(s_bvalid), .bready(s_bready));
bind axi_write_mux axi_write_monitor u_monitor (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid),
    .wready(m_wready), .w({m_wstrb, m_wdata}), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(2'b00));
bind axi_read_mux axi_read_units #(.N(N)) u_monitor_units (
    .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .araddr(s_araddr), .arlen(s_arlen), .rvalid(s_rvalid),
    .rready(s_rready), .rlast(m_rlast));
bind axi_read_mux axi_read_monitor u_monitor (
    .clk, .rst, .arvalid(m_arvalid), .arready(m_arready), .ar(m_araddr), .arlen(m_arlen), .arid(1'b0),
    .rvalid(m_rvalid), .rready(m_rready), .r('0), .rlast(m_rlast), .rid(1'b0));
bind velo_completer axi_write_monitor #(.W_WAIT(0)) u_monitor (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(8'd7), .wvalid(m_wvalid),
    .wready(m_wready), .w(72'(m_wdata)), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(m_bresp));
bind rma_notifier axi_write_monitor #(.W_WAIT(0)) u_monitor (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid),
    .wready(m_wready), .w({m_wstrb, m_wdata}), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(m_bresp));
bind atu_commands axi_write_monitor #(.W_WAIT(0)) u_monitor (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid),
    .wready(m_wready), .w({m_wstrb, m_wdata}), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(m_bresp));
bind dma_write axi_write_monitor #(.W_WAIT(0)) u_monitor (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid),
    .wready(m_wready), .w({m_wstrb, m_wdata}), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(m_bresp));
bind dma_read axi_read_monitor u_monitor (
    .clk, .rst, .arvalid(m_arvalid), .arready(m_arready), .ar(m_araddr), .arlen(m_arlen), .arid(1'b0),
    .rvalid(m_rvalid), .rready(m_rready), .r({m_rresp, m_rdata}), .rlast(m_rlast), .rid(1'b0));
bind atu axi_read_monitor u_monitor (
    .clk, .rst, .arvalid(m_arvalid), .arready(m_arready), .ar(m_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(m_rvalid), .rready(m_rready), .r({m_rresp, m_rdata}), .rlast(1'b1), .rid(1'b0));
bind regfile axi_write_monitor #(.PAYLOAD_W(32)) u_monitor_writes (
    .clk, .rst, .awvalid(s_awvalid), .awready(s_awready), .aw(s_awaddr), .awlen(8'd0), .wvalid(s_wvalid),
    .wready(s_wready), .w({s_wstrb, s_wdata}), .wlast(1'b1), .bvalid(s_bvalid), .bready(s_bready), .b(s_bresp));
bind regfile axi_read_monitor #(.PAYLOAD_W(32)) u_monitor_reads (
    .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .ar(s_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(s_rvalid), .rready(s_rready), .r({s_rresp, s_rdata}), .rlast(1'b1), .rid(1'b0));
