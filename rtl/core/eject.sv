// eject: hands packets out of the network to the units that complete them.
//
// Job: one FIFO per virtual channel. Channel 0 goes to the VELO completer, channel 2, the answers, to a completer of
//   RMA of its own; channel 1, the requests of RMA, goes by packet type to its responder, or to its completer (also
//   what no unit knows: it drops and counts). So no full mailbox stands before a request, and no request before an
//   answer. The completer and the responder of channel 1 alternate: a packet is handed to one when the other has
//   finished, so that operations of one source take effect in order.
// Handshake: flit channel in; valid/ready per unit (0 VELO, 1 completer, 2 responder, 3 completer of channel 2).
// Back-pressure: a flit that its unit does not take keeps its credit.
module eject #(
    parameter int VC_DEPTH = 16,
    localparam int VCS     = nicloop_pkg::VCS,
    localparam int VC_W    = $clog2(VCS),
    localparam int LEVEL_W = $clog2(VC_DEPTH + 2)
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              rx_valid,
    input  logic [VC_W-1:0]   rx_vc,
    input  logic              rx_head,
    input  logic              rx_tail,
    input  logic [63:0]       rx_data,
    output logic [VCS-1:0]    rx_credit,
    output logic [3:0]        unit_valid,
    input  logic [3:0]        unit_ready,
    output logic [VCS*66-1:0] flits,         // {tail, head, data} by channel
    input  logic              completer_busy,
    input  logic              responder_busy,
    output logic [VCS*16-1:0] levels,
    output logic              idle
);
  logic [VCS-1:0]         q_valid, q_pop, free;
  logic [VCS*LEVEL_W-1:0] counts;
  // Whether a head is for the responder is found out as it comes, since who takes it must be known early.
  logic           rx_asks;
  logic [3:0]     rx_type;
  /* verilator lint_off UNUSEDSIGNAL */  // of channel 1 alone
  logic [VCS-1:0] asks;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rx_type = rx_data[nicloop_pkg::HEADER_TYPE_LSB+:4];
  assign rx_asks = rx_type == 4'(nicloop_pkg::PACKET_TYPE_RMA_GET_REQ) ||
      rx_type == 4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ);
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      fifo #(.W(67), .DEPTH(VC_DEPTH)) u_fifo (
          .clk, .rst, .wr_valid(rx_valid && rx_vc == VC_W'(v)), .wr_ready(free[v]),
          .wr_data({rx_asks, rx_tail, rx_head, rx_data}), .rd_valid(q_valid[v]), .rd_ready(q_pop[v]),
          .rd_data({asks[v], flits[v*66+:66]}), .level(counts[v*LEVEL_W+:LEVEL_W])
      );
      assign levels[v*16+:16] = 16'(counts[v*LEVEL_W+:LEVEL_W]);
    end
  endgenerate

  // ---- channel 1: by type, from head to tail ----
  logic       head, tail, to_responder, kept, allowed;
  assign {tail, head} = flits[66+64+:2];
  assign to_responder = head ? asks[1] : kept;
  assign allowed = !(head && (to_responder ? completer_busy : responder_busy));
  always_ff @(posedge clk) begin
    if (rst) kept <= 1'b0;
    else if (q_pop[1]) kept <= !tail && to_responder;
  end

  assign unit_valid = {q_valid[2], q_valid[1] && allowed && to_responder, q_valid[1] && allowed && !to_responder,
      q_valid[0]};
  assign q_pop      = {unit_valid[3] && unit_ready[3], |(unit_valid[2:1] & unit_ready[2:1]), unit_valid[0] &&
      unit_ready[0]};
  always_ff @(posedge clk) rx_credit <= rst ? '0 : q_pop;
  assign idle = q_valid == '0 && rx_credit == '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!rx_valid || free[rx_vc]) else $error("eject %m: flit on VC %0d without a free entry", rx_vc);
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // The network sends with a credit in hand.
  logic [VCS*9-1:0] out;  // credits that are not here
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_check
      logic arrives;
      assign arrives = rx_valid && rx_vc == VC_W'(v);
      always_ff @(posedge clk) out[v*9+:9] <= rst ? '0 : out[v*9+:9] + 9'(arrives) - 9'(rx_credit[v]);
      always_comb
        if (formal_started && !rst) begin
          assume (!arrives || out[v*9+:9] < 9'(VC_DEPTH));
          assert (out[v*9+:9] == 9'(counts[v*LEVEL_W+:LEVEL_W]) + 9'(rx_credit[v]));  // one credit for each entry
          assert (!arrives || free[v]);
        end
    end
  endgenerate
  always_comb assume (rx_vc < VC_W'(VCS));

  logic midway;  // the head of a packet of channel 1 has been handed over, its tail not
  logic to;      // to the responder
  always_ff @(posedge clk) begin
    if (rst) midway <= 1'b0;
    else if (q_pop[1]) midway <= !tail;
    if (q_pop[1]) to <= unit_valid[2];
  end

  always_comb
    if (formal_started && !rst) begin
      assert (unit_valid[2:1] != 2'b11);
      // Nothing but its own unit holds a flit back; the head of a request waits for the other unit of requests as well.
      assert (!(q_valid[0] && unit_ready[0]) || q_pop[0]);
      assert (!(q_valid[2] && unit_ready[3]) || q_pop[2]);
      assert (!(q_valid[1] && unit_ready[2:1] == '1 && !completer_busy && !responder_busy) || q_pop[1]);
      assert (!(q_valid[1] && midway && !head && unit_ready[2:1] == '1) || q_pop[1]);
      // A request goes to one unit only while the other has none.
      if (q_pop[1] && head && unit_valid[1]) assert (!responder_busy);
      if (q_pop[1] && head && unit_valid[2]) assert (!completer_busy);
      // The rest of a packet follows its head.
      if (midway && q_valid[1] && !head) assert (unit_valid[2] == to && unit_valid[1] == !to);
      assert (kept == (midway && to));  // what has no head goes where it is dropped and counted
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !free[0] && q_pop[1]);
    cover (formal_started && !free[1] && q_pop[2]);
    cover (formal_started && midway && q_pop[1] && tail && to);
  end
`endif
endmodule
