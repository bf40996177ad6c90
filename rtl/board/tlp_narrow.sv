// tlp_narrow: TLPs from a hard block's stream into words of 64 bits, with which the blocks behind it work.
//
// Job: gives a beat of 128 bits as one or two words; of 64 bits it passes them.
// Handshake: AXI-Stream; keep has a bit per dword, ones from the lowest on, and is all ones but with last. What is
//   offered stays until it is taken. both: the upper dword of a word counts.
// Back-pressure: ready falls with that of the words; nothing is stored.
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
endmodule
