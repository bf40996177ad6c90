// link_pair: two links that face each other over wires that lose and corrupt whatever they like, as
// the solver chooses. What is sent on one must arrive at the other once and in order, and no credit
// is invented. When wires have been good and ends silent for long enough, everything has arrived
// and every credit is home: nothing was lost for good. CRCs are left out: the solver says which
// words are good, and a bad one holds anything.
//
// With CUT links may be given up and packets are of any length. What arrives is then whole packets,
// if only by a tail that was made up, and credits are home when packets are complete.
//
// With RESET either end may be reset, the link alone (restart) or all of it (wipe). Flits of a
// session arrive once and in order from its first on, none of one before comes later, and packets
// have an end. When all has been quiet both ends agree, credits are home, and what did not come has
// been counted.
//
// A flit holds its number modulo 2^DATA_W, so losing, doubling or reordering it shows.
module link_pair #(
    parameter int VC_DEPTH = 1,
    parameter int DATA_W   = 3,
    parameter int CUT      = 0,
    parameter int RESET    = 0,
    parameter int SETTLED  = 13,  // cycles without faults and without anything new; the links' time-outs are short here
    parameter int NUMBER_W = 1,
    localparam int VCS     = 2,
    localparam int SEQ_W   = $clog2(VCS * VC_DEPTH + 1) + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = 6 + 1 + 2 * SEQ_W + VCS * CNT_W
) (
    input logic                clk,
    input logic                rst,
    input logic [1:0]          carrier,
    input logic [1:0]          want,     // an end sends a flit if it may
    input logic [1:0]          want_vc,
    input logic [1:0]          want_tail,
    input logic [1:0]          give_up,
    input logic [1:0]          restart,
    input logic [1:0]          wipe,
    input logic [3:0]          free,     // an entry is freed, if one is taken
    input logic [1:0]          lost,
    input logic [1:0]          bad,
    input logic [2*CTRL_W-1:0] noise
);
  logic [1:0]          valid, head, tail, rx_valid, rx_vc, word_valid;
  logic [3:0]          credit, freed;
  logic [2*DATA_W-1:0] rx_data, word_data;
  logic [2*CTRL_W-1:0] word_ctrl;
  logic [1:0]          rx_head, rx_tail, repeats;
  logic                started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic [4:0] calm;
  always_ff @(posedge clk) begin
    if (rst || carrier != 2'b11 || give_up != '0 || (RESET != 0 && (restart | wipe) != '0) ||
        ({word_valid[0], word_valid[1]} & (lost | bad)) != '0 || valid != '0 || freed != '0) calm <= '0;
    else if (calm != 5'(SETTLED)) calm <= calm + 1'b1;
  end

  always_ff @(posedge clk) cover (started && calm == 5'(SETTLED) && g_end[0].faulty && g_end[0].in_number != '0);

  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      logic [CNT_W:0]       credits[VCS], taken[VCS];  // in the sender's hand; flits that stand here
      logic [DATA_W-1:0]    out_number, in_number;
      logic                 peer_valid, peer_nack, ack_request, nack_request;
      logic [SEQ_W-1:0]     peer_ack, expected;
      logic [VCS*CNT_W-1:0] peer_freed;
      logic                 arrives, good;
      logic [VCS-1:0]       told, discarded, sending, partly;  // the rest of a packet is to be sent; is to come
      logic                 made_up, ended;
      logic                 up, start, cleared, in_hello, hello_due, hello_sent, echoes, none_accepted;
      logic [NUMBER_W-1:0]  echo, number;
      logic [SEQ_W-1:0]     accepted_heads, session_lost;
      logic [VCS*CNT_W-1:0] free_entries, start_freed;
      logic [CTRL_W-1:0]    in_ctrl;
      assign cleared = rst || (RESET != 0 && wipe[e]);
      assign in_ctrl = good ? word_ctrl[(1-e)*CTRL_W+:CTRL_W] : noise[e*CTRL_W+:CTRL_W];
      if (RESET != 0) begin : g_session
        link_session #(.NUMBER_W(NUMBER_W), .PERIOD(4)) u_session (
            .clk, .rst(cleared), .restart(restart[e]), .carrier(carrier == 2'b11), .in_hello, .in_up(in_ctrl[CTRL_W-2]),
            .in_echoes(in_ctrl[CTRL_W-5]), .in_number(word_data[(1-e)*DATA_W+:NUMBER_W]),
            .in_echo(word_data[(1-e)*DATA_W+NUMBER_W+:NUMBER_W]), .hello_due, .hello_sent, .echoes, .echo, .number, .up,
            .start, .stop(), .active()
        );
        assign in_hello    = arrives && good && in_ctrl[CTRL_W-1];
        assign start_freed = in_ctrl[VCS*CNT_W-1:0];
      end else begin : g_one  // a session that starts once
        always_ff @(posedge clk) up <= !rst;
        assign start       = !rst && !up;
        assign start_freed = {VCS{CNT_W'(VC_DEPTH)}};
        assign {in_hello, hello_due, echoes, echo, number} = '0;
      end

      assign valid[e] = want[e] && credits[want_vc[e]] != '0;
      assign head[e]  = !sending[want_vc[e]];
      assign tail[e]  = want_tail[e];
      for (genvar v = 0; v < VCS; v++) begin : g_vc
        assign freed[e*2+v] = free[e*2+v] && taken[v] != '0;
        always_ff @(posedge clk) begin
          if (cleared) taken[v] <= '0;
          else taken[v] <= taken[v] + (CNT_W + 1)'(rx_valid[e] && rx_vc[e] == 1'(v)) - (CNT_W + 1)'(freed[e*2+v]);
          if (cleared || !up) credits[v] <= '0;
          else begin
            credits[v] <= credits[v] + (CNT_W + 1)'(credit[e*2+v]) - (CNT_W + 1)'(valid[e] && want_vc[e] == 1'(v));
          end
        end
        always_comb
          if (started) begin
            assert (credits[v] <= (CNT_W + 1)'(VC_DEPTH));
            assert (taken[v] <= (CNT_W + 1)'(VC_DEPTH));
            if (calm == 5'(SETTLED) && (CUT == 0 || RESET != 0 || !sending[v]))
                assert (credits[v] + g_end[1-e].taken[v] == (CNT_W + 1)'(VC_DEPTH));
          end
      end
      // No word is sent again after its acknowledgement: one that link_rx passes on in a cycle
      // counts for words that are offered two cycles later.
      if (RESET == 0) begin : g_resent
        logic [SEQ_W-1:0] acked, acked_then, ahead;
        assign ahead = word_ctrl[e*CTRL_W+VCS*CNT_W+SEQ_W+:SEQ_W] - acked_then;
        always_ff @(posedge clk) begin
          if (rst) {acked, acked_then} <= '0;
          else begin
            acked_then <= acked;
            if (peer_valid) acked <= peer_ack;
          end
        end
        always_comb if (started && !rst && word_valid[e] && word_ctrl[e*CTRL_W+CTRL_W-3]) assert (!ahead[SEQ_W-1]);
      end
      always_ff @(posedge clk) begin
        if (rst) begin
          out_number <= '0;
          in_number  <= '0;
        end else begin
          if (valid[e]) out_number <= out_number + 1'b1;
          if (rx_valid[e] && !made_up) in_number <= rx_data[e*DATA_W+:DATA_W] + 1'b1;
        end
        made_up <= !cleared && ended;
        if (cleared || !up) sending <= '0;
        if (cleared) partly <= '0;
        else begin
          if (valid[e] && up) sending[want_vc[e]] <= !tail[e];
          if (rx_valid[e]) partly[rx_vc[e]] <= !rx_tail[e];
        end
      end
      always_comb
        if (started && rx_valid[e]) begin
          assert (rx_head[e] != partly[rx_vc[e]]);
          assert (!made_up || (CUT + RESET != 0 && rx_tail[e] && !rx_head[e] && rx_data[e*DATA_W+:DATA_W] == '0));
        end
      always_comb
        if (started && rx_valid[e] && CUT == 0 && !made_up) begin
          assert (rx_data[e*DATA_W+:DATA_W] == (anew ? g_end[1-e].first_number : in_number));
          assert (rx_data[e*DATA_W+:DATA_W] != g_end[1-e].out_number);  // nothing arrives that was not sent
        end

      // The first flit of a session, and whether none of it has come.
      logic [DATA_W-1:0] first_number, heads_out, heads_in, heads_lost;
      logic              anew, whole;  // whole: no end was ever wiped
      always_ff @(posedge clk) begin
        if (rst) first_number <= '0;
        else if (start) first_number <= out_number;
        if (rst || start) anew <= 1'b1;
        else if (rx_valid[e] && !made_up) anew <= 1'b0;
        whole      <= rst || (whole && wipe == '0);
        heads_out  <= rst ? '0 : heads_out + DATA_W'(valid[e] && head[e]);
        heads_in   <= rst ? '0 : heads_in + DATA_W'(rx_valid[e] && rx_head[e]);
        heads_lost <= rst ? '0 : heads_lost + DATA_W'(session_lost);
      end
      always_comb
        if (started && RESET != 0) begin
          if (!cleared) assert (!start || !valid[e]);
          if (calm == 5'(SETTLED)) begin
            assert (up);
            if (whole) assert (heads_out == g_end[1-e].heads_in + heads_lost);
          end
        end
      if (RESET != 0) begin : g_reset
        logic [1:0] sessions;
        always_ff @(posedge clk) sessions <= rst ? '0 : sessions + 2'(start && sessions != 2'd3);
        always_ff @(posedge clk) cover (started && sessions == 2'd2 && heads_lost != '0 && rx_valid[e] && !made_up &&
            whole);
        always_ff @(posedge clk) cover (started && sessions == 2'd2 && made_up && partly[rx_vc[e]]);
      end

      always_comb if (started && CUT + RESET == 0 && calm == 5'(SETTLED)) assert (g_end[1-e].in_number == out_number);

      assign arrives = word_valid[1-e] && !lost[e] && carrier == 2'b11;
      assign good    = !bad[e];
      link_tx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W), .TIMEOUT(4), .TIMEOUT_MAX(4), .DEAD_AFTER(2)) u_tx (
          .clk, .rst(cleared), .carrier(carrier == 2'b11), .up, .start, .hello_due,
          .hello_flags({echoes, none_accepted}), .hello_accepted(accepted_heads), .hello_data(DATA_W'({echo, number})),
          .hello_sent, .start_none_accepted(RESET == 0 || in_ctrl[CTRL_W-6]),
          .start_accepted(RESET == 0 ? '0 : in_ctrl[VCS*CNT_W+:SEQ_W]), .start_freed, .lost(session_lost),
          .free_entries, .in_valid(valid[e]), .in_vc(want_vc[e]), .in_head(head[e]), .in_tail(tail[e]),
          .in_data(out_number), .in_credit(credit[e*2+:2]), .peer_valid, .peer_nack, .peer_ack, .peer_freed,
          .ack_request, .nack_request, .expected, .freed(told), .discarded, .out_valid(word_valid[e]), .out_ready(1'b1),
          .out_ctrl(word_ctrl[e*CTRL_W+:CTRL_W]), .out_data(word_data[e*DATA_W+:DATA_W]), .ev_resend(repeats[e])
      );
      link_rx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W)) u_rx (
          .clk, .rst(cleared), .up, .start, .accepted_heads, .none_accepted, .free_entries, .in_valid(arrives),
          .in_good(good), .in_ctrl, .in_data(word_data[(1-e)*DATA_W+:DATA_W]), .out_valid(rx_valid[e]),
          .out_vc(rx_vc[e]), .out_head(rx_head[e]), .out_tail(rx_tail[e]), .out_data(rx_data[e*DATA_W+:DATA_W]),
          .peer_valid, .peer_nack, .peer_ack, .peer_freed, .ack_request, .nack_request, .expected,
          .out_credit(freed[e*2+:2]), .freed(told), .discarded, .give_up(CUT != 0 && give_up[e]), .ev_cut(ended)
      );

      // What must be reachable, or the proof would be of a link that stands still.
      logic faulty;
      always_ff @(posedge clk) faulty <= !rst && (faulty || (word_valid[1-e] && (lost[e] || bad[e])));
      always_ff @(posedge clk) begin
        // credits came home after faults
        cover (started && rx_valid[e] && faulty && in_number == DATA_W'(2 * VC_DEPTH));
        cover (started && repeats[e] && faulty);
      end
      if (CUT != 0) begin : g_cut
        logic cut_once;
        always_ff @(posedge clk) cut_once <= !rst && (cut_once || made_up);
        always_ff @(posedge clk) cover (started && cut_once && discarded != '0);  // the rest came after all
      end
    end
  endgenerate
endmodule
