// nic_core: the NIC up to its board-facing boundary.
//
// Job: joins register file, mailbox table, VELO requester and completer with router and links.
// Handshake: AXI4-Lite slave (registers), AXI4 write slave (send windows, lines in pieces), AXI4
//   master (DMA), AXI-Stream per link and direction (index l = port l + 1, packed; words as in
//   link), level interrupt.
// Backpressure: a full mailbox blocks the network; registers and send windows always answer.
//   link_up[l]: a neighbour is connected; it does not change. carrier[l]: the wire works; without
//   it traffic waits.
//
// All blocks but the registers have gated clocks: the local side (send windows, VELO, mailboxes,
// the local port of the router and the path to memory) clk_local, the RMA units clk_rma, each link
// with its port of the router clk_link[l]. They rise with clk, but a simulation may skip an edge
// that would change nothing: when ..._rests was high before it and before the previous four edges
// of clk, and, for a link, no word arrives and its carrier does not change. Reading a register
// wakes none of them.
//
//   clk          _|^|_|^|_|^|_|^|_|^|_|^|_|^|_|^|_
//   rma_rests    ____/^^^^^^^^^^^^^^^^^^^^^^^^\____   e.g. a flit for the completer
//   clk_rma      _|^|_|^|_|^|_|^|_|^|_______|^|_|^|_
module nic_core #(
    parameter int DIM_X    = 2,
    parameter int DIM_Y    = 1,
    parameter int DIM_Z    = 1,
    parameter int PORTS    = DIM_Z > 1 ? 7 : DIM_Y > 1 ? 5 : 3,
    parameter int VC_DEPTH = 16,
    parameter int TORUS    = 0,
    parameter int SHAPE_INPUT = 0,  // 1: one model for any shape, see shape
    localparam int CLASSES = nicloop_pkg::VCS,
    localparam int VCS     = TORUS != 0 ? nicloop_pkg::TORUS_VCS : CLASSES,
    localparam int VC_W    = $clog2(VCS),
    localparam int LINKS   = PORTS - 1,
    localparam int USER_W  = hw_pkg::link_user_w(VCS, VC_DEPTH)
) (
    input  logic        clk,
    input  logic        clk_local,   // see below; on a board all are clk
    input  logic        clk_rma,
    input  logic [LINKS-1:0] clk_link /* verilator split_var */,
    output logic        local_rests,
    output logic        rma_rests,
    output logic [LINKS-1:0] link_rests,
    input  logic        rst,
    // of the links: rises with rst, may fall before it, so that they have agreed when the rest
    // starts
    input  logic        link_rst,
    input  logic [11:0] node_id,
    // used with SHAPE_INPUT; constant
    input  nicloop_pkg::shape_t shape,
    // cycles for which a simulation stopped clk while idle was high: keeps CYCLES right; else 0
    input  logic [63:0] slept,
    // registers: AXI4-Lite slave
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
    // send windows: AXI4 write slave
    input  logic        s_axi_awvalid,
    output logic        s_axi_awready,
    input  logic [28:0] s_axi_awaddr,
    input  logic [7:0]  s_axi_awlen,
    input  logic [2:0]  s_axi_awsize,
    input  logic [1:0]  s_axi_awburst,
    input  logic        s_axi_wvalid,
    output logic        s_axi_wready,
    input  logic [63:0] s_axi_wdata,
    input  logic [7:0]  s_axi_wstrb,
    input  logic        s_axi_wlast,
    output logic        s_axi_bvalid,
    input  logic        s_axi_bready,
    output logic [1:0]  s_axi_bresp,
    // DMA: AXI4 master
    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0]  m_axi_awlen,
    output logic [2:0]  m_axi_awsize,
    output logic [1:0]  m_axi_awburst,
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
    output logic [2:0]  m_axi_arsize,
    output logic [1:0]  m_axi_arburst,
    input  logic        m_axi_rvalid,
    output logic        m_axi_rready,
    input  logic [63:0] m_axi_rdata,
    input  logic [1:0]  m_axi_rresp,
    input  logic        m_axi_rlast,
    // links
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
    output logic        irq,           // any of irq_lines
    output logic [nicloop_pkg::VPIDS:0] irq_lines,  // see regfile
    output logic        idle,    // nothing is buffered or under way
    output logic        active   // something moved or will move by itself
);
  logic [11:0] nodes;
  logic [23:0] dims;
  assign nodes = SHAPE_INPUT != 0 ? shape.nodes : 12'(DIM_X * DIM_Y * DIM_Z);
  assign dims  = SHAPE_INPUT != 0 ? {shape.dim_z, shape.dim_y, shape.dim_x} : {8'(DIM_Z), 8'(DIM_Y), 8'(DIM_X)};

  // ---- local port of the router: inj towards the network, ej out of it ----
  // Its virtual channels are the classes: those of layer 0.
  localparam int CLASS_W = $clog2(CLASSES);
  localparam int VELO = 0, REQUESTS = 1, ANSWERS = 2;
  localparam int FLIT_W = nicloop_pkg::FLIT_W;
  logic               inj_valid, inj_head, inj_tail, ej_valid, ej_head, ej_tail;
  logic [CLASS_W-1:0] inj_vc, ej_vc;
  logic [63:0]        inj_data, ej_data;
  logic [CLASSES-1:0] inj_credit, ej_credit;
  logic [VC_W-1:0]    local_vc;
  logic [VCS-1:0]     local_credit;
  assign ej_vc      = local_vc[CLASS_W-1:0];
  assign inj_credit = local_credit[CLASSES-1:0];

  // A register between: the way of a flit out of its unit ends here, that to its queue begins.
  logic               in_valid, in_head, in_tail;
  logic [CLASS_W-1:0] in_vc;
  logic [63:0]        in_data;
  always_ff @(posedge clk_local) begin
    in_valid <= !rst && inj_valid;
    if (inj_valid) begin
      in_vc   <= inj_vc;
      in_head <= inj_head;
      in_tail <= inj_tail;
      in_data <= inj_data;
    end
  end

  // ---- links: flits between router and link ----
  logic [LINKS-1:0]      tx_valid, tx_head, tx_tail, rx_valid, rx_head, rx_tail, dead, link_failure, link_idle,
      link_active;
  logic [LINKS*VC_W-1:0] tx_vc, rx_vc;
  logic [LINKS*64-1:0]   tx_data, rx_data;
  logic [LINKS*VCS-1:0]  tx_credit, rx_credit;
  logic [LINKS*32-1:0]   crc_errors, retransmissions, timeouts, failures, cut, drained, resets, lost;
  logic [LINKS-1:0]      drain, drains, restart, link_agreed;
  logic [PORTS-1:0]      ev_drained, ev_ended;
  logic [LINKS*nicloop_pkg::LINK_PATIENCE_CYCLES_W-1:0] patience;
  logic [63:0]           link_value;
  logic                  link_rd_known, link_wr_known, link_writable;

  // ---- events ----
  logic        ev_line, ev_tx_error, ev_tx_packet, ev_tx_stall, ev_drop, commit, stall, begun;
  nicloop_pkg::pio_t line_addr;
  logic [6:0]  tx_reason, drop_reason;
  nicloop_pkg::header_t packet_header;
  logic [63:0] slot_header;
  logic [7:0]  route_errors;  // by port

  // ---- mailbox table ----
  logic        mb_busy, look_on, look_full, ended, ended_bad, ended_lost, ended_irq, mb_ev_refused, mb_wr_ready,
      mb_rp_ready, mb_wr_base, mb_wr_slots, mb_wr_ctrl, mb_wr_rp;
  logic [3:0]  look_vpid, ended_vpid, mb_rd_vpid, mb_wr_vpid;
  logic [63:0] look_addr, mb_rd_base, mb_rd_stall, reg_data;
  logic [31:0] look_seq, ended_seq, mb_rd_wp;
  logic [23:0] mb_rd_slots;
  logic [8:0]  mb_rd_ctrl;
  logic [32:0] mb_rd_rp;
  logic [15:0] window_next;
  logic        mb_wr_on;

  logic [15:0] tx_lines;
  logic [23:0] tx_credits;
  logic [47:0] rx_levels;
  logic        reg_writes, reg_idle, req_idle, comp_idle, router_idle, reg_active, req_active, comp_active,
      router_active;
  logic        inj_active, ej_idle, rma_idle, rma_active;

  // ---- VELO and RMA share the window, the network and the memory ----
  logic [1:0]   put, put_words, take;
  logic [3:0]   put_vpid;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [3:0]   packet_vpid;  // observed by nic_trace
  /* verilator lint_on UNUSEDSIGNAL */
  logic [2:0]   put_quad;
  logic [63:0]  put_data, window_value;
  logic [31:0]  line_stamp;
  logic [15:0]  rma_window_next, rma_full, velo_full;
  logic         rma_pop;
  logic [3:0]   rma_head_vpid;
  logic         ev_rma_refused, window_writable, window_rd_known, win_idle, win_active;
  logic [2:0]   send_valid, send_ready, send_head, send_tail;
  logic [191:0] send_data;
  logic [3:0]   unit_valid, unit_ready;
  logic [CLASSES*FLIT_W-1:0] flits;
  logic         completer_busy, responder_busy;
  logic         velo_awvalid, velo_awready, velo_wvalid, velo_wready, velo_wlast, velo_bvalid, velo_bready;
  logic [63:0]  velo_awaddr, velo_wdata;
  logic [31:0]  x_wr_addr, x_rd_addr;
  logic         x_wr_do, x_wr_known, x_wr_writable, x_wr_ready, x_rd_known, x_busy;
  logic [63:0]  x_rd_value;
  logic         ev_rma_error, ev_noti_irq, ring_ev_refused;
  logic [6:0]   rma_reason;
  logic [15:0]  rma_src, rma_dst;
  logic [9:0]   rma_length;
  logic [3:0]   noti_vpid;

  // ---- registers beside those of regfile: RMA's, the route table's and those of domains ----
  logic        rma_wr_known, rma_wr_writable, rma_wr_ready, rma_rd_known, route_wr_known, route_rd_known;
  logic        domain_wr_known, domain_writable, domain_rd_known;
  logic [63:0] rma_value, route_value, domain_value;
  assign x_wr_known    = rma_wr_known || route_wr_known || domain_wr_known || window_writable;
  assign x_wr_writable = rma_wr_writable || route_wr_known || link_writable || domain_writable || window_writable;
  // RMA's has what is not its own wait for nothing
  assign x_wr_ready    = rma_wr_ready && !(domain_writable && (mb_busy || x_busy));
  assign x_rd_known    = rma_rd_known || route_rd_known || domain_rd_known || window_rd_known;
  assign x_rd_value    = rma_value | route_value | domain_value | window_value;

  // ---- domains ----
  logic         shut, ring_restart, velo_stranger;
  logic [511:0] stamps;
  logic [1:0]   rma_strangers;
  nicloop_pkg::header_t rma_stranger_header;
  logic [15:0]  rma_stranger_pdid, velo_pdid;
  logic [3:0]   level_vpid;
  logic         ring_stall, wr_hold, overflow, look_spent, look_timed, look_overflowed;
  logic [23:0]  mailbox_hold, ring_hold;
  logic [31:0]  mailbox_overflows, ring_overflows;
  logic [2:0]   level_descriptors;
  logic [4:0]   level_fragments;
  logic [3:0]   level_lines;
  /* verilator lint_off UNUSEDSIGNAL */  // the process counts
  nicloop_pkg::page_addr_t x_wr_at;
  /* verilator lint_on UNUSEDSIGNAL */
  assign x_wr_at = x_wr_addr;
  domain_table u_domains (
      .clk, .rst, .stamps, .restart(ring_restart), .restart_vpid(x_wr_at.copy), .shut, .level_vpid,
      .descriptors(level_descriptors), .fragments(level_fragments), .lines(level_lines), .wr_hold, .mailbox_hold,
      .ring_hold, .mailbox_overflows, .ring_overflows, .ev_strangers({rma_strangers, velo_stranger}),
      .stranger_header(velo_stranger ? packet_header : rma_stranger_header),
      .stranger_pdid(velo_stranger ? velo_pdid : rma_stranger_pdid), .wr_addr(x_wr_addr), .wr_data(reg_data[15:0]),
      .wr_do(x_wr_do), .wr_known(domain_wr_known), .wr_writable(domain_writable), .rd_addr(x_rd_addr),
      .rd_known(domain_rd_known), .rd_value(domain_value)
  );

  mailbox_table u_table (
      .clk(clk_local), .rst, .busy(mb_busy), .look_vpid, .look_on, .look_full, .look_addr, .look_seq, .look_spent,
      .look_timed, .look_overflowed, .begun, .stall, .overflow, .ended, .ended_bad, .ended_vpid, .ended_seq,
      .ended_lost, .ended_irq, .rd_hold(mailbox_hold), .rd_overflows(mailbox_overflows), .wr_hold, .rd_vpid(mb_rd_vpid),
      .rd_base(mb_rd_base), .rd_slots(mb_rd_slots), .rd_ctrl(mb_rd_ctrl), .rd_wp(mb_rd_wp), .rd_rp(mb_rd_rp),
      .rd_stall(mb_rd_stall), .wr_ready(mb_wr_ready), .rp_ready(mb_rp_ready), .wr_vpid(mb_wr_vpid), .wr_data(reg_data),
      .wr_base(mb_wr_base), .wr_slots(mb_wr_slots), .wr_ctrl(mb_wr_ctrl), .wr_rp(mb_wr_rp), .shut,
      .ev_refused(mb_ev_refused), .window_next, .wr_on(mb_wr_on)
  );

  // Node and VPID of a process, as registers show it.
  nicloop_pkg::process_t line_src, line_dst, packet_src, packet_dst;
  always_comb begin
    line_src.node   = here;
    line_src.vpid   = line_addr.src_vpid;
    line_dst.node   = 12'(line_addr.dst_node);
    line_dst.vpid   = line_addr.dst_vpid;
    packet_src.node = packet_header.src_node;
    packet_src.vpid = packet_header.src_vpid;
    packet_dst.node = packet_header.dst_node;
    packet_dst.vpid = packet_header.dst_vpid;
  end
  /* verilator lint_off UNUSEDSIGNAL */
  nicloop_pkg::tx_level_t tx_level;
  /* verilator lint_on UNUSEDSIGNAL */
  always_comb begin
    tx_level       = '0;
    tx_level.lines = tx_lines;
    {tx_level.credits2, tx_level.credits1, tx_level.credits0} = tx_credits;
  end

  logic [11:0] here;
  assign here = node_id;

  regfile #(
      .VC_DEPTH(VC_DEPTH), .PORTS(PORTS), .TORUS(TORUS), .SLEEPS(SHAPE_INPUT)
  ) u_regs (
      .clk, .rst, .slept, .here, .nodes, .dims, .s_awvalid(s_axil_awvalid), .s_awready(s_axil_awready),
      .s_awaddr(s_axil_awaddr), .s_wvalid(s_axil_wvalid), .s_wready(s_axil_wready), .s_wdata(s_axil_wdata),
      .s_wstrb(s_axil_wstrb), .s_bvalid(s_axil_bvalid), .s_bready(s_axil_bready), .s_bresp(s_axil_bresp),
      .s_arvalid(s_axil_arvalid), .s_arready(s_axil_arready), .s_araddr(s_axil_araddr), .s_rvalid(s_axil_rvalid),
      .s_rready(s_axil_rready), .s_rdata(s_axil_rdata), .s_rresp(s_axil_rresp), .mb_rd_vpid, .mb_rd_base, .mb_rd_slots,
      .mb_rd_ctrl, .mb_rd_wp, .mb_rd_rp, .mb_rd_stall, .mb_busy, .mb_wr_on, .mb_wr_ready, .mb_rp_ready, .mb_wr_vpid,
      .wr_data(reg_data), .mb_wr_base, .mb_wr_slots, .mb_wr_ctrl, .mb_wr_rp, .ext_wr_known(link_wr_known),
      .ext_rd_known(link_rd_known), .ext_rd_value(link_value), .ev_tx_packet, .ev_tx_error, .tx_reason,
      .tx_src(line_src), .tx_dst(line_dst), .tx_length(10'(line_addr.length)), .ev_tx_stall, .ev_rx_packet(commit),
      .ev_rx_irq(ended_irq), .arrival_vpid(ended_vpid), .ev_rx_drop(ev_drop), .rx_reason(drop_reason),
      .rx_src(packet_src), .rx_dst(packet_dst), .rx_length(packet_header.length), .rx_vpid(look_vpid),
      .ev_rx_stall(stall), .ev_ring_stall(ring_stall), .route_errors, .ev_link_failure(|link_failure),
      .ev_rp_refused(mb_ev_refused || ring_ev_refused), .x_wr_addr, .x_wr_do, .x_wr_known, .x_wr_writable, .x_wr_ready,
      .x_rd_addr, .x_rd_known, .x_rd_value, .x_busy, .ev_rma_error, .rma_reason, .rma_src, .rma_dst, .rma_length,
      .ev_noti_irq, .noti_vpid, .tx_level(40'(tx_level)), .rx_level(rx_levels), .irq, .irq_lines,
      .writes(reg_writes),
      .idle(reg_idle), .active(reg_active)
  );

  pio_window u_window (
      .clk(clk_local), .clk_regs(clk), .rst, .nodes, .s_awvalid(s_axi_awvalid), .s_awready(s_axi_awready),
      .s_awaddr(s_axi_awaddr), .s_awlen(s_axi_awlen), .s_awsize(s_axi_awsize), .s_awburst(s_axi_awburst),
      .s_wvalid(s_axi_wvalid), .s_wready(s_axi_wready), .s_wdata(s_axi_wdata), .s_wstrb(s_axi_wstrb),
      .s_wlast(s_axi_wlast), .s_bvalid(s_axi_bvalid), .s_bready(s_axi_bready), .s_bresp(s_axi_bresp),
      .on_next({rma_window_next, window_next}), .full({rma_full, velo_full}), .pop(rma_pop), .head_vpid(rma_head_vpid),
      .stamps, .put, .put_vpid, .put_quad, .put_data, .put_words, .take, .ev_error({ev_rma_refused, ev_tx_error}),
      .line_addr, .line_stamp, .error_reason(tx_reason), .wr_addr(x_wr_addr), .wr_do(x_wr_do),
      .wr_known(window_writable), .rd_addr(x_rd_addr), .rd_known(window_rd_known), .rd_value(window_value),
      .waiting_velo(level_lines), .waiting_rma(level_descriptors), .idle(win_idle), .active(win_active)
  );
  assign ev_line = take[0];

  velo_requester u_requester (
      .clk(clk_local), .rst, .here, .put(put[0]), .put_vpid, .put_quad, .put_data, .put_words, .take(take[0]),
      .line_addr, .line_stamp, .full(velo_full), .tx_valid(send_valid[0]), .tx_ready(send_ready[0]),
      .tx_head(send_head[0]), .tx_tail(send_tail[0]), .tx_data(send_data[VELO*64+:64]), .ev_packet(ev_tx_packet),
      .packet_vpid, .ev_stall(ev_tx_stall), .lines(tx_lines), .level_vpid, .level_of(level_lines), .idle(req_idle),
      .active(req_active)
  );

  velo_completer u_completer (
      .clk(clk_local), .rst, .here, .in_valid(unit_valid[0]), .in_ready(unit_ready[0]),
      .in_flit(flits[VELO*FLIT_W+:FLIT_W]), .table_busy(mb_busy), .look_vpid, .look_on, .look_full, .look_addr,
      .look_seq, .look_spent, .look_timed, .look_overflowed, .begun, .stall, .overflow, .ended, .ended_bad, .ended_vpid,
      .ended_seq, .ended_lost, .commit, .stamps, .m_awvalid(velo_awvalid), .m_awready(velo_awready),
      .m_awaddr(velo_awaddr), .m_wvalid(velo_wvalid), .m_wready(velo_wready), .m_wdata(velo_wdata),
      .m_wlast(velo_wlast), .m_bvalid(velo_bvalid), .m_bready(velo_bready), .m_bresp(m_axi_bresp), .ev_drop,
      .drop_reason, .packet_header, .slot_header, .ev_stranger(velo_stranger), .pdid(velo_pdid), .idle(comp_idle),
      .active(comp_active)
  );

  nic_rma u_rma (
      .clk, .clk_memory(clk_local), .clk_units(clk_rma), .units_rest, .memory_rests, .rst, .here, .nodes, .stamps,
      .shut, .restart(ring_restart), .ev_strangers(rma_strangers), .level_vpid, .level_descriptors, .level_fragments,
      .ev_stall(ring_stall), .wr_hold, .ring_hold, .ring_overflows, .stranger_header(rma_stranger_header),
      .stranger_pdid(rma_stranger_pdid), .put(put[1]), .put_vpid, .put_quad, .put_data, .put_words, .take(take[1]),
      .line_vpid(line_addr.src_vpid), .ev_refused(ev_rma_refused), .refuse_reason(tx_reason),
      .window_next(rma_window_next), .full(rma_full), .pop(rma_pop), .head_vpid(rma_head_vpid),
      .tx_valid(send_valid[2:1]), .tx_ready(send_ready[2:1]), .tx_head(send_head[2:1]), .tx_tail(send_tail[2:1]),
      .tx_data(send_data[REQUESTS*64+:2*64]), .in_valid(unit_valid[3:1]), .in_ready(unit_ready[3:1]),
      .request_flit(flits[REQUESTS*FLIT_W+:FLIT_W]), .answer_flit(flits[ANSWERS*FLIT_W+:FLIT_W]), .completer_busy,
      .responder_busy, .velo_awvalid, .velo_awready, .velo_awaddr, .velo_wvalid, .velo_wready, .velo_wdata, .velo_wlast,
      .velo_bvalid, .velo_bready, .m_awvalid(m_axi_awvalid), .m_awready(m_axi_awready), .m_awaddr(m_axi_awaddr),
      .m_awlen(m_axi_awlen), .m_wvalid(m_axi_wvalid), .m_wready(m_axi_wready), .m_wdata(m_axi_wdata),
      .m_wstrb(m_axi_wstrb), .m_wlast(m_axi_wlast), .m_bvalid(m_axi_bvalid), .m_bready(m_axi_bready),
      .m_bresp(m_axi_bresp), .m_arvalid(m_axi_arvalid), .m_arready(m_axi_arready), .m_araddr(m_axi_araddr),
      .m_arlen(m_axi_arlen), .m_rvalid(m_axi_rvalid), .m_rready(m_axi_rready), .m_rdata(m_axi_rdata),
      .m_rresp(m_axi_rresp), .m_rlast(m_axi_rlast), .wr_addr(x_wr_addr), .wr_data(reg_data), .wr_do(x_wr_do),
      .wr_known(rma_wr_known), .wr_writable(rma_wr_writable), .wr_ready(rma_wr_ready), .rd_addr(x_rd_addr),
      .rd_known(rma_rd_known), .rd_value(rma_value), .reg_busy(x_busy), .ev_error(ev_rma_error),
      .error_reason(rma_reason), .error_src(rma_src), .error_dst(rma_dst), .error_length(rma_length),
      .ev_rp_refused(ring_ev_refused), .ev_noti_irq, .noti_vpid, .idle(rma_idle), .active(rma_active)
  );
  assign m_axi_awsize  = 3'd3;
  assign m_axi_awburst = 2'b01;
  assign m_axi_arsize  = 3'd3;
  assign m_axi_arburst = 2'b01;

  inject #(.VC_DEPTH(VC_DEPTH)) u_inject (
      .clk(clk_local), .rst, .valid(send_valid), .ready(send_ready), .head(send_head), .tail(send_tail),
      .data(send_data), .tx_valid(inj_valid), .tx_vc(inj_vc), .tx_head(inj_head), .tx_tail(inj_tail),
      .tx_data(inj_data), .tx_credit(inj_credit), .credits(tx_credits), .active(inj_active)
  );
  eject #(.VC_DEPTH(VC_DEPTH)) u_eject (
      .clk(clk_local), .rst, .rx_valid(ej_valid), .rx_vc(ej_vc), .rx_head(ej_head), .rx_tail(ej_tail),
      .rx_data(ej_data), .rx_credit(ej_credit), .unit_valid, .unit_ready, .flits, .completer_busy, .responder_busy,
      .levels(rx_levels), .idle(ej_idle)
  );

  router #(.PORTS(PORTS), .VC_DEPTH(VC_DEPTH), .DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .TORUS(TORUS),
      .SHAPE_INPUT(SHAPE_INPUT)) u_router (
      .clk, .clk_port({clk_link, clk_local}), .port_rests, .rst, .shape, .here, .port_up({link_up, 1'b1}),
      .drain({drains, 1'b0}), .closed({~link_agreed, 1'b0}), .rx_valid({rx_valid, in_valid}),
      .rx_vc({rx_vc, VC_W'(in_vc)}), .rx_head({rx_head, in_head}), .rx_tail({rx_tail, in_tail}),
      .rx_data({rx_data, in_data}), .rx_credit({rx_credit, local_credit}), .tx_valid({tx_valid, ej_valid}),
      .tx_vc({tx_vc, local_vc}), .tx_head({tx_head, ej_head}), .tx_tail({tx_tail, ej_tail}),
      .tx_data({tx_data, ej_data}), .tx_credit({tx_credit, VCS'(ej_credit)}), .wr_addr(x_wr_addr), .wr_data(reg_data),
      .wr_do(x_wr_do), .wr_known(route_wr_known), .rd_addr(x_rd_addr), .rd_known(route_rd_known),
      .rd_value(route_value), .route_errors, .drained(ev_drained), .ended(ev_ended), .idle(router_idle),
      .active(router_active)
  );

  generate
    for (genvar l = 0; l < LINKS; l++) begin : g_link
      link #(.VCS(VCS), .VC_DEPTH(VC_DEPTH)) u_link (
          .clk(clk_link[l]), .rst(link_rst), .restart(restart[l]), .up(link_agreed[l]), .resets(resets[l*32+:32]),
          .lost(lost[l*32+:32]), .carrier(carrier[l]),
          .patience(patience[l*nicloop_pkg::LINK_PATIENCE_CYCLES_W+:nicloop_pkg::LINK_PATIENCE_CYCLES_W]),
          .tx_valid(tx_valid[l]), .tx_vc(tx_vc[l*VC_W+:VC_W]), .tx_head(tx_head[l]), .tx_tail(tx_tail[l]),
          .tx_data(tx_data[l*64+:64]), .tx_credit(tx_credit[l*VCS+:VCS]), .rx_valid(rx_valid[l]),
          .rx_vc(rx_vc[l*VC_W+:VC_W]), .rx_head(rx_head[l]), .rx_tail(rx_tail[l]), .rx_data(rx_data[l*64+:64]),
          .rx_credit(rx_credit[l*VCS+:VCS]), .m_tvalid(m_axis_tvalid[l]), .m_tready(m_axis_tready[l]),
          .m_tdata(m_axis_tdata[l*64+:64]), .m_tuser(m_axis_tuser[l*USER_W+:USER_W]), .s_tvalid(s_axis_tvalid[l]),
          .s_tready(s_axis_tready[l]), .s_tdata(s_axis_tdata[l*64+:64]), .s_tuser(s_axis_tuser[l*USER_W+:USER_W]),
          .dead(dead[l]), .crc_errors(crc_errors[l*32+:32]), .retransmissions(retransmissions[l*32+:32]),
          .timeouts(timeouts[l*32+:32]), .failures(failures[l*32+:32]), .cut(cut[l*32+:32]),
          .drain(drain[l] && link_up[l]), .drains(drains[l]), .drained(drained[l*32+:32]), .ev_drained(ev_drained[l+1]),
          .ev_ended(ev_ended[l+1]), .ev_failure(link_failure[l]), .idle(link_idle[l]), .active(link_active[l])
      );
    end
  endgenerate

  link_regs #(.LINKS(LINKS)) u_link_regs (
      .clk, .rst, .rd_addr(x_rd_addr), .connected(link_up), .carrier, .dead, .crc_errors, .retransmissions, .timeouts,
      .failures, .cut, .drained, .resets, .lost, .drains, .up(link_agreed), .rd_known(link_rd_known),
      .rd_value(link_value), .wr_addr(x_wr_addr), .wr_data(reg_data[nicloop_pkg::LINK_PATIENCE_CYCLES_W-1:0]),
      .wr_do(x_wr_do), .wr_known(link_wr_known), .wr_writable(link_writable), .patience, .drain, .restart
  );

  // It rests when nothing in it moves, nothing is handed to it in this cycle and no register is
  // written. What was an answer, an event or a setting a moment ago has its way through registers
  // in the four cycles after.
  logic             units_rest, memory_rests, quiet;
  logic [PORTS-1:0] port_rests;
  assign quiet      = !reg_writes && !rst && !link_rst;
  assign local_rests = quiet && units_rest && memory_rests && port_rests[0] && unit_valid == '0 && !mb_busy &&
      win_idle && !win_active && req_idle && !req_active && comp_idle && !comp_active && !inj_active && !in_valid &&
      ej_idle && !ej_valid && ej_credit == '0;
  assign rma_rests  = quiet && units_rest && unit_valid[3:1] == '0 && !put[1] && !take[1];
  assign link_rests = {LINKS{quiet}} & LINKS'(port_rests >> 1) & link_idle & ~link_active & ~restart;

  assign idle   = reg_idle && win_idle && req_idle && comp_idle && rma_idle && ej_idle && !in_valid && router_idle &&
      &link_idle && !mb_busy;
  assign active = reg_active || win_active || req_active || inj_active || |(unit_valid & unit_ready) || comp_active ||
      rma_active || router_active ||
                  ej_valid || |ej_credit || |link_active;

`ifndef SYNTHESIS
  if (SHAPE_INPUT == 0 && DIM_X * DIM_Y * DIM_Z > nicloop_pkg::NODE_MAX)
    $fatal(1, "nic_core: %0d nodes, an address can name %0d", DIM_X * DIM_Y * DIM_Z, nicloop_pkg::NODE_MAX);
`endif
endmodule
