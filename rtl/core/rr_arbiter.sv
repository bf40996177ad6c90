// rr_arbiter: fair round-robin arbiter.
//
// Job: grants the first requester after the one that was served last, so a requester waits for at
//   most N - 1 others.
// Handshake: grant is one-hot and combinational; it is consumed when advance is high.
// Backpressure: without advance the priority does not move.
module rr_arbiter #(
    parameter int N = 4
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [N-1:0] req,
    input  logic         advance,
    output logic [N-1:0] grant
);
  logic [N-1:0] after;  // ones above the requester that was served last
  // requesters after that one; zeros above the first of them, and above the first of all
  logic [N-1:0] behind, first, any;
  // Of few requesters it is looked in groups of three side by side, which is faster than a carry:
  // whether one below it asks, in the group and in the groups before.
  localparam int GROUP = 3;
  function automatic logic [N-1:0] upto(input logic [N-1:0] x);
    logic lower, beside;
    if (N > 8) upto = ~(x ^ (~x + 1'b1));  // zeros above the lowest one of x
    else
      for (int i = 0; i < N; i++) begin
        lower  = 1'b0;
        beside = 1'b0;
        for (int j = 0; j < i; j++)
          if (j < i - i % GROUP) lower = lower | x[j];
          else beside = beside | x[j];
        upto[i] = !lower && !beside;
      end
  endfunction
  // Both are looked for side by side.
  assign behind = req & after;
  assign first  = upto(behind);
  assign any    = upto(req);
  assign grant  = (behind & first) | (req & any & {N{behind == '0}});

  always_ff @(posedge clk) begin
    if (rst) after <= '0;
    else if (advance && |req) after <= |behind ? ~first : ~any;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert ((grant & (grant - 1'b1)) == '0) else $error("rr_arbiter %m: grant %b is not one-hot", grant);
      assert ((grant & ~req) == '0) else $error("rr_arbiter %m: grant %b without request %b", grant, req);
    end
`endif
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // How often others were served while some requester kept asking, and how far the priority still
  // has to go to it: each service brings the priority nearer. A cycle in which nobody asks, since
  // what all wait for is not free, does not end its wait.
  (* anyconst *) logic [$clog2(N)-1:0] someone;
  always_comb assume (32'(someone) < N);
  logic [31:0] waited, ones, last, distance;
  always_comb begin
    ones = 0;
    for (int i = 0; i < N; i++) ones = ones + 32'(after[i]);
    last     = N - 1 - ones;
    distance = 32'(someone) > last ? 32'(someone) - last : 32'(someone) - last + N;
  end
  always_ff @(posedge clk) begin
    if (rst || (!req[someone] && |req) || (advance && grant[someone])) waited <= 0;
    else if (advance && |req) waited <= waited + 1;
  end

  always_comb
    if (formal_started) begin
      assert ((~after & (~after + 1'b1)) == '0);
      assert ((grant & (grant - 1'b1)) == '0);
      assert ((grant & ~req) == '0);
      assert ((grant == '0) == (req == '0));
      assert (waited + distance <= N);
      assert (waited < N);
    end
  always_ff @(posedge clk) cover (formal_started && waited == N - 1 && advance && grant[someone]);
`endif
endmodule
