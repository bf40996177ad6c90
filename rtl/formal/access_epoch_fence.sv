// access_epoch_fence: a fence waits for every access that was under way when it came, and for
// nothing else. One access, which the solver chooses, is followed from its beginning to its end
// among others that come and go.
module access_epoch_fence (
    input logic clk,
    input logic rst,
    input logic want_fence,
    input logic want_enter,
    input logic pick,         // the access that begins is the one to follow
    input logic end_followed,
    input logic end_other,
    input logic other_epoch
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic       epoch, hold, fence, enter, waiting, inside, tag, before, begins, ends, other_ends;
  logic [1:0] others[2];  // accesses beside the one that is followed, by the epoch they began in
  assign fence      = want_fence && !waiting;
  assign enter      = want_enter && 3'(others[0]) + 3'(others[1]) + 3'(inside) < 3'd3;
  assign begins     = enter && pick && !inside;
  assign ends       = inside && end_followed;
  assign other_ends = end_other && others[other_epoch] != '0;
  access_epoch #(.MAX(3)) u_dut (
      .clk, .rst, .fence, .enter, .epoch, .left({other_ends, ends}), .left_epoch({other_epoch, tag}), .hold
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      inside    <= 1'b0;
      before    <= 1'b0;
      waiting   <= 1'b0;
      others[0] <= '0;
      others[1] <= '0;
    end else begin
      inside  <= begins || (inside && !ends);
      before  <= fence ? begins || (inside && !ends) : before && !ends;
      waiting <= (fence || waiting) && hold;
      for (int e = 0; e < 2; e++)
        others[e] <= others[e] + 2'(enter && !begins && epoch == 1'(e)) - 2'(other_ends && other_epoch == 1'(e));
    end
    if (begins) tag <= epoch;
  end
  always_comb
    if (started && !rst) begin
      if (before || (fence && (inside || begins))) assert (hold);
      if (hold && !fence) assert (before || others[!epoch] != '0);
      if (hold && fence) assert (enter || inside || others[epoch] != '0);
    end
  logic new_ones;
  always_ff @(posedge clk) begin
    new_ones <= !rst && before && enter;
    cover (started && new_ones && ends && before && others[0] != '0 && others[1] != '0);
  end
endmodule
