// domain_table_stamps: domain and life of every process change by the register write or the restart
// that is about it and by nothing else, also when both come in one cycle; no refused packet is lost
// from the count, however many units refuse one at a time, and the last of them is kept. The
// process is any, which the solver chooses.
module domain_table_stamps #(
    parameter int COUNT_W = 4
) (
    input logic        clk,
    input logic        rst,
    input logic        restart,
    input logic [3:0]  restart_vpid,
    input logic [2:0]  ev_strangers,
    input logic [63:0] stranger_header,
    input logic [15:0] stranger_pdid,
    input logic [31:0] wr_addr,
    input logic [15:0] wr_data,
    input logic        wr_do,
    input logic [31:0] rd_addr,
    input logic [2:0]  descriptors,
    input logic [4:0]  fragments,
    input logic [3:0]  lines
);
  (* anyconst *) logic [3:0] vpid;
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic [511:0] stamps;
  logic         shut, wr_hold, wr_known, wr_writable, rd_known;
  logic [3:0]   level_vpid;
  logic [63:0]  rd_value;
  domain_table #(.COUNT_W(COUNT_W)) u_dut (
      .clk, .rst, .stamps, .restart, .restart_vpid, .shut, .level_vpid, .descriptors, .fragments, .lines, .wr_hold,
      .mailbox_hold(24'h0), .ring_hold(24'h0), .mailbox_overflows(32'h0), .ring_overflows(32'h0), .ev_strangers,
      .stranger_header, .stranger_pdid, .wr_addr, .wr_data, .wr_do, .wr_known, .wr_writable, .rd_addr, .rd_known,
      .rd_value
  );

  // ---- which registers are written and read: an address stands for the cycles of its access ----
  localparam nicloop_pkg::page_addr_t BASE = 32'(nicloop_pkg::PAGE_VPID_BASE);
  nicloop_pkg::page_addr_t wr_at, rd_at;
  logic [31:0] wr_was, rd_was, rd_before;
  logic [1:0]  age;     // cycles so far, at most 3
  logic        stands;  // the address of a read has been there for two cycles and is there still
  logic        to_pdid, to_hold;
  assign wr_at   = wr_addr;
  assign rd_at   = rd_addr;
  assign to_pdid = wr_at.page == BASE.page && 19'(wr_at.offset) == nicloop_pkg::REG_PDID;
  assign to_hold = wr_at.page == BASE.page && 19'(wr_at.offset) == nicloop_pkg::REG_HOLD;
  assign stands  = age == '1 && rd_addr == rd_was && rd_was == rd_before;
  always_ff @(posedge clk) begin
    wr_was    <= wr_addr;
    rd_was    <= rd_addr;
    rd_before <= rd_was;
    age       <= !started ? 2'd1 : age + 2'(age != '1);
  end
  // As regfile: a write is done behind its address's first cycle.
  always_comb if (started && wr_do) assume (wr_addr == wr_was);

  logic [15:0]        pdid, life;  // as they must be
  logic [31:0]        stamp;
  logic [COUNT_W-1:0] refused, refused_was;
  logic [63:0]        last, last_was;
  logic [31:0]        stamp_was;
  nicloop_pkg::domain_last_t stranger;
  nicloop_pkg::process_t     src, dst;
  nicloop_pkg::header_t      header;
  nicloop_pkg::stamp_t       now, before;
  assign header = stranger_header;
  assign stamp  = stamps[{vpid, 5'h0}+:32];
  assign now    = stamp;
  assign before = stamp_was;
  always_comb begin
    src.node       = header.src_node;
    src.vpid       = header.src_vpid;
    dst.node       = header.dst_node;
    dst.vpid       = header.dst_vpid;
    stranger       = '0;
    stranger.valid = 1'b1;
    stranger.type_ = header.type_;
    stranger.src   = src;
    stranger.dst   = dst;
    stranger.pdid  = stranger_pdid;
  end
  always_ff @(posedge clk) begin
    stamp_was   <= stamp;
    refused_was <= rst ? '0 : refused;
    last_was    <= rst ? '0 : last;
    if (rst) begin
      pdid    <= '0;
      life    <= '0;
      refused <= '0;
      last    <= '0;
    end else begin
      if (wr_do && to_pdid && wr_at.copy == vpid) pdid <= wr_data;
      if (restart && restart_vpid == vpid) life <= life + 1'b1;
      refused <= refused + COUNT_W'(ev_strangers[0]) + COUNT_W'(ev_strangers[1]) + COUNT_W'(ev_strangers[2]);
      if (ev_strangers != '0) last <= stranger;
    end
  end
  (* hierconn *) wire [COUNT_W-1:0] \u_dut.refused ;
  (* hierconn *) wire [63:0]        \u_dut.last ;
  (* hierconn *) wire [63:0]        \u_dut.stranger ;
  (* hierconn *) wire [1:0]         \u_dut.strangers ;
  (* hierconn *) wire [2:0]         \u_dut.wr_which ;
  (* hierconn *) wire [2:0]         \u_dut.rd_which ;
  logic was_run;
  always_ff @(posedge clk) was_run <= started && !rst;
  always_comb
    if (started && !rst) begin
      assert (now.pdid == pdid && now.life == life);
      if (wr_do) assert (shut == to_pdid && wr_hold == to_hold);
      else assert (!shut && !wr_hold);
      if (wr_addr == wr_was && was_run) assert (wr_writable == (to_pdid || to_hold) && (wr_known || !wr_writable));
      // Counted and kept a cycle behind.
      assert (\u_dut.refused == refused_was && \u_dut.last == last_was);
      assert (refused == refused_was + COUNT_W'(\u_dut.strangers ));
      assert (last == (\u_dut.strangers != '0 ? \u_dut.stranger : last_was));
      if (stands && was_run && rd_at.page == BASE.page && rd_at.copy == vpid) begin
        if (19'(rd_at.offset) == nicloop_pkg::REG_PDID) assert (rd_known && rd_value == 64'(before.pdid));
        if (19'(rd_at.offset) == nicloop_pkg::REG_LIFE) assert (rd_known && rd_value == 64'(before.life));
      end
      if (stands && rd_addr == 32'(nicloop_pkg::REG_DOMAIN_REFUSED)) assert (rd_known && rd_value == 64'(refused_was));
      if (stands && rd_addr == 32'(nicloop_pkg::REG_DOMAIN_LAST)) assert (rd_known && rd_value == last_was);
    end
  always_ff @(posedge clk) begin
    cover (started && !rst && shut && restart && restart_vpid == vpid && to_pdid &&
        wr_at.copy == vpid && life == 16'd1);
    cover (started && !rst && stands && rd_addr == 32'(nicloop_pkg::REG_DOMAIN_REFUSED) && rd_value == 64'd7);
  end
endmodule
