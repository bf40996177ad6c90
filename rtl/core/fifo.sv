// fifo: synchronous FIFO of any depth.
//
// Job: keeps DEPTH words in order; FALL_THROUGH = 1 shows the oldest word on rd_data while
//   rd_valid, FALL_THROUGH = 0 adds an output register, so the storage may become a block RAM.
// Handshake: a word enters when wr_valid && wr_ready and leaves when rd_valid && rd_ready.
// Backpressure: wr_ready falls when the storage is full; it never depends on rd_ready. Full and
//   empty are flags instead of comparisons of the count, since they are on the critical path of
//   every block around.
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
    output logic [LEVEL_W-1:0] level      // words inside, with the output register
);
  localparam int PTR_W = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [PTR_W-1:0] LAST = PTR_W'(DEPTH - 1);

  // A word that is popped was not pushed in the same cycle.
  (* no_rw_check = FALL_THROUGH == 0 *) logic [W-1:0] mem[DEPTH];
  logic [PTR_W-1:0]   wr_ptr, rd_ptr;
  logic [LEVEL_W-1:0] stored;
  logic               some;  // words are in the storage
  logic               push, pop;
  logic [LEVEL_W-1:0] more, less;  // than are stored, known before it is whether words come and go

  assign push = wr_valid && wr_ready;
  always_comb
    for (int i = 0; i < LEVEL_W; i++) begin
      more[i] = stored[i] ^ &(stored | ~((LEVEL_W'(1) << i) - 1'b1));
      less[i] = stored[i] ^ &(~stored | ~((LEVEL_W'(1) << i) - 1'b1));
    end

  always_ff @(posedge clk) if (push) mem[wr_ptr] <= wr_data;

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_ptr   <= '0;
      rd_ptr   <= '0;
      stored   <= '0;
      some     <= 1'b0;
      wr_ready <= 1'b1;
    end else begin
      if (push) wr_ptr <= wr_ptr == LAST ? '0 : wr_ptr + 1'b1;
      if (pop) rd_ptr <= rd_ptr == LAST ? '0 : rd_ptr + 1'b1;
      // In a form without an enable, which would come behind what decides it.
      stored   <= (stored & {LEVEL_W{push == pop}}) | (more & {LEVEL_W{push && !pop}}) |
          (less & {LEVEL_W{pop && !push}});
      some     <= push || (some && !(pop && stored == LEVEL_W'(1)));
      wr_ready <= pop || (wr_ready && !(push && stored == LEVEL_W'(DEPTH - 1)));
    end
  end

  generate
    if (FALL_THROUGH != 0) begin : g_fall_through
      assign rd_valid = some;
      assign rd_data  = mem[rd_ptr];
      assign pop      = rd_valid && rd_ready;
      assign level    = stored;
    end else begin : g_registered
      logic         out_valid;
      logic [W-1:0] out_data;
      assign rd_valid = out_valid;
      assign rd_data  = out_data;
      assign pop      = some && (!out_valid || rd_ready);
      assign level    = out_valid ? more : stored;  // without a carry
      always_ff @(posedge clk) if (pop) out_data <= mem[rd_ptr];
      always_ff @(posedge clk) begin
        if (rst) out_valid <= 1'b0;
        else if (pop) out_valid <= 1'b1;
        else if (rd_ready) out_valid <= 1'b0;
      end
    end
  endgenerate

`ifndef SYNTHESIS
  if (DEPTH < 1) $fatal(1, "fifo: DEPTH %0d, expected at least 1", DEPTH);
  logic reset = 1'b0;  // a device that makes its own reset may have an edge of the clock before it
  always_ff @(posedge clk) if (rst) reset <= 1'b1;
  always_ff @(posedge clk)
    if (!rst && reset) begin
      assert (stored <= LEVEL_W'(DEPTH)) else $error("fifo %m: level %0d above depth %0d", stored, DEPTH);
      assert (some == (stored != '0) && wr_ready == (stored != LEVEL_W'(DEPTH)))
          else $error("fifo %m: flags of level %0d", stored);
      assert (!(pop && stored == '0)) else $error("fifo %m: underflow");
    end
`endif
`ifdef FORMAL_BELOW
  // In a proof of a block around it: induction begins anywhere, but not where the flags say what
  // the count does not.
  always_comb if (!rst) assert (stored <= LEVEL_W'(DEPTH) && some == (stored != '0) &&
      wr_ready == (stored != LEVEL_W'(DEPTH)));
`endif
`ifdef FORMAL
  // A shift register that holds what must be inside, oldest first.
  logic [W-1:0] shadow[DEPTH+1];
  logic         leaves;
  assign leaves = rd_valid && rd_ready;
  always_ff @(posedge clk) begin
    for (int i = 0; i <= DEPTH; i++) begin
      if (leaves && i < DEPTH) shadow[i] <= shadow[i+1];
      if (push && LEVEL_W'(i) == level - LEVEL_W'(leaves)) shadow[i] <= wr_data;
    end
  end
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  always_comb
    if (formal_started) begin
      assert (stored <= LEVEL_W'(DEPTH));
      assert (wr_ptr <= LAST && rd_ptr <= LAST);
      assert (LEVEL_W'(wr_ptr) == (LEVEL_W'(rd_ptr) + stored) % LEVEL_W'(DEPTH));
      assert (wr_ready == (stored < LEVEL_W'(DEPTH)) && some == (stored != '0));
      if (rd_valid) assert (rd_data == shadow[0]);
      for (int i = 0; i < DEPTH; i++)
        if (LEVEL_W'(i) < stored) assert (mem[(32'(rd_ptr) + i) % DEPTH] == shadow[i+32'(level-stored)]);
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !wr_ready && wr_ptr == LAST);
    cover (formal_started && leaves && push && stored == 1);
  end
`endif
endmodule
