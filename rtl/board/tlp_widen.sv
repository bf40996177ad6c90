// tlp_widen: TLPs as words of 64 bits into a hard block's stream.
//
// Job: puts two words into a beat of 128 bits, the last by itself when their number is odd; of 64 bits it passes them.
// Handshake: AXI-Stream; keep has a bit per dword, ones from the lowest on. What is offered stays until it is taken, if
//   the words do.
// Back-pressure: the first word of a beat is always taken, the second with the beat.
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
    end else begin : g_whole
      assign m_valid = s_valid;
      assign m_data  = s_data;
      assign m_keep  = {s_both, 1'b1};
      assign m_last  = s_last;
      assign s_ready = m_ready;
    end
  endgenerate
endmodule
