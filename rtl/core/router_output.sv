// router_output: one output port of the router.
//
// Job: per virtual channel, gives the port to one packet at a time (fair round-robin over the
//   queues that may leave on it, from head to tail), and per cycle to one virtual channel that can
//   move (round-robin). What it chooses leaves in the cycle after.
// Handshake: req/pop towards the queues, one bit per input and VC (index v * PORTS + input); tail
//   is that of the flit which a queue offers, data what was popped in the cycle before, zero from
//   all others; flit channel out.
// Back-pressure: without a credit of the receiver for a VC nothing of that VC is popped, unless the
// port drains.
//
// While drain is asked the packets for this port are popped and not sent, a flit a cycle, so that
// they hold nobody else. A packet that has lost a flit loses all that follow, also when the port
// works again. When a part of it had been sent before, the receiver is owed its end: a tail of
// zeros, sent as soon as there is a credit and before anything else of the VC.
//
// A port with a link starts without credits, and has none while the link has no session (closed):
// it gives them when one starts, as many as there are entries. The rest of a packet that was being
// sent when a session ended is discarded; the other end has ended it.
//
// A mesh has one layer of VCs, a torus two: VC = layer * CLASSES + class. Going on in a dimension
// keeps the layer, a change of dimension starts in layer 0, and leaving over a wrap wire goes to
// layer 1, so that no ring of one layer closes. Delivery is in layer 0.
module router_output #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int LAYERS   = 1,
    parameter int VC_DEPTH = 16,
    parameter int CLASSES  = nicloop_pkg::VCS,
    localparam int VCS     = CLASSES * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS,
    localparam int K       = LAYERS * PORTS  // queues of a class: index layer * PORTS + input
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                wrap,   // this port leads over a wrap wire
    input  logic                drain,  // packets are discarded instead of sent
    input  logic                closed, // there is no session of the link
    input  logic [N-1:0]        req,    // this queue holds a flit for this output
    output logic [N-1:0]        pop,
    input  logic [N-1:0]        tail,   // of what it offers
    input  logic [PORTS*64-1:0] data,   // by input
    output logic                tx_valid,
    output logic [VC_W-1:0]     tx_vc,
    output logic                tx_head,
    output logic                tx_tail,
    output logic [63:0]         tx_data,
    input  logic [VCS-1:0]      tx_credit,
    output logic                ev_drained,  // a packet is discarded, of which nothing was sent
    output logic                ev_ended,    // the rest of one of which a part was sent
    output logic                moves,       // something is popped or sent, known before it is chosen which
    output logic                idle
);
  // Queues of a class that leave in a layer.
  function automatic logic [K-1:0] leaving(input int layer, input logic over_wrap);
    for (int k = 0; k < K; k++) begin
      if (PORT == 0) leaving[k] = layer == 0;
      else if (k % PORTS != 0 && (k % PORTS - 1) / 2 == (PORT - 1) / 2)
          leaving[k] = (layer == 1) == (k / PORTS == 1 || over_wrap);
      else leaving[k] = (layer == 1) == over_wrap;
    end
  endfunction

  logic [VCS*K-1:0] pops;  // by VC out, then queue of the class
  // last: it is a tail that can be pulled
  logic [VCS-1:0]   ready, granted, fresh, pulls, sends, owed, drained, ended, last;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [K-1:0] want, tails, allowed, choice;  // allowed: all, or the one whose packet holds the VC
      // losing: the packet that holds the VC has lost a flit
      logic         wanted, in_hand, credit, discard, losing, end_it;

      for (genvar l = 0; l < LAYERS; l++) begin : g_layer
        assign want[l*PORTS+:PORTS] = req[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] & allowed[l*PORTS+:PORTS] &
                                      (LAYERS == 1 ? {PORTS{1'b1}} : PORTS'(leaving(v / CLASSES, wrap) >> l * PORTS));
        assign tails[l*PORTS+:PORTS] = tail[(l*CLASSES+v%CLASSES)*PORTS+:PORTS];
      end
      /* verilator lint_off PINCONNECTEMPTY */
      credit_counter #(.DEPTH(VC_DEPTH), .START(PORT == 0 ? VC_DEPTH : 0)) u_credit (
          .clk, .rst(PORT == 0 ? rst : closed), .spend(sends[v]), .give(tx_credit[v]), .available(in_hand), .count()
      );
      /* verilator lint_on PINCONNECTEMPTY */
      rr_arbiter #(.N(K)) u_packet (.clk, .rst, .req(want), .advance(pulls[v]), .grant(choice));

      assign last[v]  = (choice & tails) != '0;
      assign wanted   = want != '0;
      assign credit   = in_hand && !closed;
      assign discard  = drain || losing || (closed && !fresh[v]);
      assign end_it   = owed[v] && credit;
      assign ready[v] = end_it || (wanted && (discard || credit));
      assign pulls[v] = granted[v] && !end_it;
      assign sends[v] = granted[v] && (end_it || !discard);
      assign pops[v*K+:K] = pulls[v] ? choice : '0;

      assign drained[v] = pulls[v] && discard && fresh[v];
      assign ended[v]   = pulls[v] && discard && !fresh[v] && !losing && !closed;
      // What is granted is known late, so no enable stands behind it.
      always_ff @(posedge clk) begin
        if (rst) begin
          allowed  <= '1;
          fresh[v] <= 1'b1;  // no packet holds it
          losing   <= 1'b0;
          owed[v]  <= 1'b0;
        end else begin
          allowed  <= (allowed & {K{!pulls[v]}}) | ((choice | {K{last[v]}}) & {K{pulls[v]}});
          fresh[v] <= (fresh[v] && !pulls[v]) || (last[v] && pulls[v]);
          losing   <= (discard && !last[v] && pulls[v]) || ((losing || (closed && !fresh[v])) && !pulls[v]);
          owed[v]  <= !closed && (ended[v] || (owed[v] && !sends[v]));
        end
      end
    end
  endgenerate

  rr_arbiter #(.N(VCS)) u_vc (.clk, .rst, .req(ready), .advance(1'b1), .grant(granted));

  // What was not popped shows zeros, so does the end of a packet that was owed.
  function automatic logic [63:0] popped(input logic [PORTS*64-1:0] words);
    popped = '0;
    for (int i = 0; i < PORTS; i++) popped = popped | words[i*64+:64];
  endfunction
  assign tx_data = popped(data);
  logic [VC_W-1:0] sel_vc;
  always_comb begin
    pop      = '0;
    sel_vc   = '0;
    for (int v = 0; v < VCS; v++) begin
      if (sends[v]) sel_vc = sel_vc | VC_W'(v);
      for (int l = 0; l < LAYERS; l++)
        pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] = pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] | pops[v*K+l*PORTS+:PORTS];
    end
  end

  assign moves      = ready != '0;
  assign idle       = !tx_valid && owed == '0;
  assign ev_drained = |drained;
  assign ev_ended   = |ended;

  always_ff @(posedge clk) tx_valid <= !rst && |sends;
  always_ff @(posedge clk) begin
    if (|sends) begin
      tx_vc   <= sel_vc;
      tx_head <= |(sends & pulls & fresh);
      tx_tail <= |(sends & (last | ~pulls));
    end
  end

`ifdef FORMAL
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

  // The channel by which each queue leaves, said anew; packets begun and not ended there; credits
  // in hand. What drains is taken and not sent: the wire sees whole packets all the same, if only
  // by an end of zeros that is owed.
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
      assign ends[v]  = sends[v] && !pulls[v];
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
`endif
endmodule
