// sim_node: one NIC with its host, the top of every simulation.
//
// Job: joins nic_core, its host (host_bus, which speaks AXI; with BUS 1 pcie_host, which speaks
//   PCIe; with BUS 2 axi_host, which speaks AXI in a clock of its own) and the faults of the wires
//   that leave here. A mesh is as many instances of the one model as it has nodes; the program that
//   owns them (cosim/dpi/src/mesh.h) carries words from tx_* of one to rx_* of another once per
//   cycle. Settings that do not change the circuit (shape, latencies) are inputs, so that one model
//   serves every mesh with the same number of ports, kind and depth.
// Handshake: reg_pending/pio_pending say whether commands wait; the engines fetch them through DPI.
//   tx_*, wire_down and irq come from registers: no path leads to them from rx_*, carrier or the
//   host in the same cycle. idle: nothing is buffered and no AXI transaction is open. active:
//   something moved in this cycle or will move by itself. While idle is high, active low, nothing
//   pends, no word comes and carrier stays, a clock edge changes nothing but CYCLES, so the clock
//   may stop; slept says for how many cycles it stood in all. RMA and links have gated clocks,
//   which may stop before: see nic_core. expect_credits is raised between two edges while the whole
//   mesh is empty: an assertion then checks that no credit was lost or invented.
// Backpressure: that of nic_core; a word takes no time on the wire.
module sim_node #(
    parameter int PORTS           = 3,
    parameter int VC_DEPTH        = 16,
    parameter int TORUS           = 0,
    parameter int BUS             = 0,
    parameter int PHY             = 0,  // see pcie_host
    localparam int VCS            = TORUS != 0 ? nicloop_pkg::TORUS_VCS : nicloop_pkg::VCS,
    localparam int LINKS          = PORTS - 1,
    localparam int VC_W           = $clog2(VCS),
    // tuser as in link
    localparam int WORD_W         =
        64 + 32 + (8 + VC_W + 2 * $clog2(VCS * VC_DEPTH + 1) + VCS * $clog2(VC_DEPTH + 1) + 31) / 32 * 32
) (
    input  logic                  clk,
    input  logic                  clk_local,       // see nic_core
    input  logic                  clk_rma,
    input  logic                  clk_link0,       // of as many links as there are
    input  logic                  clk_link1,
    input  logic                  clk_link2,
    input  logic                  clk_link3,
    input  logic                  clk_link4,
    input  logic                  clk_link5,
    output logic                  local_rests,
    output logic                  rma_rests,
    output logic [LINKS-1:0]      link_rests,
    input  logic                  aclk,            // the host's, with BUS 2
    input  logic                  rst,
    input  logic                  link_rst,        // see nic_core
    input  logic [11:0]           node_id,
    input  logic [59:0]           shape,           // see nic_core
    input  logic [63:0]           slept,
    input  logic [15:0]           host_wr_latency, // see host_bus
    input  logic [15:0]           host_rd_latency,
    input  logic                  trace_on,
    input  logic                  reg_pending,
    input  logic                  pio_pending,
    input  logic [LINKS-1:0]      link_up,
    input  logic [LINKS-1:0]      carrier,
    output logic [LINKS-1:0]      wire_down,   // this end takes the carrier away
    output logic [LINKS-1:0]      tx_valid,
    output logic [LINKS*WORD_W-1:0] tx_word,     // tuser, tdata
    input  logic [LINKS-1:0]      rx_valid,
    input  logic [LINKS*WORD_W-1:0] rx_word,
    input  logic                  expect_credits,  // see below: no flit is in any node or on any wire
    output logic                  irq,
    output logic                  idle,
    output logic                  active
);
  logic        axil_awvalid, axil_awready, axil_wvalid, axil_wready, axil_bvalid, axil_arvalid, axil_arready,
      axil_rvalid;
  logic [31:0] axil_awaddr, axil_araddr;
  logic [63:0] axil_wdata, axil_rdata;
  logic [7:0]  axil_wstrb, pio_wstrb;
  logic        axil_bready, axil_rready, pio_bready;
  logic [1:0]  axil_bresp, axil_rresp;
  logic        pio_awvalid, pio_awready, pio_wvalid, pio_wready, pio_wlast, pio_bvalid;
  logic [28:0] pio_awaddr;
  logic [7:0]  pio_awlen;
  logic [63:0] pio_wdata;
  logic [1:0]  pio_bresp;
  logic        dma_awvalid, dma_awready, dma_wvalid, dma_wready, dma_wlast, dma_bvalid, dma_bready;
  logic [63:0] dma_awaddr, dma_wdata;
  logic [7:0]  dma_awlen, dma_wstrb, dma_arlen;
  logic [1:0]  dma_bresp, dma_rresp;
  logic        dma_arvalid, dma_arready, dma_rvalid, dma_rready, dma_rlast;
  logic [63:0] dma_araddr, dma_rdata;
  // A clock in a bit of a vector is seen as one only where the vector is split.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [5:0]  clk_links  /* verilator split_var */;
  /* verilator lint_on UNUSEDSIGNAL */
  assign clk_links[0] = clk_link0;
  assign clk_links[1] = clk_link1;
  assign clk_links[2] = clk_link2;
  assign clk_links[3] = clk_link3;
  assign clk_links[4] = clk_link4;
  assign clk_links[5] = clk_link5;
  logic        host_idle, host_active, nic_idle, nic_active;
  /* verilator lint_off UNUSEDSIGNAL */  // one of the two, by bus
  logic        nic_irq;
  logic [nicloop_pkg::VPIDS:0] irq_lines;
  /* verilator lint_on UNUSEDSIGNAL */
  logic        resets, link_resets;  // the host resets the NIC, its links
  logic        nic_local_rests, nic_rma_rests;
  logic [LINKS-1:0] nic_link_rests;
  // A reset reaches what rests.
  assign local_rests = nic_local_rests && !resets;
  assign rma_rests  = nic_rma_rests && !resets;
  assign link_rests = nic_link_rests & {LINKS{!resets}};

  // What stands still while a node runs is taken at reset. Verilator evaluates whatever follows
  // from an input again whenever any input has changed, and half of that was the router's, which
  // follows from shape.
  logic [11:0]      my_id;
  logic [59:0]      my_shape;
  logic [LINKS-1:0] my_links;
  logic [15:0]      wr_latency, rd_latency;
  always_ff @(posedge clk) begin
    wr_latency <= host_wr_latency;
    rd_latency <= host_rd_latency;
    if (rst) begin
      my_id    <= node_id;
      my_shape <= shape;
      my_links <= link_up;
    end
  end

  logic                    ext_sel, ext_write, ext_known, ext_writable;
  logic [15:0]             ext_addr;
  logic [63:0]             ext_wdata, ext_rdata;
  logic [LINKS-1:0]        m_tvalid;
  logic [LINKS*64-1:0]     m_tdata, s_tdata;
  logic [LINKS*(WORD_W-64)-1:0] m_tuser, s_tuser;
  logic [LINKS*WORD_W-1:0] m_word;
  logic [LINKS*64-1:0]     credits, flits;
  generate
    for (genvar l = 0; l < LINKS; l++) begin : g_link
      assign m_word[l*WORD_W+:WORD_W] = {m_tuser[l*(WORD_W-64)+:WORD_W-64], m_tdata[l*64+:64]};
      assign {s_tuser[l*(WORD_W-64)+:WORD_W-64], s_tdata[l*64+:64]} = rx_word[l*WORD_W+:WORD_W];
      // What the router keeps for itself, by channel: a mesh where nothing moves has all credits,
      // or flits for them.
      for (genvar v = 0; v < 8; v++) begin : g_vc
        if (v < VCS) begin : g_is
          assign credits[l*64+v*8+:8] = 8'(u_nic.u_router.g_out[l+1].u_output.g_vc[v].u_vc.u_credit.count);
          assign flits[l*64+v*8+:8]   = 8'(u_nic.u_router.g_in[l+1].u_input.u_voq.g_check[v].held);
        end else begin : g_none
          assign credits[l*64+v*8+:8] = '0;
          assign flits[l*64+v*8+:8]   = '0;
        end
      end
    end
  endgenerate
  wire_faults #(.LINKS(LINKS), .WORD_W(WORD_W)) u_wires (
      .clk, .rst, .node_id(my_id), .sel(ext_sel), .write(ext_write), .addr(ext_addr), .wdata(ext_wdata),
      .rdata(ext_rdata), .credits, .flits, .known(ext_known), .writable(ext_writable), .in_valid(m_tvalid),
      .in_word(m_word), .out_valid(tx_valid), .out_word(tx_word), .down(wire_down)
  );

  generate
    if (BUS == 0) begin : g_axi
      assign axil_wstrb  = '1;
      assign axil_bready = 1'b1;
      assign axil_rready = 1'b1;
      assign pio_wstrb   = '1;
      assign pio_bready  = 1'b1;
      assign irq         = nic_irq;
      assign resets      = 1'b0;
      assign link_resets = 1'b0;
      host_bus u_host (.node_id(my_id), .wr_latency, .rd_latency, .idle(host_idle), .active(host_active), .*);
    end else if (BUS == 1) begin : g_pcie
      assign link_resets = resets;
      pcie_host #(.PHY(PHY)) u_host (.node_id(my_id), .rd_latency, .lines_up(irq_lines), .idle(host_idle),
          .active(host_active), .*);
    end else begin : g_axi_clock
      axi_host u_host (.node_id(my_id), .wr_latency, .rd_latency, .lines_up(irq_lines), .nic_rst(resets),
          .link_rst(link_resets), .idle(host_idle), .active(host_active), .*);
    end
  endgenerate

  /* verilator lint_off PINCONNECTEMPTY */
  nic_core #(.PORTS(PORTS), .VC_DEPTH(VC_DEPTH), .TORUS(TORUS), .SHAPE_INPUT(1)) u_nic (
      .clk, .clk_local, .clk_rma, .clk_link(clk_links[LINKS-1:0]), .local_rests(nic_local_rests),
      .rma_rests(nic_rma_rests), .link_rests(nic_link_rests),
      .rst(rst || resets), .link_rst(link_rst || link_resets), .node_id(my_id), .shape(my_shape), .slept,
      .s_axil_awvalid(axil_awvalid), .s_axil_awready(axil_awready), .s_axil_awaddr(axil_awaddr),
      .s_axil_wvalid(axil_wvalid), .s_axil_wready(axil_wready), .s_axil_wdata(axil_wdata), .s_axil_wstrb(axil_wstrb),
      .s_axil_bvalid(axil_bvalid), .s_axil_bready(axil_bready), .s_axil_bresp(axil_bresp),
      .s_axil_arvalid(axil_arvalid), .s_axil_arready(axil_arready), .s_axil_araddr(axil_araddr),
      .s_axil_rvalid(axil_rvalid), .s_axil_rready(axil_rready), .s_axil_rdata(axil_rdata), .s_axil_rresp(axil_rresp),
      .s_axi_awvalid(pio_awvalid), .s_axi_awready(pio_awready), .s_axi_awaddr(pio_awaddr), .s_axi_awlen(pio_awlen),
      .s_axi_awsize(3'd3), .s_axi_awburst(2'b01), .s_axi_wvalid(pio_wvalid), .s_axi_wready(pio_wready),
      .s_axi_wdata(pio_wdata), .s_axi_wstrb(pio_wstrb), .s_axi_wlast(pio_wlast), .s_axi_bvalid(pio_bvalid),
      .s_axi_bready(pio_bready), .s_axi_bresp(pio_bresp), .m_axi_awvalid(dma_awvalid), .m_axi_awready(dma_awready),
      .m_axi_awaddr(dma_awaddr), .m_axi_awlen(dma_awlen), .m_axi_awsize(), .m_axi_awburst(), .m_axi_wvalid(dma_wvalid),
      .m_axi_wready(dma_wready), .m_axi_wdata(dma_wdata), .m_axi_wstrb(dma_wstrb), .m_axi_wlast(dma_wlast),
      .m_axi_bvalid(dma_bvalid), .m_axi_bready(dma_bready), .m_axi_bresp(dma_bresp), .m_axi_arvalid(dma_arvalid),
      .m_axi_arready(dma_arready), .m_axi_araddr(dma_araddr), .m_axi_arlen(dma_arlen), .m_axi_arsize(),
      .m_axi_arburst(), .m_axi_rvalid(dma_rvalid), .m_axi_rready(dma_rready), .m_axi_rdata(dma_rdata),
      .m_axi_rresp(dma_rresp), .m_axi_rlast(dma_rlast), .link_up(my_links), .carrier, .m_axis_tvalid(m_tvalid),
      .m_axis_tready({LINKS{1'b1}}), .m_axis_tdata(m_tdata), .m_axis_tuser(m_tuser), .s_axis_tvalid(rx_valid),
      .s_axis_tready(), .s_axis_tdata(s_tdata), .s_axis_tuser(s_tuser), .irq(nic_irq), .irq_lines, .idle(nic_idle),
      .active(nic_active)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign idle   = host_idle && nic_idle;
  assign active = host_active || nic_active;

`ifndef SYNTHESIS
  // Credit conservation. The mesh raises expect_credits between two edges while all nodes are idle
  // and none is active: every sender must then hold one credit per entry of the buffer that it
  // fills. Nothing else shows a lost credit: traffic still arrives, only slower. A link without
  // session, or without carrier, has none to hold.
  generate
    for (genvar p = 0; p < PORTS; p++) begin : g_conserved
      logic applies;
      if (p == 0) assign applies = expect_credits;
      else assign applies = expect_credits && my_links[p-1] && carrier[p-1] && u_nic.link_agreed[p-1];
      for (genvar v = 0; v < (p == 0 ? nicloop_pkg::VCS : VCS); v++) begin : g_vc
        always_comb
          if (applies)
            assert (32'(u_nic.u_router.g_out[p].u_output.g_vc[v].u_vc.u_credit.count) == VC_DEPTH)
              else $error("sim_node %m: output %0d, VC %0d: %0d of %0d credits", p, v,
                  u_nic.u_router.g_out[p].u_output.g_vc[v].u_vc.u_credit.count, VC_DEPTH);
        if (p == 0) begin : g_inject
          always_comb
            if (applies)
              assert (32'(u_nic.u_inject.g_vc[v].u_credit.count) == VC_DEPTH)
                else $error("sim_node %m: injection, VC %0d: %0d of %0d credits", v,
                    u_nic.u_inject.g_vc[v].u_credit.count, VC_DEPTH);
        end
      end
    end
  endgenerate
`endif
endmodule
