// link_regs_pages: every register of every link page reads what it names, of its own link;
// patience, drain and restart are those of the link whose page was written, whatever is read or
// written beside it.
module link_regs_pages #(
    parameter int LINKS       = 3,
    localparam int PATIENCE_W = nicloop_pkg::LINK_PATIENCE_CYCLES_W
) (
    input logic                  clk,
    input logic                  rst,
    input logic [31:0]           rd_addr,
    input logic [LINKS-1:0]      connected,
    input logic [LINKS-1:0]      carrier,
    input logic [LINKS-1:0]      dead,
    input logic [LINKS*32-1:0]   crc_errors,
    input logic [LINKS*32-1:0]   retransmissions,
    input logic [LINKS*32-1:0]   timeouts,
    input logic [LINKS*32-1:0]   failures,
    input logic [LINKS*32-1:0]   cut,
    input logic [LINKS*32-1:0]   drained,
    input logic [LINKS*32-1:0]   resets,
    input logic [LINKS*32-1:0]   lost,
    input logic [LINKS-1:0]      drains,
    input logic [LINKS-1:0]      up,
    input logic [31:0]           wr_addr,
    input logic [PATIENCE_W-1:0] wr_data,
    input logic                  wr_do
);
  (* anyconst *) logic [2:0] link;  // the page that is looked at
  logic [1:0] age = '0;             // cycles since the start, at most 3
  always_ff @(posedge clk) if (age != 2'd3) age <= age + 1'b1;
  always_comb begin
    if (age == '0) assume (rst);
    assume (link < 3'(nicloop_pkg::PAGE_LINK_COUNT));
  end

  logic                        rd_known, wr_known, wr_writable;
  logic [63:0]                 rd_value;
  logic [LINKS*PATIENCE_W-1:0] patience;
  logic [LINKS-1:0]            drain, restart;
  link_regs #(.LINKS(LINKS)) u_dut (.*);

  logic [31:0] page, wr_was, rd_was, rd_before;
  logic [18:0] wr_at, rd_at, rd_from;  // offsets in the page
  logic        wr_here, rd_here, rd_then, built;
  assign page    = 32'(nicloop_pkg::PAGE_LINK_BASE) + 32'(link) * 32'(nicloop_pkg::PAGE_LINK_STRIDE);
  assign built   = link < 3'(LINKS);
  always_ff @(posedge clk) begin
    wr_was    <= wr_addr;
    rd_was    <= rd_addr;
    rd_before <= rd_was;
  end
  function automatic logic in_page(input logic [31:0] addr, input logic [31:0] base);
    in_page = addr >= base && addr < base + 32'(nicloop_pkg::PAGE_LINK_STRIDE);
  endfunction
  assign wr_here = in_page(wr_was, page);
  assign rd_here = in_page(rd_was, page);
  assign rd_then = in_page(rd_before, page);
  assign wr_at   = 19'(wr_was - page);
  assign rd_at   = 19'(rd_was - page);
  assign rd_from = 19'(rd_before - page);

  // ---- what a register holds in the cycle behind the address ----
  logic [PATIENCE_W-1:0] own_patience;
  logic                  own_drain, own_restart;
  function automatic logic is_register(input logic [18:0] at);
    is_register = 1'b1;
    case (at)
      nicloop_pkg::REG_LINK_STATUS, nicloop_pkg::REG_LINK_CRC_ERRORS,
      nicloop_pkg::REG_LINK_RETRANSMISSIONS, nicloop_pkg::REG_LINK_TIMEOUTS,
      nicloop_pkg::REG_LINK_FAILURES, nicloop_pkg::REG_LINK_CUT, nicloop_pkg::REG_LINK_PATIENCE,
      nicloop_pkg::REG_LINK_CTRL, nicloop_pkg::REG_LINK_DRAINED, nicloop_pkg::REG_LINK_RESETS,
      nicloop_pkg::REG_LINK_LOST: ;
      default: is_register = 1'b0;
    endcase
  endfunction
  logic [63:0] holds, held;
  logic        wr_is, rd_is;
  assign wr_is = wr_here && is_register(wr_at);
  assign rd_is = rd_here && is_register(rd_at);
  always_comb begin
    holds = '0;
    for (int l = 0; l < LINKS; l++)
      if (3'(l) == link)
        case (rd_at)
          nicloop_pkg::REG_LINK_STATUS: begin
            holds[nicloop_pkg::LINK_STATUS_CONNECTED_LSB] = connected[l];
            holds[nicloop_pkg::LINK_STATUS_CARRIER_LSB]   = carrier[l];
            holds[nicloop_pkg::LINK_STATUS_DEAD_LSB]      = dead[l];
            holds[nicloop_pkg::LINK_STATUS_DRAINS_LSB]    = drains[l];
            holds[nicloop_pkg::LINK_STATUS_AGREED_LSB]    = up[l];
          end
          nicloop_pkg::REG_LINK_CRC_ERRORS: holds = 64'(crc_errors[l*32+:32]);
          nicloop_pkg::REG_LINK_RETRANSMISSIONS: holds = 64'(retransmissions[l*32+:32]);
          nicloop_pkg::REG_LINK_TIMEOUTS: holds = 64'(timeouts[l*32+:32]);
          nicloop_pkg::REG_LINK_FAILURES: holds = 64'(failures[l*32+:32]);
          nicloop_pkg::REG_LINK_CUT: holds = 64'(cut[l*32+:32]);
          nicloop_pkg::REG_LINK_DRAINED: holds = 64'(drained[l*32+:32]);
          nicloop_pkg::REG_LINK_RESETS: holds = 64'(resets[l*32+:32]);
          nicloop_pkg::REG_LINK_LOST: holds = 64'(lost[l*32+:32]);
          nicloop_pkg::REG_LINK_PATIENCE: holds = 64'(own_patience);
          nicloop_pkg::REG_LINK_CTRL: holds[nicloop_pkg::LINK_CTRL_DRAIN_LSB] = own_drain;
          default: ;
        endcase
  end

  always_ff @(posedge clk) begin
    own_restart <= !rst && wr_do && wr_here && wr_at == nicloop_pkg::REG_LINK_CTRL &&
        wr_data[nicloop_pkg::LINK_CTRL_RESET_LSB];
    if (rst) begin
      own_patience <= PATIENCE_W'(nicloop_pkg::LINK_PATIENCE_AT_RESET);
      own_drain    <= 1'b0;
    end else if (wr_do && wr_here) begin
      if (wr_at == nicloop_pkg::REG_LINK_PATIENCE) own_patience <= wr_data;
      if (wr_at == nicloop_pkg::REG_LINK_CTRL) own_drain <= wr_data[nicloop_pkg::LINK_CTRL_DRAIN_LSB];
    end
    held <= holds;
  end

  logic beyond;  // behind the last page, before the first
  assign beyond = wr_was < 32'(nicloop_pkg::PAGE_LINK_BASE) ||
      wr_was >= 32'(nicloop_pkg::PAGE_LINK_BASE) + 32'(nicloop_pkg::PAGE_LINK_COUNT * nicloop_pkg::PAGE_LINK_STRIDE);
  always_comb begin
    if (age == '0) assume (!wr_do);
    if (age != '0) begin
      if (wr_here) begin
        assert (wr_known == wr_is);
        assert (wr_writable == (wr_at == nicloop_pkg::REG_LINK_PATIENCE || wr_at == nicloop_pkg::REG_LINK_CTRL));
      end
      if (rd_here) assert (rd_known == rd_is);
      if (beyond) assert (!wr_known && !wr_writable);
      for (int l = 0; l < LINKS; l++)
        if (3'(l) == link) begin
          assert (patience[l*PATIENCE_W+:PATIENCE_W] == own_patience);
          assert (drain[l] == own_drain);
        end
    end
    if (age > 2'd1) begin
      for (int l = 0; l < LINKS; l++) if (3'(l) == link) assert (restart[l] == own_restart);
      if (rd_then) assert (rd_value == held);
      if (rd_before < 32'(nicloop_pkg::PAGE_LINK_BASE)) assert (rd_value == '0);
    end
  end

  always_ff @(posedge clk) begin
    cover (age == 2'd3 && built && own_restart && own_drain && own_patience == '1);
    cover (age == 2'd3 && rd_then && rd_from == nicloop_pkg::REG_LINK_LOST && rd_value[31:0] == '1);
    cover (age == 2'd3 && !built && wr_do && wr_is && rd_then && rd_is);
  end
endmodule
