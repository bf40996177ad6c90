// lrs_arbiter: least-recently-served arbiter.
//
// Job: grants the requester that was served longest ago. While a requester waits, each other one is
//   served at most once more before it, even if it does not request in every cycle and others are
//   served meanwhile. A round-robin pointer does not guarantee that: grants to a third requester
//   can move it such that the same one of two wins every time.
// Handshake: grant is one-hot and combinational. served is one-hot or zero, and may be later than
//   the grant; a requester that was granted and not served keeps its rank.
// Backpressure: none.
module lrs_arbiter #(
    parameter int N = 4
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [N-1:0] req,
    input  logic [N-1:0] served,
    output logic [N-1:0] grant
);
  // first_q[i * N + j], for i below j: i was served longer ago than j. The order begins with the
  // lowest number.
  logic [N*N-1:0] first_q, older;  // older: for all i and j
  always_ff @(posedge clk)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (i >= j) first_q[i*N+j] <= 1'b0;
        else first_q[i*N+j] <= rst || served[j] || (first_q[i*N+j] && !served[i]);
  always_comb
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) older[i*N+j] = i < j ? first_q[i*N+j] : i > j && !first_q[j*N+i];
  always_comb
    for (int i = 0; i < N; i++) begin
      grant[i] = req[i];
      for (int j = 0; j < N; j++) if (req[j] && older[j*N+i]) grant[i] = 1'b0;
    end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert ((grant & (grant - 1'b1)) == '0) else $error("lrs_arbiter %m: grant %b is not one-hot", grant);
      assert ((served & (served - 1'b1)) == '0) else $error("lrs_arbiter %m: served %b is not one-hot", served);
    end
`endif
`ifdef FORMAL_BELOW
  // In a proof of a block around it: induction begins anywhere, but with an order, so that a
  // request has a grant.
  always_comb
    if (!rst)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          for (int k = 0; k < N; k++) assert (!(older[i*N+j] && older[j*N+k] && older[k*N+i]));
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);
  always_comb if (formal_started && !rst) assume ((served & (served - 1'b1)) == '0);

  // Which of the others were served since some requester began to wait. It may withdraw its request
  // for a while, as one does whose resource is not free, and keeps its place.
  (* anyconst *) logic [$clog2(N)-1:0] someone;
  always_comb assume (32'(someone) < N);
  logic [N-1:0] since;
  always_ff @(posedge clk) since <= rst || served[someone] ? '0 : since | served;
  always_comb
    if (formal_started) begin
      assert ((grant & (grant - 1'b1)) == '0);
      assert ((grant & ~req) == '0);
      assert ((grant == '0) == (req == '0));
      if (req[someone]) assert ((grant & since) == '0);  // none is served first for the second time
      for (int i = 0; i < N; i++) if (since[i]) assert (older[32'(someone)*N+i]);
      // It is an order: what makes a grant exist.
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
          for (int k = 0; k < N; k++) if (older[i*N+j] && older[j*N+k]) assert (older[i*N+k]);
    end
  // All others were served, the last of them while the one that waits did not ask.
  logic [N-1:0] others;
  always_comb
    for (int i = 0; i < N; i++) others[i] = 32'(someone) != i;
  always_ff @(posedge clk) cover (formal_started && !rst && since == others && req == '1 && grant[someone]);
`endif
endmodule
