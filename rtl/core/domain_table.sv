// domain_table: which protection domain every process belongs to, and which of its lives it lives.
//
// Job: keeps PDID and LIFE of every VPID and shows them to all units at once (stamps: {life, pdid} by VPID); counts the
//   packets that were refused because they came from another domain, and keeps the last of them. A write of PDID shuts
//   the process: mailbox, ring and windows go off with it, so that nothing of one domain is done for the next.
// Handshake: registers as regfile asks (wr_known, wr_writable and rd_known answer for the address in the cycle behind
//   it, rd_value in the second; wr_do is a pulse). shut is a pulse about wr_addr's process, restart one about
//   restart_vpid: its ring goes on. Both act at once.
// Back-pressure: none.
module domain_table #(
    parameter int VPIDS = nicloop_pkg::VPIDS,  // processes; others have no registers here and are of no domain
    parameter int COUNT_W = 64                // bits of a counter
) (
    input  logic         clk,
    input  logic         rst,
    output logic [511:0] stamps,
    // rings
    input  logic         restart,
    input  logic [3:0]   restart_vpid,
    output logic         shut,
    // what waits of a process in the NIC
    output logic [3:0]   level_vpid,
    input  logic [2:0]   descriptors,
    input  logic [4:0]   fragments,
    input  logic [3:0]   lines,
    // how long a full mailbox, and a full ring, of level_vpid may still hold others, and what they lost; kept by their
    // tables
    output logic         wr_hold,
    input  logic [23:0]  mailbox_hold,
    input  logic [23:0]  ring_hold,
    input  logic [31:0]  mailbox_overflows,
    input  logic [31:0]  ring_overflows,
    // packets refused in this cycle; header and domain of one of them
    input  logic [2:0]   ev_strangers,
    /* verilator lint_off UNUSEDSIGNAL */  // type, source and destination are kept
    input  logic [63:0]  stranger_header,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [15:0]  stranger_pdid,
    // registers
    input  logic [31:0]  wr_addr,
    input  logic [15:0]  wr_data,
    input  logic         wr_do,        // a write that is known here, or elsewhere
    output logic         wr_known,
    output logic         wr_writable,
    input  logic [31:0]  rd_addr,
    output logic         rd_known,
    output logic [63:0]  rd_value
);
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_VPID_STRIDE);

  // ---- which register: 1 PDID, 2 LIFE, 3 DOMAIN_REFUSED, 4 DOMAIN_LAST, 5 LEVEL, 6 HOLD, 7 OVERFLOW ----
  function automatic logic [2:0] which(input logic [31:0] a);
    which = 3'd0;
    if (a[31:16] == 16'(nicloop_pkg::PAGE_VPID_BASE[18:16]) && 5'(a[PAGE_W+:4]) < 5'(VPIDS)) begin
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_PDID) which = 3'd1;
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_LIFE) which = 3'd2;
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_LEVEL) which = 3'd5;
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_HOLD) which = 3'd6;
      if (19'(a[PAGE_W-1:0]) == nicloop_pkg::REG_OVERFLOW) which = 3'd7;
    end
    if (a == 32'(nicloop_pkg::REG_DOMAIN_REFUSED)) which = 3'd3;
    if (a == 32'(nicloop_pkg::REG_DOMAIN_LAST)) which = 3'd4;
  endfunction

  logic [2:0] wr_which, rd_which;
  logic [3:0] wr_vpid, rd_vpid;
  always_ff @(posedge clk) begin
    wr_which <= which(wr_addr);
    rd_which <= which(rd_addr);
  end
  assign wr_vpid     = wr_addr[PAGE_W+:4];
  assign rd_vpid     = rd_addr[PAGE_W+:4];
  assign level_vpid  = rd_vpid;
  assign wr_known    = wr_which != '0;
  assign wr_writable = wr_which == 3'd1 || wr_which == 3'd6;
  assign rd_known    = rd_which != '0;
  assign shut        = wr_do && wr_which == 3'd1;
  assign wr_hold     = wr_do && wr_which == 3'd6;

  always_ff @(posedge clk) begin
    if (rst) stamps <= '0;
    else begin
      if (shut) for (int v = 0; v < VPIDS; v++) if (wr_vpid == 4'(v)) stamps[v*32+:16] <= wr_data;
      if (restart) for (int v = 0; v < VPIDS; v++) if (restart_vpid == 4'(v))
          stamps[v*32+16+:16] <= stamps[v*32+16+:16] + 1'b1;
    end
  end

  // ---- strangers, counted a cycle behind ----
  logic [COUNT_W-1:0] refused;
  logic [63:0] last, stranger;
  logic [1:0]  strangers;
  always_ff @(posedge clk) begin
    strangers <= rst ? '0 : 2'(ev_strangers[0]) + 2'(ev_strangers[1]) + 2'(ev_strangers[2]);
    stranger  <= {stranger_pdid, stranger_header[nicloop_pkg::HEADER_DST_VPID_LSB+:16],
        stranger_header[nicloop_pkg::HEADER_SRC_VPID_LSB+:16],
                  11'h0, stranger_header[nicloop_pkg::HEADER_TYPE_LSB+:4], 1'b1};
    if (rst) begin
      refused <= '0;
      last    <= '0;
    end else if (strangers != '0) begin
      refused <= refused + COUNT_W'(strangers);
      last    <= stranger;
    end
  end

  // ---- reads: tables, then counters ----
  logic [63:0] shown, table_value;
  logic [31:0] stamp;
  assign stamp = stamps[{rd_vpid, 5'h0}+:32];
  always_comb begin
    table_value = '0;
    case (rd_which)
      3'd1: table_value[15:0] = stamp[15:0];
      3'd2: table_value[15:0] = stamp[31:16];
      3'd5: begin
        table_value[nicloop_pkg::LEVEL_DESCRIPTORS_LSB+:3] = descriptors;
        table_value[nicloop_pkg::LEVEL_FRAGMENTS_LSB+:5]   = fragments;
        table_value[nicloop_pkg::LEVEL_LINES_LSB+:4]       = lines;
      end
      3'd6: begin
        table_value[nicloop_pkg::HOLD_MAILBOX_LSB+:24] = mailbox_hold;
        table_value[nicloop_pkg::HOLD_RING_LSB+:24]    = ring_hold;
      end
      3'd7: table_value = {ring_overflows, mailbox_overflows};
      default: ;
    endcase
  end
  always_ff @(posedge clk) shown <= table_value;
  assign rd_value = shown | (rd_which == 3'd3 ? 64'(refused) : '0) | (rd_which == 3'd4 ? last : '0);
endmodule
