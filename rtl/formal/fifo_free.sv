// fifo as others see it, for proofs: a shift register, which the proof of fifo says that it is. One
// deeper than MOST keeps MOST words: asserted is that no more are ever in it, so nobody can tell.
module fifo #(
    parameter int W = 64,
    parameter int DEPTH = 16,
    parameter int FALL_THROUGH = 1,
    localparam int LEVEL_W = $clog2(DEPTH + 2)
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               wr_valid,
    output logic               wr_ready,
    input  logic [W-1:0]       wr_data,
    output logic               rd_valid,
    input  logic               rd_ready,
    output logic [W-1:0]       rd_data,
    output logic [LEVEL_W-1:0] level
);
  localparam int MOST  = 16;
  localparam int WORDS = DEPTH < MOST ? DEPTH : MOST;
  logic [WORDS*W-1:0] words;
  logic [WORDS-1:0]   used;  // the oldest is word 0
  logic               push, pop;
  assign wr_ready = DEPTH > WORDS || !used[WORDS-1];
  assign rd_valid = used[0];
  assign rd_data  = words[W-1:0];
  assign push     = wr_valid && wr_ready;
  assign pop      = rd_valid && rd_ready;
  always_ff @(posedge clk) begin
    if (rst) used <= '0;
    else if (push && !pop) used <= {used[WORDS-2:0], 1'b1};
    else if (pop && !push) used <= used >> 1;
    for (int i = 0; i < WORDS; i++)
      if (pop) words[i*W+:W] <= i + 1 < WORDS && used[(i+1)%WORDS] ? words[(i+1)%WORDS*W+:W] : wr_data;
      else if (!used[i]) words[i*W+:W] <= wr_data;
  end
  logic over;  // one word too many
  assign over = DEPTH > WORDS && push && used[WORDS-1];
endmodule
