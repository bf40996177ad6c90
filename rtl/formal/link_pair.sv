// link_pair: two links that face each other over wires that lose and corrupt whatever they like, as the
// solver chooses. What is sent on one must arrive at the other once and in order, and no credit is invented.
// When wires have been good and ends silent for long enough, everything has arrived and every credit is home:
// nothing was lost for good. CRCs are left out: the solver says which words are good, and a bad one holds anything.
//
// With CUT links may be given up and packets are of any length. What arrives is then whole packets, if only by a tail that was made up,
// and credits are home when packets are complete.
//
// A flit holds its number modulo 2^DATA_W, so losing, doubling or reordering it shows.
module link_pair #(
    parameter int VC_DEPTH = 1,
    parameter int DATA_W   = 3,
    parameter int CUT      = 0,
    localparam int VCS     = 2,
    localparam int SEQ_W   = $clog2(VCS * VC_DEPTH + 1) + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = 5 + 1 + 2 * SEQ_W + VCS * CNT_W
) (
    input logic                clk,
    input logic                rst,
    input logic [1:0]          carrier,
    input logic [1:0]          want,     // an end sends a flit if it may
    input logic [1:0]          want_vc,
    input logic [1:0]          want_tail,
    input logic [1:0]          give_up,
    input logic [3:0]          free,     // a place is freed, if one is taken
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

  // Cycles without faults and without anything new; the links' time-outs are short here.
  localparam int SETTLED = 11;
  logic [4:0] calm;
  always_ff @(posedge clk) begin
    if (rst || carrier != 2'b11 || give_up != '0 || ({word_valid[0], word_valid[1]} & (lost | bad)) != '0 || valid != '0 || freed != '0) calm <= '0;
    else if (calm != 5'(SETTLED)) calm <= calm + 1'b1;
  end

  always_ff @(posedge clk) cover (started && calm == 5'(SETTLED) && g_end[0].faulty && g_end[0].in_number != '0);

  generate
    for (genvar e = 0; e < 2; e++) begin : g_end
      logic [CNT_W:0]       credits[VCS], taken[VCS];  // in the sender's hand; flits that stand here
      logic [DATA_W-1:0]    out_number, in_number;
      logic                 peer_valid, peer_nack, tell_ack, tell_nack;
      logic [SEQ_W-1:0]     peer_ack, expected;
      logic [VCS*CNT_W-1:0] peer_freed;
      logic                 arrives, good;
      logic [VCS-1:0]       told, discarded, sending, partly;  // the rest of a packet is to be sent; is to come
      logic                 made_up, ended;

      assign valid[e] = want[e] && credits[want_vc[e]] != '0;
      assign head[e]  = !sending[want_vc[e]];
      assign tail[e]  = want_tail[e];
      for (genvar v = 0; v < VCS; v++) begin : g_vc
        assign freed[e*2+v] = free[e*2+v] && taken[v] != '0;
        always_ff @(posedge clk) begin
          if (rst) begin
            credits[v] <= (CNT_W + 1)'(VC_DEPTH);
            taken[v]   <= '0;
          end else begin
            credits[v] <= credits[v] + (CNT_W + 1)'(credit[e*2+v]) - (CNT_W + 1)'(valid[e] && want_vc[e] == 1'(v));
            taken[v]   <= taken[v] + (CNT_W + 1)'(rx_valid[e] && rx_vc[e] == 1'(v)) - (CNT_W + 1)'(freed[e*2+v]);
          end
        end
        always_comb
          if (started) begin
            assert (credits[v] <= (CNT_W + 1)'(VC_DEPTH));
            assert (taken[v] <= (CNT_W + 1)'(VC_DEPTH));
            if (calm == 5'(SETTLED) && (CUT == 0 || !sending[v])) assert (credits[v] + g_end[1-e].taken[v] == (CNT_W + 1)'(VC_DEPTH));
          end
      end
      always_ff @(posedge clk) begin
        if (rst) begin
          out_number <= '0;
          in_number  <= '0;
        end else begin
          if (valid[e]) out_number <= out_number + 1'b1;
          if (rx_valid[e]) in_number <= in_number + 1'b1;
        end
        made_up <= !rst && ended;
        if (rst) begin
          sending <= '0;
          partly  <= '0;
        end else begin
          if (valid[e]) sending[want_vc[e]] <= !tail[e];
          if (rx_valid[e]) partly[rx_vc[e]] <= !rx_tail[e];
        end
      end
      always_comb
        if (started && rx_valid[e]) begin
          assert (rx_head[e] != partly[rx_vc[e]]);
          assert (!made_up || (CUT != 0 && rx_tail[e] && !rx_head[e] && rx_data[e*DATA_W+:DATA_W] == '0));
        end
      always_comb
        if (started && rx_valid[e] && CUT == 0) begin
          assert (rx_data[e*DATA_W+:DATA_W] == in_number);
          assert (in_number != g_end[1-e].out_number);  // nothing arrives that was not sent
        end

      always_comb if (started && CUT == 0 && calm == 5'(SETTLED)) assert (g_end[1-e].in_number == out_number);

      assign arrives = word_valid[1-e] && !lost[e] && carrier == 2'b11;
      assign good    = !bad[e];
      link_tx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W), .TIMEOUT(4), .TIMEOUT_MAX(4), .DEAD_AFTER(2)) u_tx (
          .clk, .rst, .carrier(carrier == 2'b11), .in_valid(valid[e]), .in_vc(want_vc[e]), .in_head(head[e]), .in_tail(tail[e]),
          .in_data(out_number), .in_credit(credit[e*2+:2]), .peer_valid, .peer_nack, .peer_ack, .peer_freed,
          .tell_ack, .tell_nack, .expected, .freed(told), .discarded, .out_valid(word_valid[e]), .out_ready(1'b1),
          .out_ctrl(word_ctrl[e*CTRL_W+:CTRL_W]), .out_data(word_data[e*DATA_W+:DATA_W]),
          .ev_resend(repeats[e])
      );
      link_rx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .DATA_W(DATA_W)) u_rx (
          .clk, .rst, .in_valid(arrives), .in_good(good),
          .in_ctrl(good ? word_ctrl[(1-e)*CTRL_W+:CTRL_W] : noise[e*CTRL_W+:CTRL_W]),
          .in_data(word_data[(1-e)*DATA_W+:DATA_W]), .out_valid(rx_valid[e]), .out_vc(rx_vc[e]), .out_head(rx_head[e]),
          .out_tail(rx_tail[e]), .out_data(rx_data[e*DATA_W+:DATA_W]), .peer_valid, .peer_nack, .peer_ack, .peer_freed,
          .tell_ack, .tell_nack, .expected, .out_credit(freed[e*2+:2]), .freed(told), .discarded, .give_up(CUT != 0 && give_up[e]),
          .ev_cut(ended)
      );

      // What must be reachable, or the proof would be of a link that stands still.
      logic faulty;
      always_ff @(posedge clk) faulty <= !rst && (faulty || (word_valid[1-e] && (lost[e] || bad[e])));
      always_ff @(posedge clk) begin
        cover (started && rx_valid[e] && faulty && in_number == DATA_W'(2 * VC_DEPTH));  // credits came home after faults
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
