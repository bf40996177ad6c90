// acorn_pcie7x_dut: for acorn_tb: acorn_pcie7x with one clock for its pads.
module acorn_pcie7x_dut #(
    parameter int WIN_W = 28,
    parameter int TICK  = 1 << 13
) (
    input  logic       clk,
    input  logic       perst_n,
    output logic       clkreq_n,
    output logic [3:0] led,
    output logic [3:0] tx_p,
    output logic [3:0] tx_n
);
  acorn_pcie7x #(.WIN_W(WIN_W), .TICK(TICK)) u_board (
      .pcie_clk_p(clk), .pcie_clk_n(!clk), .perst_n, .clkreq_n, .pcie_rx_p(4'h0), .pcie_rx_n(4'hf), .pcie_tx_p(tx_p),
      .pcie_tx_n(tx_n), .led
  );
endmodule
