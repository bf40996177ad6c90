// nic_pair: two NICs whose links are joined, behind the ports of one.
//
// Job: lets a board without a cable send over links: +X of NIC 0 is joined to -X of NIC 1, a mesh
//   of two nodes. Registers, send windows, DMA and interrupts of both pass through one set of
//   ports:
//     registers     address bit REG_W - 1 selects the NIC
//     send windows  address bit WIN_W - 1 selects the NIC
//     DMA           axi_read_mux, axi_write_mux: fair, answers in order
//     irq_lines     those of NIC 0 in the lower half, those of NIC 1 above (regfile)
// Handshake: that of nic_core. Registers and send windows take one access at a time, as mmio_write
//   and mmio_read make them; a read and a write may overlap.
// Backpressure: that of nic_core; a NIC whose DMA is answered late delays the answers of the other
// behind it.
module nic_pair #(
    parameter int REG_W    = 21,
    parameter int WIN_W    = 28,
    parameter int VC_DEPTH = 16
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        link_rst,
    // registers
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [31:0] s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [63:0] s_axil_wdata,
    input  logic [7:0]  s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [1:0]  s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [31:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [63:0] s_axil_rdata,
    output logic [1:0]  s_axil_rresp,
    // send windows
    input  logic        s_axi_awvalid,
    output logic        s_axi_awready,
    input  logic [28:0] s_axi_awaddr,
    input  logic [7:0]  s_axi_awlen,
    input  logic        s_axi_wvalid,
    output logic        s_axi_wready,
    input  logic [63:0] s_axi_wdata,
    input  logic [7:0]  s_axi_wstrb,
    input  logic        s_axi_wlast,
    output logic        s_axi_bvalid,
    input  logic        s_axi_bready,
    output logic [1:0]  s_axi_bresp,
    // DMA
    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0]  m_axi_awlen,
    output logic        m_axi_wvalid,
    input  logic        m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic [7:0]  m_axi_wstrb,
    output logic        m_axi_wlast,
    input  logic        m_axi_bvalid,
    output logic        m_axi_bready,
    input  logic [1:0]  m_axi_bresp,
    output logic        m_axi_arvalid,
    input  logic        m_axi_arready,
    output logic [63:0] m_axi_araddr,
    output logic [7:0]  m_axi_arlen,
    input  logic        m_axi_rvalid,
    output logic        m_axi_rready,
    input  logic [63:0] m_axi_rdata,
    input  logic [1:0]  m_axi_rresp,
    input  logic        m_axi_rlast,
    output logic [2*(nicloop_pkg::VPIDS+1)-1:0] irq_lines
);
  localparam int NICS   = 2;
  localparam int LINES  = nicloop_pkg::VPIDS + 1;  // of interrupts
  localparam int USER_W = hw_pkg::link_user_w(nicloop_pkg::VCS, VC_DEPTH);

  // ---- which NIC an access belongs to: chosen with its address, kept until its answer ----
  logic       wr_open_q, wr_nic_q, wr_nic, rd_open_q, rd_nic_q, rd_nic, win_open_q, win_nic_q, win_nic;
  logic [1:0] axil_awready, axil_wready, axil_bvalid, axil_arready, axil_rvalid, axi_awready, axi_wready, axi_bvalid;
  logic [3:0] axil_bresp, axil_rresp, axi_bresp;
  logic [127:0] axil_rdata;
  assign wr_nic  = wr_open_q ? wr_nic_q : s_axil_awaddr[REG_W-1];
  assign rd_nic  = rd_open_q ? rd_nic_q : s_axil_araddr[REG_W-1];
  assign win_nic = win_open_q ? win_nic_q : s_axi_awaddr[WIN_W-1];
  always_ff @(posedge clk) begin
    if (rst) begin
      wr_open_q  <= 1'b0;
      rd_open_q  <= 1'b0;
      win_open_q <= 1'b0;
    end else begin
      wr_open_q  <= s_axil_bvalid && s_axil_bready ? 1'b0 : wr_open_q || s_axil_awvalid;
      rd_open_q  <= s_axil_rvalid && s_axil_rready ? 1'b0 : rd_open_q || s_axil_arvalid;
      win_open_q <= s_axi_bvalid && s_axi_bready ? 1'b0 : win_open_q || s_axi_awvalid;
    end
    wr_nic_q  <= wr_nic;
    rd_nic_q  <= rd_nic;
    win_nic_q <= win_nic;
  end
  assign s_axil_awready = axil_awready[wr_nic];
  // Data is held until the address has shown which NIC it is for.
  assign s_axil_wready  = axil_wready[wr_nic] && (wr_open_q || s_axil_awvalid);
  assign s_axil_bvalid  = axil_bvalid[wr_nic] && wr_open_q;
  assign s_axil_bresp   = axil_bresp[wr_nic*2+:2];
  assign s_axil_arready = axil_arready[rd_nic];
  assign s_axil_rvalid  = axil_rvalid[rd_nic] && rd_open_q;
  assign s_axil_rdata   = axil_rdata[rd_nic*64+:64];
  assign s_axil_rresp   = axil_rresp[rd_nic*2+:2];
  assign s_axi_awready  = axi_awready[win_nic];
  assign s_axi_wready   = axi_wready[win_nic] && (win_open_q || s_axi_awvalid);
  assign s_axi_bvalid   = axi_bvalid[win_nic] && win_open_q;
  assign s_axi_bresp    = axi_bresp[win_nic*2+:2];

  // ---- DMA ----
  logic [1:0]   dma_awvalid, dma_awready, dma_wvalid, dma_wready, dma_wlast, dma_bvalid, dma_bready, dma_arvalid,
      dma_arready, dma_rvalid, dma_rready;
  logic [127:0] dma_awaddr, dma_wdata, dma_araddr;
  logic [15:0]  dma_awlen, dma_wstrb, dma_arlen;
  axi_write_mux #(.N(NICS), .DEPTH(32)) u_write_mux (
      .clk, .rst, .s_awvalid(dma_awvalid), .s_awready(dma_awready), .s_awaddr(dma_awaddr), .s_awlen(dma_awlen),
      .s_wvalid(dma_wvalid), .s_wready(dma_wready), .s_wdata(dma_wdata), .s_wstrb(dma_wstrb), .s_wlast(dma_wlast),
      .s_bvalid(dma_bvalid), .s_bready(dma_bready), .m_awvalid(m_axi_awvalid), .m_awready(m_axi_awready),
      .m_awaddr(m_axi_awaddr), .m_awlen(m_axi_awlen), .m_wvalid(m_axi_wvalid), .m_wready(m_axi_wready),
      .m_wdata(m_axi_wdata), .m_wstrb(m_axi_wstrb), .m_wlast(m_axi_wlast), .m_bvalid(m_axi_bvalid),
      .m_bready(m_axi_bready)
  );
  axi_read_mux #(.N(NICS), .DEPTH(32)) u_read_mux (
      .clk, .rst, .s_arvalid(dma_arvalid), .s_arready(dma_arready), .s_araddr(dma_araddr), .s_arlen(dma_arlen),
      .s_rvalid(dma_rvalid), .s_rready(dma_rready), .m_arvalid(m_axi_arvalid), .m_arready(m_axi_arready),
      .m_araddr(m_axi_araddr), .m_arlen(m_axi_arlen), .m_rvalid(m_axi_rvalid), .m_rready(m_axi_rready),
      .m_rlast(m_axi_rlast)
  );

  // ---- the NICs and their links: index 0 is +X, 1 is -X ----
  // Packed, by NIC and link: yosys 0.23 makes a memory of an array.
  logic [2*NICS-1:0]        link_valid, link_ready;
  logic [2*NICS*64-1:0]     link_data;
  logic [2*NICS*USER_W-1:0] link_user;
  generate
    for (genvar n = 0; n < NICS; n++) begin : g_nic
      localparam int PEER = 1 - n;
      // Node 0 has a neighbour in +X, node 1 one in -X.
      localparam logic [1:0] UP = n == 0 ? 2'b01 : 2'b10;
      /* verilator lint_off PINCONNECTEMPTY */
      nic_core #(.DIM_X(2), .PORTS(3), .VC_DEPTH(VC_DEPTH)) u_nic (
          .clk, .clk_local(clk), .clk_rma(clk), .clk_link({2{clk}}), .local_rests(), .rma_rests(), .link_rests(), .rst,
          .link_rst, .node_id(12'(n)), .shape('0), .slept(64'h0),
          .s_axil_awvalid(s_axil_awvalid && wr_nic == 1'(n)), .s_axil_awready(axil_awready[n]),
          .s_axil_awaddr(32'(s_axil_awaddr[REG_W-2:0])),
          .s_axil_wvalid(s_axil_wvalid && wr_nic == 1'(n) && (wr_open_q || s_axil_awvalid)),
          .s_axil_wready(axil_wready[n]), .s_axil_wdata, .s_axil_wstrb, .s_axil_bvalid(axil_bvalid[n]),
          .s_axil_bready(s_axil_bready && wr_nic == 1'(n) && wr_open_q), .s_axil_bresp(axil_bresp[n*2+:2]),
          .s_axil_arvalid(s_axil_arvalid && rd_nic == 1'(n)), .s_axil_arready(axil_arready[n]),
          .s_axil_araddr(32'(s_axil_araddr[REG_W-2:0])), .s_axil_rvalid(axil_rvalid[n]),
          .s_axil_rready(s_axil_rready && rd_nic == 1'(n) && rd_open_q), .s_axil_rdata(axil_rdata[n*64+:64]),
          .s_axil_rresp(axil_rresp[n*2+:2]), .s_axi_awvalid(s_axi_awvalid && win_nic == 1'(n)),
          .s_axi_awready(axi_awready[n]), .s_axi_awaddr(29'(s_axi_awaddr[WIN_W-2:0])), .s_axi_awlen,
          .s_axi_awsize(3'd3), .s_axi_awburst(2'b01),
          .s_axi_wvalid(s_axi_wvalid && win_nic == 1'(n) && (win_open_q || s_axi_awvalid)),
          .s_axi_wready(axi_wready[n]), .s_axi_wdata, .s_axi_wstrb, .s_axi_wlast, .s_axi_bvalid(axi_bvalid[n]),
          .s_axi_bready(s_axi_bready && win_nic == 1'(n) && win_open_q), .s_axi_bresp(axi_bresp[n*2+:2]),
          .m_axi_awvalid(dma_awvalid[n]), .m_axi_awready(dma_awready[n]), .m_axi_awaddr(dma_awaddr[n*64+:64]),
          .m_axi_awlen(dma_awlen[n*8+:8]), .m_axi_awsize(), .m_axi_awburst(), .m_axi_wvalid(dma_wvalid[n]),
          .m_axi_wready(dma_wready[n]), .m_axi_wdata(dma_wdata[n*64+:64]), .m_axi_wstrb(dma_wstrb[n*8+:8]),
          .m_axi_wlast(dma_wlast[n]), .m_axi_bvalid(dma_bvalid[n]), .m_axi_bready(dma_bready[n]), .m_axi_bresp,
          .m_axi_arvalid(dma_arvalid[n]), .m_axi_arready(dma_arready[n]), .m_axi_araddr(dma_araddr[n*64+:64]),
          .m_axi_arlen(dma_arlen[n*8+:8]), .m_axi_arsize(), .m_axi_arburst(), .m_axi_rvalid(dma_rvalid[n]),
          .m_axi_rready(dma_rready[n]), .m_axi_rdata, .m_axi_rresp, .m_axi_rlast, .link_up(UP), .carrier(UP),
          .m_axis_tvalid(link_valid[n*2+:2]), .m_axis_tready({link_ready[PEER*2], link_ready[PEER*2+1]}),
          .m_axis_tdata(link_data[n*128+:128]), .m_axis_tuser(link_user[n*2*USER_W+:2*USER_W]),
          .s_axis_tvalid({link_valid[PEER*2], link_valid[PEER*2+1]}), .s_axis_tready(link_ready[n*2+:2]),
          .s_axis_tdata({link_data[PEER*128+:64], link_data[PEER*128+64+:64]}),
          .s_axis_tuser({link_user[PEER*2*USER_W+:USER_W], link_user[(PEER*2+1)*USER_W+:USER_W]}),
          .irq(), .irq_lines(irq_lines[n*LINES+:LINES]), .idle(),
          .active()
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate
endmodule
