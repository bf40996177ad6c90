// link_regs: what the register pages of the links answer.
//
// Job: selects state and counters of one link; links that are not built read 0 and keep nothing. Holds the patience and the switches of each.
// Handshake: reads are combinational; writes as regfile asks: wr_known says whether wr_addr is a register of a link page,
//   wr_writable whether it can be written.
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

  localparam int SIZE  = nicloop_pkg::PAGE_LINK_STRIDE * nicloop_pkg::PAGE_LINK_COUNT;

  // ---- writes ----
  logic [31:0] wr_offset;  // the offset behind the first link page
  assign wr_offset   = wr_addr - 32'(nicloop_pkg::PAGE_LINK_BASE);
  assign wr_known    = wr_offset < 32'(SIZE) && known(OFF_W'(wr_offset[PAGE_W-1:0]));
  logic wr_patience, wr_ctrl;
  assign wr_patience = wr_known && OFF_W'(wr_offset[PAGE_W-1:0]) == nicloop_pkg::REG_LINK_PATIENCE;
  assign wr_ctrl     = wr_known && OFF_W'(wr_offset[PAGE_W-1:0]) == nicloop_pkg::REG_LINK_CTRL;
  assign wr_writable = wr_patience || wr_ctrl;
  always_ff @(posedge clk) begin
    if (rst) begin
      patience <= {LINKS{PATIENCE_W'(nicloop_pkg::LINK_PATIENCE_AT_RESET)}};
      drain    <= '0;
      restart  <= '0;
    end else begin
      restart <= '0;
      for (int l = 0; l < LINKS; l++)
        if (wr_do && wr_writable && wr_offset[PAGE_W+:3] == 3'(l)) begin
          if (wr_patience) patience[l*PATIENCE_W+:PATIENCE_W] <= wr_data;
          if (wr_ctrl) drain[l] <= wr_data[nicloop_pkg::LINK_CTRL_DRAIN_LSB];
          if (wr_ctrl) restart[l] <= wr_data[nicloop_pkg::LINK_CTRL_RESET_LSB];
        end
    end
  end

  function automatic logic known(input logic [OFF_W-1:0] off);
    case (off)
      nicloop_pkg::REG_LINK_STATUS, nicloop_pkg::REG_LINK_CRC_ERRORS, nicloop_pkg::REG_LINK_RETRANSMISSIONS,
      nicloop_pkg::REG_LINK_TIMEOUTS, nicloop_pkg::REG_LINK_FAILURES, nicloop_pkg::REG_LINK_CUT,
      nicloop_pkg::REG_LINK_PATIENCE, nicloop_pkg::REG_LINK_CTRL, nicloop_pkg::REG_LINK_DRAINED,
      nicloop_pkg::REG_LINK_RESETS, nicloop_pkg::REG_LINK_LOST: known = 1'b1;
      default: known = 1'b0;
    endcase
  endfunction

  // ---- reads ----
  logic [31:0] rd_offset;
  logic [2:0]  which;
  assign rd_offset = rd_addr - 32'(nicloop_pkg::PAGE_LINK_BASE);
  assign which     = rd_offset[PAGE_W+:3];
  assign rd_known  = rd_offset < 32'(SIZE) && known(OFF_W'(rd_offset[PAGE_W-1:0]));
  always_comb begin
    rd_value = '0;
    for (int l = 0; l < LINKS; l++)
      if (rd_known && which == 3'(l))
        case (OFF_W'(rd_offset[PAGE_W-1:0]))
          nicloop_pkg::REG_LINK_STATUS:          rd_value = 64'({up[l], drains[l], dead[l], carrier[l], connected[l]});
          nicloop_pkg::REG_LINK_CRC_ERRORS:      rd_value = 64'(crc_errors[l*32+:32]);
          nicloop_pkg::REG_LINK_RETRANSMISSIONS: rd_value = 64'(retransmissions[l*32+:32]);
          nicloop_pkg::REG_LINK_TIMEOUTS:        rd_value = 64'(timeouts[l*32+:32]);
          nicloop_pkg::REG_LINK_FAILURES:        rd_value = 64'(failures[l*32+:32]);
          nicloop_pkg::REG_LINK_CUT:             rd_value = 64'(cut[l*32+:32]);
          nicloop_pkg::REG_LINK_DRAINED:         rd_value = 64'(drained[l*32+:32]);
          nicloop_pkg::REG_LINK_RESETS:          rd_value = 64'(resets[l*32+:32]);
          nicloop_pkg::REG_LINK_LOST:            rd_value = 64'(lost[l*32+:32]);
          nicloop_pkg::REG_LINK_CTRL:            rd_value[nicloop_pkg::LINK_CTRL_DRAIN_LSB] = drain[l];
          default:                               rd_value = 64'(patience[l*PATIENCE_W+:PATIENCE_W]);
        endcase
  end
endmodule
