// crc32_sender: the CRC-32 of a packet being sent, for its tail.
//
// Job: a sent word is registered for a cycle and accumulated then, so that the output of a block
//   RAM, which is late, drives nothing but the network. The tail's CRC covers the words before the
//   last, the last, and the stamp, in one step.
//
//   data       | header | quad 0 | quad 1 |  tail: stamp |
//   word       |        | header | quad 0 | quad 1       |
//   counted    |        | (none) | header | header, quad 0
//   crc        |        |        |        | of all        |
//
// Handshake: none: data counts in a cycle of send, the first word of a packet in one of head; crc
//   covers the words before and stamp, combinationally, while tail.
// Backpressure: none.
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
  generate
    if (BEHIND != 0) begin : g_behind
      logic [63:0] word;                   // the last word that left
      logic [31:0] counted, behind, last;  // the register before it, behind it, and behind the tail
      always_ff @(posedge clk)
        if (send) begin
          word    <= data;
          counted <= head ? '1 : behind;
        end
      crc32 u_crc (.enable(!head), .crc_in(counted), .data(word), .crc_out(behind));
      // A quadword and the tail's are one word.
      crc32 #(.WIDTH(128)) u_last (.enable(tail), .crc_in(counted), .data({stamp, 32'h0, word}), .crc_out(last));
      assign crc = tail ? ~last : '0;
    end else begin : g_at_once
      logic [31:0] counted, now;
      always_ff @(posedge clk) if (send) counted <= now;
      crc32 u_crc (
          .enable(1'b1), .crc_in(head ? '1 : counted), .data(tail ? {stamp, 32'h0} : data), .crc_out(now)
      );
      assign crc = ~now;
    end
  endgenerate
endmodule
