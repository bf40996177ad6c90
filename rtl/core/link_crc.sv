// link_crc: CRC-32 (IEEE 802.3, reflected) of one link word: 64 bits of data, then CTRL_W bits of
// control.
//
// Job: protects every word separately, so that a receiver can forward it in the cycle of its
//   arrival. At this length the code detects every error of up to six bits and every burst of up to
//   32.
// Handshake: none, combinational; crc is valid while enable is high, otherwise 0. The gate by
//   enable spares a simulation the XOR trees while the wire is silent.
module link_crc #(
    parameter int CTRL_W = 64
) (
    input  logic        enable,
    input  logic [63:0] data,
    input  logic [CTRL_W-1:0] ctrl,
    output logic [31:0] crc
);
  localparam int N = 64 + CTRL_W;
  localparam logic [31:0] POLY = 32'hedb88320;

  // Row b of the matrix: the bits of the word on which bit b of the result depends. A 1 in the last
  // bit is shifted once by the end of the word, one in the bit before twice, and so on.
  function automatic logic [N-1:0] row(input logic [4:0] b);
    logic [N-1:0] r;
    logic [31:0]  c;
    r = '0;
    c = 32'h1;
    for (int i = N - 1; i >= 0; i--) begin
      c    = c[0] ? (c >> 1) ^ POLY : c >> 1;
      r[i] = c[b];
    end
    row = r;
  endfunction

  function automatic logic [32*N-1:0] rows();
    for (int b = 0; b < 32; b++) rows[b*N+:N] = row(5'(b));
  endfunction
  localparam logic [32*N-1:0] ROWS = rows();

  // The first 32 bits of the word enter inverted and the result leaves inverted: a word of zeros is
  // wrong.
  always_comb begin
    crc = '0;
    if (enable)
      for (int b = 0; b < 32; b++)
        crc[b] = ^(data & ROWS[b*N+:64]) ^ ^(ctrl & ROWS[b*N+64+:CTRL_W]) ^ ^ROWS[b*N+:32] ^ 1'b1;
  end
endmodule
