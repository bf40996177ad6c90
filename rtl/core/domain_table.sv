// domain_table: the protection domain and the life of every process.
//
// Job: stores PDID and LIFE of every VPID and provides them to all units at once (stamps: {life,
//   pdid} by VPID); counts the packets that were refused because they were from another domain, and
//   keeps the last of them. A write of PDID shuts the process: mailbox, ring and windows are
//   switched off with it, so that no operation of one domain is performed for the next.
// Handshake: registers by regfile's protocol (wr_known, wr_writable and rd_known refer to the
//   address of the previous cycle, rd_value is valid in the second; wr_do is a pulse). shut is a
//   pulse for wr_addr's process, restart one for restart_vpid: its ring is switched on. Both take
//   effect at once.
// Backpressure: none.
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
    // how long a full mailbox, and a full ring, of level_vpid may still hold others, and what they
    // lost; kept by their tables
    output logic         wr_hold,
    input  logic [23:0]  mailbox_hold,
    input  logic [23:0]  ring_hold,
    input  logic [31:0]  mailbox_overflows,
    input  logic [31:0]  ring_overflows,
    // packets refused in this cycle; header and domain of one of them
    input  logic [2:0]   ev_strangers,
    input  logic [63:0]  stranger_header,
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
  // ---- which register: 1 PDID, 2 LIFE, 3 DOMAIN_REFUSED, 4 DOMAIN_LAST, 5 LEVEL, 6 HOLD, 7
  // OVERFLOW ----
  localparam nicloop_pkg::page_addr_t BASE = 32'(nicloop_pkg::PAGE_VPID_BASE);
  nicloop_pkg::page_addr_t wr_at, rd_at;
  assign wr_at = wr_addr;
  assign rd_at = rd_addr;
  function automatic logic [2:0] which(input logic [15:0] page, input logic [3:0] copy, input logic [11:0] offset);
    which = 3'd0;
    if (page == BASE.page && 5'(copy) < 5'(VPIDS)) begin
      if (19'(offset) == nicloop_pkg::REG_PDID) which = 3'd1;
      if (19'(offset) == nicloop_pkg::REG_LIFE) which = 3'd2;
      if (19'(offset) == nicloop_pkg::REG_LEVEL) which = 3'd5;
      if (19'(offset) == nicloop_pkg::REG_HOLD) which = 3'd6;
      if (19'(offset) == nicloop_pkg::REG_OVERFLOW) which = 3'd7;
    end
    if ({page, copy, offset} == 32'(nicloop_pkg::REG_DOMAIN_REFUSED)) which = 3'd3;
    if ({page, copy, offset} == 32'(nicloop_pkg::REG_DOMAIN_LAST)) which = 3'd4;
  endfunction

  logic [2:0] wr_which, rd_which;
  always_ff @(posedge clk) begin
    wr_which <= which(wr_at.page, wr_at.copy, wr_at.offset);
    rd_which <= which(rd_at.page, rd_at.copy, rd_at.offset);
  end
  assign level_vpid  = rd_at.copy;
  assign wr_known    = wr_which != '0;
  assign wr_writable = wr_which == 3'd1 || wr_which == 3'd6;
  assign rd_known    = rd_which != '0;
  assign shut        = wr_do && wr_which == 3'd1;
  assign wr_hold     = wr_do && wr_which == 3'd6;

  localparam int STAMP_W = nicloop_pkg::STAMP_W;
  localparam int PDID = nicloop_pkg::STAMP_PDID_LSB, PDID_W = nicloop_pkg::STAMP_PDID_W;
  localparam int LIFE = nicloop_pkg::STAMP_LIFE_LSB, LIFE_W = nicloop_pkg::STAMP_LIFE_W;
  always_ff @(posedge clk) begin
    if (rst) stamps <= '0;
    else begin
      if (shut) for (int v = 0; v < VPIDS; v++) if (wr_at.copy == 4'(v)) stamps[v*STAMP_W+PDID+:PDID_W] <= wr_data;
      if (restart) for (int v = 0; v < VPIDS; v++) if (restart_vpid == 4'(v))
          stamps[v*STAMP_W+LIFE+:LIFE_W] <= stamps[v*STAMP_W+LIFE+:LIFE_W] + 1'b1;
    end
  end

  // ---- strangers, counted a cycle behind ----
  logic [COUNT_W-1:0] refused;
  logic [1:0]         strangers;
  /* verilator lint_off UNUSEDSIGNAL */  // type, source and destination are kept
  nicloop_pkg::header_t      header;
  /* verilator lint_on UNUSEDSIGNAL */
  nicloop_pkg::process_t     src, dst;
  nicloop_pkg::domain_last_t comes, stranger, last;
  assign header = stranger_header;
  always_comb begin
    src.node = header.src_node;
    src.vpid = header.src_vpid;
    dst.node = header.dst_node;
    dst.vpid = header.dst_vpid;

    comes       = '0;
    comes.valid = 1'b1;
    comes.type_ = header.type_;
    comes.src   = src;
    comes.dst   = dst;
    comes.pdid  = stranger_pdid;
  end
  always_ff @(posedge clk) begin
    strangers <= rst ? '0 : 2'(ev_strangers[0]) + 2'(ev_strangers[1]) + 2'(ev_strangers[2]);
    stranger  <= comes;
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
  nicloop_pkg::stamp_t    stamp;
  nicloop_pkg::level_t    level;
  nicloop_pkg::hold_t     hold;
  nicloop_pkg::overflow_t overflow;
  assign stamp = stamps[{rd_at.copy, 5'h0}+:STAMP_W];
  always_comb begin
    level             = '0;
    level.descriptors = 8'(descriptors);
    level.fragments   = 8'(fragments);
    level.lines       = 8'(lines);
    hold              = '0;
    hold.mailbox_     = mailbox_hold;
    hold.ring         = ring_hold;
    overflow.mailbox_ = mailbox_overflows;
    overflow.ring     = ring_overflows;
    case (rd_which)
      3'd1: table_value = 64'(stamp.pdid);
      3'd2: table_value = 64'(stamp.life);
      3'd5: table_value = level;
      3'd6: table_value = hold;
      3'd7: table_value = overflow;
      default: table_value = '0;
    endcase
  end
  always_ff @(posedge clk) shown <= table_value;
  assign rd_value = shown | (rd_which == 3'd3 ? 64'(refused) : '0) | (rd_which == 3'd4 ? last : '0);
endmodule
