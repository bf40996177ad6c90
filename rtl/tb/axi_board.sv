// axi_board: in benches, every AXI port of what stands around the core on a board is watched.

bind nic_velo axi_write_monitor #(.PAYLOAD_W(32)) u_monitor_register_writes (
    .clk, .rst, .awvalid(s_axil_awvalid), .awready(s_axil_awready), .aw(s_axil_awaddr), .awlen(8'd0),
    .wvalid(s_axil_wvalid), .wready(s_axil_wready), .w({s_axil_wstrb, s_axil_wdata}), .wlast(1'b1),
    .bvalid(s_axil_bvalid), .bready(s_axil_bready), .b(s_axil_bresp));
bind nic_velo axi_read_monitor #(.PAYLOAD_W(32)) u_monitor_register_reads (
    .clk, .rst, .arvalid(s_axil_arvalid), .arready(s_axil_arready), .ar(s_axil_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(s_axil_rvalid), .rready(s_axil_rready), .r({s_axil_rresp, s_axil_rdata}), .rlast(1'b1), .rid(1'b0));
bind nic_velo axi_write_monitor #(.PAYLOAD_W(34)) u_monitor_send_windows (
    .clk, .rst, .awvalid(s_axi_awvalid), .awready(s_axi_awready), .aw({s_axi_awburst, s_axi_awsize, s_axi_awaddr}),
    .awlen(s_axi_awlen), .wvalid(s_axi_wvalid), .wready(s_axi_wready), .w({s_axi_wstrb, s_axi_wdata}),
    .wlast(s_axi_wlast), .bvalid(s_axi_bvalid), .bready(s_axi_bready), .b(s_axi_bresp));
bind nic_velo axi_write_monitor #(.W_WAIT(0)) u_monitor_dma_writes (
    .clk, .rst, .awvalid(m_axi_awvalid), .awready(m_axi_awready), .aw(m_axi_awaddr), .awlen(8'd7),
    .wvalid(m_axi_wvalid), .wready(m_axi_wready), .w(72'(m_axi_wdata)), .wlast(m_axi_wlast), .bvalid(m_axi_bvalid),
    .bready(m_axi_bready), .b(m_axi_bresp));
bind board_memory axi_read_monitor u_monitor_reads (
    .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .ar(s_araddr), .arlen(s_arlen), .arid(1'b0),
    .rvalid(s_rvalid), .rready(s_rready), .r({s_rresp, s_rdata}), .rlast(s_rlast), .rid(1'b0));
bind uart_bridge axi_write_monitor #(.PAYLOAD_W(42), .DATA_W(64), .W_WAIT(0)) u_monitor_writes (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw(m_awaddr), .awlen(8'd0), .wvalid(m_wvalid),
    .wready(m_wready), .w(m_wdata), .wlast(1'b1), .bvalid(m_bvalid), .bready(m_bready), .b(m_bresp));
bind uart_bridge axi_read_monitor #(.PAYLOAD_W(42)) u_monitor_reads (
    .clk, .rst, .arvalid(m_arvalid), .arready(m_arready), .ar(m_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(m_rvalid), .rready(m_rready), .r({m_rresp, m_rdata}), .rlast(1'b1), .rid(1'b0));
// PCIe: host to core, core to host. Both ends of these ports are in reset while the core is.
bind mmio_write axi_write_monitor #(.PAYLOAD_W(32), .W_WAIT(0)) u_monitor_registers (
    .clk, .rst(rst || core_rst), .awvalid(m_axil_awvalid), .awready(m_axil_awready), .aw(m_axil_awaddr), .awlen(8'd0),
    .wvalid(m_axil_wvalid), .wready(m_axil_wready), .w({m_axil_wstrb, m_axil_wdata}), .wlast(1'b1),
    .bvalid(m_axil_bvalid), .bready(m_axil_bready), .b(m_axil_bresp));
bind mmio_write axi_write_monitor #(.PAYLOAD_W(29)) u_monitor_windows (
    .clk, .rst(rst || core_rst), .awvalid(m_axi_awvalid), .awready(m_axi_awready), .aw(m_axi_awaddr),
    .awlen(m_axi_awlen),
    .wvalid(m_axi_wvalid), .wready(m_axi_wready), .w({m_axi_wstrb, m_axi_wdata}), .wlast(m_axi_wlast),
    .bvalid(m_axi_bvalid), .bready(m_axi_bready), .b(m_axi_bresp));
bind mmio_read axi_read_monitor #(.PAYLOAD_W(32)) u_monitor (
    .clk, .rst(rst || core_rst), .arvalid(m_axil_arvalid), .arready(m_axil_arready), .ar(m_axil_araddr), .arlen(8'd0),
    .arid(1'b0),
    .rvalid(m_axil_rvalid), .rready(m_axil_rready), .r({m_axil_rresp, m_axil_rdata}), .rlast(1'b1), .rid(1'b0));
bind pcie_read axi_read_monitor u_monitor (
    .clk, .rst(rst || core_rst || flr), .arvalid(s_arvalid), .arready(s_arready), .ar(s_araddr), .arlen(s_arlen),
    .arid(1'b0),
    .rvalid(s_rvalid), .rready(s_rready), .r({s_rresp, s_rdata}), .rlast(s_rlast), .rid(1'b0));
bind pcie_write axi_write_monitor u_monitor (
    .clk, .rst(rst || core_rst), .awvalid(s_awvalid), .awready(s_awready), .aw(s_awaddr), .awlen(s_awlen),
    .wvalid(s_wvalid),
    .wready(s_wready), .w({s_wstrb, s_wdata}), .wlast(s_wlast), .bvalid(s_bvalid), .bready(s_bready), .b(s_bresp));
// AXI: the host's ports, whose other end is not reset by arst_a, and what is behind their register
// slices. An access that the core does not answer is answered in its stead behind PATIENCE cycles;
// data of a DMA write whose clock stands leaves when that happens. The slices and the reset take
// the rest (SLACK).
`define SLACK 64
bind axi_front axi_write_monitor #(.PAYLOAD_W(21), .DATA_W(36), .OWN_RESET(0), .B_WAIT(PATIENCE + `SLACK))
    u_monitor_register_writes (
    .clk(aclk), .rst(arst_a), .awvalid(s_axil_awvalid), .awready(s_axil_awready), .aw(s_axil_awaddr), .awlen(8'd0),
    .wvalid(s_axil_wvalid), .wready(s_axil_wready), .w({s_axil_wstrb, s_axil_wdata}), .wlast(1'b1),
    .bvalid(s_axil_bvalid), .bready(s_axil_bready), .b(s_axil_bresp));
bind axi_front axi_read_monitor #(.PAYLOAD_W(21), .DATA_W(34), .OWN_RESET(0), .R_WAIT(PATIENCE + `SLACK))
    u_monitor_register_reads (
    .clk(aclk), .rst(arst_a), .arvalid(s_axil_arvalid), .arready(s_axil_arready), .ar(s_axil_araddr), .arlen(8'd0),
    .arid(1'b0), .rvalid(s_axil_rvalid), .rready(s_axil_rready), .r({s_axil_rresp, s_axil_rdata}), .rlast(1'b1),
    .rid(1'b0));
bind axi_front axi_write_monitor #(.PAYLOAD_W(34 + ID_W), .RESP_W(2 + ID_W), .OWN_RESET(0), .B_WAIT(PATIENCE + `SLACK))
    u_monitor_send_windows (
    .clk(aclk), .rst(arst_a), .awvalid(s_axi_awvalid), .awready(s_axi_awready),
    .aw({s_axi_awid, s_axi_awburst, s_axi_awsize, s_axi_awaddr}), .awlen(s_axi_awlen), .wvalid(s_axi_wvalid),
    .wready(s_axi_wready), .w({s_axi_wstrb, s_axi_wdata}), .wlast(s_axi_wlast), .bvalid(s_axi_bvalid),
    .bready(s_axi_bready), .b({s_axi_bid, s_axi_bresp}));
bind axi_front axi_read_monitor #(.PAYLOAD_W(1), .ID_W(ID_W), .OWN_RESET(0), .R_WAIT(4)) u_monitor_window_reads (
    .clk(aclk), .rst(arst_a), .arvalid(s_axi_arvalid), .arready(s_axi_arready), .ar(1'b0), .arlen(s_axi_arlen),
    .arid(s_axi_arid), .rvalid(s_axi_rvalid), .rready(s_axi_rready), .r({s_axi_rresp, s_axi_rdata}),
    .rlast(s_axi_rlast), .rid(s_axi_rid));
bind axi_front axi_write_monitor #(.PAYLOAD_W(64 + ID_W), .RESP_W(2 + ID_W), .OWN_RESET(0), .W_WAIT(PATIENCE + `SLACK))
    u_monitor_dma_writes (
    .clk(aclk), .rst(arst_a), .awvalid(m_axi_awvalid), .awready(m_axi_awready), .aw({m_axi_awid, m_axi_awaddr}),
    .awlen(m_axi_awlen), .wvalid(m_axi_wvalid), .wready(m_axi_wready), .w({m_axi_wstrb, m_axi_wdata}),
    .wlast(m_axi_wlast), .bvalid(m_axi_bvalid), .bready(m_axi_bready), .b({m_axi_bid, m_axi_bresp}));
bind axi_front axi_read_monitor #(.ID_W(ID_W), .OWN_RESET(0)) u_monitor_dma_reads (
    .clk(aclk), .rst(arst_a), .arvalid(m_axi_arvalid), .arready(m_axi_arready), .ar(m_axi_araddr), .arlen(m_axi_arlen),
    .arid(m_axi_arid), .rvalid(m_axi_rvalid), .rready(m_axi_rready), .r({m_axi_rresp, m_axi_rdata}),
    .rlast(m_axi_rlast), .rid(m_axi_rid));
bind axi_regs axi_write_monitor #(.PAYLOAD_W(21), .DATA_W(36)) u_monitor_writes (
    .clk, .rst, .awvalid(s_awvalid), .awready(s_awready), .aw(s_awaddr), .awlen(8'd0), .wvalid(s_wvalid),
    .wready(s_wready), .w({s_wstrb, s_wdata}), .wlast(1'b1), .bvalid(s_bvalid), .bready(s_bready), .b(s_bresp));
bind axi_regs axi_read_monitor #(.PAYLOAD_W(21), .DATA_W(34)) u_monitor_reads (
    .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .ar(s_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(s_rvalid), .rready(s_rready), .r({s_rresp, s_rdata}), .rlast(1'b1), .rid(1'b0));
bind axi_windows axi_read_monitor #(.PAYLOAD_W(1), .DATA_W(2), .ID_W(ID_W)) u_monitor_reads (
    .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .ar(1'b0), .arlen(s_arlen), .arid(s_arid),
    .rvalid(s_rvalid), .rready(s_rready), .r(s_rresp), .rlast(s_rlast), .rid(s_rid));
bind axi_front axi_write_monitor #(.PAYLOAD_W(34 + ID_W), .RESP_W(2 + ID_W), .B_WAIT(PATIENCE + `SLACK), .S_STEADY(0))
    u_monitor_windows (
    .clk(aclk), .rst(arst_a), .awvalid(pa_valid), .awready(pa_ready), .aw({pa_id, pa[41:37], pa[28:0]}),
    .awlen(pa[36:29]), .wvalid(pw_valid), .wready(pw_ready), .w(pw[71:0]), .wlast(pw[72]), .bvalid(pb_valid),
    .bready(pb_ready), .b({pb_id, pb_resp}));
// A burst of DMA that a reset cuts leaves no address and loses its strobes, so axi_dma is steady
// only behind its slices. Answers of the bus to nothing reach it.
bind axi_dma axi_write_monitor #(.PAYLOAD_W(64 + ID_W), .RESP_W(ID_W), .OWN_RESET(0), .M_STEADY(0)) u_monitor_writes (
    .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .aw({m_awid, m_awaddr}), .awlen(m_awlen), .wvalid(m_wvalid),
    .wready(m_wready), .w({m_wstrb, m_wdata}), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .b(m_bid));
bind axi_front axi_read_monitor #(.ID_W(ID_W), .OWN_RESET(0), .M_STEADY(0)) u_monitor_dma_behind_slices (
    .clk(aclk), .rst(arst_a), .arvalid(dr_valid), .arready(dr_ready), .ar(dma_ard[63:0]), .arlen(dma_ard[71:64]),
    .arid(dr_id), .rvalid(dn_valid), .rready(dn_ready), .r(dn[65:0]), .rlast(dn[66]), .rid(dn_id));
