// crc32_receiver: the CRC-32 of a packet that arrives, against its tail.
//
// Job: counts flits as they are taken: of the header not what the network may change, of the tail
//   not the CRC itself. differs, in the cycle behind a tail: the CRC that it names is not that of
//   the flits since the last head. So nothing but a register stands behind the XOR trees.
// Handshake: none: flit is looked at while valid, and counts in a cycle of take. Behind anything
//   but a tail differs says nothing.
// Back-pressure: none.
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
