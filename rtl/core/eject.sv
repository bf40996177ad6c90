// eject: delivers packets from the network to the units that complete them.
//
// Job: one FIFO per virtual channel. Channel 0 feeds the VELO completer; channel 2, the answers, an
//   RMA completer of its own; channel 1, the RMA requests, feeds its responder or its completer by
//   packet type (unknown types go to the completer, which drops and counts them). So no full
//   mailbox blocks a request, and no request an answer. The completer and the responder of channel
//   1 alternate: one gets a packet when the other has finished, so that operations of one source
//   take effect in order.
// Handshake: flit channel in; valid/ready per unit (0 VELO, 1 completer, 2 responder, 3 completer
//   of channel 2).
// Backpressure: the credit of a flit is returned when its unit accepts it.
module eject #(
    parameter int VC_DEPTH = 16,
    localparam int VCS     = nicloop_pkg::VCS,
    localparam int VC_W    = $clog2(VCS),
    localparam int LEVEL_W = $clog2(VC_DEPTH + 2),
    localparam int FLIT_W  = nicloop_pkg::FLIT_W
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
    output logic [VCS*FLIT_W-1:0] flits,     // flit_t by channel
    input  logic              completer_busy,
    input  logic              responder_busy,
    output logic [VCS*16-1:0] levels,
    output logic              idle
);
  localparam int VELO = 0, REQUESTS = 1, ANSWERS = 2;                            // channels
  localparam int VELO_UNIT = 0, COMPLETER = 1, RESPONDER = 2, ANSWERS_UNIT = 3;  // units
  /* verilator lint_off UNUSEDSIGNAL */  // only the type of the header is used
  nicloop_pkg::flit_t     front;  // of the requests
  nicloop_pkg::header_t   rx_header;
  /* verilator lint_on UNUSEDSIGNAL */
  nicloop_pkg::flit_t     enters;
  logic [VCS-1:0]         q_valid, q_pop, free;
  logic [VCS*LEVEL_W-1:0] counts;
  // Whether a head is for the responder is found out as it comes, since who takes it must be known
  // early.
  logic                   rx_asks;
  /* verilator lint_off UNUSEDSIGNAL */  // of the requests alone
  logic [VCS-1:0]         asks;
  /* verilator lint_on UNUSEDSIGNAL */
  assign rx_header = rx_data;
  assign rx_asks   = rx_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_GET_REQ ||
      rx_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ;
  always_comb begin
    enters.tail = rx_tail;
    enters.head = rx_head;
    enters.data = rx_data;
  end
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      fifo #(.W(1 + FLIT_W), .DEPTH(VC_DEPTH)) u_fifo (
          .clk, .rst, .wr_valid(rx_valid && rx_vc == VC_W'(v)), .wr_ready(free[v]), .wr_data({rx_asks, enters}),
          .rd_valid(q_valid[v]), .rd_ready(q_pop[v]), .rd_data({asks[v], flits[v*FLIT_W+:FLIT_W]}),
          .level(counts[v*LEVEL_W+:LEVEL_W])
      );
      assign levels[v*16+:16] = 16'(counts[v*LEVEL_W+:LEVEL_W]);
    end
  endgenerate

  // ---- channel 1: by type, from head to tail ----
  logic       to_responder, kept, allowed;
  assign front        = flits[REQUESTS*FLIT_W+:FLIT_W];
  assign to_responder = front.head ? asks[REQUESTS] : kept;
  assign allowed      = !(front.head && (to_responder ? completer_busy : responder_busy));
  always_ff @(posedge clk) begin
    if (rst) kept <= 1'b0;
    else if (q_pop[REQUESTS]) kept <= !front.tail && to_responder;
  end

  assign unit_valid[VELO_UNIT]    = q_valid[VELO];
  assign unit_valid[COMPLETER]    = q_valid[REQUESTS] && allowed && !to_responder;
  assign unit_valid[RESPONDER]    = q_valid[REQUESTS] && allowed && to_responder;
  assign unit_valid[ANSWERS_UNIT] = q_valid[ANSWERS];
  logic [3:0] taken;
  assign taken           = unit_valid & unit_ready;
  assign q_pop[VELO]     = taken[VELO_UNIT];
  assign q_pop[REQUESTS] = taken[COMPLETER] || taken[RESPONDER];
  assign q_pop[ANSWERS]  = taken[ANSWERS_UNIT];
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
  logic ready;   // both units of requests
  assign ready = unit_ready[COMPLETER] && unit_ready[RESPONDER];
  always_ff @(posedge clk) begin
    if (rst) midway <= 1'b0;
    else if (q_pop[REQUESTS]) midway <= !front.tail;
    if (q_pop[REQUESTS]) to <= unit_valid[RESPONDER];
  end

  always_comb
    if (formal_started && !rst) begin
      assert (!(unit_valid[COMPLETER] && unit_valid[RESPONDER]));
      // Nothing but its own unit holds a flit back; the head of a request waits for the other unit
      // of requests as well.
      assert (!(q_valid[VELO] && unit_ready[VELO_UNIT]) || q_pop[VELO]);
      assert (!(q_valid[ANSWERS] && unit_ready[ANSWERS_UNIT]) || q_pop[ANSWERS]);
      assert (!(q_valid[REQUESTS] && ready && !completer_busy && !responder_busy) || q_pop[REQUESTS]);
      assert (!(q_valid[REQUESTS] && midway && !front.head && ready) || q_pop[REQUESTS]);
      // A request is handed to one unit only while the other has none.
      if (q_pop[REQUESTS] && front.head && unit_valid[COMPLETER]) assert (!responder_busy);
      if (q_pop[REQUESTS] && front.head && unit_valid[RESPONDER]) assert (!completer_busy);
      // The rest of a packet follows its head.
      if (midway && q_valid[REQUESTS] && !front.head)
        assert (unit_valid[RESPONDER] == to && unit_valid[COMPLETER] == !to);
      assert (kept == (midway && to));  // a packet without a head is handed to the unit that drops and counts it
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !free[VELO] && q_pop[REQUESTS]);
    cover (formal_started && !free[REQUESTS] && q_pop[ANSWERS]);
    cover (formal_started && midway && q_pop[REQUESTS] && front.tail && to);
  end
`endif
endmodule
