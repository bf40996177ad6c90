// fifo: synchronous FIFO of any depth.
//
// Job: keeps DEPTH words in order; FALL_THROUGH = 1 shows the oldest word on rd_data while rd_valid,
//   FALL_THROUGH = 0 adds an output register, so the storage may become a block RAM.
// Handshake: a word enters when wr_valid && wr_ready and leaves when rd_valid && rd_ready.
// Back-pressure: wr_ready falls when the storage is full; it never depends on rd_ready.
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

  logic [W-1:0]       mem[DEPTH];
  logic [PTR_W-1:0]   wr_ptr, rd_ptr;
  logic [LEVEL_W-1:0] stored;
  logic               push, pop;

  assign wr_ready = stored != LEVEL_W'(DEPTH);
  assign push     = wr_valid && wr_ready;

  always_ff @(posedge clk) if (push) mem[wr_ptr] <= wr_data;

  always_ff @(posedge clk) begin
    if (rst) begin
      wr_ptr <= '0;
      rd_ptr <= '0;
      stored <= '0;
    end else begin
      if (push) wr_ptr <= wr_ptr == LAST ? '0 : wr_ptr + 1'b1;
      if (pop) rd_ptr <= rd_ptr == LAST ? '0 : rd_ptr + 1'b1;
      if (push != pop) stored <= push ? stored + 1'b1 : stored - 1'b1;
    end
  end

  generate
    if (FALL_THROUGH != 0) begin : g_fall_through
      assign rd_valid = stored != '0;
      assign rd_data  = mem[rd_ptr];
      assign pop      = rd_valid && rd_ready;
      assign level    = stored;
    end else begin : g_registered
      logic         out_valid;
      logic [W-1:0] out_data;
      assign rd_valid = out_valid;
      assign rd_data  = out_data;
      assign pop      = stored != '0 && (!out_valid || rd_ready);
      assign level    = stored + LEVEL_W'(out_valid);
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
  always_ff @(posedge clk)
    if (!rst) begin
      assert (stored <= LEVEL_W'(DEPTH)) else $error("fifo %m: level %0d above depth %0d", stored, DEPTH);
      assert (!(pop && stored == '0)) else $error("fifo %m: underflow");
    end
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
      assert (wr_ready == (stored < LEVEL_W'(DEPTH)));
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
