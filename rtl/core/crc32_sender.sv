// crc32_sender: the CRC-32 of a packet that leaves, for its tail.
//
// Job: what leaves is kept for a cycle and counted then, so that the word of a block RAM, which is late, goes to
//   nothing but the network. The tail's CRC is that of the words before the last, of the last, and of the stamp, in one
//   step.
//
//   data       | header | quad 0 | quad 1 |  tail: stamp |
//   word       |        | header | quad 0 | quad 1       |
//   counted    |        | (none) | header | header, quad 0
//   crc        |        |        |        | of all        |
//
// Handshake: none: data counts in a cycle of send, the first of a packet in one of head; crc is that of the words
//   before and stamp, combinational, while tail.
// Back-pressure: none.
module crc32_sender #(
    // 0: counted at once, in half as much logic, for a chip that is small and slow
    parameter int BEHIND = 1
) (
    input  logic        clk,
    input  logic        send,
    input  logic        head,
    input  logic        tail,
    input  logic [63:0] data,   // with send, but for the tail
    input  logic [31:0] stamp,  // of the tail, above the CRC, which counts as 0
    output logic [31:0] crc     // inverted, as the tail has it
);
  localparam logic [31:0] POLY = 32'hedb88320;

  // What a 1 does to the register, by the number of shifts that are left. A quadword and the tail's are one word of
  // 128 bits; the register enters with its first 32. Bits 64 to 95 are the CRC itself: they are 0.
  function automatic logic [31:0] column(input int i);
    logic [31:0] c;
    c = '0;
    for (int k = 0; k < 128; k++) begin
      if (k == i) c = c ^ 32'h1;
      c = c[0] ? (c >> 1) ^ POLY : c >> 1;
    end
    column = c;
  endfunction
  function automatic logic [127:0] row(input logic [4:0] b);
    logic [127:0] r;
    logic [31:0]  c;
    r = '0;
    for (int i = 0; i < 128; i++) begin
      c    = column(i);
      r[i] = c[b];
    end
    row = r;
  endfunction
  function automatic logic [32*128-1:0] rows();
    for (int b = 0; b < 32; b++) rows[b*128+:128] = row(5'(b));
  endfunction
  localparam logic [32*128-1:0] ROWS = rows();

  generate
    if (BEHIND != 0) begin : g_behind
      logic [63:0]  word;             // the last word that left
      logic [31:0]  counted, behind;  // the register before it, and behind it
      logic [127:0] both;
      always_ff @(posedge clk)
        if (send) begin
          word    <= data;
          counted <= head ? '1 : behind;
        end
      crc32_d64 u_crc (.enable(!head), .crc_in(counted), .data(word), .crc_out(behind));
      assign both = {stamp, 32'h0, word ^ {32'h0, counted}};
      always_comb begin
        crc = '0;
        if (tail) for (int b = 0; b < 32; b++) crc[b] = ~^(both & ROWS[b*128+:128]);
      end
    end else begin : g_at_once
      logic [31:0] counted, now;
      always_ff @(posedge clk) if (send) counted <= now;
      crc32_d64 u_crc (
          .enable(1'b1), .crc_in(head ? '1 : counted), .data(tail ? {stamp, 32'h0} : data), .crc_out(now)
      );
      assign crc = ~now;
    end
  endgenerate
endmodule
