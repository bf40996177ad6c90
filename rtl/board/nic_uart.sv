// nic_uart: a NIC behind a serial line, with memory of its own: what a board needs that has no host
// bus, or a dead one.
//
// Job: joins uart_bridge to nic_core, or with VELO_ONLY to the small nic_velo: to its registers, to
//   its send windows, and to block RAM (board_memory) that is all of the memory that the NIC's DMA
//   knows, from address 0. Of the bridge's address the upper two bits choose:
//     0  registers, below 4 GB         1  send windows, below 512 MB; written only         2  memory, MEMORY_BYTES
//   All else is answered here with DECERR, and never shown to the core.
// Handshake: the line as uart_bridge has it, links as nic_core. nic_clk is clk. While resting is
//   high and no word comes over a link, an edge of it changes nothing but the core's count of
//   cycles, so a simulation, or a gate, may keep it high; slept tells for how many cycles it did
//   (with SHAPE_INPUT).
// Backpressure: one access at a time. Every access is answered in bounded time, whatever links,
//   rings and messages do: a register in 45 cycles (and the 17 in which tables clear after reset),
//   a piece of a line in 6, memory in 3, nonsense in 1, each with 3 more for the way: no access
//   waits so long that the bridge would give it up.
module nic_uart #(
    parameter int DIM_X        = 2,
    parameter int DIM_Y        = 1,
    parameter int DIM_Z        = 1,
    parameter int PORTS        = DIM_Z > 1 ? 7 : DIM_Y > 1 ? 5 : 3,
    parameter int VC_DEPTH     = 16,
    parameter int SHAPE_INPUT  = 0,  // as in nic_core
    parameter int MEMORY_BYTES = 65536,
    // 1: nic_velo of VPIDS processes; PORTS is 2, and clk, which never stands, is nic_clk
    parameter int VELO_ONLY    = 0,
    parameter int VPIDS        = nicloop_pkg::VPIDS,
    parameter int LINK         = 1,  // as in nic_velo
    localparam int VCS         = VELO_ONLY != 0 ? 1 : nicloop_pkg::VCS,
    localparam int LINKS       = PORTS - 1,
    localparam int USER_W      = hw_pkg::link_user_w(VCS, VC_DEPTH)
) (
    input  logic                    clk,
    input  logic                    nic_clk,
    input  logic                    rst,
    input  logic                    link_rst,  // see nic_core
    input  logic [11:0]             node_id,
    input  logic [59:0]             shape,     // see nic_core
    input  logic [63:0]             slept,
    input  logic [15:0]             divisor,   // cycles per bit, 8 or more
    input  logic                    rx,
    output logic                    tx,
    input  logic [LINKS-1:0]        link_up,
    input  logic [LINKS-1:0]        carrier,
    output logic [LINKS-1:0]        m_axis_tvalid,
    input  logic [LINKS-1:0]        m_axis_tready,
    output logic [LINKS*64-1:0]     m_axis_tdata,
    output logic [LINKS*USER_W-1:0] m_axis_tuser,
    input  logic [LINKS-1:0]        s_axis_tvalid,
    output logic [LINKS-1:0]        s_axis_tready,
    input  logic [LINKS*64-1:0]     s_axis_tdata,
    input  logic [LINKS*USER_W-1:0] s_axis_tuser,
    output logic                    irq,
    output logic                    resting
);
  localparam logic [1:0] DECERR = hw_pkg::RESP_DECERR;
  localparam logic [1:0] REGISTERS = 2'd0, WINDOWS = 2'd1, MEMORY = 2'd2;

  // ---- the bridge ----
  logic        awvalid, wvalid, bvalid, bready, arvalid, rvalid, rready;
  logic        take_write, take_read;
  logic [41:0] awaddr, araddr;
  logic [63:0] value;
  logic [1:0]  resp;
  logic [63:0] rdata;
  uart_bridge u_bridge (
      .clk, .rst, .divisor, .rx, .tx, .m_awvalid(awvalid), .m_awready(take_write), .m_awaddr(awaddr), .m_wvalid(wvalid),
      .m_wready(take_write), .m_wdata(value), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(resp), .m_arvalid(arvalid),
      .m_arready(take_read), .m_araddr(araddr), .m_rvalid(rvalid), .m_rready(rready), .m_rdata(rdata), .m_rresp(resp)
  );

  // ---- an access: taken, decoded, awaited, answered ----
  typedef enum logic [1:0] {FREE, DECODE, AWAIT, ANSWER} step_t;
  step_t       step;
  logic        is_write, known;
  logic [1:0]  space;
  logic [39:0] addr;
  // of the bridge, which holds them, and the value, until this is answered
  assign {space, addr} = is_write ? awaddr : araddr;
  assign take_write = step == FREE && awvalid && wvalid;
  assign take_read  = step == FREE && arvalid && !take_write;
  always_comb begin
    case (space)
      REGISTERS: known = addr[39:32] == '0;
      WINDOWS:   known = is_write && addr[39:29] == '0;
      MEMORY:    known = 1'b1;  // it knows where it ends
      default:   known = 1'b0;
    endcase
  end

  // What of it the core has not taken yet.
  logic        reg_aw, reg_w, reg_ar, pio_aw, pio_w, begins;
  logic        reg_awready, reg_wready, reg_arready, reg_bvalid, reg_rvalid, pio_awready, pio_wready, pio_bvalid, told,
      told_known;
  logic [1:0]  reg_bresp, reg_rresp, pio_bresp;
  logic [63:0] reg_rdata, told_value;
  assign begins = step == DECODE && known;
  always_ff @(posedge nic_clk) begin
    if (rst) begin
      {reg_aw, reg_w, reg_ar, pio_aw, pio_w} <= '0;
    end else begin
      reg_aw <= reg_aw ? !reg_awready : begins && space == REGISTERS && is_write;
      reg_w  <= reg_w ? !reg_wready : begins && space == REGISTERS && is_write;
      reg_ar <= reg_ar ? !reg_arready : begins && space == REGISTERS && !is_write;
      pio_aw <= pio_aw ? !pio_awready : begins && space == WINDOWS;
      pio_w  <= pio_w ? !pio_wready : begins && space == WINDOWS;
    end
  end

  assign bvalid = step == ANSWER && is_write;
  assign rvalid = step == ANSWER && !is_write;
  always_ff @(posedge nic_clk) begin
    if (rst) begin
      step <= FREE;
    end else begin
      case (step)
        FREE: if (take_write || take_read) step <= DECODE;
        DECODE: step <= known ? AWAIT : ANSWER;
        AWAIT: if (reg_bvalid || reg_rvalid || pio_bvalid || told) step <= ANSWER;
        default: if (is_write ? bready : rready) step <= FREE;
      endcase
    end
    if (step == FREE) is_write <= take_write;
    if (step != ANSWER) begin
      rdata <= reg_rvalid ? reg_rdata : told ? told_value : 64'h0;
      resp  <= reg_bvalid ? reg_bresp : reg_rvalid ? reg_rresp : pio_bvalid ? pio_bresp : told && told_known ? 2'b00 :
          DECERR;
    end
  end

  // ---- memory ----
  logic        dma_awvalid, dma_awready, dma_wvalid, dma_wready, dma_wlast, dma_bvalid, dma_bready, memory_idle;
  logic        dma_arvalid, dma_arready, dma_rvalid, dma_rready, dma_rlast;
  logic [63:0] dma_awaddr, dma_wdata, dma_araddr, dma_rdata;
  logic [7:0]  dma_wstrb, dma_arlen;
  logic [1:0]  dma_bresp, dma_rresp;
  board_memory #(.BYTES(MEMORY_BYTES)) u_memory (
      .clk(nic_clk), .rst, .s_awvalid(dma_awvalid), .s_awready(dma_awready), .s_awaddr(dma_awaddr),
      .s_wvalid(dma_wvalid), .s_wready(dma_wready), .s_wdata(dma_wdata), .s_wstrb(dma_wstrb), .s_wlast(dma_wlast),
      .s_bvalid(dma_bvalid), .s_bready(dma_bready), .s_bresp(dma_bresp), .s_arvalid(dma_arvalid),
      .s_arready(dma_arready), .s_araddr(dma_araddr), .s_arlen(dma_arlen), .s_rvalid(dma_rvalid), .s_rready(dma_rready),
      .s_rdata(dma_rdata), .s_rresp(dma_rresp), .s_rlast(dma_rlast), .look(begins && space == MEMORY),
      .look_write(is_write), .look_addr(addr), .look_value(value), .told, .told_known, .told_value, .idle(memory_idle)
  );

  // ---- the NIC ----
  logic nic_idle, nic_active;
  generate
    if (VELO_ONLY != 0) begin : g_velo
      nic_velo #(.VPIDS(VPIDS), .LINK(LINK), .VC_DEPTH(VC_DEPTH), .ADDR_W($clog2(MEMORY_BYTES))) u_nic (
          .clk, .rst, .link_rst, .node_id, .nodes(SHAPE_INPUT != 0 ? shape[59:48] : 12'(DIM_X)),
          .s_axil_awvalid(reg_aw), .s_axil_awready(reg_awready), .s_axil_awaddr(addr[31:0]), .s_axil_wvalid(reg_w),
          .s_axil_wready(reg_wready), .s_axil_wdata(value), .s_axil_wstrb(8'hff), .s_axil_bvalid(reg_bvalid),
          .s_axil_bready(1'b1), .s_axil_bresp(reg_bresp), .s_axil_arvalid(reg_ar), .s_axil_arready(reg_arready),
          .s_axil_araddr(addr[31:0]), .s_axil_rvalid(reg_rvalid), .s_axil_rready(1'b1), .s_axil_rdata(reg_rdata),
          .s_axil_rresp(reg_rresp), .s_axi_awvalid(pio_aw), .s_axi_awready(pio_awready), .s_axi_awaddr(addr[28:0]),
          .s_axi_awlen(8'd0), .s_axi_awsize(3'd3), .s_axi_awburst(2'b01), .s_axi_wvalid(pio_w),
          .s_axi_wready(pio_wready), .s_axi_wdata(value), .s_axi_wstrb(8'hff), .s_axi_wlast(1'b1),
          .s_axi_bvalid(pio_bvalid), .s_axi_bready(1'b1), .s_axi_bresp(pio_bresp), .m_axi_awvalid(dma_awvalid),
          .m_axi_awready(dma_awready), .m_axi_awaddr(dma_awaddr), .m_axi_wvalid(dma_wvalid), .m_axi_wready(dma_wready),
          .m_axi_wdata(dma_wdata), .m_axi_wlast(dma_wlast), .m_axi_bvalid(dma_bvalid), .m_axi_bready(dma_bready),
          .m_axi_bresp(dma_bresp), .carrier(carrier[0] && link_up[0]), .m_axis_tvalid, .m_axis_tready, .m_axis_tdata,
          .m_axis_tuser, .s_axis_tvalid, .s_axis_tready, .s_axis_tdata, .s_axis_tuser, .irq, .idle(nic_idle),
          .active(nic_active)
      );
      assign dma_wstrb   = 8'hff;
      assign {dma_arvalid, dma_araddr, dma_arlen, dma_rready} = '0;
      /* verilator lint_off UNUSEDSIGNAL */
      logic unused;
      assign unused = &{dma_arready, dma_rvalid, dma_rdata, dma_rresp, dma_rlast, slept, shape};
      /* verilator lint_on UNUSEDSIGNAL */
    end else begin : g_core
      /* verilator lint_off PINCONNECTEMPTY */
      nic_core #(.DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .PORTS(PORTS), .VC_DEPTH(VC_DEPTH),
      .SHAPE_INPUT(SHAPE_INPUT)) u_nic (
          .clk(nic_clk), .clk_local(nic_clk), .clk_rma(nic_clk), .clk_link({LINKS{nic_clk}}), .local_rests(),
          .rma_rests(), .link_rests(), .rst, .link_rst,
          .node_id, .shape, .slept, .s_axil_awvalid(reg_aw), .s_axil_awready(reg_awready), .s_axil_awaddr(addr[31:0]),
          .s_axil_wvalid(reg_w), .s_axil_wready(reg_wready), .s_axil_wdata(value), .s_axil_wstrb(8'hff),
          .s_axil_bvalid(reg_bvalid), .s_axil_bready(1'b1), .s_axil_bresp(reg_bresp), .s_axil_arvalid(reg_ar),
          .s_axil_arready(reg_arready), .s_axil_araddr(addr[31:0]), .s_axil_rvalid(reg_rvalid), .s_axil_rready(1'b1),
          .s_axil_rdata(reg_rdata), .s_axil_rresp(reg_rresp), .s_axi_awvalid(pio_aw), .s_axi_awready(pio_awready),
          .s_axi_awaddr(addr[28:0]), .s_axi_awlen(8'd0), .s_axi_awsize(3'd3), .s_axi_awburst(2'b01),
          .s_axi_wvalid(pio_w), .s_axi_wready(pio_wready), .s_axi_wdata(value), .s_axi_wstrb(8'hff), .s_axi_wlast(1'b1),
          .s_axi_bvalid(pio_bvalid), .s_axi_bready(1'b1), .s_axi_bresp(pio_bresp), .m_axi_awvalid(dma_awvalid),
          .m_axi_awready(dma_awready), .m_axi_awaddr(dma_awaddr), .m_axi_awlen(), .m_axi_awsize(), .m_axi_awburst(),
          .m_axi_wvalid(dma_wvalid), .m_axi_wready(dma_wready), .m_axi_wdata(dma_wdata), .m_axi_wstrb(dma_wstrb),
          .m_axi_wlast(dma_wlast), .m_axi_bvalid(dma_bvalid), .m_axi_bready(dma_bready), .m_axi_bresp(dma_bresp),
          .m_axi_arvalid(dma_arvalid), .m_axi_arready(dma_arready), .m_axi_araddr(dma_araddr), .m_axi_arlen(dma_arlen),
          .m_axi_arsize(), .m_axi_arburst(), .m_axi_rvalid(dma_rvalid), .m_axi_rready(dma_rready),
          .m_axi_rdata(dma_rdata), .m_axi_rresp(dma_rresp), .m_axi_rlast(dma_rlast), .link_up, .carrier, .m_axis_tvalid,
          .m_axis_tready, .m_axis_tdata, .m_axis_tuser, .s_axis_tvalid, .s_axis_tready, .s_axis_tdata, .s_axis_tuser,
          .irq, .irq_lines(), .idle(nic_idle), .active(nic_active)
      );
      /* verilator lint_on PINCONNECTEMPTY */
    end
  endgenerate

  assign resting = nic_idle && !nic_active && memory_idle && step == FREE && !awvalid && !wvalid && !arvalid;
endmodule
