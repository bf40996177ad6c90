// regfile: the NIC's registers behind an AXI4-Lite slave.
//
// Job: decodes the map of nicloop_pkg, stores the global page (counters, interrupt, first error),
//   forwards mailbox registers to mailbox_table and unknown addresses to rma_regs and route_table
//   (x_*). Every access is answered: DECERR outside the map, SLVERR for a write to a read-only
//   register or one that is not eight bytes wide; both are counted in BAD_ACCESS.
// Pipeline, a cycle per stage: an access is registered; decoded, here and in every block that may
//   own the register; a write is checked; performed. A read returns the tables' contents of that
//   stage; counters, which lag their events by a cycle, are read in the next, with the response.
// Handshake: AXI4-Lite, 64-bit data. A write is accepted when address and data are both valid.
// Backpressure: one access per direction is in progress and one response held; the next is accepted
//   when the previous one has been performed. A write waits for mailbox_table or rma_regs: while
//   they clear after reset, and for a cycle in which they count.
module regfile #(
    parameter int VC_DEPTH = 16,
    parameter int PORTS    = 3,
    parameter int SLEEPS   = 0,  // 1: the clock may stop, for slept cycles in all
    parameter int TORUS    = 0,
    parameter int VPIDS    = nicloop_pkg::VPIDS,  // processes; others have no registers
    parameter int COUNT_W  = 64,                  // bits of a counter of events
    parameter int CYCLES_W = 64,                  // and of that of cycles
    parameter int RMA      = 1,                   // 0: no process has a ring, so none interrupts
    // 1: address and data of an access stand up to the second cycle behind its answer
    parameter int HELD     = 0
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
    input  logic        mb_wr_on,       // that of mb_wr_vpid, in the next cycle: base and size are read-only
    input  logic        mb_wr_ready,
    input  logic        mb_rp_ready,
    output logic [3:0]  mb_wr_vpid,
    output logic [63:0] wr_data,        // for all registers
    output logic        mb_wr_base,
    output logic        mb_wr_slots,
    output logic        mb_wr_ctrl,
    output logic        mb_wr_rp,
    // rma_regs and route_table: what they say about an address is valid in the cycle behind it
    // (whether it may be written: as it will be in the next), a value in the second
    output logic [31:0] x_wr_addr,
    output logic        x_wr_do,
    input  logic        x_wr_known,
    input  logic        x_wr_writable,
    input  logic        x_wr_ready,
    output logic [31:0] x_rd_addr,
    input  logic        x_rd_known,
    input  logic [63:0] x_rd_value,
    input  logic        x_busy,
    // registers of links, as x_*
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
    input  logic [7:0]  route_errors,   // by port
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
    output logic        irq,           // any of irq_lines
    // levels, a line per MSI-X vector: 0 for errors and stalls, v + 1 for arrivals and
    // notifications of process v
    output logic [nicloop_pkg::VPIDS:0] irq_lines,
    output logic        writes,         // a write is under way: what reads look at is clocked by others
    output logic        idle,
    output logic        active
);
  localparam logic [1:0] OKAY = hw_pkg::RESP_OKAY, SLVERR = hw_pkg::RESP_SLVERR, DECERR = hw_pkg::RESP_DECERR;
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_VPID_STRIDE);

  // ---- which register ---- A page number: 0 global, 1 vpid, 2 user; 3 is none. Copies of a
  // strided page share its registers.
  function automatic logic [1:0] page_of(input logic [31-PAGE_W:0] a);
    if (a == '0) page_of = 2'd0;
    else if (a[31-PAGE_W:16-PAGE_W] == 16'(nicloop_pkg::PAGE_VPID_BASE >> 16)) page_of = 2'd1;
    else if (a[31-PAGE_W:16-PAGE_W] == 16'(nicloop_pkg::PAGE_USER_BASE >> 16)) page_of = 2'd2;
    else page_of = 2'd3;
  endfunction

  // A register of the global page by its number, one-hot; there are no others.
  localparam int GLOBALS = 27;
  function automatic logic [GLOBALS-1:0] global_of(input logic [31:0] a);
    global_of = page_of(a[31:PAGE_W]) == 2'd0 && a[PAGE_W-1:8] == '0 && a[2:0] == '0 ? GLOBALS'(1) << a[7:3] : '0;
  endfunction
  function automatic logic [GLOBALS-1:0] bit_of(input logic [4:0] number);
    bit_of = GLOBALS'(1) << number;
  endfunction
  localparam logic [GLOBALS-1:0] WRITABLE = bit_of(nicloop_pkg::REG_SCRATCH[7:3]) |
      bit_of(nicloop_pkg::REG_IRQ_STATUS[7:3]) | bit_of(nicloop_pkg::REG_IRQ_MASK[7:3]) |
      bit_of(nicloop_pkg::REG_ERROR_INFO[7:3]);
  localparam logic [GLOBALS-1:0] READABLE = WRITABLE | bit_of(nicloop_pkg::REG_MAGIC[7:3]) |
      bit_of(nicloop_pkg::REG_VERSION[7:3]) | bit_of(nicloop_pkg::REG_PARAMS[7:3]) |
      bit_of(nicloop_pkg::REG_DESC_HASH[7:3]) | bit_of(nicloop_pkg::REG_NODE_ID[7:3]) |
      bit_of(nicloop_pkg::REG_CYCLES[7:3]) | bit_of(nicloop_pkg::REG_BAD_ACCESS[7:3]) |
      bit_of(nicloop_pkg::REG_RP_REFUSED[7:3]) | bit_of(nicloop_pkg::REG_TX_PACKETS[7:3]) |
      bit_of(nicloop_pkg::REG_RX_PACKETS[7:3]) | bit_of(nicloop_pkg::REG_TX_DROPPED[7:3]) |
      bit_of(nicloop_pkg::REG_RX_DROPPED[7:3]) | bit_of(nicloop_pkg::REG_RX_CRC_ERRORS[7:3]) |
      bit_of(nicloop_pkg::REG_TX_STALL[7:3]) | bit_of(nicloop_pkg::REG_RX_STALL[7:3]) |
      bit_of(nicloop_pkg::REG_RX_STALL_VPID[7:3]) | bit_of(nicloop_pkg::REG_ROUTE_ERRORS[7:3]) |
      bit_of(nicloop_pkg::REG_TX_LEVEL[7:3]) | bit_of(nicloop_pkg::REG_RX_LEVEL[7:3]);
  function automatic logic built(input logic [31:0] a);
    built = 5'(a[PAGE_W+:4]) < 5'(VPIDS);
  endfunction
  // The same of the mailbox registers: base, slots, switches, write pointer, stall; read pointer.
  function automatic logic [5:0] mailbox_of(input logic [31:0] a);
    mailbox_of = '0;
    if (page_of(a[31:PAGE_W]) == 2'd1 && built(a))
      case (19'(a[PAGE_W-1:0]))
        nicloop_pkg::REG_MBOX_BASE:  mailbox_of[0] = 1'b1;
        nicloop_pkg::REG_MBOX_SLOTS: mailbox_of[1] = 1'b1;
        nicloop_pkg::REG_MBOX_CTRL:  mailbox_of[2] = 1'b1;
        nicloop_pkg::REG_MBOX_WP:    mailbox_of[3] = 1'b1;
        nicloop_pkg::REG_MBOX_STALL: mailbox_of[4] = 1'b1;
        default: ;
      endcase
    mailbox_of[5] = page_of(a[31:PAGE_W]) == 2'd2 && built(a) && 19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_MBOX_RP;
  endfunction

  // ---- writes: there is one, it is decoded, judged, done ----
  logic               w_there, w_seen, w_judged, w_whole, wr_go, wr_wait, wr_take, wr_known, may, wr_ok;
  // of here; to be written at any time; while its mailbox is off; while its table is at rest
  logic               wr_own, w_free, w_ring, w_table;
  // what is judged and may be done: in a table that must be at rest; elsewhere
  logic               do_table, do_x;
  logic [31:0]        w_addr, w_addr_kept;
  logic [63:0]        w_data, w_data_kept;
  logic [GLOBALS-1:0] w_global;
  /* verilator lint_off UNUSEDSIGNAL */  // some of them are not written
  logic [GLOBALS-1:0] do_global;
  logic [5:0]         w_mailbox, do_mailbox;
  /* verilator lint_on UNUSEDSIGNAL */
  assign w_addr    = HELD != 0 ? s_awaddr : w_addr_kept;
  assign w_data    = HELD != 0 ? s_wdata : w_data_kept;
  assign wr_go     = s_awvalid && s_wvalid && !w_there;
  assign s_awready = wr_go;
  assign s_wready  = wr_go;
  always_ff @(posedge clk) begin
    if (rst) w_there <= 1'b0;
    else w_there <= wr_go || (w_there && !wr_take);
    w_seen   <= !rst && w_there && !wr_take;
    w_judged <= !rst && w_seen && !wr_take;
    if (wr_go) begin
      w_addr_kept <= s_awaddr;
      w_data_kept <= s_wdata;
      w_whole <= s_wstrb == 8'hff;
    end
    w_global  <= global_of(w_addr) & READABLE;
    w_mailbox <= mailbox_of(w_addr);
    // The same in short, so that whether a write is done is known early.
    wr_own    <= (global_of(w_addr) & READABLE) != '0 || mailbox_of(w_addr) != '0;
    w_free    <= (global_of(w_addr) & WRITABLE) != '0 || (mailbox_of(w_addr) & 6'b100100) != '0;
    w_ring    <= (mailbox_of(w_addr) & 6'b000011) != '0;
    w_table   <= (mailbox_of(w_addr) & 6'b000111) != '0;
  end

  // Judged again in every cycle in which it waits. What is done depends on registers alone, and on
  // whether its table is at rest.
  assign may = w_whole && (w_free || (w_ring && !mb_wr_on) || (!wr_own && x_wr_writable));
  always_ff @(posedge clk) begin
    wr_known   <= wr_own || ext_wr_known || x_wr_known;
    wr_ok      <= may;
    do_table   <= may && w_table;
    do_x       <= may && !wr_own;
    do_mailbox <= may ? w_mailbox : '0;
    do_global  <= may ? w_global : '0;
  end
  assign wr_wait = (do_table && !mb_wr_ready) || (do_mailbox[5] && !mb_rp_ready) || (do_x && !x_wr_ready);
  assign wr_take = w_judged && !wr_wait && (!s_bvalid || s_bready);

  assign wr_data     = w_data;
  assign x_wr_addr   = w_addr;
  assign x_wr_do     = wr_take && do_x;
  assign mb_wr_vpid  = w_addr[PAGE_W+:4];
  assign mb_wr_base  = wr_take && do_mailbox[0];
  assign mb_wr_slots = wr_take && do_mailbox[1];
  assign mb_wr_ctrl  = wr_take && do_mailbox[2];
  assign mb_wr_rp    = wr_take && do_mailbox[5];

  always_ff @(posedge clk) begin
    if (rst) s_bvalid <= 1'b0;
    else if (wr_take) s_bvalid <= 1'b1;
    else if (s_bready) s_bvalid <= 1'b0;
    if (wr_take) s_bresp <= !wr_known ? DECERR : !wr_ok ? SLVERR : OKAY;
  end

  // ---- state of the global page: events count, and are cleared, a cycle behind them ----
  logic [63:0] scratch;
  logic [CYCLES_W-1:0] cycles, cycles_shown;  // shown: in the cycle in which counters are looked at, that of the tables
  logic [COUNT_W-1:0] bad_access, rp_refused, tx_packets, rx_packets, tx_dropped, rx_dropped, rx_crc_errors, tx_stall,
      rx_stall, routes;
  logic [33:0] irq_status, irq_mask, irq_set, irq_now;
  localparam logic [33:0] CAUSES = 34'((1 << VPIDS) - 1) |
      34'(RMA != 0 ? (34'h1 << VPIDS) - 1 : 0) << nicloop_pkg::IRQ_STATUS_NOTI_LSB |
      34'h1 << nicloop_pkg::IRQ_STATUS_ERROR_LSB | 34'h1 << nicloop_pkg::IRQ_STATUS_STALL_LSB;  // that can be
  logic [57:0] error_info;
  logic [3:0]  stall_vpid;
  logic        stalled;

  logic wr_scratch, wr_mask, wr_status, wr_error;
  assign wr_scratch = wr_take && do_global[nicloop_pkg::REG_SCRATCH[7:3]];
  assign wr_mask    = wr_take && do_global[nicloop_pkg::REG_IRQ_MASK[7:3]];
  // The data of a write is stable for a cycle longer than the write.
  always_ff @(posedge clk) begin
    wr_status <= !rst && wr_take && do_global[nicloop_pkg::REG_IRQ_STATUS[7:3]];
    wr_error  <= !rst && wr_take && do_global[nicloop_pkg::REG_ERROR_INFO[7:3]];
  end

  logic        n_refused, n_tx_packet, n_rx_packet, n_tx_error, n_rx_drop, n_rx_crc, n_rma_error, n_tx_stall,
      n_rx_stall, n_other, n_error, n_stall, n_bad_write, n_bad_read;
  logic [7:0]  n_routes;
  logic [3:0]  n_rx_vpid, n_arrival_vpid, n_noti_vpid;
  logic        n_arrival, n_noti, n_first, rx_crc, rd_done;
  logic [56:0] n_tx_info, n_rx_info, n_rma_info, n_info;
  assign rx_crc = ev_rx_drop && rx_reason == 7'(nicloop_pkg::DROP_REASON_CRC);
  always_ff @(posedge clk) begin
    n_refused      <= !rst && ev_rp_refused;
    n_tx_packet    <= !rst && ev_tx_packet;
    n_rx_packet    <= !rst && ev_rx_packet;
    n_tx_error     <= !rst && ev_tx_error;
    n_rx_drop      <= !rst && ev_rx_drop && !rx_crc;
    n_rx_crc       <= !rst && rx_crc;
    n_tx_stall     <= !rst && ev_tx_stall;
    n_rx_stall     <= !rst && ev_rx_stall;
    n_routes       <= rst ? '0 : route_errors;
    n_rma_error    <= !rst && ev_rma_error;
    n_other        <= !rst && (ev_link_failure || ev_rp_refused);
    n_stall        <= !rst && ev_ring_stall;
    n_arrival      <= !rst && ev_rx_packet && ev_rx_irq;
    n_noti         <= !rst && ev_noti_irq;
    n_bad_write    <= !rst && wr_take && !wr_ok;
    n_bad_read     <= !rst && rd_done && !r_known;
    n_rx_vpid      <= rx_vpid;
    n_arrival_vpid <= arrival_vpid;
    n_noti_vpid    <= noti_vpid;
    n_tx_info      <= {tx_length, tx_dst, tx_src, 8'h0, tx_reason};
    n_rx_info      <= {rx_length, rx_dst, rx_src, 8'h0, rx_reason};
    n_rma_info     <= {rma_length, rma_dst, rma_src, 8'h0, rma_reason};
  end
  // Which of them it was is known late, so it is chosen here, and how many routes failed is counted
  // here.
  function automatic logic [3:0] ones(input logic [7:0] v);
    ones = '0;
    for (int i = 0; i < 8; i++) ones = ones + 4'(v[i]);
  endfunction
  assign n_first = n_tx_error || n_rx_drop || n_rx_crc || n_rma_error;
  assign n_error = n_first || n_other || n_routes != '0;
  assign n_info  = n_tx_error ? n_tx_info : n_rx_drop || n_rx_crc ? n_rx_info : n_rma_info;

  always_comb begin
    irq_set = '0;
    irq_set[nicloop_pkg::IRQ_STATUS_ERROR_LSB] = n_error;
    irq_set[nicloop_pkg::IRQ_STATUS_STALL_LSB] = (n_rx_stall && !stalled) || n_stall;
    if (n_arrival) irq_set[6'(n_arrival_vpid)] = 1'b1;
    if (n_noti) irq_set[6'(nicloop_pkg::IRQ_STATUS_NOTI_LSB)+6'(n_noti_vpid)] = 1'b1;
  end
  assign irq_now = ((irq_status & ~(wr_status ? w_data[33:0] : '0)) | irq_set) & CAUSES;
  // As early as if events were counted at once.
  logic [33:0] irq_open;
  assign irq_open = irq_now & irq_mask;
  assign irq      = |irq_open;
  assign irq_lines = {irq_open[nicloop_pkg::IRQ_STATUS_ARRIVAL_LSB+:nicloop_pkg::VPIDS] |
      irq_open[nicloop_pkg::IRQ_STATUS_NOTI_LSB+:nicloop_pkg::VPIDS],
      irq_open[nicloop_pkg::IRQ_STATUS_ERROR_LSB] | irq_open[nicloop_pkg::IRQ_STATUS_STALL_LSB]};

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
      irq_status <= irq_now;
      stalled    <= n_rx_stall;
      if (wr_scratch) scratch <= w_data;
      if (wr_mask) irq_mask <= w_data[33:0] & CAUSES;
      if (n_bad_write || n_bad_read) bad_access <= bad_access + COUNT_W'(n_bad_write) + COUNT_W'(n_bad_read);
      if (n_refused) rp_refused <= rp_refused + 1'b1;
      if (n_tx_packet) tx_packets <= tx_packets + 1'b1;
      if (n_rx_packet) rx_packets <= rx_packets + 1'b1;
      if (n_tx_error) tx_dropped <= tx_dropped + 1'b1;
      if (n_rx_drop) rx_dropped <= rx_dropped + 1'b1;
      if (n_rx_crc) rx_crc_errors <= rx_crc_errors + 1'b1;
      if (n_tx_stall) tx_stall <= tx_stall + 1'b1;
      if (n_rx_stall) rx_stall <= rx_stall + 1'b1;
      if (n_rx_stall) stall_vpid <= n_rx_vpid;
      if (n_routes != '0) routes <= routes + COUNT_W'(ones(n_routes));
    end
  end
  always_ff @(posedge clk) begin
    cycles       <= rst ? '0 : cycles + 1'b1;
    cycles_shown <= SLEEPS != 0 ? cycles + CYCLES_W'(slept) : cycles;
  end

  // The first error since the last clear; one that coincides with the clear is kept.
  always_ff @(posedge clk) begin
    if (rst) error_info <= '0;
    else if (!error_info[0] || (wr_error && w_data[0])) begin
      if (n_first) error_info <= {n_info, 1'b1};
      else if (wr_error) error_info <= '0;
    end
  end

  // ---- reads: there is one, it is decoded, tables are looked at, then counters ----
  logic               r_there, r_seen, r_have, rd_go, rd_look;
  logic [31:0]        r_addr, r_addr_kept;
  logic [GLOBALS-1:0] r_global;
  logic [5:0]         r_mailbox;
  logic               r_known;
  logic [63:0]        params, stall_info, tables, counters;
  logic [87:0]        levels_shown;
  assign r_addr     = HELD != 0 ? s_araddr : r_addr_kept;
  assign rd_go      = s_arvalid && !r_there;
  assign s_arready  = !r_there;
  assign mb_rd_vpid = r_addr[PAGE_W+:4];
  assign x_rd_addr  = r_addr;
  assign rd_look    = r_seen && !mb_busy && !x_busy;
  assign rd_done    = r_have && (!s_rvalid || s_rready);
  always_ff @(posedge clk) begin
    if (rst) r_there <= 1'b0;
    else r_there <= rd_go || (r_there && !rd_done);
    r_seen <= !rst && r_there && !rd_look && !r_have;
    r_have <= !rst && (rd_look || (r_have && !rd_done));
    if (rd_go) r_addr_kept <= s_araddr;
    r_global  <= global_of(r_addr) & READABLE;
    r_mailbox <= mailbox_of(r_addr);
    r_known   <= r_global != '0 || r_mailbox != '0 || ext_rd_known || x_rd_known;
  end
  always_comb begin
    params = '0;
    params[nicloop_pkg::PARAMS_NODES_LSB+:nicloop_pkg::PARAMS_NODES_W]       = nodes;
    params[nicloop_pkg::PARAMS_VPIDS_LSB+:nicloop_pkg::PARAMS_VPIDS_W]       = 8'(VPIDS);
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
  function automatic logic [63:0] only(input logic chosen, input logic [63:0] value);
    only = chosen ? value : '0;
  endfunction
  always_ff @(posedge clk) begin
    levels_shown <= {tx_level, rx_level};
    tables <= only(r_mailbox[0], mb_rd_base) | only(r_mailbox[1], 64'(mb_rd_slots)) |
        only(r_mailbox[2], 64'(mb_rd_ctrl)) | only(r_mailbox[3], 64'(mb_rd_wp)) |
              only(r_mailbox[4], mb_rd_stall) | only(r_mailbox[5], 64'(mb_rd_rp));
  end
  assign counters = only(r_global[nicloop_pkg::REG_MAGIC[7:3]], nicloop_pkg::MAGIC_VALUE) |
      only(r_global[nicloop_pkg::REG_VERSION[7:3]], nicloop_pkg::VERSION_VALUE) |
      only(r_global[nicloop_pkg::REG_PARAMS[7:3]], params) |
      only(r_global[nicloop_pkg::REG_DESC_HASH[7:3]], nicloop_pkg::DESC_HASH_VALUE) |
      only(r_global[nicloop_pkg::REG_SCRATCH[7:3]], scratch) |
      only(r_global[nicloop_pkg::REG_NODE_ID[7:3]], 64'(here)) |
      only(r_global[nicloop_pkg::REG_CYCLES[7:3]], 64'(cycles_shown)) |
      only(r_global[nicloop_pkg::REG_IRQ_STATUS[7:3]], 64'(irq_status)) |
      only(r_global[nicloop_pkg::REG_IRQ_MASK[7:3]], 64'(irq_mask)) |
      only(r_global[nicloop_pkg::REG_ERROR_INFO[7:3]], 64'(error_info)) |
      only(r_global[nicloop_pkg::REG_BAD_ACCESS[7:3]], 64'(bad_access)) |
      only(r_global[nicloop_pkg::REG_RP_REFUSED[7:3]], 64'(rp_refused)) |
      only(r_global[nicloop_pkg::REG_TX_PACKETS[7:3]], 64'(tx_packets)) |
      only(r_global[nicloop_pkg::REG_RX_PACKETS[7:3]], 64'(rx_packets)) |
      only(r_global[nicloop_pkg::REG_TX_DROPPED[7:3]], 64'(tx_dropped)) |
      only(r_global[nicloop_pkg::REG_RX_DROPPED[7:3]], 64'(rx_dropped)) |
      only(r_global[nicloop_pkg::REG_RX_CRC_ERRORS[7:3]], 64'(rx_crc_errors)) |
      only(r_global[nicloop_pkg::REG_TX_STALL[7:3]], 64'(tx_stall)) |
      only(r_global[nicloop_pkg::REG_RX_STALL[7:3]], 64'(rx_stall)) |
      only(r_global[nicloop_pkg::REG_RX_STALL_VPID[7:3]], stall_info) |
      only(r_global[nicloop_pkg::REG_ROUTE_ERRORS[7:3]], 64'(routes)) |
      only(r_global[nicloop_pkg::REG_TX_LEVEL[7:3]], 64'(levels_shown[87:48])) |
      only(r_global[nicloop_pkg::REG_RX_LEVEL[7:3]], 64'(levels_shown[47:0]));

  always_ff @(posedge clk) begin
    if (rst) s_rvalid <= 1'b0;
    else if (rd_done) s_rvalid <= 1'b1;
    else if (s_rready) s_rvalid <= 1'b0;
    if (rd_done) begin
      s_rdata <= counters | tables | ext_rd_value | x_rd_value;
      s_rresp <= r_known ? OKAY : DECERR;
    end
  end

  assign idle   = !s_bvalid && !s_rvalid && !s_awvalid && !s_wvalid && !s_arvalid && !w_there && !r_there;
  assign active = !idle;
  assign writes = s_bvalid || s_awvalid || s_wvalid || w_there;
endmodule
