// tlp_swap: converts the byte order of TLP payload between a Xilinx 7-series integrated block and
// nic_pcie.
//
// Job: both sides write a header dword as a number, with byte 0 of the PCI Express figure in bits
//   31:24. They differ in payload: the integrated block keeps that order, nic_pcie has the lowest
//   address in bits 7:0 (decision 0020). So the bytes of each payload dword are reversed and header
//   dwords pass unchanged. The conversion is its own inverse, and one block serves both directions.
// Handshake: words of 64 bits, two dwords each; a TLP begins with a word. take: the word is
//   accepted in this cycle. A TLP digest is treated as payload; nic_pcie discards it.
// Backpressure: none of its own; nothing is stored but the position in the TLP.
//
//   word       0            1                                2, 3, …
//   dwords     {H1, H0}     {H3, H2} or {payload, H2}        {payload, payload}
module tlp_swap (
    input  logic        clk,
    input  logic        rst,
    input  logic        take,
    input  logic        last,
    input  logic [63:0] s_data,
    output logic [63:0] m_data
);
  logic first_q, second_q, four_q;  // position of this word; the header has four dwords
  always_ff @(posedge clk) begin
    if (rst) begin
      first_q  <= 1'b1;
      second_q <= 1'b0;
    end else if (take) begin
      first_q  <= last;
      second_q <= first_q && !last;
    end
    if (take && first_q) four_q <= s_data[29];
  end
  logic [31:0] lower, upper;
  assign lower  = {s_data[7:0], s_data[15:8], s_data[23:16], s_data[31:24]};
  assign upper  = {s_data[39:32], s_data[47:40], s_data[55:48], s_data[63:56]};
  assign m_data = first_q || (second_q && four_q) ? s_data : {upper, second_q ? s_data[31:0] : lower};
endmodule
