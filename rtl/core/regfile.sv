// regfile: the NIC's registers behind an AXI4-Lite slave.
//
// Job: decodes the map of nicloop_pkg, keeps the global page (counters, interrupt, first error), passes
//   mailbox registers on to mailbox_table and what it does not know to rma_regs and route_table (x_*). Every access is
//   answered: DECERR outside the map, SLVERR for a write to a read-only register or one that is not eight
//   bytes wide; both are counted in BAD_ACCESS.
// Handshake: AXI4-Lite, 64-bit data. A write is taken when address and data are both there.
// Back-pressure: one answer per direction is held; nothing else is taken in that direction before it left.
//   A write waits for mailbox_table or rma_regs: while they clear after reset, and for a cycle in which they count.
module regfile #(
    parameter int VC_DEPTH = 16,
    parameter int PORTS    = 3,
    parameter int SLEEPS   = 0,  // 1: the clock may stop, for slept cycles in all
    parameter int TORUS    = 0
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [63:0] slept,     // see nic_core
    input  logic [11:0] here,
    input  logic [11:0] nodes,
    input  logic [23:0] dims,      // z, y, x
    // AXI4-Lite slave
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [31:0] s_awaddr,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [63:0] s_wdata,
    input  logic [7:0]  s_wstrb,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    input  logic        s_arvalid,
    output logic        s_arready,
    input  logic [31:0] s_araddr,
    output logic        s_rvalid,
    input  logic        s_rready,
    output logic [63:0] s_rdata,
    output logic [1:0]  s_rresp,
    // mailbox_table
    output logic [3:0]  mb_rd_vpid,
    input  logic [63:0] mb_rd_base,
    input  logic [23:0] mb_rd_slots,
    input  logic [8:0]  mb_rd_ctrl,
    input  logic [31:0] mb_rd_wp,
    input  logic [32:0] mb_rd_rp,
    input  logic [63:0] mb_rd_stall,
    input  logic        mb_busy,
    input  logic [15:0] mb_on,          // by VPID: base and size are read-only
    input  logic        mb_wr_ready,
    output logic [3:0]  mb_wr_vpid,
    output logic [63:0] mb_wr_data,
    output logic        mb_wr_base,
    output logic        mb_wr_slots,
    output logic        mb_wr_ctrl,
    output logic        mb_wr_rp,
    // rma_regs and route_table: what they say about an address is valid in the same cycle
    output logic [31:0] x_wr_addr,
    output logic        x_wr_do,
    input  logic        x_wr_known,
    input  logic        x_wr_writable,
    input  logic        x_wr_ready,
    output logic [31:0] x_rd_addr,
    input  logic        x_rd_known,
    input  logic [63:0] x_rd_value,
    input  logic        x_busy,
    // read-only registers kept elsewhere, combinational from the addresses
    input  logic        ext_wr_known,
    input  logic        ext_rd_known,
    input  logic [63:0] ext_rd_value,
    // events, one cycle each
    input  logic        ev_tx_packet,
    input  logic        ev_tx_error,
    input  logic [6:0]  tx_reason,
    input  logic [15:0] tx_src,
    input  logic [15:0] tx_dst,
    input  logic [9:0]  tx_length,
    input  logic        ev_tx_stall,
    input  logic        ev_rx_packet,
    input  logic        ev_rx_irq,      // with ev_rx_packet: this mailbox wants the arrival interrupt
    input  logic [3:0]  arrival_vpid,   // whose it is
    input  logic        ev_rx_drop,
    input  logic [6:0]  rx_reason,
    input  logic [15:0] rx_src,
    input  logic [15:0] rx_dst,
    input  logic [9:0]  rx_length,
    input  logic [3:0]  rx_vpid,        // of the packet that the completer looks at
    input  logic        ev_rx_stall,
    input  logic        ev_ring_stall,  // a unit of RMA begins to wait for a full ring
    input  logic [7:0]  route_errors,
    input  logic        ev_rma_error,   // a descriptor or packet of RMA was discarded
    input  logic [6:0]  rma_reason,
    input  logic [15:0] rma_src,
    input  logic [15:0] rma_dst,
    input  logic [9:0]  rma_length,
    input  logic        ev_noti_irq,    // a notification arrived that wants an interrupt
    input  logic [3:0]  noti_vpid,
    input  logic        ev_rp_refused,  // a read pointer of a mailbox or a ring
    input  logic        ev_link_failure,
    // levels
    input  logic [39:0] tx_level,
    input  logic [47:0] rx_level,
    output logic        irq,
    output logic        idle,
    output logic        active
);
  localparam logic [1:0] OKAY = 2'b00, SLVERR = 2'b10, DECERR = 2'b11;
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_VPID_STRIDE);

  // ---- which register ----
  // A page number: 0 global, 1 vpid, 2 user; 3 is none. Copies of a strided page share its registers.
  function automatic logic [1:0] page_of(input logic [31-PAGE_W:0] a);
    if (a == '0) page_of = 2'd0;
    else if (a[31-PAGE_W:16-PAGE_W] == 16'(nicloop_pkg::PAGE_VPID_BASE >> 16)) page_of = 2'd1;
    else if (a[31-PAGE_W:16-PAGE_W] == 16'(nicloop_pkg::PAGE_USER_BASE >> 16)) page_of = 2'd2;
    else page_of = 2'd3;
  endfunction

  // ---- writes ----
  logic        wr_there, wr_wait, wr_take, wr_known, wr_own, wr_writable, wr_ok;
  logic [1:0]  wr_page;
  logic [18:0] wr_off;
  assign wr_page  = page_of(s_awaddr[31:PAGE_W]);
  assign wr_off   = 19'(s_awaddr[PAGE_W-1:0]);
  assign wr_there = s_awvalid && s_wvalid && (!s_bvalid || s_bready);

  always_comb begin
    wr_own      = 1'b1;
    wr_writable = 1'b0;
    case (wr_page)
      2'd0:
        case (wr_off)
          nicloop_pkg::REG_SCRATCH, nicloop_pkg::REG_IRQ_STATUS, nicloop_pkg::REG_IRQ_MASK,
          nicloop_pkg::REG_ERROR_INFO: wr_writable = 1'b1;
          nicloop_pkg::REG_MAGIC, nicloop_pkg::REG_VERSION, nicloop_pkg::REG_PARAMS, nicloop_pkg::REG_DESC_HASH,
          nicloop_pkg::REG_NODE_ID, nicloop_pkg::REG_CYCLES, nicloop_pkg::REG_BAD_ACCESS, nicloop_pkg::REG_RP_REFUSED,
          nicloop_pkg::REG_TX_PACKETS, nicloop_pkg::REG_RX_PACKETS, nicloop_pkg::REG_TX_DROPPED,
          nicloop_pkg::REG_RX_DROPPED, nicloop_pkg::REG_RX_CRC_ERRORS, nicloop_pkg::REG_TX_STALL,
          nicloop_pkg::REG_RX_STALL, nicloop_pkg::REG_RX_STALL_VPID, nicloop_pkg::REG_ROUTE_ERRORS,
          nicloop_pkg::REG_TX_LEVEL, nicloop_pkg::REG_RX_LEVEL: ;
          default: wr_own = 1'b0;
        endcase
      2'd1:
        case (wr_off)
          nicloop_pkg::REG_MBOX_BASE, nicloop_pkg::REG_MBOX_SLOTS: wr_writable = !mb_on[s_awaddr[PAGE_W+:4]];
          nicloop_pkg::REG_MBOX_CTRL: wr_writable = 1'b1;
          nicloop_pkg::REG_MBOX_WP, nicloop_pkg::REG_MBOX_STALL: ;
          default: wr_own = 1'b0;
        endcase
      2'd2: begin
        wr_own      = wr_off == nicloop_pkg::REG_MBOX_RP;
        wr_writable = wr_own;
      end
      default: wr_own = 1'b0;
    endcase
    if (!wr_own) wr_writable = x_wr_writable;
  end
  assign wr_known = wr_own || ext_wr_known || x_wr_known;

  assign wr_ok     = wr_writable && s_wstrb == 8'hff;
  assign wr_wait   = wr_ok && (wr_own ? (wr_page == 2'd1 && !mb_wr_ready) || (wr_page == 2'd2 && mb_busy) : !x_wr_ready);
  assign wr_take   = wr_there && !wr_wait;
  assign s_awready = wr_take;
  assign s_wready  = wr_take;

  logic wr_do;
  assign wr_do       = wr_take && wr_ok && wr_own;
  assign x_wr_addr   = s_awaddr;
  assign x_wr_do     = wr_take && wr_ok && !wr_own;
  assign mb_wr_vpid  = s_awaddr[PAGE_W+:4];
  assign mb_wr_data  = s_wdata;
  assign mb_wr_base  = wr_do && wr_page == 2'd1 && wr_off == nicloop_pkg::REG_MBOX_BASE;
  assign mb_wr_slots = wr_do && wr_page == 2'd1 && wr_off == nicloop_pkg::REG_MBOX_SLOTS;
  assign mb_wr_ctrl  = wr_do && wr_page == 2'd1 && wr_off == nicloop_pkg::REG_MBOX_CTRL;
  assign mb_wr_rp    = wr_do && wr_page == 2'd2;

  always_ff @(posedge clk) begin
    if (rst) s_bvalid <= 1'b0;
    else if (wr_take) s_bvalid <= 1'b1;
    else if (s_bready) s_bvalid <= 1'b0;
    if (wr_take) s_bresp <= !wr_known ? DECERR : !wr_ok ? SLVERR : OKAY;
  end

  // ---- state of the global page ----
  logic [63:0] scratch, cycles, bad_access, rp_refused, tx_packets, rx_packets, tx_dropped, rx_dropped, rx_crc_errors;
  logic [63:0] tx_stall, rx_stall, routes;
  logic [33:0] irq_status, irq_mask, irq_set;
  logic [57:0] error_info;
  logic [3:0]  stall_vpid;
  logic        stalled;

  logic wr_scratch, wr_status, wr_mask, wr_error;
  assign wr_scratch = wr_do && wr_page == 2'd0 && wr_off == nicloop_pkg::REG_SCRATCH;
  assign wr_status  = wr_do && wr_page == 2'd0 && wr_off == nicloop_pkg::REG_IRQ_STATUS;
  assign wr_mask    = wr_do && wr_page == 2'd0 && wr_off == nicloop_pkg::REG_IRQ_MASK;
  assign wr_error   = wr_do && wr_page == 2'd0 && wr_off == nicloop_pkg::REG_ERROR_INFO;

  logic rx_crc, rd_take, rd_known;
  assign rx_crc = ev_rx_drop && rx_reason == 7'(nicloop_pkg::DROP_REASON_CRC);

  always_comb begin
    irq_set = '0;
    irq_set[nicloop_pkg::IRQ_STATUS_ERROR_LSB] = ev_tx_error || ev_rx_drop || ev_rma_error || route_errors != '0 || ev_link_failure || ev_rp_refused;
    irq_set[nicloop_pkg::IRQ_STATUS_STALL_LSB] = (ev_rx_stall && !stalled) || ev_ring_stall;
    if (ev_rx_packet && ev_rx_irq) irq_set[6'(arrival_vpid)] = 1'b1;
    if (ev_noti_irq) irq_set[6'(nicloop_pkg::IRQ_STATUS_NOTI_LSB)+6'(noti_vpid)] = 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      scratch       <= '0;
      bad_access    <= '0;
      rp_refused    <= '0;
      tx_packets    <= '0;
      rx_packets    <= '0;
      tx_dropped    <= '0;
      rx_dropped    <= '0;
      rx_crc_errors <= '0;
      tx_stall      <= '0;
      rx_stall      <= '0;
      routes        <= '0;
      irq_status    <= '0;
      irq_mask      <= '0;
      stall_vpid    <= '0;
      stalled       <= 1'b0;
    end else begin
      irq_status <= (irq_status & ~(wr_status ? s_wdata[33:0] : '0)) | irq_set;
      stalled    <= ev_rx_stall;
      if (wr_scratch) scratch <= s_wdata;
      if (wr_mask) irq_mask <= s_wdata[33:0];
      if ((wr_take && !wr_ok) || (rd_take && !rd_known))
        bad_access <= bad_access + 64'(wr_take && !wr_ok) + 64'(rd_take && !rd_known);
      if (ev_rp_refused) rp_refused <= rp_refused + 1'b1;
      if (ev_tx_packet) tx_packets <= tx_packets + 1'b1;
      if (ev_rx_packet) rx_packets <= rx_packets + 1'b1;
      if (ev_tx_error) tx_dropped <= tx_dropped + 1'b1;
      if (ev_rx_drop && !rx_crc) rx_dropped <= rx_dropped + 1'b1;
      if (rx_crc) rx_crc_errors <= rx_crc_errors + 1'b1;
      if (ev_tx_stall) tx_stall <= tx_stall + 1'b1;
      if (ev_rx_stall) rx_stall <= rx_stall + 1'b1;
      if (ev_rx_stall) stall_vpid <= rx_vpid;
      if (route_errors != '0) routes <= routes + 64'(route_errors);
    end
  end
  assign irq = |(irq_status & irq_mask);
  always_ff @(posedge clk) cycles <= rst ? '0 : cycles + 1'b1;

  // The first error since the last clear; one that comes together with the clear is kept.
  always_ff @(posedge clk) begin
    if (rst) error_info <= '0;
    else if (!error_info[0] || (wr_error && s_wdata[0])) begin
      if (ev_tx_error) error_info <= {tx_length, tx_dst, tx_src, 8'h0, tx_reason, 1'b1};
      else if (ev_rx_drop) error_info <= {rx_length, rx_dst, rx_src, 8'h0, rx_reason, 1'b1};
      else if (ev_rma_error) error_info <= {rma_length, rma_dst, rma_src, 8'h0, rma_reason, 1'b1};
      else if (wr_error) error_info <= '0;
    end
  end

  // ---- reads ----
  logic [63:0] rd_value, params, stall_info;
  logic [1:0]  rd_page;
  logic [18:0] rd_off;
  assign rd_page    = page_of(s_araddr[31:PAGE_W]);
  assign rd_off     = 19'(s_araddr[PAGE_W-1:0]);
  assign mb_rd_vpid = s_araddr[PAGE_W+:4];
  assign x_rd_addr  = s_araddr;
  assign s_arready  = !mb_busy && !x_busy && (!s_rvalid || s_rready);
  assign rd_take    = s_arvalid && s_arready;
  always_comb begin
    params = '0;
    params[nicloop_pkg::PARAMS_NODES_LSB+:nicloop_pkg::PARAMS_NODES_W]       = nodes;
    params[nicloop_pkg::PARAMS_VPIDS_LSB+:nicloop_pkg::PARAMS_VPIDS_W]       = 8'(nicloop_pkg::VPIDS);
    params[nicloop_pkg::PARAMS_DIM_X_LSB+:nicloop_pkg::PARAMS_DIM_X_W]       = dims[7:0];
    params[nicloop_pkg::PARAMS_DIM_Y_LSB+:nicloop_pkg::PARAMS_DIM_Y_W]       = dims[15:8];
    params[nicloop_pkg::PARAMS_DIM_Z_LSB+:nicloop_pkg::PARAMS_DIM_Z_W]       = dims[23:16];
    params[nicloop_pkg::PARAMS_VC_DEPTH_LSB+:nicloop_pkg::PARAMS_VC_DEPTH_W] = 8'(VC_DEPTH);
    params[nicloop_pkg::PARAMS_PORTS_LSB+:nicloop_pkg::PARAMS_PORTS_W]       = 8'(PORTS);
    params[nicloop_pkg::PARAMS_TORUS_LSB]                                    = TORUS != 0;
    stall_info = '0;
    stall_info[nicloop_pkg::RX_STALL_VPID_VPID_LSB+:4]    = stall_vpid;
    stall_info[nicloop_pkg::RX_STALL_VPID_STALLED_LSB]    = stalled;
  end
  always_comb begin
    rd_known = 1'b1;
    rd_value = '0;
    case (rd_page)
      2'd0:
        case (rd_off)
          nicloop_pkg::REG_MAGIC:         rd_value = nicloop_pkg::MAGIC_VALUE;
          nicloop_pkg::REG_VERSION:       rd_value = nicloop_pkg::VERSION_VALUE;
          nicloop_pkg::REG_PARAMS:        rd_value = params;
          nicloop_pkg::REG_DESC_HASH:     rd_value = nicloop_pkg::DESC_HASH_VALUE;
          nicloop_pkg::REG_SCRATCH:       rd_value = scratch;
          nicloop_pkg::REG_NODE_ID:       rd_value = 64'(here);
          nicloop_pkg::REG_CYCLES:        rd_value = SLEEPS != 0 ? cycles + slept : cycles;
          nicloop_pkg::REG_IRQ_STATUS:    rd_value = 64'(irq_status);
          nicloop_pkg::REG_IRQ_MASK:      rd_value = 64'(irq_mask);
          nicloop_pkg::REG_ERROR_INFO:    rd_value = 64'(error_info);
          nicloop_pkg::REG_BAD_ACCESS:    rd_value = bad_access;
          nicloop_pkg::REG_RP_REFUSED:    rd_value = rp_refused;
          nicloop_pkg::REG_TX_PACKETS:    rd_value = tx_packets;
          nicloop_pkg::REG_RX_PACKETS:    rd_value = rx_packets;
          nicloop_pkg::REG_TX_DROPPED:    rd_value = tx_dropped;
          nicloop_pkg::REG_RX_DROPPED:    rd_value = rx_dropped;
          nicloop_pkg::REG_RX_CRC_ERRORS: rd_value = rx_crc_errors;
          nicloop_pkg::REG_TX_STALL:      rd_value = tx_stall;
          nicloop_pkg::REG_RX_STALL:      rd_value = rx_stall;
          nicloop_pkg::REG_RX_STALL_VPID: rd_value = stall_info;
          nicloop_pkg::REG_ROUTE_ERRORS:  rd_value = routes;
          nicloop_pkg::REG_TX_LEVEL:      rd_value = 64'(tx_level);
          nicloop_pkg::REG_RX_LEVEL:      rd_value = 64'(rx_level);
          default:                        rd_known = 1'b0;
        endcase
      2'd1:
        case (rd_off)
          nicloop_pkg::REG_MBOX_BASE:  rd_value = mb_rd_base;
          nicloop_pkg::REG_MBOX_SLOTS: rd_value = 64'(mb_rd_slots);
          nicloop_pkg::REG_MBOX_CTRL:  rd_value = 64'(mb_rd_ctrl);
          nicloop_pkg::REG_MBOX_WP:    rd_value = 64'(mb_rd_wp);
          nicloop_pkg::REG_MBOX_STALL: rd_value = mb_rd_stall;
          default:                     rd_known = 1'b0;
        endcase
      2'd2: begin
        rd_known = rd_off == nicloop_pkg::REG_MBOX_RP;
        rd_value = rd_known ? 64'(mb_rd_rp) : '0;
      end
      default: begin
        rd_known = ext_rd_known;
        rd_value = ext_rd_value;
      end
    endcase
    if (!rd_known) {rd_known, rd_value} = {x_rd_known, x_rd_value};
  end

  always_ff @(posedge clk) begin
    if (rst) s_rvalid <= 1'b0;
    else if (rd_take) s_rvalid <= 1'b1;
    else if (s_rready) s_rvalid <= 1'b0;
    if (rd_take) begin
      s_rdata <= rd_value;
      s_rresp <= rd_known ? OKAY : DECERR;
    end
  end

  assign idle   = !s_bvalid && !s_rvalid && !s_awvalid && !s_wvalid && !s_arvalid;
  assign active = !idle;
endmodule
