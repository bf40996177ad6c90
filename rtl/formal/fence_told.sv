// fence_told: a command of the translation unit ends. While commands are queued or under way, and
// no access is left that a fence waits for, one is done, and told where it is to be, within CYCLES
// cycles in which memory does what is asked. So nothing but these accesses and memory holds a
// command up: not the registers, not the commands behind it, not accesses that came later. How long
// the accesses take is for fence_ends and atu_answers.
module fence_told #(
    parameter int N      = 4,
    parameter int CYCLES = 3
) (
    input logic         clk,
    input logic         rst,
    input logic         put,
    input logic [63:0]  command,
    input logic         done_set,
    input logic [60:0]  done_addr,
    input logic [N-1:0] hold,
    input logic         awready,
    input logic         wready,
    input logic         bvalid,
    input logic [1:0]   bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        fence, awvalid, wvalid, bready;
  logic [31:0] count, refused;
  logic [1:0]  queued;
  atu_commands #(.N(N), .DEPTH(2)) u_dut (
      .clk, .rst, .put, .command, .done_set, .done_addr({done_addr, 3'h0}), .hold, .fence, .m_awvalid(awvalid),
      .m_awready(awready), .m_wvalid(wvalid), .m_wready(wready), .m_bvalid(bvalid), .m_bready(bready),
      .m_bresp(bresp), .count, .refused, .queued
  );

  // Memory: the answer that it owes, and whether it does all that is asked in this cycle.
  logic aw_gone, w_gone, aw_done, w_done, owes, serves;
  assign aw_done = aw_gone || (awvalid && awready);
  assign w_done  = w_gone || (wvalid && wready);
  always_ff @(posedge clk) begin
    aw_gone <= !rst && aw_done && !w_done;
    w_gone  <= !rst && w_done && !aw_done;
    owes    <= !rst && ((aw_done && w_done) || (owes && !(bvalid && bready)));
  end
  always_comb if (started && !rst) assume (!bvalid || owes);
  assign serves = (!awvalid || awready) && (!wvalid || wready) && (!owes || bvalid);

  logic [N-1:0] owing;     // units with accesses from before the fence
  logic [3:0]   puts;
  logic [31:0]  count_was;
  logic         inside;    // a command is queued or under way
  logic [3:0]   served;
  assign inside = puts != count[3:0] + refused[3:0];
  always_ff @(posedge clk) begin
    owing     <= rst ? '0 : fence ? hold : owing & hold;
    puts      <= rst ? '0 : puts + 4'(put);
    count_was <= rst ? '0 : count;
    served    <= rst || !inside || owing != '0 ? '0 : (count == count_was ? served : '0) + 4'(serves);
  end
  always_comb if (started && !rst && inside && owing == '0 && count == count_was) assert (served <= 4'(CYCLES));
  always_ff @(posedge clk)
    cover (started && !rst && served == 4'(CYCLES) && count == count_was && inside && count[1] && queued != '0);
endmodule
