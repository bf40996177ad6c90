// pcie7x_shim: streams of a Xilinx 7-series integrated block (pcie_7x, PG054) ⇄ the TLP streams of
// nic_pcie (decision 0020, 64 bits).
//
// Job: joins pcie7x_rx, tlp_swap and pcie_stream_tx. Handshake: m_axis_rx_* and s_axis_tx_* are
// those of the integrated block, in its user clock, which nic_pcie shares.
//   s_axis_tx_tuser is 0: no ECRC, no error forwarding, no cut-through (the block sends a TLP when it has all of it, so
//   the stream may pause inside one).
// Backpressure: that of nic_pcie and of the integrated block.
module pcie7x_shim #(
    parameter int W = 128
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           m_axis_rx_tvalid,
    output logic           m_axis_rx_tready,
    input  logic [W-1:0]   m_axis_rx_tdata,
    input  logic [W/8-1:0] m_axis_rx_tkeep,
    input  logic           m_axis_rx_tlast,
    input  logic [21:0]    m_axis_rx_tuser,
    output logic           s_axis_tx_tvalid,
    input  logic           s_axis_tx_tready,
    output logic [W-1:0]   s_axis_tx_tdata,
    output logic [W/8-1:0] s_axis_tx_tkeep,
    output logic           s_axis_tx_tlast,
    output logic [3:0]     s_axis_tx_tuser,
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
  pcie7x_rx #(.W(W)) u_rx (
      .clk, .rst, .s_valid(m_axis_rx_tvalid), .s_ready(m_axis_rx_tready), .s_data(m_axis_rx_tdata),
      .s_keep(m_axis_rx_tkeep), .s_last(m_axis_rx_tlast), .s_user(m_axis_rx_tuser), .m_valid(m_tlp_valid),
      .m_ready(m_tlp_ready), .m_data(words), .m_both(m_tlp_keep[1]), .m_last(m_tlp_last), .m_bar(m_tlp_bar)
  );
  assign m_tlp_keep[0] = 1'b1;
  tlp_swap u_swap (
      .clk, .rst, .take(m_tlp_valid && m_tlp_ready), .last(m_tlp_last), .s_data(words), .m_data(m_tlp_data)
  );
  /* verilator lint_off PINCONNECTEMPTY */
  pcie_stream_tx #(.W(W)) u_tx (
      .clk, .rst, .s_valid(s_tlp_valid), .s_ready(s_tlp_ready), .s_data(s_tlp_data), .s_both(s_tlp_keep[1]),
      .s_last(s_tlp_last), .m_valid(s_axis_tx_tvalid), .m_ready(s_axis_tx_tready), .m_data(s_axis_tx_tdata),
      .m_keep(s_axis_tx_tkeep), .m_last(s_axis_tx_tlast), .m_first()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign s_axis_tx_tuser = '0;
  /* verilator lint_off UNUSEDSIGNAL */
  logic unused;
  assign unused = s_tlp_keep[0];
  /* verilator lint_on UNUSEDSIGNAL */
endmodule
