// axi_host: the host of one node, as the NIC sees it through AXI in a clock of its own. It stands
// where host_bus does, with BUS 2 of sim_node.
//
// Job: what a board has between AXI and the core (axi_front), and around it a host in aclk: a
//   processor whose register accesses are two of 32 bits each, of which it leaves out the second
//   when the first is refused, send windows by bursts with IDs, memory (axi_memory). At power-on,
//   and behind a function reset, it writes the MSI-X table and waits until accesses go to the core,
//   as firmware does; the program's commands come behind that. The AXI side is nic_core's.
// Handshake: DPI as host_bus, in aclk, but for a piece of a line, whose answer is told when the
//   core gives it (or when the core will not, when it is answered in its stead). What comes out at
//   the bus then must be that, or SLVERR around a reset. irq is up from an interrupt's message on
//   until the core's line has fallen. nic_rst and link_rst are the core's resets. A register access
//   goes when all pieces are answered, pieces go when no register access is under way: so the order
//   is that of a processor with one ID.
// Backpressure: answers are taken at once; with a seed (+nl_axi_seed) all that AXI leaves open is
// at random.
//
// Registers: below 1 MB the core's, at 1 MB the board's page (axi_page), and at SETTINGS 100: bit 0
//   resets the function, and reads 1 until it is over and the table is written; 108 counts pieces
//   that were answered in the core's stead.
`include "nicloop_dpi.svh"
module axi_host #(
    parameter int PATIENCE = 4096  // of axi_front
) (
    input  logic        clk,
    input  logic        aclk,
    input  logic        rst,
    input  logic [11:0] node_id,
    input  logic [15:0] wr_latency,   // cycles of aclk
    input  logic [15:0] rd_latency,
    input  logic        reg_pending,
    input  logic        pio_pending,
    // registers
    output logic        axil_awvalid,
    input  logic        axil_awready,
    output logic [31:0] axil_awaddr,
    output logic        axil_wvalid,
    input  logic        axil_wready,
    output logic [63:0] axil_wdata,
    output logic [7:0]  axil_wstrb,
    input  logic        axil_bvalid,
    output logic        axil_bready,
    input  logic [1:0]  axil_bresp,
    output logic        axil_arvalid,
    input  logic        axil_arready,
    output logic [31:0] axil_araddr,
    input  logic        axil_rvalid,
    output logic        axil_rready,
    input  logic [63:0] axil_rdata,
    input  logic [1:0]  axil_rresp,
    // registers of the simulation itself, beside the NIC: answered in the same cycle of clk
    output logic        ext_sel,
    output logic        ext_write,
    output logic [15:0] ext_addr,
    output logic [63:0] ext_wdata,
    input  logic        ext_known,
    input  logic        ext_writable,
    input  logic [63:0] ext_rdata,
    // PIO window
    output logic        pio_awvalid,
    input  logic        pio_awready,
    output logic [28:0] pio_awaddr,
    output logic [7:0]  pio_awlen,
    output logic        pio_wvalid,
    input  logic        pio_wready,
    output logic [63:0] pio_wdata,
    output logic [7:0]  pio_wstrb,
    output logic        pio_wlast,
    input  logic        pio_bvalid,
    output logic        pio_bready,
    input  logic [1:0]  pio_bresp,
    // DMA memory
    input  logic        dma_awvalid,
    output logic        dma_awready,
    input  logic [63:0] dma_awaddr,
    input  logic [7:0]  dma_awlen,
    input  logic        dma_wvalid,
    output logic        dma_wready,
    input  logic [63:0] dma_wdata,
    input  logic [7:0]  dma_wstrb,
    output logic        dma_bvalid,
    input  logic        dma_bready,
    output logic [1:0]  dma_bresp,
    input  logic        dma_arvalid,
    output logic        dma_arready,
    input  logic [63:0] dma_araddr,
    input  logic [7:0]  dma_arlen,
    output logic        dma_rvalid,
    input  logic        dma_rready,
    output logic [63:0] dma_rdata,
    output logic [1:0]  dma_rresp,
    output logic        dma_rlast,
    input  logic [nicloop_pkg::VPIDS:0] lines_up,  // the core's interrupt lines, a vector each
    output logic        irq,          // what the host knows of them
    output logic        nic_rst,
    output logic        link_rst,
    output logic        idle,
    output logic        active
);
  localparam int          ID_W = 4, PIECES = 16, GIVES_UP = 4 * PATIENCE;
  localparam logic [15:0] SETTINGS = 16'hffff, FUNCTION = 16'h100, ANSWERED = 16'h108;
  localparam logic [31:0] BAR_BYTES = 32'h20_0000, MSI_ADDR = 32'hfee0_0000;
  localparam logic [20:0] PAGE = 21'h10_0000, STATUS = 21'h10_1004;
  localparam logic [1:0] SLVERR = hw_pkg::RESP_SLVERR;
  int node;
  assign node = 32'(node_id);

  // ---- what is at random ----
  logic [63:0] random, seed, start;
  logic        wild;
  initial wild = $value$plusargs("nl_axi_seed=%d", seed) != 0;
  assign start = ((wild ? seed : 64'h1) + 64'(node) * 64'h9e3779b97f4a7c15) ^ 64'h2545f4914f6cdd1d | 64'h1;
  // Drawn only where offered, so that it does not matter for how long a node sleeps: Verilator
  // draws all that an expression names, whatever stands before it.
  function automatic logic goes(input logic offered);
    goes = 1'b1;
    if (wild && offered) begin
      random = random ^ (random << 13);
      random = random ^ (random >> 7);
      random = random ^ (random << 17);
      goes   = random[34:32] != 3'd0;
    end
  endfunction

  // ---- the NIC's side of AXI ----
  logic            flr, flr_done, cuts, rests;
  localparam int VECTORS = nicloop_pkg::VPIDS + 1;
  logic [VECTORS-1:0] message, line_seen, irqs;
  logic            awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  logic [20:0]     addr;
  logic [31:0]     wdata, rdata;
  logic [1:0]      bresp, rresp;
  logic            w_awvalid, w_awready, w_wvalid, w_wready, w_bvalid, w_bready;
  logic [ID_W-1:0] w_id, w_bid;
  logic [28:0]     w_addr;
  logic [7:0]      w_len;
  logic [1:0]      w_bresp;
  logic            m_awvalid, m_awready, m_wvalid, m_wready, m_wlast, m_bvalid, m_bready, m_arvalid, m_arready,
      m_rvalid, m_rready, m_rlast, memory_idle;
  logic [ID_W-1:0] m_awid, m_bid, m_arid, m_rid;
  logic [63:0]     m_awaddr, m_wdata, m_araddr, m_rdata;
  logic [7:0]      m_awlen, m_wstrb, m_arlen;
  logic [1:0]      m_bresp, m_rresp;
  logic [511:0]    line;
  logic [3:0]      line_left;
  logic [16:0]     axil_quad;
  assign axil_awaddr = {12'h0, axil_quad, 3'b000};
  assign axil_araddr = axil_awaddr;
  assign axil_wstrb  = '1;
  /* verilator lint_off PINCONNECTEMPTY */
  axi_front #(.ID_W(ID_W), .PATIENCE(PATIENCE)) u_front (
      .arst(rst), .aclk, .flr, .flr_done, .msix_enable(1'b1), .msix_mask(1'b0), .s_axil_awvalid(awvalid),
      .s_axil_awready(awready), .s_axil_awaddr(addr), .s_axil_wvalid(wvalid), .s_axil_wready(wready),
      .s_axil_wdata(wdata), .s_axil_wstrb(4'hf), .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_bresp(bresp),
      .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_araddr(addr), .s_axil_rvalid(rvalid),
      .s_axil_rready(rready), .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axi_awvalid(w_awvalid),
      .s_axi_awready(w_awready), .s_axi_awid(w_id), .s_axi_awaddr(w_addr), .s_axi_awlen(w_len), .s_axi_awsize(3'd3),
      .s_axi_awburst(2'b01), .s_axi_wvalid(w_wvalid), .s_axi_wready(w_wready), .s_axi_wdata(line[63:0]),
      .s_axi_wstrb(8'hff), .s_axi_wlast(line_left == 4'd1), .s_axi_bvalid(w_bvalid), .s_axi_bready(w_bready),
      .s_axi_bid(w_bid), .s_axi_bresp(w_bresp), .s_axi_arvalid(1'b0), .s_axi_arready(), .s_axi_arid('0),
      .s_axi_arlen(8'd0), .s_axi_rvalid(), .s_axi_rready(1'b1), .s_axi_rid(), .s_axi_rdata(), .s_axi_rresp(),
      .s_axi_rlast(), .m_axi_awvalid(m_awvalid), .m_axi_awready(m_awready), .m_axi_awid(m_awid),
      .m_axi_awaddr(m_awaddr), .m_axi_awlen(m_awlen), .m_axi_awsize(), .m_axi_awburst(), .m_axi_wvalid(m_wvalid),
      .m_axi_wready(m_wready), .m_axi_wdata(m_wdata), .m_axi_wstrb(m_wstrb), .m_axi_wlast(m_wlast),
      .m_axi_bvalid(m_bvalid), .m_axi_bready(m_bready), .m_axi_bid(m_bid), .m_axi_bresp(m_bresp),
      .m_axi_arvalid(m_arvalid), .m_axi_arready(m_arready), .m_axi_arid(m_arid), .m_axi_araddr(m_araddr),
      .m_axi_arlen(m_arlen), .m_axi_arsize(), .m_axi_arburst(), .m_axi_rvalid(m_rvalid), .m_axi_rready(m_rready),
      .m_axi_rid(m_rid), .m_axi_rdata(m_rdata), .m_axi_rresp(m_rresp), .m_axi_rlast(m_rlast), .clk, .nic_rst, .link_rst,
      .irq_lines(lines_up), .c_axil_awvalid(axil_awvalid), .c_axil_awready(axil_awready), .c_axil_addr(axil_quad),
      .c_axil_wvalid(axil_wvalid), .c_axil_wready(axil_wready), .c_axil_wdata(axil_wdata), .c_axil_bvalid(axil_bvalid),
      .c_axil_bready(axil_bready), .c_axil_bresp(axil_bresp), .c_axil_arvalid(axil_arvalid),
      .c_axil_arready(axil_arready), .c_axil_rvalid(axil_rvalid), .c_axil_rready(axil_rready),
      .c_axil_rdata(axil_rdata), .c_axil_rresp(axil_rresp), .c_win_awvalid(pio_awvalid), .c_win_awready(pio_awready),
      .c_win_awaddr(pio_awaddr), .c_win_awlen(pio_awlen), .c_win_awsize(), .c_win_awburst(), .c_win_wvalid(pio_wvalid),
      .c_win_wready(pio_wready), .c_win_wdata(pio_wdata), .c_win_wstrb(pio_wstrb), .c_win_wlast(pio_wlast),
      .c_win_bvalid(pio_bvalid), .c_win_bready(pio_bready), .c_win_bresp(pio_bresp), .c_dma_awvalid(dma_awvalid),
      .c_dma_awready(dma_awready), .c_dma_awaddr(dma_awaddr), .c_dma_awlen(dma_awlen), .c_dma_wvalid(dma_wvalid),
      .c_dma_wready(dma_wready), .c_dma_wdata(dma_wdata), .c_dma_wstrb(dma_wstrb), .c_dma_bvalid(dma_bvalid),
      .c_dma_bready(dma_bready), .c_dma_bresp(dma_bresp), .c_dma_arvalid(dma_arvalid), .c_dma_arready(dma_arready),
      .c_dma_araddr(dma_araddr), .c_dma_arlen(dma_arlen), .c_dma_rvalid(dma_rvalid), .c_dma_rready(dma_rready),
      .c_dma_rdata(dma_rdata), .c_dma_rresp(dma_rresp), .c_dma_rlast(dma_rlast), .cuts, .line_seen, .rests
  );
  /* verilator lint_on PINCONNECTEMPTY */
  axi_memory #(.ID_W(ID_W), .MSI_ADDR(64'(MSI_ADDR))) u_memory (
      .clk(aclk), .rst, .node_id, .wr_latency, .rd_latency, .wild, .seed(~start | 64'h1), .awvalid(m_awvalid),
      .awready(m_awready), .awid(m_awid), .awaddr(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid), .wready(m_wready),
      .wdata(m_wdata), .wstrb(m_wstrb), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready), .bid(m_bid),
      .bresp(m_bresp), .arvalid(m_arvalid), .arready(m_arready), .arid(m_arid), .araddr(m_araddr), .arlen(m_arlen),
      .rvalid(m_rvalid), .rready(m_rready), .rid(m_rid), .rdata(m_rdata), .rresp(m_rresp), .rlast(m_rlast), .message,
      .idle(memory_idle)
  );

  // ---- answers of the core to pieces ----
  int unsigned core_answers, answered_here;
  logic [1:0]  told[PIECES];
  always @(posedge clk)
    if (rst) core_answers <= 0;
    else if (pio_bvalid && pio_bready) begin
      nl_pio_done(node, 32'(pio_bresp));
      told[(core_answers+answered_here)%PIECES] <= pio_bresp;
      core_answers <= core_answers + 1;
    end

  // ---- registers of the simulation, in clk ----
  logic        ext_asks, ext_over;  // they differ while one is asked for
  logic        reg_write;
  logic [31:0] reg_addr;
  logic [63:0] reg_data;
  assign ext_write = reg_write;
  assign ext_addr  = reg_addr[15:0];
  assign ext_wdata = reg_data;
  always @(posedge clk)
    if (rst) begin
      ext_sel  <= 1'b0;
      ext_over <= 1'b0;
    end else begin
      ext_sel <= ext_asks != ext_over && !ext_sel;
      if (ext_sel) begin
        nl_reg_done(node, !ext_known ? 3 : ext_write && !ext_writable ? 2 : 0, ext_write ? 64'h0 : ext_rdata);
        ext_over <= ext_asks;
      end
    end

  // ---- the host ----
  int unsigned now, boot;               // boot: what firmware has done: dwords of the table, then STATUS
  localparam int BOOTED = 4 * VECTORS + 1;
  logic        reg_busy, half_busy;     // an access of the program; a dword of it, or of firmware's
  logic [31:0] first_data;
  logic        upper, of_boot, dword_over;
  logic [1:0]  resp;
  int unsigned pieces, bus_answers;     // that have begun; that were answered at the bus
  int unsigned shaken;                  // when a reset was seen last

  function automatic logic is_ext();
    is_ext = reg_addr[31:16] == 16'(nicloop_pkg::PAGE_WIRE_BASE >> 16);
  endfunction

  // Begins an access of 32 bits.
  function automatic void dword(input logic write, input logic [20:0] at, input logic [31:0] value);
    half_busy = 1'b1;
    awvalid  <= write;
    wvalid   <= write;
    arvalid  <= !write;
    addr     <= at;
    wdata    <= value;
  endfunction

  function automatic void firmware();
    of_boot = 1'b1;
    if (boot == 4 * VECTORS) dword(1'b0, STATUS, 32'h0);
    else
      case (boot % 4)
        0:       dword(1'b1, PAGE + 21'(4 * boot), MSI_ADDR);
        2:       dword(1'b1, PAGE + 21'(4 * boot), {16'(node), 16'(boot / 4)});
        default: dword(1'b1, PAGE + 21'(4 * boot), 32'h0);
      endcase
  endfunction

  // An access of the program begins. What is none of the bus is answered here.
  function automatic void next_register();
    bit              write;
    int unsigned     at;
    longint unsigned value;
    nl_reg_next(node, write, at, value);
    reg_write = write;
    reg_addr  = at;
    reg_data  = value;
    of_boot   = 1'b0;
    upper     = 1'b0;
    reg_busy  = 1'b1;
    if (is_ext()) ext_asks <= !ext_over;
    else if (reg_addr[31:16] == SETTINGS) begin
      reg_busy = 1'b0;
      if (write && reg_addr[15:0] == FUNCTION && value[0]) flr <= 1'b1;
      nl_reg_done(node, reg_addr[15:0] != FUNCTION && reg_addr[15:0] != ANSWERED ? 3 : write &&
          reg_addr[15:0] == ANSWERED ? 2 : 0,
                  write ? 64'h0 : reg_addr[15:0] == ANSWERED ? 64'(answered_here) : 64'(flr || boot != BOOTED));
    end else if (reg_addr < BAR_BYTES && reg_addr[2:0] == '0) dword(write, reg_addr[20:0], reg_data[31:0]);
    else begin
      reg_busy = 1'b0;
      nl_reg_done(node, 3, 64'h0);  // nobody is there
    end
  endfunction

  function automatic void dword_ends();
    if (of_boot) boot = boot < BOOTED - 1 || rdata[0] ? boot + 1 : boot;
    else if (!upper && resp == '0) begin
      upper      = 1'b1;
      first_data = rdata;
      dword(reg_write, {reg_addr[20:3], 3'b100}, reg_data[63:32]);
    end else begin
      reg_busy = 1'b0;
      nl_reg_done(node, 32'(resp), reg_write ? 64'h0 : {rdata, first_data});
    end
  endfunction

  function automatic void next_piece();
    int unsigned at, beats;
    bit [511:0]  data;
    nl_pio_next(node, at, beats, data);
    w_awvalid <= 1'b1;
    w_wvalid  <= goes(1'b1);
    w_id      <= ID_W'(pieces);
    w_addr    <= at[28:0];
    w_len     <= 8'(beats) - 8'd1;
    line      <= data;
    line_left <= beats[3:0];
    pieces     = pieces + 1;
  endfunction

  // An answer to a piece at the bus: what the core has said to it, or SLVERR in its stead.
  function automatic void piece_answered();
    assert (bus_answers != pieces && w_bid == ID_W'(bus_answers))
        else $error("axi_host: node %0d: an answer with ID %0d to piece %0d of %0d", node, w_bid, bus_answers, pieces);
    if (core_answers + answered_here == bus_answers) begin
      assert (w_bresp == SLVERR)
          else $error("axi_host: node %0d: response %0d to a piece that the core has not answered", node, w_bresp);
      nl_pio_done(node, 32'(w_bresp));
      answered_here <= answered_here + 1;
    end else
      assert (w_bresp == told[bus_answers%PIECES] || (w_bresp == SLVERR && now - shaken < GIVES_UP))
        else $error("axi_host: node %0d: response %0d to a piece, the core said %0d", node, w_bresp,
            told[bus_answers%PIECES]);
    bus_answers = bus_answers + 1;
  endfunction

  always @(posedge aclk) begin : host
    if (rst) begin
      {awvalid, wvalid, arvalid, w_awvalid, w_wvalid, bready, rready, w_bready} <= '0;
      flr           <= 1'b0;
      irqs          <= '0;
      ext_asks      <= 1'b0;
      answered_here <= 0;
      random        = start;
      now           = 0;
      boot          = 0;
      reg_busy      = 1'b0;
      half_busy     = 1'b0;
      pieces        = 0;
      bus_answers   = 0;
      shaken        = 0;
      line_left     <= '0;
    end else begin
      now = now + 1;
      if (cuts) shaken = now;
      if (awready) awvalid <= 1'b0;
      if (wready) wvalid <= 1'b0;
      if (arready) arvalid <= 1'b0;
      dword_over = (bvalid && bready) || (rvalid && rready);
      resp       = bvalid ? bresp : rresp;
      assert (!dword_over || half_busy) else $error("axi_host: node %0d: an answer that nobody waits for", node);
      if (dword_over) begin
        half_busy = 1'b0;
        dword_ends();
      end
      if (reg_busy && is_ext() && ext_asks == ext_over && !ext_sel) reg_busy = 1'b0;
      if (w_bvalid && w_bready) piece_answered();
      // A line leaves, a beat after the other.
      if (w_awready) w_awvalid <= 1'b0;
      if (w_wvalid && w_wready) begin
        line      <= line >> 64;
        line_left <= line_left - 1'b1;
        w_wvalid  <= line_left != 4'd1 && goes(line_left != 4'd1);
      end else if (!w_wvalid && line_left != '0) w_wvalid <= goes(1'b1);
      // What is next.
      if (flr && flr_done) begin
        flr  <= 1'b0;
        boot = 0;
      end
      if (boot != BOOTED) begin
        if (!half_busy && !reg_busy) firmware();
      end else if (reg_pending && !reg_busy && pieces == bus_answers) next_register();
      else if (pio_pending && !reg_busy && pieces - bus_answers < PIECES - 2 && (!w_awvalid || w_awready) &&
          (line_left == '0 || (w_wvalid && w_wready && line_left == 4'd1))) next_piece();
      // A message says that the line rose; it is down when the core lets it fall.
      irqs     <= (irqs | message) & line_seen;
      bready   <= goes(bvalid);
      rready   <= goes(rvalid);
      w_bready <= goes(w_bvalid);
    end
  end

  assign irq = irqs != '0;

  // ---- whether anything happens ----
  // Something that moves no more is told as a hang: it is not active.
  int unsigned still;
  logic        moves;
  assign moves = (awvalid && awready) || (arvalid && arready) || dword_over || (w_awvalid && w_awready) ||
      (w_wvalid && w_wready) || (w_bvalid && w_bready) || message != '0 ||
                 (m_awvalid && m_awready) || (m_wvalid && m_wready) || (m_bvalid && m_bready) ||
                 (m_arvalid && m_arready) || (m_rvalid && m_rready);
  always @(posedge aclk) still <= rst || moves || idle ? 0 : still + 32'(still < GIVES_UP);
  // All that an edge of aclk could still change is at its resting value, since a node that sleeps
  // must not differ from one that does not.
  assign idle   = !rst && boot == BOOTED && !reg_busy && !half_busy && !flr && pieces == bus_answers && memory_idle &&
      rests && ext_asks == ext_over && !ext_sel && irqs == (irqs & line_seen) && bready && rready && w_bready;
  assign active = !idle && still < GIVES_UP;
endmodule
