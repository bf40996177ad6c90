// pcie_stream_tx: 64-bit words of TLPs → transmit stream of LitePCIe's S7PCIEPHY or a Xilinx
// 7-series integrated block.
//
// Job: reverses the bytes of payload dwords (tlp_swap) and joins two words into a beat when W is
//   128 (tlp_widen). Both take TLPs that begin with a beat and end with last and a byte enable (be,
//   tkeep) per byte.
// Handshake: AXI-Stream; what is offered stays until it is taken, if the words do.
// Backpressure: that of tlp_widen.
module pcie_stream_tx #(
    parameter int W = 128
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           s_valid,
    output logic           s_ready,
    input  logic [63:0]    s_data,
    input  logic           s_both,
    input  logic           s_last,
    output logic           m_valid,
    input  logic           m_ready,
    output logic [W-1:0]   m_data,
    output logic [W/8-1:0] m_keep,
    output logic           m_last,
    output logic           m_first
);
  logic [63:0]     swapped;
  logic [W/32-1:0] keep;
  tlp_swap u_swap (.clk, .rst, .take(s_valid && s_ready), .last(s_last), .s_data, .m_data(swapped));
  tlp_widen #(.W(W)) u_widen (
      .clk, .rst, .s_valid, .s_ready, .s_data(swapped), .s_both, .s_last, .m_valid, .m_ready, .m_data, .m_keep(keep),
      .m_last
  );
  always_comb for (int i = 0; i < W / 32; i++) m_keep[i*4+:4] = {4{keep[i]}};
  always_ff @(posedge clk) begin
    if (rst) m_first <= 1'b1;
    else if (m_valid && m_ready) m_first <= m_last;
  end
endmodule
