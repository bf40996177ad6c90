// router_output_packets: what a router's output port sends to the wire, however its queues, drain,
// closed and the credits behave: packets do not mix on a channel and start with their head; nothing
// is sent without a credit; a packet of which a part was sent is ended, by its own tail or by a
// tail of zeros; what can move does; channels and queues are served in turns.
module router_output_packets #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int LAYERS   = 1,
    parameter int VC_DEPTH = 16,
    parameter int CLASSES  = nicloop_pkg::VCS,
    localparam int VCS     = CLASSES * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS
) (
    input logic                clk,
    input logic                rst,
    input logic                wrap,
    input logic                drain,
    input logic                closed,
    input logic [N-1:0]        req,
    input logic [N-1:0]        tail,
    input logic [PORTS*64-1:0] data,
    input logic [VCS-1:0]      tx_credit
);
  logic [N-1:0]    pop;
  logic            tx_valid, tx_head, tx_tail, ev_drained, ev_ended, moves, idle;
  logic [VC_W-1:0] tx_vc;
  logic [63:0]     tx_data;
  router_output #(.PORT(PORT), .PORTS(PORTS), .LAYERS(LAYERS), .VC_DEPTH(VC_DEPTH), .CLASSES(CLASSES)) u_dut (
      .clk, .rst, .wrap, .drain, .closed, .req, .pop, .tail, .data, .tx_valid, .tx_vc, .tx_head, .tx_tail, .tx_data,
      .tx_credit, .ev_drained, .ev_ended, .moves, .idle
  );
  (* hierconn *) wire [VCS-1:0] \u_dut.sends , \u_dut.pulls ;

  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst && (PORT == 0) == !closed);
  always_comb if (PORT == 0) assume (!closed);
  always_comb if (formal_started && rst) assume (tx_credit == '0);

  // Queues keep what they offer, and show data only when they were popped; credits come back only
  // for flits that were sent; where a port leads does not change.
  logic [PORTS-1:0] from, from_was;
  logic             tails;  // what is popped
  assign tails = (tail & pop) != '0;
  logic [N-1:0]     kept;
  logic             was_wrap;
  always_ff @(posedge clk) was_wrap <= wrap;
  always_ff @(posedge clk) from_was <= rst ? '0 : from;
  always_ff @(posedge clk) kept <= rst ? '0 : req & ~pop;
  always_comb if (formal_started && !rst) assume ((kept & ~req) == '0);
  always_comb begin
    from = '0;
    for (int v = 0; v < VCS; v++) from = from | pop[v*PORTS+:PORTS];
    if (formal_started) for (int i = 0; i < PORTS; i++) assume (from_was[i] || data[i*64+:64] == '0);
    if (formal_started) assume (wrap == was_wrap);
  end

  // The channel by which each queue leaves, derived independently; open packets there; credits in
  // hand. A draining port pops without sending; the wire sees terminated packets all the same, if
  // only by a tail of zeros.
  logic [VCS-1:0] may, waits, begun, takes, gives, lost, sent_part, owes, ends;
  logic [VCS*8-1:0] left;
  logic [VCS*N-1:0] mine, holder;
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_channel
      for (genvar q = 0; q < N; q++) begin : g_queue
        localparam bit SAME = PORT != 0 && q % PORTS != 0 && (q % PORTS + 1) / 2 == (PORT + 1) / 2;
        localparam bit LATE = SAME && q / PORTS >= CLASSES;
        assign mine[v*N+q] = q / PORTS % CLASSES == v % CLASSES &&
                             (v >= CLASSES) == (LAYERS == 2 && PORT != 0 && (wrap || LATE));
      end
      assign takes[v] = (pop & mine[v*N+:N]) != '0;
      assign begun[v] = holder[v*N+:N] != '0;
      assign may[v]   = left[v*8+:8] != '0 && !closed;
      assign waits[v] = (may[v] && owes[v]) || (((may[v] && !owes[v]) || drain || lost[v] || (closed && begun[v])) &&
                        (req & mine[v*N+:N] & (begun[v] ? holder[v*N+:N] : {N{1'b1}})) != '0);
      assign gives[v] = takes[v] && !drain && !lost[v] && !(closed && begun[v]);
      assign ends[v]  = \u_dut.sends [v] && !\u_dut.pulls [v];
      always_ff @(posedge clk) begin
        if (rst) begin
          lost[v]      <= 1'b0;
          sent_part[v] <= 1'b0;
          owes[v]      <= 1'b0;
        end else begin
          if (takes[v]) lost[v] <= !gives[v] && !tails;
          else if (closed && begun[v]) lost[v] <= 1'b1;
          if (closed) sent_part[v] <= 1'b0;
          else if (gives[v] || ends[v]) sent_part[v] <= gives[v] && !tails;
          if (ends[v] || closed) owes[v] <= 1'b0;
          else if (takes[v] && !gives[v] && sent_part[v]) owes[v] <= 1'b1;
        end
        left[v*8+:8] <= PORT == 0 ? (rst ? 8'(VC_DEPTH) : left[v*8+:8] + 8'(tx_credit[v]) - 8'(gives[v] || ends[v])) :
            closed ? 8'd0 : left[v*8+:8] + 8'(tx_credit[v]) - 8'(gives[v] || ends[v]);
        if (rst) holder[v*N+:N] <= '0;
        else if (takes[v]) holder[v*N+:N] <= tails ? '0 : pop;
      end
      logic [3:0] passed;  // flits of other channels while this one could send
      always_ff @(posedge clk)
        if (rst || takes[v] || ends[v] || !waits[v]) passed <= '0;
        else if (pop != '0 || ends != '0) passed <= passed + 1'b1;
      always_comb begin
        if (formal_started && !rst) begin
          assert (passed < 4'(VCS));
          assume (!tx_credit[v] || !closed);
          assume (!tx_credit[v] || left[v*8+:8] < 8'(VC_DEPTH));
          assert (left[v*8+:8] <= 8'(VC_DEPTH));
          if (takes[v]) assert (!begun[v] || pop == holder[v*N+:N]);  // packets do not mix
          // a credit, and from the head on or not at all
          if (gives[v]) assert (may[v] && !owes[v] && sent_part[v] == begun[v]);
          if (ends[v]) assert (may[v] && owes[v] && !takes[v]);
          if (sent_part[v] && !owes[v] && !closed) assert (begun[v] && !lost[v]);  // nothing stays without an end
        end
      end
      if (PORT != 0 || v < CLASSES) begin : g_ends
        always_ff @(posedge clk) cover (formal_started && !rst && takes[v] && begun[v] && tails);
        if (PORT != 0) begin : g_drained
          logic again;  // a packet lost its rest and another goes whole
          always_ff @(posedge clk) again <= !rst && (again || ends[v]);
          always_ff @(posedge clk) cover (formal_started && !rst && again && gives[v] && begun[v] && tails);
        end
      end
    end
  endgenerate

  // Fair by packets: while a queue, any, has a flit, every other queue of its channel begins at
  // most one packet before it is served.
  (* anyconst *) logic [$clog2(N)-1:0] someone;
  logic [N-1:0] rivals;
  logic         rival_begins;
  logic [7:0]   passed_by, rival_count;
  always_comb begin
    assume (32'(someone) < N);
    rivals       = '0;
    rival_begins = 1'b0;
    rival_count  = '0;
    for (int v = 0; v < VCS; v++)
      if (mine[v*N+32'(someone)]) begin
        rivals       = mine[v*N+:N];
        rival_begins = takes[v] && !begun[v];
      end
    for (int i = 0; i < N; i++) rival_count = rival_count + 8'(rivals[i] && i != 32'(someone));
    if (formal_started && !rst) assert (passed_by <= rival_count);
  end
  always_ff @(posedge clk)
    if (rst || !req[someone] || pop[someone]) passed_by <= '0;
    else if (rival_begins) passed_by <= passed_by + 1'b1;

  logic           was_any, was_head, was_tail;
  logic [VCS-1:0] was_takes;
  logic           was_end;
  logic [63:0]    shown;
  always_ff @(posedge clk) begin
    was_any   <= !rst && (gives | ends) != '0;
    was_takes <= gives | ends;
    was_head  <= ends == '0 && (takes & begun) == '0;
    was_tail  <= tails || ends != '0;
    was_end   <= ends != '0;
  end
  always_comb begin
    shown = '0;
    for (int i = 0; i < PORTS; i++) if (from_was[i] && !was_end) shown = data[i*64+:64];
  end
  always_ff @(posedge clk) cover (formal_started && !rst && begun[0] && begun[1] && takes[0]);
  always_comb
    if (formal_started) begin
      assert (tx_valid == was_any);
      if (tx_valid) assert (was_takes[tx_vc] && tx_head == was_head && tx_tail == was_tail && tx_data == shown);
      if (!rst) begin
        assert ((pop & (pop - 1'b1)) == '0 && (pop & ~req) == '0);
        assert ((ends & (ends - 1'b1)) == '0 && (ends == '0 || pop == '0));
        assert (pop != '0 || ends != '0 || waits == '0);  // what can move, moves
        assert (ev_drained == ((takes & ~gives & ~begun) != '0));
      end
    end
endmodule
