// litepcie_shim: streams of LitePCIe's S7PCIEPHY ⇄ the TLP streams of nic_pcie (decision 0020, 64
// bits).
//
// Job: joins litepcie_rx, tlp_swap and pcie_stream_tx. The PHY must be built with cd="pcie", so
//   that its streams are in the user clock of the integrated block, and nic_pcie shares that clock.
// Handshake: source and sink are those of the PHY; be of source is not used (litepcie_rx says why).
// Backpressure: that of nic_pcie and of the PHY.
module litepcie_shim #(
    parameter int W = 64
) (
    input  logic           clk,
    input  logic           rst,
    // phy.source, and the BAR that its TLP hit
    input  logic           source_valid,
    output logic           source_ready,
    input  logic           source_last,
    input  logic [W-1:0]   source_dat,
    input  logic [7:0]     source_bar_hit,
    // phy.sink
    output logic           sink_valid,
    input  logic           sink_ready,
    output logic           sink_first,
    output logic           sink_last,
    output logic [W-1:0]   sink_dat,
    output logic [W/8-1:0] sink_be,
    // nic_pcie, W 64
    output logic           m_tlp_valid,
    input  logic           m_tlp_ready,
    output logic [63:0]    m_tlp_data,
    output logic [1:0]     m_tlp_keep,
    output logic           m_tlp_last,
    output logic [2:0]     m_tlp_bar,
    input  logic           s_tlp_valid,
    output logic           s_tlp_ready,
    input  logic [63:0]    s_tlp_data,
    input  logic [1:0]     s_tlp_keep,
    input  logic           s_tlp_last
);
  logic [63:0] words;
  litepcie_rx #(.W(W)) u_rx (
      .clk, .rst, .s_valid(source_valid), .s_ready(source_ready), .s_last(source_last), .s_dat(source_dat),
      .s_bar_hit(source_bar_hit), .m_valid(m_tlp_valid), .m_ready(m_tlp_ready), .m_data(words), .m_both(m_tlp_keep[1]),
      .m_last(m_tlp_last), .m_bar(m_tlp_bar)
  );
  assign m_tlp_keep[0] = 1'b1;
  tlp_swap u_swap (
      .clk, .rst, .take(m_tlp_valid && m_tlp_ready), .last(m_tlp_last), .s_data(words), .m_data(m_tlp_data)
  );
  pcie_stream_tx #(.W(W)) u_tx (
      .clk, .rst, .s_valid(s_tlp_valid), .s_ready(s_tlp_ready), .s_data(s_tlp_data), .s_both(s_tlp_keep[1]),
      .s_last(s_tlp_last), .m_valid(sink_valid), .m_ready(sink_ready), .m_data(sink_dat), .m_keep(sink_be),
      .m_last(sink_last), .m_first(sink_first)
  );
  /* verilator lint_off UNUSEDSIGNAL */
  logic unused;
  assign unused = s_tlp_keep[0];
  /* verilator lint_on UNUSEDSIGNAL */
endmodule
