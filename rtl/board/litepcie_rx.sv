// litepcie_rx: source stream of LitePCIe's S7PCIEPHY → 64-bit words of TLPs.
//
// Job: gives a beat as one or two words. A TLP begins with a beat; last marks its final beat.
//   LitePCIe passes the integrated block's tkeep on as be, which means nothing when that block is
//   128 bits wide, so the dwords of the final beat are counted from the header instead.
// Handshake: AXI-Stream on both sides. bar_hit is one-hot, valid with the first beat; it does not
//   exist in LitePCIe's stream and comes from the integrated block's tuser
//   (board/litex/nicloop_acorn.py).
// Backpressure: s_ready follows m_ready; nothing is stored but the position in the TLP.
module litepcie_rx #(
    parameter int W = 64
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         s_valid,
    output logic         s_ready,
    input  logic         s_last,
    input  logic [W-1:0] s_dat,
    input  logic [7:0]   s_bar_hit,
    output logic         m_valid,
    input  logic         m_ready,
    output logic [63:0]  m_data,
    output logic         m_both,  // the upper dword is part of the TLP
    output logic         m_last,
    output logic [2:0]   m_bar
);
  localparam int DWORDS = W / 32;
  // No BAR is 7, which nic_pcie answers as an unsupported request.
  always_comb begin
    m_bar = 3'd7;
    for (int i = 5; i >= 0; i--) if (s_bar_hit[i]) m_bar = 3'(i);
  end

  // Dwords of the TLP from this beat on. In the first beat the header itself says so; a header has
  // three or more.
  logic        first_q;
  logic [11:0] left_q, total;
  logic [2:0]  left_here;  // of this beat, at most DWORDS
  logic        four, has_data, digest;
  assign four      = s_dat[29];
  assign has_data  = s_dat[30];
  assign digest    = s_dat[15];
  assign total     = 12'd3 + 12'(four) + 12'(digest) + (has_data ? {1'b0, s_dat[9:0] == '0, s_dat[9:0]} : 12'd0);
  assign left_here = (first_q ? total : left_q) >= 12'(DWORDS) ? 3'(DWORDS) : first_q ? total[2:0] : left_q[2:0];
  always_ff @(posedge clk) begin
    if (rst) first_q <= 1'b1;
    else if (s_valid && s_ready) first_q <= s_last;
    if (s_valid && s_ready) left_q <= (first_q ? total : left_q) - 12'(left_here);
  end

  generate
    if (W == 128) begin : g_halves
      logic upper_q, more;
      assign more    = !upper_q && (!s_last || left_here > 3'd2);
      assign m_data  = upper_q ? s_dat[127:64] : s_dat[63:0];
      assign m_last  = s_last && !more;
      assign m_both  = !m_last || left_here == 3'd4 || (!upper_q && left_here == 3'd2);
      assign s_ready = m_ready && !more;
      always_ff @(posedge clk) begin
        if (rst) upper_q <= 1'b0;
        else if (s_valid && m_ready) upper_q <= more;
      end
    end else begin : g_whole
      assign m_data  = s_dat;
      assign m_last  = s_last;
      assign m_both  = !s_last || left_here == 3'd2;
      assign s_ready = m_ready;
    end
  endgenerate
  assign m_valid = s_valid;
`ifndef SYNTHESIS
  if (W != 64 && W != 128) $fatal(1, "litepcie_rx: W %0d, expected 64 or 128", W);
`endif
endmodule
