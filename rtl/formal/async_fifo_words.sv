// Proves of async_fifo, with two clocks that rise whenever they like and bits that are caught
// before or after their change (sync_level_free): any word leaves once, whole and in its order,
// none comes that was not written, the memory is never over- or underrun, a pointer changes by one
// bit, and what is inside is shown within four edges of the reading clock, what is free within four
// of the writing one. Both sides are reset at any time, as the header asks.
module async_fifo_words #(
    parameter int A = 2,
    parameter int W = 1
) (
    input logic         wr_clk,
    input logic         rd_clk,
    input logic         wr_rst,
    input logic         rd_rst,
    input logic         wr_valid,
    input logic [W-1:0] wr_data,
    input logic         rd_ready,
    input logic         mark,   // the word that enters now is the one to look at
    input logic         again   // both sides are about to be reset
);
  (* gclk *) logic step;
  logic         wr_ready, rd_valid;
  logic [W-1:0] rd_data;
  async_fifo #(.W(W), .A(A)) u_dut (.wr_clk, .wr_rst, .wr_valid, .wr_ready, .wr_data, .rd_clk, .rd_rst, .rd_valid,
      .rd_ready, .rd_data);

  // What an edge in this step did: it took what stood before it.
  logic         started = 1'b0, wr_clk_was = 1'b1, rd_clk_was = 1'b1;
  logic         wr_edge, rd_edge, push_was, pop_was, mark_was, both_was, wr_rst_was, rd_rst_was, shown_was, ready_was;
  logic [W-1:0] in_was, out_was;
  assign wr_edge = started && wr_clk && !wr_clk_was;
  assign rd_edge = started && rd_clk && !rd_clk_was;
  always_ff @(posedge step) begin
    started    <= 1'b1;
    wr_clk_was <= wr_clk;
    rd_clk_was <= rd_clk;
    push_was   <= wr_valid && wr_ready && !idle;
    pop_was    <= rd_valid && rd_ready && !idle;
    mark_was   <= mark;
    in_was     <= wr_data;
    out_was    <= rd_data;
    both_was   <= wr_rst && rd_rst;
    wr_rst_was <= wr_rst;
    rd_rst_was <= rd_rst;
    shown_was  <= rd_valid;
    ready_was  <= wr_ready;
  end

  // ---- resets: idle from again on until both have been high for three edges of each clock ----
  logic       idle = 1'b1, cleared = 1'b0;
  logic [1:0] wr_count, rd_count;
  always_ff @(posedge step) begin
    if (again) idle <= 1'b1;
    else if (idle && cleared) idle <= 1'b0;
    if (again || !idle || !(wr_rst && rd_rst) || !both_was) begin
      wr_count <= '0;
      rd_count <= '0;
    end else begin
      if (wr_edge && wr_count != 2'd3) wr_count <= wr_count + 1'b1;
      if (rd_edge && rd_count != 2'd3) rd_count <= rd_count + 1'b1;
    end
    cleared <= idle && !again && (cleared || (wr_count == 2'd3 && rd_count == 2'd3));
  end
  always_comb begin
    if (idle) assume (!wr_valid && !rd_ready);
    if (!started) assume (idle && !cleared && wr_count == '0 && rd_count == '0);
    if (started && !idle) assume ((!wr_rst || wr_rst_was) && (!rd_rst || rd_rst_was));
    // A reset is of its side's clock, and no side lets go before both are cleared.
    if (started && idle && !cleared) assume ((wr_rst || !wr_rst_was) && (rd_rst || !rd_rst_was));
  end

  // ---- words inside, and the one that is looked at ----
  logic [A+1:0] inside_n, inside_now, ahead, ahead_now;
  logic         marked, marked_now, push, pop, hit;
  logic [W-1:0] word, word_now;
  assign push       = wr_edge && push_was;
  assign pop        = rd_edge && pop_was;
  assign inside_now = idle ? '0 : inside_n + (A + 2)'(push) - (A + 2)'(pop);
  assign hit        = pop && marked && ahead == '0;
  assign ahead_now  = push && mark_was && !marked ? inside_n - (A + 2)'(pop) : pop && marked ? ahead - 1'b1 : ahead;
  assign marked_now = !idle && (marked ? !hit : push && mark_was);
  assign word_now   = push && !marked ? in_was : word;
  always_ff @(posedge step) begin
    inside_n <= started ? inside_now : '0;
    ahead    <= ahead_now;
    marked   <= started && marked_now;
    word     <= word_now;
  end
  (* hierconn *) wire [A:0] \u_dut.wr_gray , \u_dut.rd_gray ;
  logic [A:0] wr_gray_was, rd_gray_was, wr_flips, rd_flips;
  always_ff @(posedge step) begin
    wr_gray_was <= \u_dut.wr_gray ;
    rd_gray_was <= \u_dut.rd_gray ;
  end
  assign wr_flips = \u_dut.wr_gray ^ wr_gray_was;
  assign rd_flips = \u_dut.rd_gray ^ rd_gray_was;
  logic [2:0] unseen, kept_out;  // edges for which something inside is not shown, something free not taken
  always_ff @(posedge step) begin
    if (idle || rd_rst || inside_now == '0 || rd_valid) unseen <= '0;
    else if (rd_edge && unseen != '1) unseen <= unseen + 1'b1;
    if (idle || wr_rst || 32'(inside_now) >= 2 ** A || wr_ready) kept_out <= '0;
    else if (wr_edge && kept_out != '1) kept_out <= kept_out + 1'b1;
  end
  always_comb
    if (started && !idle) begin
      assert (32'(inside_now) <= 2 ** A + 1);
      assert (!pop || inside_n != '0);
      assert (!hit || out_was == word);
      assert (!rd_valid || inside_now != '0);
      assert (wr_rst || (wr_flips & (wr_flips - 1'b1)) == '0 || wr_rst_was);
      assert (rd_rst || (rd_flips & (rd_flips - 1'b1)) == '0 || rd_rst_was);
      assert (unseen <= 3'd4 && kept_out <= 3'd4);
    end
  always_ff @(posedge step) begin
    cover (started && hit && 32'(inside_n) == 2 ** A);
    cover (started && !idle && !wr_rst && !wr_ready && 32'(inside_n) == 2 ** A);
  end
endmodule
