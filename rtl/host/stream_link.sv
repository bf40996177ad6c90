// stream_link: an AXI-Stream output and input of a design, joined to those of other nodes.
//
// Job: sends the words of s_* over one link of the node and delivers those that arrive on another
//   to m_*. Two nodes that face each other use the same link for both; in a ring every node sends
//   upwards and receives from below. A link word also returns credits against its direction.
//   Faults of the network are made where words arrive: with +loss=N, N of 65536 frames are
//   discarded (words, without TLAST); with +corrupt=N, N of 65536 words have one bit of TDATA
//   inverted. +net_seed=S starts the random numbers, which advance with the words, not with time.
// Handshake: AXI-Stream. The words of a link are valid for one cycle and cannot be stalled.
// Backpressure: the sender holds a credit for every free entry of the receiver's FIFO. Without a
//   link (link_up 0) words are discarded.
`include "nicloop_dpi.svh"

module stream_link #(
    parameter int W        = 64,  // of everything that belongs to a word
    parameter int DEPTH    = 64,  // a power of two
    parameter int DATA_LSB = 0,   // TDATA within a word
    parameter int DATA_W   = W,
    parameter int LAST     = -1   // the bit of TLAST within a word, -1: there is none
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  node_id,
    input  logic         trace_on,
    input  logic         ring,     // send on link 0, receive from link 1
    input  logic         odd,      // not in a ring: this node is the upper one of its pair
    input  logic [1:0]   link_up,
    output logic [1:0]   tx_valid,
    output logic [2*(W+2)-1:0] tx_word,
    input  logic [1:0]   rx_valid,
    input  logic [2*(W+2)-1:0] rx_word,
    input  logic         s_valid,
    output logic         s_ready,
    input  logic [W-1:0] s_data,
    output logic         m_valid,
    input  logic         m_ready,
    output logic [W-1:0] m_data,
    output logic         idle      // nothing is buffered, offered or about to be sent
);
  localparam int A = $clog2(DEPTH);
  logic         out, in;  // the links
  logic [A:0]   credits, used, owed;
  logic [A-1:0] head, tail;
  logic [W-1:0] fifo[DEPTH];
  logic         send, take, got_word, got_credit, give;
  logic [W+1:0] from_in, from_out;
  assign out        = !ring && odd;
  assign in         = ring || odd;
  assign s_ready    = !link_up[out] || credits != '0;
  assign send       = s_valid && link_up[out] && credits != '0;
  assign m_valid    = used != '0;
  assign m_data     = fifo[head];
  assign take       = m_valid && m_ready;
  assign from_in    = rx_word[(in ? W+2 : 0)+:W+2];
  assign from_out   = rx_word[(out ? W+2 : 0)+:W+2];
  assign got_word   = rx_valid[in] && from_in[0];
  assign got_credit = rx_valid[out] && from_out[1];
  assign idle       = used == '0 && owed == '0 && tx_valid == '0 && !s_valid;

  // ---- faults ----
  int unsigned  loss, corrupt, seed;
  logic [31:0]  frame_noise, word_noise;
  logic         in_frame, losing, lose, last;
  logic [W-1:0] arrived;
  assign last = LAST < 0 || from_in[(LAST < 0 ? 0 : LAST)+2];
  assign lose = in_frame ? losing : 32'(frame_noise[31:16]) < loss;
  always_comb begin
    arrived = from_in[W+1:2];
    if (32'(word_noise[31:16]) < corrupt)
      arrived = arrived ^ (W'(1) << (DATA_LSB + (32'({word_noise[15:0], frame_noise[31:16]}) % DATA_W)));
  end
  always @(posedge clk)
    if (rst) begin
      if ($value$plusargs("loss=%d", loss) == 0) loss = 0;
      if ($value$plusargs("corrupt=%d", corrupt) == 0) corrupt = 0;
      if ($value$plusargs("net_seed=%d", seed) == 0) seed = 1;
      frame_noise <= 32'(seed) * 32'h85ebca6b + 32'(node_id) * 32'h9e3779b9;
      word_noise  <= 32'(seed) * 32'hc2b2ae35 + 32'(node_id) * 32'h27d4eb2f + 32'd1;
      in_frame    <= 1'b0;
    end else if (got_word) begin
      frame_noise <= frame_noise * 32'd1664525 + 32'd1013904223;
      word_noise  <= word_noise * 32'd22695477 + 32'd1;
      in_frame    <= !last;
      losing      <= lose;
    end

  localparam int PARTS = (W + 63) / 64;
  task automatic trace_word(int point, logic [64*PARTS-1:0] word);
    for (int i = 0; i < PARTS; i++)
      nl_trace(32'(node_id), point, (i == 0 ? 1 : 0) + (i == PARTS - 1 ? 2 : 0), i, word[64*i+:64]);
  endtask
  always @(posedge clk)
    if (!rst && trace_on) begin
      if (s_valid && s_ready) trace_word(35, (64*PARTS)'(s_data));
      if (take) trace_word(36, (64*PARTS)'(m_data));
    end

  // A discarded word returns its credit as one that was taken does. When both happen in one cycle,
  // the second credit follows in a later one.
  logic [A:0] due;
  assign due  = owed + (A+1)'(take) + (A+1)'(got_word && lose);
  assign give = due != '0;

  always @(posedge clk) begin
    tx_valid <= '0;
    tx_word  <= '0;
    if (rst) begin
      credits <= (A+1)'(DEPTH);
      used    <= '0;
      owed    <= '0;
      head    <= '0;
      tail    <= '0;
    end else begin
      if (send) begin
        tx_valid[out] <= 1'b1;
        tx_word[(out ? W+2 : 0)+:1] <= 1'b1;
        tx_word[(out ? W+4 : 2)+:W] <= s_data;
      end
      if (give) begin
        tx_valid[in] <= 1'b1;
        tx_word[(in ? W+3 : 1)+:1] <= 1'b1;
      end
      if (take) head <= head + 1'b1;
      if (got_word && !lose) begin
        fifo[tail] <= arrived;
        tail       <= tail + 1'b1;
      end
      owed    <= due - (A+1)'(give);
      credits <= credits - (A+1)'(send) + (A+1)'(got_credit);
      used    <= used + (A+1)'(got_word && !lose) - (A+1)'(take);
    end
  end

  always @(posedge clk)
    if (!rst) begin
      assert (!got_word || used != (A+1)'(DEPTH)) else $error("stream_link: a word arrives without a credit");
      assert (!got_credit || send || credits != (A+1)'(DEPTH)) else $error("stream_link: more credits than entries");
    end
endmodule
