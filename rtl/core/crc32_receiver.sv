// crc32_receiver: checks the CRC-32 of a received packet against its tail.
//
// Job: accumulates flits as they are accepted, without the header fields that the network may
//   change and without the CRC field of the tail. differs, in the cycle after a tail: the CRC in
//   the tail does not match the flits since the last head. So the XOR trees end in a register.
// Handshake: none: flit is observed while valid, and accumulated in a cycle of take. differs is
//   meaningful only in the cycle after a tail.
// Backpressure: none.
module crc32_receiver (
    input  logic               clk,
    input  logic               valid,
    input  logic               take,  // while valid
    input  nicloop_pkg::flit_t flit,
    output logic               differs
);
  nicloop_pkg::header_t head_flit;   // the flit as a header, as the CRC takes it
  nicloop_pkg::tail_t   stamp_flit;  // as a tail, as the CRC takes it
  /* verilator lint_off UNUSEDSIGNAL */
  nicloop_pkg::tail_t   tail_flit;   // as a tail
  /* verilator lint_on UNUSEDSIGNAL */
  logic [31:0] crc, crc_next, says;
  assign tail_flit = flit.data;
  always_comb begin
    head_flit        = flit.data;
    head_flit.answer = '0;
    head_flit.mark   = '0;
    stamp_flit       = flit.data;
    stamp_flit.crc   = '0;
  end
  crc32 u_crc (
      .enable(valid), .crc_in(flit.head ? '1 : crc), .data(flit.head ? head_flit : flit.tail ? stamp_flit : flit.data),
      .crc_out(crc_next)
  );
  always_ff @(posedge clk) begin
    if (take) crc <= crc_next;
    says <= tail_flit.crc;
  end
  assign differs = says != ~crc;
endmodule
