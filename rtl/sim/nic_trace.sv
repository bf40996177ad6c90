// nic_trace: reports what happens in one NIC; bound to nic_core, so the design does not know it.
// trace_switch, beside the core, says whether; a hierarchical block cannot be looked into from below.
//
// Points: 0 flit NIC -> router, 1..6 flit leaves on that link, 7 flit router -> NIC, 8 line taken by the PIO
//   slave (data: PIO address), 9 slot written (data: slot header), 10 packet refused or discarded (data:
//   [15:0] destination, [31:16] source, each node and VPID as in ERROR_INFO, [47:32] drop_reason).
//   For points 8 to 10 vc and flags are 0.
`include "nicloop_dpi.svh"
module nic_trace #(
    parameter int LINKS = 2,
    parameter int VC_W  = 1
) (
    input logic                  clk,
    input logic                  rst,
    input logic [11:0]           node_id,
    input logic                  inj_valid,
    input logic [VC_W-1:0]       inj_vc,
    input logic                  inj_head,
    input logic                  inj_tail,
    input logic [63:0]           inj_data,
    input logic                  ej_valid,
    input logic [VC_W-1:0]       ej_vc,
    input logic                  ej_head,
    input logic                  ej_tail,
    input logic [63:0]           ej_data,
    input logic [LINKS-1:0]      tx_valid,
    input logic [LINKS*VC_W-1:0] tx_vc,
    input logic [LINKS-1:0]      tx_head,
    input logic [LINKS-1:0]      tx_tail,
    input logic [LINKS*64-1:0]   tx_data,
    input logic                  ev_line,
    input logic [27:0]           line_addr,
    input logic                  ev_tx_error,
    input logic [6:0]            tx_reason,
    input logic [15:0]           line_src,
    input logic [15:0]           line_dst,
    input logic                  commit,
    input logic [63:0]           slot_header,
    input logic                  ev_drop,
    input logic [6:0]            drop_reason,
    input logic [15:0]           packet_src,
    input logic [15:0]           packet_dst
);
  localparam int INJECT = 0, EJECT = 7, LINE = 8, SLOT = 9, DROP = 10;
  int node;
  assign node = 32'(node_id);

  always @(posedge clk)
    if (!rst && u_trace_switch.on) begin
      if (ev_line) nl_trace(node, LINE, 0, 0, 64'(line_addr));
      if (ev_tx_error) nl_trace(node, DROP, 0, 0, {16'h0, 9'h0, tx_reason, line_src, line_dst});
      if (inj_valid) nl_trace(node, INJECT, {30'h0, inj_tail, inj_head}, 32'(inj_vc), inj_data);
      for (int l = 0; l < LINKS; l++)
        if (tx_valid[l]) nl_trace(node, l + 1, {30'h0, tx_tail[l], tx_head[l]}, 32'(tx_vc[l*VC_W+:VC_W]), tx_data[l*64+:64]);
      if (ej_valid) nl_trace(node, EJECT, {30'h0, ej_tail, ej_head}, 32'(ej_vc), ej_data);
      if (commit) nl_trace(node, SLOT, 0, 0, slot_header);
      if (ev_drop) nl_trace(node, DROP, 0, 0, {16'h0, 9'h0, drop_reason, packet_src, packet_dst});
    end
endmodule

bind nic_core nic_trace #(.LINKS(LINKS), .VC_W(VC_W)) u_trace (.*);
