// tlp_narrow: TLPs from a hard block's stream into words of 64 bits, with which the blocks behind
// it work.
//
// Job: gives a beat of 128 bits as one or two words; of 64 bits it passes them. Handshake:
// AXI-Stream; keep has a bit per dword, ones from the lowest on, and is all ones but with last.
// What is
//   offered stays until it is taken. both: the upper dword of a word counts.
// Backpressure: ready falls with that of the words; nothing is stored.
module tlp_narrow #(
    parameter int W = 128
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            s_valid,
    output logic            s_ready,
    input  logic [W-1:0]    s_data,
    input  logic [W/32-1:0] s_keep,
    input  logic            s_last,
    output logic            m_valid,
    input  logic            m_ready,
    output logic [63:0]     m_data,
    output logic            m_both,
    output logic            m_last
);
  generate
    if (W == 128) begin : g_halves
      logic upper, more;  // the upper half is next; there is one behind this
      assign more    = !upper && s_keep[2];
      assign m_valid = s_valid;
      assign m_data  = upper ? s_data[127:64] : s_data[63:0];
      assign m_both  = upper ? s_keep[3] : s_keep[1];
      assign m_last  = s_last && !more;
      assign s_ready = m_ready && !more;
      always_ff @(posedge clk) begin
        if (rst) upper <= 1'b0;
        else if (s_valid && m_ready) upper <= more;
      end
`ifndef SYNTHESIS
      always_ff @(posedge clk)
        if (!rst && s_valid)
          assert (s_keep[0] && (s_last ? (s_keep & 4'(s_keep + 4'd1)) == '0 : s_keep == '1))
              else $error("tlp_narrow %m: keep %b", s_keep);
`endif
    end else begin : g_whole
      assign m_valid = s_valid;
      assign m_data  = s_data;
      assign m_both  = s_keep[1];
      assign m_last  = s_last;
      assign s_ready = m_ready;
    end
  endgenerate
`ifndef SYNTHESIS
  if (W != 64 && W != 128) $fatal(1, "tlp_narrow: W %0d, expected 64 or 128", W);
`endif
`ifdef FORMAL
  // Every dword of a TLP leaves once, in order and unchanged, and the TLP ends with its last one;
  // an offered word stays until it is taken, and the stream waits for no more than the words of its
  // beat.
  localparam int DWORDS = W / 32;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  (* anyconst *) logic [7:0] watched;       // any dword of a TLP, modulo 256
  logic [7:0]        in_count, out_count;   // dwords that have been taken and that have left
  logic [3:0]        in_more;               // of the beat
  logic [31:0]       wanted;                // the watched dword, if the beat has it
  logic              there, was, was_out, waited;
  logic [W+DWORDS:0] beat_was;
  logic [65:0]       word_was;
  always_comb begin
    in_more = '0;
    wanted  = '0;
    there   = 1'b0;
    for (int i = 0; i < DWORDS; i++) begin
      in_more = in_more + 4'(s_keep[i]);
      if (s_keep[i] && watched == in_count + 8'(i)) begin
        there  = 1'b1;
        wanted = s_data[32*i+:32];
      end
    end
    if (!formal_started) assume (rst);
    assume (s_keep[0] && (s_last ? (s_keep & DWORDS'(s_keep + 1'b1)) == '0 : s_keep == '1));
    if (formal_started && was) assume (s_valid && beat_was == {s_data, s_keep, s_last});
  end
  always_ff @(posedge clk) begin
    was      <= !rst && s_valid && !s_ready;
    was_out  <= !rst && m_valid && !m_ready;
    waited   <= !rst && s_valid && m_ready && !s_ready;
    beat_was <= {s_data, s_keep, s_last};
    word_was <= {m_data, m_both, m_last};
    if (rst) in_count <= '0;
    else if (s_valid && s_ready) in_count <= s_last ? '0 : in_count + 8'(in_more);
    if (rst) out_count <= '0;
    else if (m_valid && m_ready) out_count <= m_last ? '0 : out_count + 8'd1 + 8'(m_both);
  end
  always_comb
    if (formal_started && !rst) begin
      assert (was || in_count == out_count);
      assert (8'(out_count - in_count) < 8'(DWORDS));
      assert (!was_out || (m_valid && word_was == {m_data, m_both, m_last}));
      assert (!(waited && m_ready) || s_ready);
      if (m_valid && watched == out_count) assert (there && m_data[31:0] == wanted);
      if (m_valid && m_both && watched == out_count + 8'd1) assert (there && m_data[63:32] == wanted);
      if (m_valid && m_ready && m_last)
          assert (s_ready && s_last && out_count + 8'd1 + 8'(m_both) == in_count + 8'(in_more));
      if (s_valid && s_ready)
          assert (m_valid && m_ready && m_last == s_last && out_count + 8'd1 + 8'(m_both) == in_count + 8'(in_more));
    end
  always_ff @(posedge clk) cover (formal_started && m_valid && m_ready && m_last && !m_both && out_count == 8'd6);
`endif
endmodule
