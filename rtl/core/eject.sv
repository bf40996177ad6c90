// eject: hands packets out of the network to the units that complete them.
//
// Job: one FIFO per virtual channel. Channel 0 goes by packet type to the VELO completer (also what no unit
//   knows: it drops and counts), the RMA completer or the RMA responder; channel 1, the answers, to a completer
//   of its own, so no full mailbox and no request ever stands before an answer. The completer and the
//   responder of channel 0 alternate: a packet is handed to one when the other has finished, so that
//   operations of one source take effect in order.
// Handshake: flit channel in; valid/ready per unit (0 VELO, 1 completer, 2 responder, 3 completer of channel 1).
// Back-pressure: a flit that its unit does not take keeps its credit.
module eject #(
    parameter int VC_DEPTH = 16,
    localparam int LEVEL_W = $clog2(VC_DEPTH + 2)
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        rx_valid,
    input  logic        rx_vc,
    input  logic        rx_head,
    input  logic        rx_tail,
    input  logic [63:0] rx_data,
    output logic [1:0]  rx_credit,
    output logic [3:0]  unit_valid,
    input  logic [3:0]  unit_ready,
    output logic [65:0] flit0,         // {tail, head, data} of channel 0
    output logic [65:0] flit1,
    input  logic        completer_busy,
    input  logic        responder_busy,
    output logic [31:0] levels,
    output logic        idle
);
  logic [1:0]         q_valid, q_pop, free;
  logic [LEVEL_W-1:0] level0, level1;
  fifo #(.W(66), .DEPTH(VC_DEPTH)) u_fifo0 (
      .clk, .rst, .wr_valid(rx_valid && !rx_vc), .wr_ready(free[0]), .wr_data({rx_tail, rx_head, rx_data}),
      .rd_valid(q_valid[0]), .rd_ready(q_pop[0]), .rd_data(flit0), .level(level0)
  );
  fifo #(.W(66), .DEPTH(VC_DEPTH)) u_fifo1 (
      .clk, .rst, .wr_valid(rx_valid && rx_vc), .wr_ready(free[1]), .wr_data({rx_tail, rx_head, rx_data}),
      .rd_valid(q_valid[1]), .rd_ready(q_pop[1]), .rd_data(flit1), .level(level1)
  );

  // ---- channel 0: by type, from head to tail ----
  logic [2:0] by_type, unit, kept;
  logic       allowed;
  always_comb begin
    case (flit0[nicloop_pkg::HEADER_TYPE_LSB+:4])
      4'(nicloop_pkg::PACKET_TYPE_RMA_PUT), 4'(nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT),
      4'(nicloop_pkg::PACKET_TYPE_RMA_NOTI): by_type = 3'b010;
      4'(nicloop_pkg::PACKET_TYPE_RMA_GET_REQ), 4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ): by_type = 3'b100;
      default: by_type = 3'b001;
    endcase
  end
  assign unit    = flit0[64] ? by_type : kept;
  assign allowed = !(flit0[64] && ((unit[1] && responder_busy) || (unit[2] && completer_busy)));
  always_ff @(posedge clk) begin
    if (rst) kept <= 3'b001;
    else if (q_pop[0]) kept <= flit0[65] ? 3'b001 : unit;
  end

  assign unit_valid = {q_valid[1], {3{q_valid[0] && allowed}} & unit};
  assign q_pop      = {unit_valid[3] && unit_ready[3], |(unit_valid[2:0] & unit_ready[2:0])};
  always_ff @(posedge clk) rx_credit <= rst ? '0 : q_pop;
  assign levels = {16'(level1), 16'(level0)};
  assign idle   = q_valid == '0 && rx_credit == '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!rx_valid || free[rx_vc]) else $error("eject %m: flit on VC %0d without a free entry", rx_vc);
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // The network sends with a credit in hand.
  logic [8:0] out0, out1;  // credits that are not here
  always_ff @(posedge clk) begin
    out0 <= rst ? '0 : out0 + 9'(rx_valid && !rx_vc) - 9'(rx_credit[0]);
    out1 <= rst ? '0 : out1 + 9'(rx_valid && rx_vc) - 9'(rx_credit[1]);
  end
  always_comb
    if (formal_started && !rst) assume (!rx_valid || (rx_vc ? out1 < 9'(VC_DEPTH) : out0 < 9'(VC_DEPTH)));

  logic       midway;      // the head of a packet of channel 0 has been handed over, its tail not
  logic [2:0] to;          // to this unit
  always_ff @(posedge clk) begin
    if (rst) midway <= 1'b0;
    else if (q_pop[0]) midway <= !flit0[65];
    if (q_pop[0]) to <= unit_valid[2:0];
  end

  always_comb
    if (formal_started && !rst) begin
      assert (out0 == 9'(level0) + 9'(rx_credit[0]) && out1 == 9'(level1) + 9'(rx_credit[1]));  // one credit for each entry
      assert (!rx_valid || free[rx_vc]);
      assert ((unit_valid[2:0] & (unit_valid[2:0] - 1'b1)) == '0);
      // Nothing but its own unit holds a flit back; a head waits for the other unit of requests as well.
      assert (!(q_valid[1] && unit_ready[3]) || q_pop[1]);
      assert (!(q_valid[0] && unit_ready[2:0] == '1 && !completer_busy && !responder_busy) || q_pop[0]);
      assert (!(q_valid[0] && midway && !flit0[64] && unit_ready[2:0] == '1) || q_pop[0]);
      // A request goes to one unit only while the other has none.
      if (q_pop[0] && flit0[64] && unit_valid[1]) assert (!responder_busy);
      if (q_pop[0] && flit0[64] && unit_valid[2]) assert (!completer_busy);
      // The rest of a packet follows its head.
      if (midway && q_valid[0] && !flit0[64]) assert (unit_valid[2:0] == to);
      assert ((kept & (kept - 1'b1)) == '0 && kept != '0);
      assert (kept == (midway ? to : 3'b001));  // what has no head goes where it is dropped and counted
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !free[0] && q_pop[1]);
    cover (formal_started && midway && q_pop[0] && flit0[65] && to[2]);
  end
`endif
endmodule
