// router_output: one output port of the router.
//
// Job: per virtual channel, gives the port to one packet at a time (fair round-robin over the queues that may
//   leave on it, from head to tail), and per cycle to one virtual channel that can move (round-robin). The
//   flit leaves through a register.
// Handshake: req/pop towards the queues, one bit per input and VC (index v * PORTS + input); tail and data show
//   what is popped, zero from all others; flit channel out.
// Back-pressure: without a credit of the receiver for a VC nothing of that VC is popped.
//
// A mesh has one layer of VCs, a torus two: VC = layer * CLASSES + class. Going on in a dimension keeps the
// layer, a turn starts in layer 0, and leaving over a wrap wire goes to layer 1, so that no ring of one layer
// closes. Delivery is in layer 0.
module router_output #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int LAYERS   = 1,
    parameter int VC_DEPTH = 16,
    localparam int CLASSES = nicloop_pkg::VCS,
    localparam int VCS     = CLASSES * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS,
    localparam int K       = LAYERS * PORTS  // queues of a class: index layer * PORTS + input
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                wrap,   // this port leads over a wrap wire
    input  logic [N-1:0]        req,    // this queue holds a flit for this output
    output logic [N-1:0]        pop,
    input  logic [PORTS-1:0]    tail,   // by input
    input  logic [PORTS*64-1:0] data,
    output logic                tx_valid,
    output logic [VC_W-1:0]     tx_vc,
    output logic                tx_head,
    output logic                tx_tail,
    output logic [63:0]         tx_data,
    input  logic [VCS-1:0]      tx_credit,
    output logic                idle
);
  // Queues of a class that leave in a layer.
  function automatic logic [K-1:0] leaving(input int layer, input logic over_wrap);
    for (int k = 0; k < K; k++) begin
      if (PORT == 0) leaving[k] = layer == 0;
      else if (k % PORTS != 0 && (k % PORTS - 1) / 2 == (PORT - 1) / 2) leaving[k] = (layer == 1) == (k / PORTS == 1 || over_wrap);
      else leaving[k] = (layer == 1) == over_wrap;
    end
  endfunction

  logic [VCS*K-1:0] pops;  // by VC out, then queue of the class
  logic [VCS-1:0]   ready, turn, fresh;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [K-1:0] want, owner, grant, choice;  // owner: zero while no packet holds the VC
      logic         credit;

      for (genvar l = 0; l < LAYERS; l++) begin : g_layer
        assign want[l*PORTS+:PORTS] = req[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] &
                                      (LAYERS == 1 ? {PORTS{1'b1}} : PORTS'(leaving(v / CLASSES, wrap) >> l * PORTS));
      end
      /* verilator lint_off PINCONNECTEMPTY */
      credit_counter #(.DEPTH(VC_DEPTH)) u_credit (
          .clk, .rst, .spend(turn[v]), .give(tx_credit[v]), .available(credit), .count()
      );
      /* verilator lint_on PINCONNECTEMPTY */
      assign fresh[v] = owner == '0;
      rr_arbiter #(.N(K)) u_packet (.clk, .rst, .req(want), .advance(turn[v] && fresh[v]), .grant);

      assign choice   = fresh[v] ? grant : owner & want;
      assign ready[v] = credit && choice != '0;
      assign pops[v*K+:K] = turn[v] ? choice : '0;

      always_ff @(posedge clk) begin
        if (rst) owner <= '0;
        else if (turn[v]) owner <= |tail ? '0 : choice;
      end
    end
  endgenerate

  rr_arbiter #(.N(VCS)) u_vc (.clk, .rst, .req(ready), .advance(1'b1), .grant(turn));

  logic [VC_W-1:0] sel_vc;
  logic [63:0]     sel_data;
  always_comb begin
    pop      = '0;
    sel_vc   = '0;
    sel_data = '0;
    for (int v = 0; v < VCS; v++) begin
      if (turn[v]) sel_vc = sel_vc | VC_W'(v);
      for (int l = 0; l < LAYERS; l++)
        pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] = pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] | pops[v*K+l*PORTS+:PORTS];
    end
    if (|turn)
      for (int i = 0; i < PORTS; i++) sel_data = sel_data | data[i*64+:64];
  end

  assign idle = !tx_valid;

  always_ff @(posedge clk) tx_valid <= !rst && |turn;
  always_ff @(posedge clk) begin
    if (|turn) begin
      tx_vc   <= sel_vc;
      tx_head <= |(turn & fresh);
      tx_tail <= |tail;
      tx_data <= sel_data;
    end
  end

`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // Queues keep what they offer, and show tails and data only while they are popped; credits come back only for flits
  // that were sent; where a port leads does not change.
  logic [PORTS-1:0] from;
  logic [N-1:0]     kept;
  logic             was_wrap;
  always_ff @(posedge clk) was_wrap <= wrap;
  always_ff @(posedge clk) kept <= rst ? '0 : req & ~pop;
  always_comb if (formal_started && !rst) assume ((kept & ~req) == '0);
  always_comb begin
    from = '0;
    for (int v = 0; v < VCS; v++) from = from | pop[v*PORTS+:PORTS];
    assume ((tail & ~from) == '0);
    for (int i = 0; i < PORTS; i++) assume (from[i] || data[i*64+:64] == '0);
    if (formal_started) assume (wrap == was_wrap);
  end

  // The channel by which each queue leaves, said anew; packets begun and not ended there; credits in hand.
  logic [VCS-1:0] may, waits, begun, takes;
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
      assign may[v]   = left[v*8+:8] != '0;
      assign waits[v] = may[v] && (req & mine[v*N+:N] & (begun[v] ? holder[v*N+:N] : {N{1'b1}})) != '0;
      always_ff @(posedge clk) begin
        left[v*8+:8] <= rst ? 8'(VC_DEPTH) : left[v*8+:8] + 8'(tx_credit[v]) - 8'(takes[v]);
        if (rst) holder[v*N+:N] <= '0;
        else if (takes[v]) holder[v*N+:N] <= |tail ? '0 : pop;
      end
      logic [3:0] passed;  // flits of other channels while this one could send
      always_ff @(posedge clk)
        if (rst || takes[v] || !waits[v]) passed <= '0;
        else if (pop != '0) passed <= passed + 1'b1;
      always_comb begin
        if (formal_started && !rst) begin
          assert (passed < 4'(VCS));
          assume (!tx_credit[v] || left[v*8+:8] < 8'(VC_DEPTH));
          assert (left[v*8+:8] <= 8'(VC_DEPTH));
          if (takes[v]) assert (may[v] && (!begun[v] || pop == holder[v*N+:N]));  // a credit, and packets do not mix
        end
      end
      if (PORT != 0 || v < CLASSES) begin : g_ends
        always_ff @(posedge clk) cover (formal_started && !rst && takes[v] && begun[v] && |tail);
      end
    end
  endgenerate

  logic           was_any, was_head, was_tail;
  logic [VCS-1:0] was_takes;
  logic [63:0]    was_data;
  always_ff @(posedge clk) begin
    was_any   <= !rst && pop != '0;
    was_takes <= takes;
    was_head  <= (takes & begun) == '0;
    was_tail  <= |tail;
    was_data  <= '0;
    for (int i = 0; i < PORTS; i++) if (from[i]) was_data <= data[i*64+:64];
  end
  always_ff @(posedge clk) cover (formal_started && !rst && begun[0] && begun[1] && takes[0]);
  always_comb
    if (formal_started) begin
      assert (tx_valid == was_any);
      if (tx_valid) assert (was_takes[tx_vc] && tx_head == was_head && tx_tail == was_tail && tx_data == was_data);
      if (!rst) begin
        assert ((pop & (pop - 1'b1)) == '0 && (pop & ~req) == '0);
        assert (pop != '0 || waits == '0);  // what can move, moves
      end
    end
`endif
endmodule
