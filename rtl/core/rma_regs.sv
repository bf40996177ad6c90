// rma_regs: the registers of remote memory access, behind regfile.
//
// Job: decodes the pages rma, atu and nvm and the NOTI_* registers of the pages vpid and user;
//   counts events; forwards writes to the units that own the registers.
// Handshake: regfile's protocol: known and writable refer to the address of the previous cycle
//   (whether a ring is off: as of the next), the value is valid in the second, tables are looked up
//   in the first; wr_do is a pulse, only when ready.
// Backpressure: a write waits until the rings are cleared after reset, and for a cycle in which a
//   notification is counted.
module rma_regs (
    input  logic        clk,
    input  logic        rst,
    input  logic [31:0] wr_addr,
    input  logic        wr_do,
    output logic        wr_known,
    output logic        wr_writable,
    output logic        wr_ready,
    input  logic [31:0] rd_addr,
    output logic        rd_known,
    output logic [63:0] rd_value,
    input  logic [63:0] wr_data,
    // rings
    input  logic        ring_wr_on,   // that of wr_addr, in the next cycle: base and size are read-only
    input  logic        rings_ready,
    input  logic        rings_rp_ready,
    output logic        wr_base,
    output logic        wr_slots,
    output logic        wr_ctrl,
    output logic        wr_rp,
    input  logic [63:0] ring_base,
    input  logic [12:0] ring_slots,
    input  logic [8:0]  ring_ctrl,
    input  logic [31:0] ring_wp,
    input  logic [32:0] ring_rp,
    input  logic [63:0] ring_stall,
    // translation
    output logic        wr_table_base,
    output logic        wr_table_pages,
    input  logic [63:0] table_base,
    input  logic [25:0] table_pages,
    output logic        command_put,
    output logic        done_set,
    output logic [63:0] done_addr,
    input  logic [31:0] commands_done,
    input  logic [31:0] commands_refused,
    input  logic [31:0] done_errors,
    input  logic [4:0]  commands_queued,
    input  logic        commands_busy,
    input  logic        ev_hit,
    input  logic        ev_miss,
    input  logic        ev_fault,
    input  logic [63:0] fault,
    // write limiter
    output logic        wr_nvm,
    input  logic [63:0] nvm_value,
    // events and levels
    input  logic [1:0]  ev_tx,
    input  logic [2:0]  ev_rx,
    input  logic        ev_refused,
    input  logic [2:0]  ev_drop,
    input  logic        ev_late,
    input  logic        ev_purged,
    input  logic [3:0]  ev_error,
    input  logic        ev_noti,
    input  logic        ev_noti_off,
    input  logic [15:0] descriptors,
    input  logic [3:0]  stalled,
    input  logic        ev_stall,
    input  logic [3:0]  stall_vpid
);
  // ---- which register: of page rma by its number, the others as named, all one-hot ----
  localparam int NUMBERS = 25;
  localparam int BASE = 0, SLOTS = 1, CTRL = 2, WP = 3, STALL = 4, RP = 5, TABLE_BASE = 6, TABLE_PAGES = 7, NVM = 8,
      NVM_STATE = 9, PAGED = 10;
  localparam logic [4:0] LAST_RMA = nicloop_pkg::REG_RMA_STALL_VPID[7:3], FIRST_ATU = nicloop_pkg::REG_ATU_FAULTS[7:3],
      LAST_ATU = nicloop_pkg::REG_ATU_DONE_ERRORS[7:3];
  function automatic logic [NUMBERS-1:0] number_of(input logic [31:0] a);
    number_of = '0;
    if (a[31:12] == 20'(nicloop_pkg::PAGE_RMA_BASE[18:12]) && a[11:8] == '0 && a[2:0] == '0 &&
        (a[7:3] <= LAST_RMA || (a[7:3] >= FIRST_ATU && a[7:3] <= LAST_ATU))) number_of = NUMBERS'(1) << a[7:3];
  endfunction
  function automatic logic [PAGED-1:0] paged_of(input logic [31:0] a);
    paged_of = '0;
    case (a[31:16])
      16'(nicloop_pkg::PAGE_VPID_BASE[18:16]):
        case (19'(a[11:0]))
          nicloop_pkg::REG_NOTI_BASE:  paged_of[BASE] = 1'b1;
          nicloop_pkg::REG_NOTI_SLOTS: paged_of[SLOTS] = 1'b1;
          nicloop_pkg::REG_NOTI_CTRL:  paged_of[CTRL] = 1'b1;
          nicloop_pkg::REG_NOTI_WP:    paged_of[WP] = 1'b1;
          nicloop_pkg::REG_NOTI_STALL: paged_of[STALL] = 1'b1;
          default: ;
        endcase
      16'(nicloop_pkg::PAGE_USER_BASE[18:16]): paged_of[RP] = 19'(a[11:0]) == nicloop_pkg::REG_NOTI_RP;
      16'(nicloop_pkg::PAGE_ATU_BASE[18:16]): begin
        paged_of[TABLE_BASE]  = 19'(a[11:0]) == nicloop_pkg::REG_ATU_BASE;
        paged_of[TABLE_PAGES] = 19'(a[11:0]) == nicloop_pkg::REG_ATU_PAGES;
      end
      16'(nicloop_pkg::PAGE_NVM_BASE[18:16]):
        if (a[15:12] < 4'(nicloop_pkg::NVM_RANGES) && a[11:6] == '0 && a[2:0] == '0) begin
          paged_of[NVM]       = a[5:3] <= nicloop_pkg::REG_NVM_DEPTH[5:3];
          paged_of[NVM_STATE] = a[5:3] > nicloop_pkg::REG_NVM_DEPTH[5:3] && a[5:3] <= nicloop_pkg::REG_NVM_STALL[5:3];
        end
      default: ;
    endcase
  endfunction
  logic [NUMBERS-1:0] wr_number, rd_number;
  logic [PAGED-1:0]   wr_paged, rd_paged;
  // to be written at any time; while its ring is off; while the rings are at rest
  logic               wr_free, wr_ring, wr_rings;
  always_ff @(posedge clk) begin
    wr_known  <= number_of(wr_addr) != '0 || paged_of(wr_addr) != '0;
    wr_ring   <= (paged_of(wr_addr) & PAGED'(1 << BASE | 1 << SLOTS)) != '0;
    wr_rings  <= (paged_of(wr_addr) & PAGED'(1 << BASE | 1 << SLOTS | 1 << CTRL)) != '0;
    wr_free   <= (paged_of(wr_addr) & PAGED'(1 << CTRL | 1 << RP | 1 << TABLE_BASE | 1 << TABLE_PAGES |
        1 << NVM)) != '0 ||
                 (number_of(wr_addr) & (NUMBERS'(1) << nicloop_pkg::REG_ATU_DONE[7:3] |
                 NUMBERS'(1) << nicloop_pkg::REG_ATU_COMMAND[7:3])) != '0;
    wr_number <= number_of(wr_addr);
    rd_number <= number_of(rd_addr);
    wr_paged  <= paged_of(wr_addr);
    rd_paged  <= paged_of(rd_addr);
  end

  // ---- writes ----
  logic at_done, at_command;
  assign at_done        = wr_number[nicloop_pkg::REG_ATU_DONE[7:3]];
  assign at_command     = wr_number[nicloop_pkg::REG_ATU_COMMAND[7:3]];
  assign wr_writable    = (wr_ring && !ring_wr_on) || wr_free;
  assign wr_ready       = !(wr_paged[RP] && !rings_rp_ready) && !(wr_rings && !rings_ready);
  assign wr_base        = wr_do && wr_paged[BASE];
  assign wr_slots       = wr_do && wr_paged[SLOTS];
  assign wr_ctrl        = wr_do && wr_paged[CTRL];
  assign wr_rp          = wr_do && wr_paged[RP];
  assign wr_table_base  = wr_do && wr_paged[TABLE_BASE];
  assign wr_table_pages = wr_do && wr_paged[TABLE_PAGES];
  assign wr_nvm         = wr_do && wr_paged[NVM];
  assign command_put    = wr_do && at_command;
  always_ff @(posedge clk) begin
    if (rst) begin
      done_addr <= '0;
      done_set  <= 1'b0;
    end else if (wr_do && at_done) begin
      done_addr <= {wr_data[63:3], 3'h0};
      done_set  <= 1'b1;
    end
  end

  // ---- counters, a cycle behind their events ----
  logic [63:0] tx_packets, rx_packets, refused, rx_dropped, errors, notis, noti_off, late, purged, faults, hits, misses,
      last_fault, n_fault_of;
  logic [2:0]  n_tx, n_rx, n_drop, n_errors;  // how many
  logic        n_refused, n_noti, n_noti_off, n_late, n_purged, n_hit, n_miss, n_fault, n_stall;
  logic [3:0]  n_stalled, n_stall_vpid, last_stall;
  function automatic logic [2:0] ones(input logic [3:0] v);
    ones = 3'(v[0]) + 3'(v[1]) + 3'(v[2]) + 3'(v[3]);
  endfunction
  always_ff @(posedge clk) begin
    n_tx         <= rst ? '0 : ones({2'h0, ev_tx});
    n_rx         <= rst ? '0 : ones({1'b0, ev_rx});
    n_drop       <= rst ? '0 : ones({1'b0, ev_drop});
    n_errors     <= rst ? '0 : ones(ev_error);
    n_refused    <= !rst && ev_refused;
    n_noti       <= !rst && ev_noti;
    n_noti_off   <= !rst && ev_noti_off;
    n_late       <= !rst && ev_late;
    n_purged     <= !rst && ev_purged;
    n_hit        <= !rst && ev_hit;
    n_miss       <= !rst && ev_miss;
    n_fault      <= !rst && ev_fault;
    n_stall      <= !rst && ev_stall;
    n_fault_of   <= fault;
    n_stall_vpid <= stall_vpid;
    n_stalled    <= stalled;
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      tx_packets <= '0;
      rx_packets <= '0;
      refused    <= '0;
      rx_dropped <= '0;
      errors     <= '0;
      notis      <= '0;
      noti_off   <= '0;
      late       <= '0;
      purged     <= '0;
      faults     <= '0;
      hits       <= '0;
      misses     <= '0;
      last_fault <= '0;
      last_stall <= '0;
    end else begin
      if (n_tx != '0) tx_packets <= tx_packets + 64'(n_tx);
      if (n_rx != '0) rx_packets <= rx_packets + 64'(n_rx);
      if (n_drop != '0) rx_dropped <= rx_dropped + 64'(n_drop);
      if (n_errors != '0) errors <= errors + 64'(n_errors);
      if (n_refused) refused <= refused + 1'b1;
      if (n_noti) notis <= notis + 1'b1;
      if (n_noti_off) noti_off <= noti_off + 1'b1;
      if (n_late) late <= late + 1'b1;
      if (n_purged) purged <= purged + 1'b1;
      if (n_hit) hits <= hits + 1'b1;
      if (n_miss) misses <= misses + 1'b1;
      if (n_fault) begin
        faults     <= faults + 1'b1;
        last_fault <= n_fault_of;
      end
      if (n_stall) last_stall <= n_stall_vpid;
    end
  end

  // ---- reads: tables, then counters ----
  logic [63:0] tables, commands;
  function automatic logic [63:0] only(input logic chosen, input logic [63:0] value);
    only = chosen ? value : '0;
  endfunction
  always_comb begin
    commands = '0;
    commands[nicloop_pkg::ATU_STATUS_DONE_LSB+:32]  = commands_done;
    commands[nicloop_pkg::ATU_STATUS_BUSY_LSB]      = commands_busy;
    commands[nicloop_pkg::ATU_STATUS_QUEUED_LSB+:5] = commands_queued;
  end
  assign rd_known = rd_number != '0 || rd_paged != '0;
  always_ff @(posedge clk)
    tables <= only(rd_paged[BASE], ring_base) | only(rd_paged[SLOTS], 64'(ring_slots)) |
        only(rd_paged[CTRL], 64'(ring_ctrl)) | only(rd_paged[WP], 64'(ring_wp)) |
              only(rd_paged[STALL], ring_stall) | only(rd_paged[RP], 64'(ring_rp)) |
              only(rd_paged[TABLE_BASE], table_base) |
              only(rd_paged[TABLE_PAGES], 64'(table_pages)) | only(rd_paged[NVM] || rd_paged[NVM_STATE], nvm_value) |
              only(rd_number[nicloop_pkg::REG_RMA_LEVEL[7:3]], {44'h0, stalled, descriptors}) |
              only(rd_number[nicloop_pkg::REG_ATU_DONE[7:3]], done_addr) |
              only(rd_number[nicloop_pkg::REG_ATU_STATUS[7:3]], commands) |
              only(rd_number[nicloop_pkg::REG_ATU_REFUSED[7:3]], 64'(commands_refused)) |
              only(rd_number[nicloop_pkg::REG_ATU_DONE_ERRORS[7:3]], 64'(done_errors));
  assign rd_value = tables | only(rd_number[nicloop_pkg::REG_RMA_TX_PACKETS[7:3]], tx_packets) |
      only(rd_number[nicloop_pkg::REG_RMA_RX_PACKETS[7:3]], rx_packets) |
      only(rd_number[nicloop_pkg::REG_RMA_REFUSED[7:3]], refused) |
      only(rd_number[nicloop_pkg::REG_RMA_RX_DROPPED[7:3]], rx_dropped) |
      only(rd_number[nicloop_pkg::REG_RMA_ERRORS[7:3]], errors) |
      only(rd_number[nicloop_pkg::REG_RMA_NOTIS[7:3]], notis) |
      only(rd_number[nicloop_pkg::REG_RMA_NOTI_OFF[7:3]], noti_off) |
      only(rd_number[nicloop_pkg::REG_RMA_LATE[7:3]], late) |
      only(rd_number[nicloop_pkg::REG_RMA_PURGED[7:3]], purged) |
      only(rd_number[nicloop_pkg::REG_RMA_STALL_VPID[7:3]], {55'h0, n_stalled != '0, 4'h0, last_stall}) |
      only(rd_number[nicloop_pkg::REG_ATU_FAULTS[7:3]], faults) |
      only(rd_number[nicloop_pkg::REG_ATU_FAULT[7:3]], last_fault) |
      only(rd_number[nicloop_pkg::REG_ATU_HITS[7:3]], hits) | only(rd_number[nicloop_pkg::REG_ATU_MISSES[7:3]], misses);
endmodule
