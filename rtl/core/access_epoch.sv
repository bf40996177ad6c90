// access_epoch: the accesses of one unit that were outstanding when the latest fence began.
//
// Job: counts the unit's accesses by the epoch in which they began; a fence ends an epoch. So a
//   fence can wait for those before it although new ones keep arriving.
// Handshake: enter when an access requests its translation; it keeps epoch as its tag and returns
//   it with left, one of two pulses (refused by the translation, or ended), in any order. hold is
//   high, with fence, while an access is outstanding; later while one from before the fence is. The
//   next fence begins only after the previous one has seen hold low.
// Backpressure: none; at most MAX accesses are outstanding.
module access_epoch #(
    parameter int MAX = nicloop_pkg::RMA_UNDER_WAY
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       fence,
    input  logic       enter,
    output logic       epoch,
    input  logic [1:0] left,
    input  logic [1:0] left_epoch,
    output logic       hold
);
  // As many ones as accesses, the lowest bits first: what enters or leaves is known late, and a
  // shift is faster than a sum.
  logic [MAX-1:0] ones[2], rest[2];
  logic [1:0]     goes[2];
  always_comb
    for (int e = 0; e < 2; e++) begin
      goes[e] = left & (e == 1 ? left_epoch : ~left_epoch);
      rest[e] = goes[e] == 2'b11 ? ones[e] >> 2 : goes[e] != '0 ? ones[e] >> 1 : ones[e];
    end
  always_ff @(posedge clk) begin
    if (rst) epoch <= 1'b0;
    else if (fence) epoch <= !epoch;
    for (int e = 0; e < 2; e++)
      if (rst) ones[e] <= '0;
      else ones[e] <= enter && epoch == 1'(e) ? {rest[e][MAX-2:0], 1'b1} : rest[e];
  end
  assign hold = fence ? enter || ones[epoch][0] : ones[!epoch][0];

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!fence || !ones[!epoch][0]) else $error("access_epoch %m: a fence before the one before has ended");
      for (int i = 0; i < 2; i++) assert (!left[i] || ones[left_epoch[i]][0])
          else $error("access_epoch %m: an access ended that never began");
      assert ($countones(ones[0]) + $countones(ones[1]) <= MAX)
          else $error("access_epoch %m: more than %0d accesses", MAX);
    end
`endif
endmodule
