// link_regs: the register pages of the links.
//
// Job: selects state and counters of one link; links that are not built read 0 and store nothing.
//   Holds the patience and the switches of each.
// Handshake: regfile's protocol: rd_known, wr_known (the address is a register of a link page) and
//   wr_writable in the cycle after the address, rd_value in the second.
module link_regs #(
    parameter int LINKS = 2,
    localparam int PATIENCE_W = nicloop_pkg::LINK_PATIENCE_CYCLES_W
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [31:0]         rd_addr,
    input  logic [LINKS-1:0]    connected,
    input  logic [LINKS-1:0]    carrier,
    input  logic [LINKS-1:0]    dead,
    input  logic [LINKS*32-1:0] crc_errors,
    input  logic [LINKS*32-1:0] retransmissions,
    input  logic [LINKS*32-1:0] timeouts,
    input  logic [LINKS*32-1:0] failures,
    input  logic [LINKS*32-1:0] cut,
    input  logic [LINKS*32-1:0] drained,
    input  logic [LINKS*32-1:0] resets,
    input  logic [LINKS*32-1:0] lost,
    input  logic [LINKS-1:0]    drains,      // it does now
    input  logic [LINKS-1:0]    up,
    output logic                rd_known,
    output logic [63:0]         rd_value,
    input  logic [31:0]         wr_addr,
    input  logic [PATIENCE_W-1:0] wr_data,
    input  logic                wr_do,       // a write that is known here, or elsewhere
    output logic                wr_known,
    output logic                wr_writable,
    output logic [LINKS*PATIENCE_W-1:0] patience,
    output logic [LINKS-1:0]    drain,       // it shall, when it has failed
    output logic [LINKS-1:0]    restart
);
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_LINK_STRIDE);
  localparam int OFF_W  = nicloop_pkg::REG_ADDR_W;

  localparam int LINK_W = PAGE_W + 4;

  // ---- writes ----
  // The register of a link page by its number, one-hot; the link is the page's number.
  localparam int REGISTERS = 11;
  function automatic logic [REGISTERS-1:0] which(input logic [31:0] a);
    which = a[31:OFF_W] == '0 && a[OFF_W-1:LINK_W] == nicloop_pkg::PAGE_LINK_BASE[OFF_W-1:LINK_W] &&
        a[LINK_W-1:PAGE_W] < 4'(nicloop_pkg::PAGE_LINK_COUNT) &&
            a[PAGE_W-1:7] == '0 && a[2:0] == '0 ? REGISTERS'(1) << a[6:3] : '0;
  endfunction
  logic [REGISTERS-1:0] wr_which, rd_which;
  logic                 wr_patience, wr_ctrl;
  logic [LINKS-1:0]     wr_link, rd_link;  // whose page it is
  always_ff @(posedge clk) begin
    wr_which <= which(wr_addr);
    rd_which <= which(rd_addr);
    for (int l = 0; l < LINKS; l++) begin
      wr_link[l] <= wr_addr[PAGE_W+:3] == 3'(l);
      rd_link[l] <= rd_addr[PAGE_W+:3] == 3'(l);
    end
  end
  assign wr_known    = wr_which != '0;
  assign wr_patience = wr_which[nicloop_pkg::REG_LINK_PATIENCE[6:3]];
  assign wr_ctrl     = wr_which[nicloop_pkg::REG_LINK_CTRL[6:3]];
  assign wr_writable = wr_patience || wr_ctrl;
  always_ff @(posedge clk) begin
    restart <= wr_link & {LINKS{!rst && wr_do && wr_ctrl && wr_data[nicloop_pkg::LINK_CTRL_RESET_LSB]}};
    if (rst) begin
      patience <= {LINKS{PATIENCE_W'(nicloop_pkg::LINK_PATIENCE_AT_RESET)}};
      drain    <= '0;
    end else
      for (int l = 0; l < LINKS; l++) begin
        if (wr_do && wr_patience && wr_link[l]) patience[l*PATIENCE_W+:PATIENCE_W] <= wr_data;
        if (wr_do && wr_ctrl && wr_link[l]) drain[l] <= wr_data[nicloop_pkg::LINK_CTRL_DRAIN_LSB];
      end
  end

  // ---- reads ----
  logic [63:0] chosen, own;
  assign rd_known = rd_which != '0;
  function automatic logic [63:0] only(input logic is, input logic [31:0] value);
    only = is ? 64'(value) : '0;
  endfunction
  always_comb begin
    chosen = '0;
    own = '0;
    for (int l = 0; l < LINKS; l++)
      if (rd_link[l]) begin
        chosen = only(rd_which[nicloop_pkg::REG_LINK_STATUS[6:3]],
            32'({up[l], drains[l], dead[l], carrier[l], connected[l]})) |
                 only(rd_which[nicloop_pkg::REG_LINK_CRC_ERRORS[6:3]], crc_errors[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_RETRANSMISSIONS[6:3]], retransmissions[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_TIMEOUTS[6:3]], timeouts[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_FAILURES[6:3]], failures[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_CUT[6:3]], cut[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_DRAINED[6:3]], drained[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_RESETS[6:3]], resets[l*32+:32]) |
                 only(rd_which[nicloop_pkg::REG_LINK_LOST[6:3]], lost[l*32+:32]);
        if (rd_which[nicloop_pkg::REG_LINK_PATIENCE[6:3]]) own = 64'(patience[l*PATIENCE_W+:PATIENCE_W]);
        if (rd_which[nicloop_pkg::REG_LINK_CTRL[6:3]]) own[nicloop_pkg::LINK_CTRL_DRAIN_LSB] = drain[l];
      end
  end
  always_ff @(posedge clk) rd_value <= chosen | own;
endmodule
