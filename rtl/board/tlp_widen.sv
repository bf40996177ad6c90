// tlp_widen: TLPs as words of 64 bits into a hard block's stream.
//
// Job: puts two words into a beat of 128 bits, the last by itself when their number is odd; of 64
// bits it passes them. Handshake: AXI-Stream; keep has a bit per dword, ones from the lowest on.
// What is offered stays until it is taken, if
//   the words do.
// Backpressure: the first word of a beat is always taken, the second with the beat.
module tlp_widen #(
    parameter int W = 128
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            s_valid,
    output logic            s_ready,
    input  logic [63:0]     s_data,
    input  logic            s_both,  // the upper dword counts
    input  logic            s_last,
    output logic            m_valid,
    input  logic            m_ready,
    output logic [W-1:0]    m_data,
    output logic [W/32-1:0] m_keep,
    output logic            m_last
);
`ifdef FORMAL
  localparam int DWORDS = W / 32;
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  (* anyconst *) logic [7:0] watched;       // any dword of a TLP, modulo 256
  logic [7:0]        in_count, out_count;   // dwords that have been taken and that have left
  logic [3:0]        out_more;              // of the beat
  logic [31:0]       kept, wanted, found;   // the watched dword: as it was taken, as it is known, as the beat has it
  logic              was, was_out, there;
  logic [65:0]       word_was;
  logic [W+DWORDS:0] beat_was;
`endif
  generate
    if (W == 128) begin : g_pairs
      logic        half;  // the lower half is here
      logic [63:0] lower;
      assign m_valid = s_valid && (half || s_last);
      assign m_data  = half ? {s_data, lower} : {64'h0, s_data};
      assign m_keep  = half ? {s_both, 3'b111} : {2'b00, s_both, 1'b1};
      assign m_last  = s_last;
      assign s_ready = half || s_last ? m_ready : 1'b1;
      always_ff @(posedge clk) begin
        if (rst) half <= 1'b0;
        else if (s_valid && s_ready) half <= !half && !s_last;
        if (!half) lower <= s_data;
      end
`ifdef FORMAL
      always_comb
        if (formal_started && !rst) begin
          assert (in_count == out_count + (half ? 8'd2 : 8'd0));
          assert (!half || watched != out_count || lower[31:0] == kept);
          assert (!half || watched != out_count + 8'd1 || lower[63:32] == kept);
        end
`endif
    end else begin : g_whole
      assign m_valid = s_valid;
      assign m_data  = s_data;
      assign m_keep  = {s_both, 1'b1};
      assign m_last  = s_last;
      assign s_ready = m_ready;
`ifdef FORMAL
      always_comb if (formal_started && !rst) assert (in_count == out_count);
`endif
    end
  endgenerate
`ifdef FORMAL
  // Every dword of a TLP leaves once, in order and unchanged, and the TLP ends with its last one;
  // beats are full but the last, and an offered beat stays until it is taken.
  always_comb begin
    out_more = '0;
    found    = '0;
    there    = 1'b0;
    for (int i = 0; i < DWORDS; i++) begin
      out_more = out_more + 4'(m_keep[i]);
      if (m_keep[i] && watched == out_count + 8'(i)) begin
        there = 1'b1;
        found = m_data[32*i+:32];
      end
    end
    wanted = watched == in_count ? s_data[31:0] : s_both && watched == in_count + 8'd1 ? s_data[63:32] : kept;
    if (!formal_started) assume (rst);
    assume (s_last || s_both);
    if (formal_started && was) assume (s_valid && word_was == {s_data, s_both, s_last});
  end
  always_ff @(posedge clk) begin
    was      <= !rst && s_valid && !s_ready;
    was_out  <= !rst && m_valid && !m_ready;
    word_was <= {s_data, s_both, s_last};
    beat_was <= {m_data, m_keep, m_last};
    if (s_valid && s_ready) kept <= wanted;
    if (rst) in_count <= '0;
    else if (s_valid && s_ready) in_count <= s_last ? '0 : in_count + 8'd1 + 8'(s_both);
    if (rst) out_count <= '0;
    else if (m_valid && m_ready) out_count <= m_last ? '0 : out_count + 8'(out_more);
  end
  always_comb
    if (formal_started && !rst) begin
      assert (8'(in_count - out_count) < 8'(DWORDS));
      assert (!was_out || (m_valid && beat_was == {m_data, m_keep, m_last}));
      if (m_valid) begin
        assert (m_keep[0] && (m_keep & DWORDS'(m_keep + 1'b1)) == '0 && (m_last || m_keep == '1));
        assert (!there || found == wanted);
      end
      if (m_valid && m_ready)
          assert (s_valid && s_ready && m_last == s_last &&
              out_count + 8'(out_more) == in_count + 8'd1 + 8'(s_both));
      if (s_valid && s_ready && s_last) assert (m_valid && m_ready && m_last);
      assert (!s_valid || !m_ready || s_ready);
    end
  always_ff @(posedge clk) cover (formal_started && m_valid && m_ready && m_last && !m_keep[DWORDS-1] &&
      out_count == 8'd8);
`endif
endmodule
