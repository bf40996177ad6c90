// handshake_check: AXI's stability rule on one channel.
//
// Job: what is offered stays, unchanged, until it is taken. Bound to every channel of nic_core that carries a
//   payload, so that both the NIC and the host are held to it.
// Handshake and back-pressure: watches only.
module handshake_check #(
    parameter int W    = 64,
    parameter     NAME = ""
) (
    input logic         clk,
    input logic         rst,
    input logic [11:0]  node_id,
    input logic         valid,
    input logic         ready,
    input logic [W-1:0] payload
);
  logic         held;
  logic [W-1:0] held_payload;

  always_ff @(posedge clk) begin
    held         <= !rst && valid && !ready;
    held_payload <= payload;
  end

  always_ff @(posedge clk)
    if (!rst)
      assert (!held || (valid && payload == held_payload))
        else $error("node %0d, %s: withdrawn or changed before it was taken", node_id, NAME);
endmodule

bind nic_core handshake_check #(.W(32), .NAME("register write address")) u_check_axil_aw (
    .clk, .rst, .node_id, .valid(s_axil_awvalid), .ready(s_axil_awready), .payload(s_axil_awaddr));
bind nic_core handshake_check #(.W(64), .NAME("register write data")) u_check_axil_w (
    .clk, .rst, .node_id, .valid(s_axil_wvalid), .ready(s_axil_wready), .payload(s_axil_wdata));
bind nic_core handshake_check #(.W(2), .NAME("register write answer")) u_check_axil_b (
    .clk, .rst, .node_id, .valid(s_axil_bvalid), .ready(s_axil_bready), .payload(s_axil_bresp));
bind nic_core handshake_check #(.W(32), .NAME("register read address")) u_check_axil_ar (
    .clk, .rst, .node_id, .valid(s_axil_arvalid), .ready(s_axil_arready), .payload(s_axil_araddr));
bind nic_core handshake_check #(.W(66), .NAME("register read answer")) u_check_axil_r (
    .clk, .rst, .node_id, .valid(s_axil_rvalid), .ready(s_axil_rready), .payload({s_axil_rresp, s_axil_rdata}));
bind nic_core handshake_check #(.W(37), .NAME("PIO address")) u_check_pio_aw (
    .clk, .rst, .node_id, .valid(s_axi_awvalid), .ready(s_axi_awready), .payload({s_axi_awlen, s_axi_awaddr}));
bind nic_core handshake_check #(.W(65), .NAME("PIO data")) u_check_pio_w (
    .clk, .rst, .node_id, .valid(s_axi_wvalid), .ready(s_axi_wready), .payload({s_axi_wlast, s_axi_wdata}));
bind nic_core handshake_check #(.W(2), .NAME("PIO answer")) u_check_pio_b (
    .clk, .rst, .node_id, .valid(s_axi_bvalid), .ready(s_axi_bready), .payload(s_axi_bresp));
bind nic_core handshake_check #(.W(64), .NAME("DMA address")) u_check_dma_aw (
    .clk, .rst, .node_id, .valid(m_axi_awvalid), .ready(m_axi_awready), .payload(m_axi_awaddr));
bind nic_core handshake_check #(.W(72), .NAME("DMA read address")) u_check_dma_ar (
    .clk, .rst, .node_id, .valid(m_axi_arvalid), .ready(m_axi_arready), .payload({m_axi_arlen, m_axi_araddr}));
bind nic_core handshake_check #(.W(67), .NAME("DMA read data")) u_check_dma_r (
    .clk, .rst, .node_id, .valid(m_axi_rvalid), .ready(m_axi_rready),
    .payload({m_axi_rresp, m_axi_rlast, m_axi_rdata}));
bind nic_core handshake_check #(.W(65), .NAME("DMA data")) u_check_dma_w (
    .clk, .rst, .node_id, .valid(m_axi_wvalid), .ready(m_axi_wready), .payload({m_axi_wlast, m_axi_wdata}));
