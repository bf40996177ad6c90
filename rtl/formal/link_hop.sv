// link_hop: one hop of the network as it is built: the output of a router (router_output), a link
// (link_session, link_tx and link_rx at both ends) and the queue of the next router's input (voq).
// Either end of the link may be reset by itself (restart), the output may discard (drain) and the
// receiver give a packet up (give_up), whenever the solver likes. Wires are good here: what they
// lose and corrupt is the matter of link_pair, link_cut and link_reset.
//
// The invariant: every packet is delivered or counted, exactly once, and a session change leaves no
// flit and no credit behind in either router.
//
//   always   the queue never gets a flit without a free entry; packets arrive whole: from the head
//            on, without a gap, up to their tail or up to one that was made up
//   always   a packet that the output takes is either sent or counted as drained
//   start    when a session starts, the packets counted as lost are exactly those that were sent
//            and not delivered
//   at rest  every packet sent has been delivered or counted as lost, a session is up at both ends,
//            the output holds a credit for every entry of the queue, and no packet lacks its end but
//            the one whose rest is still in the sending router
//
// That flits are in order and of one session alone is proved by link_reset.
//
// A flit holds a 1, its number and the marks of the sending router; a tail that was made up is 0.
// In the first cycles, in which the first session starts, there are no resets and cuts; after them
// as many as RESETS and CUTS allow.
module link_hop #(
    parameter int VC_DEPTH = 1,
    parameter int RESETS   = 2,
    parameter int CUTS     = 0,   // cycles of drain or give_up
    parameter int BEGINS   = 6,   // cycles that the first session takes to start
    parameter int COUNT_W  = 2,
    parameter int NUMBER_W = 2,
    parameter int SETTLED  = 10,  // cycles without events until all must be at rest; links have short timeouts here
    localparam int DATA_W  = COUNT_W + 3,
    localparam int SEQ_W   = $clog2(VC_DEPTH + 1) + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = 6 + 1 + 2 * SEQ_W + CNT_W
) (
    input logic       clk,
    input logic       rst,
    input logic       want,       // the sending router has a flit for the link
    input logic       want_tail,
    input logic       drain,
    input logic       give_up,
    input logic       free,       // the receiving router takes a flit on
    input logic [1:0] restart     // 0: the sending end
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb assume (rst == !started);
  logic [4:0] age;
  logic [1:0] resets, cuts;
  always_ff @(posedge clk) begin
    if (rst) age <= '0;
    else if (age != '1) age <= age + 1'b1;
    resets <= rst ? '0 : resets + 2'(restart != '0);
    cuts   <= rst ? '0 : cuts + 2'(drain || give_up);
  end
  always_comb begin
    if (resets == 2'(RESETS) || age < 5'(BEGINS)) assume (restart == '0);
    if (cuts == 2'(CUTS) || age < 5'(BEGINS)) assume (!drain && !give_up);
  end

  // ---- the sending router ----
  logic              pop, popped, open, closed, tx_valid, tx_head, tx_tail, tx_credit, ev_drained;
  logic              tx_vc;
  logic [1:0]        pops;
  logic [63:0]       tx_data;
  logic [COUNT_W-1:0] number;  // of the next flit
  logic [DATA_W-1:0]  shown;   // the flit that was popped in the cycle before
  assign pop = pops[0];
  always_ff @(posedge clk) begin
    popped <= !rst && pop;
    shown  <= {1'b1, number, !open, want_tail};
    if (rst) number <= '0;
    else if (pop) number <= number + 1'b1;
    if (rst) open <= 1'b0;
    else if (pop) open <= !want_tail;
  end
  router_output #(.PORT(1), .PORTS(2), .LAYERS(1), .VC_DEPTH(VC_DEPTH), .CLASSES(1)) u_output (
      .clk, .rst, .wrap(1'b0), .drain, .closed, .req({1'b0, want}), .pop(pops), .tail({1'b0, want_tail}),
      .data({64'd0, popped ? 64'(shown) : 64'd0}), .tx_valid, .tx_vc, .tx_head, .tx_tail, .tx_data, .tx_credit,
      .ev_drained, .ev_ended(), .moves(), .idle()
  );

  // ---- the link: flits go from end 0 to end 1 ----
  logic [1:0]          up, start, word_valid, rx_valid, rx_head, rx_tail, made_up, in_credit;
  logic [2*CTRL_W-1:0] word_ctrl;
  logic [2*DATA_W-1:0] word_data, rx_data;
  logic [2*SEQ_W-1:0]  session_lost;
  logic                queue_credit;
  assign closed    = !up[0];
  assign tx_credit = in_credit[0];
  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      logic                peer_valid, peer_nack, ack_request, nack_request, freed, discarded;
      logic [SEQ_W-1:0]    peer_ack, expected, accepted_heads;
      logic [CNT_W-1:0]    peer_freed, free_entries;
      logic                hello_due, hello_sent, echoes, none_accepted, in_hello;
      logic [NUMBER_W-1:0] echo, own;
      logic [CTRL_W-1:0]   in_ctrl;
      logic [DATA_W-1:0]   in_data;
      assign in_ctrl  = word_ctrl[(1-e)*CTRL_W+:CTRL_W];
      assign in_data  = word_data[(1-e)*DATA_W+:DATA_W];
      assign in_hello = word_valid[1-e] && in_ctrl[CTRL_W-1];
      link_session #(.NUMBER_W(NUMBER_W), .PERIOD(4)) u_session (
          .clk, .rst, .restart(restart[e]), .carrier(1'b1), .in_hello, .in_up(in_ctrl[CTRL_W-2]),
          .in_echoes(in_ctrl[CTRL_W-5]), .in_number(in_data[NUMBER_W-1:0]), .in_echo(in_data[NUMBER_W+:NUMBER_W]),
          .hello_due, .hello_sent, .echoes, .echo, .number(own), .up(up[e]), .start(start[e]), .stop(), .active()
      );
      link_tx #(.VCS(1), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W), .TIMEOUT(4), .TIMEOUT_MAX(4), .DEAD_AFTER(2)) u_tx (
          .clk, .rst, .carrier(1'b1), .up(up[e]), .start(start[e]), .hello_due, .hello_flags({echoes, none_accepted}),
          .hello_accepted(accepted_heads), .hello_data(DATA_W'({echo, own})), .hello_sent,
          .start_none_accepted(in_ctrl[CTRL_W-6]), .start_accepted(in_ctrl[CNT_W+:SEQ_W]),
          .start_freed(in_ctrl[CNT_W-1:0]), .lost(session_lost[e*SEQ_W+:SEQ_W]), .free_entries,
          .in_valid(e == 0 && tx_valid), .in_vc(1'b0), .in_head(tx_head), .in_tail(tx_tail),
          .in_data(tx_data[DATA_W-1:0]), .in_credit(in_credit[e]), .peer_valid, .peer_nack, .peer_ack, .peer_freed,
          .ack_request, .nack_request, .expected, .freed, .discarded, .out_valid(word_valid[e]), .out_ready(1'b1),
          .out_ctrl(word_ctrl[e*CTRL_W+:CTRL_W]), .out_data(word_data[e*DATA_W+:DATA_W])
      );
      link_rx #(.VCS(1), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W)) u_rx (
          .clk, .rst, .up(up[e]), .start(start[e]), .accepted_heads, .none_accepted, .free_entries,
          .in_valid(word_valid[1-e]), .in_good(1'b1), .in_ctrl, .in_data, .out_valid(rx_valid[e]),
          .out_head(rx_head[e]), .out_tail(rx_tail[e]), .out_data(rx_data[e*DATA_W+:DATA_W]), .peer_valid, .peer_nack,
          .peer_ack, .peer_freed, .ack_request, .nack_request, .expected, .out_credit(e == 1 && queue_credit), .freed,
          .discarded, .give_up(e == 1 && give_up)
      );
    end
  endgenerate

  // ---- the receiving router ----
  logic              arrives, made, held_valid, queue_idle, partly, came_head, came_tail;
  logic [COUNT_W-1:0] came;
  logic [CNT_W:0]    inside;  // flits in the queue
  assign arrives = rx_valid[1];
  assign made    = rx_data[DATA_W+:DATA_W] == '0;
  assign {came, came_head, came_tail} = rx_data[DATA_W+:DATA_W-1];
  voq #(.PORTS(1), .VCS(1), .VC_DEPTH(VC_DEPTH), .W(1)) u_queue (
      .clk, .rst, .wr_valid(arrives), .wr_vc(1'b0), .wr_port(1'b1), .wr_tail(rx_tail[1]), .wr_data(1'b0),
      .rd_valid(held_valid), .rd_pop(held_valid && free), .rd_tail(), .rd_data(), .credit(queue_credit),
      .idle(queue_idle)
  );
  always_ff @(posedge clk) begin
    if (rst) inside <= '0;
    else inside <= inside + (CNT_W + 1)'(arrives) - (CNT_W + 1)'(held_valid && free);
    if (rst) partly <= 1'b0;
    else if (arrives) partly <= !rx_tail[1];
  end

  // ---- what became of the packets ----
  logic [COUNT_W-1:0] latest;
  logic [CNT_W+1:0]   pending;   // packets sent and neither delivered nor lost: at most one more than there are credits
  logic [CNT_W:0]     credits;   // that the output has not spent
  logic               sent_head, takes_head, drains_head;
  assign sent_head = tx_valid && tx_head;
  always_ff @(posedge clk) begin
    if (arrives && !made) latest <= came;
    takes_head  <= !rst && pop && !open;
    drains_head <= !rst && ev_drained;
    if (rst || start[0]) pending <= '0;
    else pending <= pending + (CNT_W + 2)'(sent_head) - (CNT_W + 2)'(arrives && rx_head[1]);
    if (rst || closed) credits <= '0;
    else credits <= credits + (CNT_W + 1)'(tx_credit) - (CNT_W + 1)'(tx_valid);
  end

  logic [4:0] calm;
  always_ff @(posedge clk) begin
    if (rst || pop || tx_valid || drain || give_up || restart != '0 || arrives || !queue_idle) calm <= '0;
    else if (calm != 5'(SETTLED)) calm <= calm + 1'b1;
  end

  always_comb
    if (started && !rst) begin
      assert (inside <= (CNT_W + 1)'(VC_DEPTH));
      if (arrives) begin
        assert (inside != (CNT_W + 1)'(VC_DEPTH));
        assert (rx_head[1] == !partly);
        if (made) assert (rx_tail[1] && !rx_head[1]);
        else begin
          if (partly) assert (came == latest + 1'b1);
          assert (rx_head[1] == came_head && rx_tail[1] == came_tail);
        end
      end
      assert (takes_head == (sent_head || drains_head) && !(sent_head && drains_head));
      if (start[0]) assert (!sent_head && !(arrives && rx_head[1]) && 32'(session_lost[SEQ_W-1:0]) == 32'(pending));
      if (calm == 5'(SETTLED)) begin
        assert (up == 2'b11);
        assert (pending == '0);
        assert (credits == (CNT_W + 1)'(VC_DEPTH));
        assert (!partly || open);
      end
    end

  // What must be reachable, or the proof would be of a link that stands still.
  logic [1:0] sessions;
  logic       lost, delivered, drained;  // a packet in the first session, in the second, ever
  always_ff @(posedge clk) begin
    sessions  <= rst ? '0 : sessions + 2'(start[0] && sessions != 2'd3);
    lost      <= !rst && (lost || session_lost[SEQ_W-1:0] != '0);
    delivered <= !rst && (delivered || (sessions == 2'd2 && arrives && rx_head[1]));
    drained   <= !rst && (drained || ev_drained);
  end
  always_ff @(posedge clk) begin
    cover (started && lost && delivered && calm == 5'(SETTLED));
    cover (started && sessions == 2'd2 && arrives && made);
    cover (started && sessions == 2'd1 && (CUTS == 0 || drained) && calm == 5'(SETTLED) && latest != '0);
  end
endmodule
