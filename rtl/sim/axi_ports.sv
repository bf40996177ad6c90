// axi_ports: every AXI port of nic_core is watched in every simulation.
//
// The master's data leaves with its address, whatever AWREADY and WREADY are (W_WAIT 0): a slave
// may assert AWREADY only after WVALID. Hosts behind FIFOs may present data later than its address.
bind nic_core axi_write_monitor #(.PAYLOAD_W(32), .DATA_W(72)) u_monitor_register_writes (
    .clk, .rst, .awvalid(s_axil_awvalid), .awready(s_axil_awready), .aw(s_axil_awaddr), .awlen(8'd0),
    .wvalid(s_axil_wvalid), .wready(s_axil_wready), .w({s_axil_wstrb, s_axil_wdata}), .wlast(1'b1),
    .bvalid(s_axil_bvalid), .bready(s_axil_bready), .b(s_axil_bresp));
bind nic_core axi_read_monitor #(.PAYLOAD_W(32)) u_monitor_register_reads (
    .clk, .rst, .arvalid(s_axil_arvalid), .arready(s_axil_arready), .ar(s_axil_araddr), .arlen(8'd0), .arid(1'b0),
    .rvalid(s_axil_rvalid), .rready(s_axil_rready), .r({s_axil_rresp, s_axil_rdata}), .rlast(1'b1), .rid(1'b0));
bind nic_core axi_write_monitor #(.PAYLOAD_W(34), .DATA_W(72)) u_monitor_send_windows (
    .clk, .rst, .awvalid(s_axi_awvalid), .awready(s_axi_awready), .aw({s_axi_awburst, s_axi_awsize, s_axi_awaddr}),
    .awlen(s_axi_awlen), .wvalid(s_axi_wvalid), .wready(s_axi_wready), .w({s_axi_wstrb, s_axi_wdata}),
    .wlast(s_axi_wlast), .bvalid(s_axi_bvalid), .bready(s_axi_bready), .b(s_axi_bresp));
bind nic_core axi_write_monitor #(.W_WAIT(0)) u_monitor_dma_writes (
    .clk, .rst, .awvalid(m_axi_awvalid), .awready(m_axi_awready), .aw(m_axi_awaddr), .awlen(m_axi_awlen),
    .wvalid(m_axi_wvalid), .wready(m_axi_wready), .w({m_axi_wstrb, m_axi_wdata}), .wlast(m_axi_wlast),
    .bvalid(m_axi_bvalid), .bready(m_axi_bready), .b(m_axi_bresp));
bind nic_core axi_read_monitor u_monitor_dma_reads (
    .clk, .rst, .arvalid(m_axi_arvalid), .arready(m_axi_arready), .ar(m_axi_araddr), .arlen(m_axi_arlen), .arid(1'b0),
    .rvalid(m_axi_rvalid), .rready(m_axi_rready), .r({m_axi_rresp, m_axi_rdata}), .rlast(m_axi_rlast), .rid(1'b0));
