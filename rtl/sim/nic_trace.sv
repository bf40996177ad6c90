// nic_trace: reports what happens in one NIC; bound to nic_core, so the design does not know it.
// sim_node's trace_on says whether; the host is always told what becomes of lines of VELO.
//
// Points: 0 flit NIC -> router, 1..6 flit leaves on that link, 7 flit router -> NIC, 8 line taken
//   by the PIO slave (data: PIO address), 9 slot written (data: slot header), 10 packet refused or
//   discarded (data: [15:0] destination, [31:16] source, each node and VPID as in ERROR_INFO,
//   [47:32] drop_reason). At the buses: 11 address of a burst to the send windows taken (data: it),
//   12 its last beat; 13 address of a DMA read taken (data: it), 14 its last beat; 15 address of a
//   DMA write taken (data: it), 16 its last beat, which is when memory has it, 17 its
//   acknowledgement. 18..23 head flit arrives from that link (data: header). Headers are shown as
//   they were injected, without the count of routers. For points 8 to 17 vc and flags are 0. Events
//   of one cycle come in the order of a transaction.
`include "nicloop_dpi.svh"
module nic_trace #(
    parameter int LINKS = 2,
    parameter int VC_W  = 1,
    localparam int CLASS_W = $clog2(nicloop_pkg::VCS)
) (
    input logic                  clk,
    input logic                  rst,
    input logic [11:0]           node_id,
    input logic                  inj_valid,
    input logic [CLASS_W-1:0]    inj_vc,
    input logic                  inj_head,
    input logic                  inj_tail,
    input logic [63:0]           inj_data,
    input logic                  ej_valid,
    input logic [CLASS_W-1:0]    ej_vc,
    input logic                  ej_head,
    input logic                  ej_tail,
    input logic [63:0]           ej_data,
    input logic [LINKS-1:0]      tx_valid,
    input logic [LINKS*VC_W-1:0] tx_vc,
    input logic [LINKS-1:0]      tx_head,
    input logic [LINKS-1:0]      tx_tail,
    input logic [LINKS*64-1:0]   tx_data,
    input logic [LINKS-1:0]      rx_valid,
    input logic [LINKS*VC_W-1:0] rx_vc,
    input logic [LINKS-1:0]      rx_head,
    input logic [LINKS*64-1:0]   rx_data,
    input logic                  s_axi_awvalid,
    input logic                  s_axi_awready,
    input logic [28:0]           s_axi_awaddr,
    input logic                  s_axi_wvalid,
    input logic                  s_axi_wready,
    input logic                  s_axi_wlast,
    input logic                  m_axi_arvalid,
    input logic                  m_axi_arready,
    input logic [63:0]           m_axi_araddr,
    input logic                  m_axi_rvalid,
    input logic                  m_axi_rready,
    input logic                  m_axi_rlast,
    input logic                  m_axi_awvalid,
    input logic                  m_axi_awready,
    input logic [63:0]           m_axi_awaddr,
    input logic                  m_axi_wvalid,
    input logic                  m_axi_wready,
    input logic                  m_axi_wlast,
    input logic                  m_axi_bvalid,
    input logic                  m_axi_bready,
    input logic                  ev_line,
    input logic [28:0]           line_addr,
    input logic                  ev_tx_packet,
    input logic [3:0]            packet_vpid,
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
  localparam int INJECT = 0, EJECT = 7, LINE = 8, SLOT = 9, DROP = 10, PIO_ADDR = 11, PIO_LAST = 12, READ_ADDR = 13,
                 READ_LAST = 14, WRITE_ADDR = 15, WRITE_LAST = 16, WRITE_DONE = 17, ARRIVE = 18;
  int node;
  function automatic logic [63:0] shown(input logic head, input logic [63:0] data);
    shown = data;
    if (head) shown[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W] = '0;
  endfunction
  assign node = 32'(node_id);

  always @(posedge clk)
    if (!rst) begin
      if (ev_line) nl_pio_line(node);
      if (ev_tx_packet) nl_pio_left(node, 32'(packet_vpid));
    end

  always @(posedge clk)
    if (!rst && sim_node.trace_on) begin
      if (s_axi_awvalid && s_axi_awready) nl_trace(node, PIO_ADDR, 0, 0, 64'(s_axi_awaddr));
      if (s_axi_wvalid && s_axi_wready && s_axi_wlast) nl_trace(node, PIO_LAST, 0, 0, 64'h0);
      if (ev_line) nl_trace(node, LINE, 0, 0, 64'(line_addr));
      if (ev_tx_error) nl_trace(node, DROP, 0, 0, {16'h0, 9'h0, tx_reason, line_src, line_dst});
      if (inj_valid) nl_trace(node, INJECT, {30'h0, inj_tail, inj_head}, 32'(inj_vc), inj_data);
      for (int l = 0; l < LINKS; l++)
        if (tx_valid[l]) nl_trace(node, l + 1, {30'h0, tx_tail[l], tx_head[l]}, 32'(tx_vc[l*VC_W+:VC_W]),
            shown(tx_head[l], tx_data[l*64+:64]));
      for (int l = 0; l < LINKS; l++)
        if (rx_valid[l] && rx_head[l])
            nl_trace(node, ARRIVE + l, 1, 32'(rx_vc[l*VC_W+:VC_W]), shown(1'b1, rx_data[l*64+:64]));
      if (ej_valid) nl_trace(node, EJECT, {30'h0, ej_tail, ej_head}, 32'(ej_vc), shown(ej_head, ej_data));
      if (m_axi_arvalid && m_axi_arready) nl_trace(node, READ_ADDR, 0, 0, m_axi_araddr);
      if (m_axi_rvalid && m_axi_rready && m_axi_rlast) nl_trace(node, READ_LAST, 0, 0, 64'h0);
      if (m_axi_awvalid && m_axi_awready) nl_trace(node, WRITE_ADDR, 0, 0, m_axi_awaddr);
      if (m_axi_wvalid && m_axi_wready && m_axi_wlast) nl_trace(node, WRITE_LAST, 0, 0, 64'h0);
      if (m_axi_bvalid && m_axi_bready) nl_trace(node, WRITE_DONE, 0, 0, 64'h0);
      if (commit) nl_trace(node, SLOT, 0, 0, slot_header);
      if (ev_drop) nl_trace(node, DROP, 0, 0, {16'h0, 9'h0, drop_reason, packet_src, packet_dst});
    end
endmodule

bind nic_core nic_trace #(.LINKS(LINKS), .VC_W(VC_W)) u_trace (.*);
