// crc32: CRC-32 (IEEE 802.3, reflected) of WIDTH bits in one step.
//
// Job: crc_out = the CRC register after the bytes of data, least significant byte first. The caller
//   starts with all ones and inverts the end result.
// Handshake: none, combinational; crc_out is valid while enable is high, otherwise 0. One XOR tree
//   per bit of it. The gate by enable spares a simulation the XOR trees while nothing moves.
module crc32 #(
    parameter int WIDTH = 64  // at least 32
) (
    input  logic             enable,
    input  logic [31:0]      crc_in,
    input  logic [WIDTH-1:0] data,
    output logic [31:0]      crc_out
);
  localparam logic [31:0] POLY = 32'hedb88320;

  // Row by row: bit b of the result is the parity of the inputs that have a 1 in row b. What a 1 in
  // bit i does to the register is a column: it is shifted once more than one in the bit above. Bits
  // 0..31 enter together with the old register, which is why that one needs no matrix of its own.
  function automatic logic [32*WIDTH-1:0] rows();
    logic [31:0] column;
    column = 32'h1;
    for (int i = WIDTH - 1; i >= 0; i--) begin
      column = column[0] ? (column >> 1) ^ POLY : column >> 1;
      for (int b = 0; b < 32; b++) rows[b*WIDTH+i] = column[b];
    end
  endfunction
  localparam logic [32*WIDTH-1:0] ROWS = rows();

  logic [WIDTH-1:0] mixed;
  assign mixed = data ^ WIDTH'(crc_in);
  always_comb begin
    crc_out = '0;
    if (enable) for (int b = 0; b < 32; b++) crc_out[b] = ^(mixed & ROWS[b*WIDTH+:WIDTH]);
  end
endmodule
