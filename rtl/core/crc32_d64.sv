// crc32_d64: CRC-32 (IEEE 802.3, reflected) of 64 bits in one step.
//
// Job: crc_out = the CRC register after the eight bytes of data, least significant byte first. The
//   caller starts with all ones and inverts the end result.
// Handshake: none, combinational; crc_out counts while enable. The shift loop flattens into one XOR tree per bit. A
//   simulation computes nothing while nothing moves.
module crc32_d64 (
    input  logic        enable,
    input  logic [31:0] crc_in,
    input  logic [63:0] data,
    output logic [31:0] crc_out
);
  localparam logic [31:0] POLY = 32'hedb88320;

  // Column i of the matrix: what a 1 in bit i does to the register after 64 shifts. Bits 0..31 enter
  // together with the old register, which is why that one needs no matrix of its own.
  function automatic logic [31:0] column(input int i);
    logic [31:0] c;
    c = '0;
    for (int k = 0; k < 64; k++) begin
      if (k == i) c = c ^ 32'h1;
      c = c[0] ? (c >> 1) ^ POLY : c >> 1;
    end
    column = c;
  endfunction

  logic [63:0] mixed;
  assign mixed = data ^ {32'h0, crc_in};

  // Row by row: bit b of the result is the parity of the inputs whose column has bit b.
  function automatic logic [63:0] row(input logic [4:0] b);
    logic [63:0] r;
    logic [31:0] c;
    r = '0;
    for (int i = 0; i < 64; i++) begin
      c    = column(i);
      r[i] = c[b];
    end
    row = r;
  endfunction

  function automatic logic [32*64-1:0] rows();
    for (int b = 0; b < 32; b++) rows[b*64+:64] = row(5'(b));
  endfunction
  localparam logic [32*64-1:0] ROWS = rows();

  always_comb begin
    crc_out = '0;
    if (enable) for (int b = 0; b < 32; b++) crc_out[b] = ^(mixed & ROWS[b*64+:64]);
  end
endmodule
