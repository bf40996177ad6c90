// velo_slot: the header of a mailbox slot, from the header of its packet.
//
// Job: builds format slot. Combinational.
// Handshake: none.
// Backpressure: none.
module velo_slot (
    /* verilator lint_off UNUSEDSIGNAL */  // a slot does not contain all of it
    input  nicloop_pkg::header_t header,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic                 overflow,  // packets were lost in front of it
    input  logic [31:0]          seq,
    output nicloop_pkg::slot_t   slot
);
  always_comb begin
    slot           = '0;
    slot.src_vpid  = header.src_vpid;
    slot.src_node  = header.src_node;
    slot.length    = header.length;
    slot.kind      = header.kind;
    slot.piggyback = header.piggyback;
    slot.overflow  = overflow;
    slot.seq       = seq;
  end
endmodule
