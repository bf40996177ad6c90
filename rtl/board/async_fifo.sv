// async_fifo: words from one clock domain into another.
//
// Job: 2^A words in order, between clocks that know nothing of each other. Each side shows the
//   other its pointer in gray code (sync_level), so a pointer that is caught while it changes is
//   the old or the new one.
// Handshake: a word enters when wr_valid && wr_ready and leaves when rd_valid && rd_ready. rd_data
//   is a register of the reading side.
// Backpressure: wr_ready falls when the memory is full, as far as the writing side has heard; it
//   never depends on rd_ready within a cycle.
//
// Resets: both sides are reset together: there are cycles of either clock, three or more, in which
//   both resets are high. From when the first rises to when the second has been high for as long,
//   nothing is handed over and rd_valid means nothing; behind that each side works from its own
//   fall on.
module async_fifo #(
    parameter int W = 64,
    parameter int A = 4
) (
    input  logic         wr_clk,
    input  logic         wr_rst,
    input  logic         wr_valid,
    output logic         wr_ready,
    input  logic [W-1:0] wr_data,
    input  logic         rd_clk,
    input  logic         rd_rst,
    output logic         rd_valid,
    input  logic         rd_ready,
    output logic [W-1:0] rd_data
);
  localparam logic [A:0] FULL = (A + 1)'(3 << (A - 1));  // gray codes that are 2^A apart
  logic [W-1:0] mem[2**A];
  logic [A:0]   wr_bin, wr_next, wr_gray, wr_seen, rd_bin, rd_next, rd_gray, rd_seen;
  logic         push, pop;

  // ---- writing side ----
  sync_level #(.W(A + 1)) u_rd_seen (.clk(wr_clk), .rst(wr_rst), .d(rd_gray), .q(rd_seen));
  assign wr_ready = !wr_rst && wr_gray != (rd_seen ^ FULL);
  assign push     = wr_valid && wr_ready;
  assign wr_next  = wr_bin + (A + 1)'(push);
  always_ff @(posedge wr_clk) begin
    if (push) mem[wr_bin[A-1:0]] <= wr_data;
    wr_bin  <= wr_rst ? '0 : wr_next;
    wr_gray <= wr_rst ? '0 : wr_next ^ (wr_next >> 1);
  end

  // ---- reading side ----
  sync_level #(.W(A + 1)) u_wr_seen (.clk(rd_clk), .rst(rd_rst), .d(wr_gray), .q(wr_seen));
  assign pop     = rd_gray != wr_seen && (!rd_valid || rd_ready);
  assign rd_next = rd_bin + (A + 1)'(pop);
  always_ff @(posedge rd_clk) begin
    if (pop) rd_data <= mem[rd_bin[A-1:0]];
    rd_bin   <= rd_rst ? '0 : rd_next;
    rd_gray  <= rd_rst ? '0 : rd_next ^ (rd_next >> 1);
    rd_valid <= !rd_rst && (pop || (rd_valid && !rd_ready));
  end

`ifndef SYNTHESIS
  logic rests;  // it is empty, and both sides know
  assign rests = wr_gray == rd_seen && !rd_valid;
  if (A < 1) $fatal(1, "async_fifo: A %0d, expected at least 1", A);
`endif
endmodule
