// stream_link: an AXI-Stream output and input of a design, joined to those of other nodes.
//
// Job: sends the words of s_* over one link of the node and delivers those that arrive on another
//   to m_*. Two nodes that face each other use the same link for both; in a ring every node sends
//   upwards and receives from below. A link word also returns credits against its direction.
// Handshake: AXI-Stream. The words of a link are valid for one cycle and cannot be stalled.
// Backpressure: the sender holds a credit for every free entry of the receiver's FIFO. Without a
//   link (out_up 0) words are discarded.
module stream_link #(
    parameter int W     = 64,  // of everything that belongs to a word
    parameter int DEPTH = 64   // a power of two
) (
    input  logic         clk,
    input  logic         rst,
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
    output logic [W-1:0] m_data
);
  localparam int A = $clog2(DEPTH);
  logic         out, in;  // the links
  logic [A:0]   credits, used;
  logic [A-1:0] head, tail;
  logic [W-1:0] fifo[DEPTH];
  logic         send, take, got_word, got_credit;
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

  always @(posedge clk) begin
    tx_valid <= '0;
    tx_word  <= '0;
    if (rst) begin
      credits <= (A+1)'(DEPTH);
      used    <= '0;
      head    <= '0;
      tail    <= '0;
    end else begin
      if (send) begin
        tx_valid[out] <= 1'b1;
        tx_word[(out ? W+2 : 0)+:1] <= 1'b1;
        tx_word[(out ? W+4 : 2)+:W] <= s_data;
      end
      if (take) begin
        tx_valid[in] <= 1'b1;
        tx_word[(in ? W+3 : 1)+:1] <= 1'b1;
        head <= head + 1'b1;
      end
      if (got_word) begin
        fifo[tail] <= from_in[W+1:2];
        tail       <= tail + 1'b1;
      end
      credits <= credits - (A+1)'(send) + (A+1)'(got_credit);
      used    <= used + (A+1)'(got_word) - (A+1)'(take);
    end
  end

  always @(posedge clk)
    if (!rst) begin
      assert (!got_word || used != (A+1)'(DEPTH)) else $error("stream_link: a word arrives without a credit");
      assert (!got_credit || send || credits != (A+1)'(DEPTH)) else $error("stream_link: more credits than entries");
    end
endmodule
