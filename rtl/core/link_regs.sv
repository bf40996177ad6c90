// link_regs: what the register pages of the links answer.
//
// Job: selects state and counters of one link; links that are not built read 0.
// Handshake: none, combinational. known says whether addr is a register of a link page; all are read-only.
module link_regs #(
    parameter int LINKS = 2
) (
    input  logic [31:0]         addr,
    input  logic [LINKS-1:0]    connected,
    input  logic [LINKS-1:0]    carrier,
    input  logic [LINKS-1:0]    dead,
    input  logic [LINKS*32-1:0] crc_errors,
    input  logic [LINKS*32-1:0] retransmissions,
    input  logic [LINKS*32-1:0] timeouts,
    input  logic [LINKS*32-1:0] failures,
    output logic                known,
    output logic [63:0]         value
);
  localparam int PAGE_W = $clog2(nicloop_pkg::PAGE_LINK_STRIDE);
  localparam int OFF_W  = nicloop_pkg::REG_ADDR_W;

  logic [31:0] place;  // the place behind the first link page
  logic [2:0]  which;
  assign place = addr - 32'(nicloop_pkg::PAGE_LINK_BASE);
  assign which  = place[PAGE_W+:3];

  logic [31:0] count;
  logic        is_status;
  always_comb begin
    known     = place < 32'(nicloop_pkg::PAGE_LINK_STRIDE * nicloop_pkg::PAGE_LINK_COUNT);
    is_status = 1'b0;
    count     = '0;
    case (OFF_W'(place[PAGE_W-1:0]))
      nicloop_pkg::REG_LINK_STATUS:          is_status = 1'b1;
      nicloop_pkg::REG_LINK_CRC_ERRORS:      for (int l = 0; l < LINKS; l++) if (which == 3'(l)) count = crc_errors[l*32+:32];
      nicloop_pkg::REG_LINK_RETRANSMISSIONS: for (int l = 0; l < LINKS; l++) if (which == 3'(l)) count = retransmissions[l*32+:32];
      nicloop_pkg::REG_LINK_TIMEOUTS:        for (int l = 0; l < LINKS; l++) if (which == 3'(l)) count = timeouts[l*32+:32];
      nicloop_pkg::REG_LINK_FAILURES:        for (int l = 0; l < LINKS; l++) if (which == 3'(l)) count = failures[l*32+:32];
      default:                               known = 1'b0;
    endcase
    value = 64'(count);
    for (int l = 0; l < LINKS; l++) if (is_status && which == 3'(l)) value[2:0] = {dead[l], carrier[l], connected[l]};
  end
endmodule
