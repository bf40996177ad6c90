// rma_regs: the registers of remote memory access, behind regfile.
//
// Job: decodes the pages rma, atu and nvm and the NOTI_* registers of the pages vpid and user; counts events; hands
//   writes to the units that own the registers.
// Handshake: known, writable and value answer for the address in the same cycle; wr_do is a pulse, only when ready.
// Back-pressure: a write waits for the rings to be cleared after reset, and for a cycle in which one counts.
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
    input  logic        rings_busy,
    input  logic [15:0] rings_on,     // by VPID: base and size are read-only
    input  logic        rings_ready,
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
  // ---- which page: 0 none, 1 rma, 2 vpid, 3 user, 4 atu, 5 nvm ----
  function automatic logic [2:0] page_of(input logic [31:0] a);
    page_of = 3'd0;
    if (a[31:12] == 20'(nicloop_pkg::PAGE_RMA_BASE[18:12])) page_of = 3'd1;
    case (a[31:16])
      16'(nicloop_pkg::PAGE_VPID_BASE[18:16]): page_of = 3'd2;
      16'(nicloop_pkg::PAGE_USER_BASE[18:16]): page_of = 3'd3;
      16'(nicloop_pkg::PAGE_ATU_BASE[18:16]): page_of = 3'd4;
      16'(nicloop_pkg::PAGE_NVM_BASE[18:16]): if (a[15:12] < 4'(nicloop_pkg::NVM_RANGES)) page_of = 3'd5;
      default: ;
    endcase
  endfunction

  // ---- writes ----
  logic [2:0]  wr_page;
  logic [18:0] wr_off;
  logic        at_base, at_slots, at_ctrl, at_rp, at_done, at_command, at_table_base, at_table_pages, at_nvm;
  assign wr_page        = page_of(wr_addr);
  assign wr_off         = 19'(wr_addr[11:0]);
  assign at_base        = wr_page == 3'd2 && wr_off == nicloop_pkg::REG_NOTI_BASE;
  assign at_slots       = wr_page == 3'd2 && wr_off == nicloop_pkg::REG_NOTI_SLOTS;
  assign at_ctrl        = wr_page == 3'd2 && wr_off == nicloop_pkg::REG_NOTI_CTRL;
  assign at_rp          = wr_page == 3'd3 && wr_off == nicloop_pkg::REG_NOTI_RP;
  assign at_done        = wr_page == 3'd1 && wr_off == nicloop_pkg::REG_ATU_DONE;
  assign at_command     = wr_page == 3'd1 && wr_off == nicloop_pkg::REG_ATU_COMMAND;
  assign at_table_base  = wr_page == 3'd4 && wr_off == nicloop_pkg::REG_ATU_BASE;
  assign at_table_pages = wr_page == 3'd4 && wr_off == nicloop_pkg::REG_ATU_PAGES;
  assign at_nvm         = wr_page == 3'd5 && wr_off <= nicloop_pkg::REG_NVM_DEPTH && wr_off[2:0] == '0;
  assign wr_writable    = ((at_base || at_slots) && !rings_on[wr_addr[15:12]]) || at_ctrl || at_rp || at_done || at_command || at_table_base || at_table_pages || at_nvm;
  assign wr_ready       = at_rp ? !rings_busy : at_base || at_slots || at_ctrl ? rings_ready : 1'b1;
  assign wr_base        = wr_do && at_base;
  assign wr_slots       = wr_do && at_slots;
  assign wr_ctrl        = wr_do && at_ctrl;
  assign wr_rp          = wr_do && at_rp;
  assign wr_table_base  = wr_do && at_table_base;
  assign wr_table_pages = wr_do && at_table_pages;
  assign wr_nvm         = wr_do && at_nvm;
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
  always_comb begin
    wr_known = wr_writable || at_base || at_slots;
    case (wr_page)
      3'd1:
        if ((wr_off <= nicloop_pkg::REG_RMA_STALL_VPID && wr_off[2:0] == '0) ||
            (wr_off >= nicloop_pkg::REG_ATU_FAULTS && wr_off <= nicloop_pkg::REG_ATU_DONE_ERRORS &&
             wr_off[2:0] == '0)) wr_known = 1'b1;
      3'd2: if (wr_off == nicloop_pkg::REG_NOTI_WP || wr_off == nicloop_pkg::REG_NOTI_STALL) wr_known = 1'b1;
      3'd5: if (wr_off <= nicloop_pkg::REG_NVM_STALL && wr_off[2:0] == '0) wr_known = 1'b1;
      default: ;
    endcase
  end

  // ---- counters ----
  logic [63:0] tx_packets, rx_packets, refused, rx_dropped, errors, notis, noti_off, late, purged, faults, hits, misses, last_fault;
  function automatic logic [63:0] ones(input logic [3:0] v);
    ones = 64'(v[0]) + 64'(v[1]) + 64'(v[2]) + 64'(v[3]);
  endfunction
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
    end else begin
      if (ev_tx != '0) tx_packets <= tx_packets + ones({2'h0, ev_tx});
      if (ev_rx != '0) rx_packets <= rx_packets + ones({1'b0, ev_rx});
      if (ev_drop != '0) rx_dropped <= rx_dropped + ones({1'b0, ev_drop});
      if (ev_error != '0) errors <= errors + ones(ev_error);
      if (ev_refused) refused <= refused + 1'b1;
      if (ev_noti) notis <= notis + 1'b1;
      if (ev_noti_off) noti_off <= noti_off + 1'b1;
      if (ev_late) late <= late + 1'b1;
      if (ev_purged) purged <= purged + 1'b1;
      if (ev_hit) hits <= hits + 1'b1;
      if (ev_miss) misses <= misses + 1'b1;
      if (ev_fault) begin
        faults     <= faults + 1'b1;
        last_fault <= fault;
      end
    end
  end

  logic [3:0] last_stall;
  always_ff @(posedge clk) begin
    if (rst) last_stall <= '0;
    else if (ev_stall) last_stall <= stall_vpid;
  end

  // ---- reads ----
  logic [2:0]  rd_page;
  logic [18:0] rd_off;
  assign rd_page = page_of(rd_addr);
  assign rd_off  = 19'(rd_addr[11:0]);
  always_comb begin
    rd_known = 1'b1;
    rd_value = '0;
    case (rd_page)
      3'd1:
        case (rd_off)
          nicloop_pkg::REG_RMA_TX_PACKETS: rd_value = tx_packets;
          nicloop_pkg::REG_RMA_RX_PACKETS: rd_value = rx_packets;
          nicloop_pkg::REG_RMA_REFUSED:    rd_value = refused;
          nicloop_pkg::REG_RMA_RX_DROPPED: rd_value = rx_dropped;
          nicloop_pkg::REG_RMA_ERRORS:     rd_value = errors;
          nicloop_pkg::REG_RMA_NOTIS:      rd_value = notis;
          nicloop_pkg::REG_RMA_NOTI_OFF:   rd_value = noti_off;
          nicloop_pkg::REG_RMA_LEVEL:      rd_value = {44'h0, stalled, descriptors};
          nicloop_pkg::REG_RMA_LATE:       rd_value = late;
          nicloop_pkg::REG_RMA_PURGED:     rd_value = purged;
          nicloop_pkg::REG_RMA_STALL_VPID: rd_value = {55'h0, stalled != '0, 4'h0, last_stall};
          nicloop_pkg::REG_ATU_FAULTS:     rd_value = faults;
          nicloop_pkg::REG_ATU_FAULT:      rd_value = last_fault;
          nicloop_pkg::REG_ATU_HITS:       rd_value = hits;
          nicloop_pkg::REG_ATU_MISSES:     rd_value = misses;
          nicloop_pkg::REG_ATU_DONE:       rd_value = done_addr;
          nicloop_pkg::REG_ATU_COMMAND:    rd_value = '0;
          nicloop_pkg::REG_ATU_STATUS: begin
            rd_value[nicloop_pkg::ATU_STATUS_DONE_LSB+:32]  = commands_done;
            rd_value[nicloop_pkg::ATU_STATUS_BUSY_LSB]      = commands_busy;
            rd_value[nicloop_pkg::ATU_STATUS_QUEUED_LSB+:5] = commands_queued;
          end
          nicloop_pkg::REG_ATU_REFUSED:     rd_value = 64'(commands_refused);
          nicloop_pkg::REG_ATU_DONE_ERRORS: rd_value = 64'(done_errors);
          default:                         rd_known = 1'b0;
        endcase
      3'd2:
        case (rd_off)
          nicloop_pkg::REG_NOTI_BASE:  rd_value = ring_base;
          nicloop_pkg::REG_NOTI_SLOTS: rd_value = 64'(ring_slots);
          nicloop_pkg::REG_NOTI_CTRL:  rd_value = 64'(ring_ctrl);
          nicloop_pkg::REG_NOTI_WP:    rd_value = 64'(ring_wp);
          nicloop_pkg::REG_NOTI_STALL: rd_value = ring_stall;
          default:                     rd_known = 1'b0;
        endcase
      3'd3: begin
        rd_known = rd_off == nicloop_pkg::REG_NOTI_RP;
        rd_value = rd_known ? 64'(ring_rp) : '0;  // others have registers here
      end
      3'd4:
        case (rd_off)
          nicloop_pkg::REG_ATU_BASE:  rd_value = table_base;
          nicloop_pkg::REG_ATU_PAGES: rd_value = 64'(table_pages);
          default:                    rd_known = 1'b0;
        endcase
      3'd5: begin
        rd_known = rd_off <= nicloop_pkg::REG_NVM_STALL && rd_off[2:0] == '0;
        rd_value = nvm_value;
      end
      default: rd_known = 1'b0;
    endcase
  end
endmodule
