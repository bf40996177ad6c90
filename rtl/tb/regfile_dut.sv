// regfile_dut: regfile, mailbox_table and domain_table as nic_core joins them, the rest of the NIC
// left to the bench.
module regfile_dut (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [31:0] s_awaddr,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [63:0] s_wdata,
    input  logic [7:0]  s_wstrb,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    input  logic        s_arvalid,
    output logic        s_arready,
    input  logic [31:0] s_araddr,
    output logic        s_rvalid,
    input  logic        s_rready,
    output logic [63:0] s_rdata,
    output logic [1:0]  s_rresp,
    input  logic [3:0]  look_vpid,
    output logic        look_on,
    output logic        look_full,
    output logic [63:0] look_addr,
    output logic [31:0] look_seq,
    output logic        look_spent,
    output logic        look_timed,
    output logic        look_overflowed,
    input  logic        begun,
    input  logic        ended,
    input  logic        ended_bad,
    input  logic [3:0]  ended_vpid,
    input  logic [31:0] ended_seq,
    output logic        ended_lost,
    input  logic        overflow,
    input  logic        ev_ring_stall,
    input  logic [23:0] ring_hold,
    input  logic [31:0] ring_overflows,
    input  logic        stall,
    output logic [511:0] stamps,
    input  logic        restart,
    input  logic [3:0]  restart_vpid,
    output logic [3:0]  level_vpid,
    input  logic [2:0]  descriptors,
    input  logic [4:0]  fragments,
    input  logic [3:0]  lines,
    input  logic [2:0]  ev_strangers,
    input  logic [63:0] stranger_header,
    input  logic [15:0] stranger_pdid,
    output logic [15:0] window_on,
    input  logic        ev_tx_packet,
    input  logic        ev_tx_error,
    input  logic [6:0]  tx_reason,
    input  logic [15:0] tx_src,
    input  logic [15:0] tx_dst,
    input  logic [9:0]  tx_length,
    input  logic        ev_tx_stall,
    input  logic        ev_rx_drop,
    input  logic [6:0]  rx_reason,
    input  logic [15:0] rx_src,
    input  logic [15:0] rx_dst,
    input  logic [9:0]  rx_length,
    input  logic [7:0]  route_errors,  // by port
    input  logic [39:0] tx_level,
    input  logic [47:0] rx_level,
    output logic        irq,
    output logic [nicloop_pkg::VPIDS:0] irq_lines,
    output logic        wr_take,  // a write is done
    output logic        rd_look,  // a read looks at tables
    input  logic        ev_link_failure,
    input  logic        ev_rma_error,
    input  logic [6:0]  rma_reason,
    input  logic [15:0] rma_src,
    input  logic [15:0] rma_dst,
    input  logic [9:0]  rma_length,
    input  logic        ev_noti_irq,
    input  logic [3:0]  noti_vpid,
    output logic        writes,
    output logic        active,
    output logic        idle
);
  assign wr_take = u_regs.wr_take;
  assign rd_look = u_regs.rd_look;
  logic        mb_wr_on;
  logic [15:0] window_next;
  always_ff @(posedge clk) window_on <= rst ? '0 : window_next;
  logic        mb_busy, mb_wr_ready, mb_rp_ready, mb_wr_base, mb_wr_slots, mb_wr_ctrl, mb_wr_rp, ended_irq,
      mb_ev_refused;
  logic [3:0]  mb_rd_vpid, mb_wr_vpid;
  logic [63:0] mb_rd_base, mb_rd_stall, wr_data;
  logic [31:0] mb_rd_wp;
  logic [32:0] mb_rd_rp;
  logic [23:0] mb_rd_slots;
  logic [8:0]  mb_rd_ctrl;
  /* verilator lint_off PINCONNECTEMPTY */
  // A link page, as one link of the NIC would answer.
  logic ext_wr_known, ext_rd_known;
  logic [63:0] ext_rd_value;
  logic ext_wr_writable, x_wr_do;
  logic [31:0] x_wr_addr, x_rd_addr;
  link_regs #(.LINKS(1)) u_links (
      .rd_addr(x_rd_addr), .connected(1'b1), .carrier(1'b1), .dead(1'b0), .crc_errors(32'd11), .retransmissions(32'd12),
      .timeouts(32'd13), .failures(32'd14), .cut(32'd15), .drained(32'd18), .resets(32'd19), .lost(32'd20),
      .drains(1'b0), .up(1'b0), .drain(), .restart(), .rd_known(ext_rd_known), .rd_value(ext_rd_value),
      .wr_addr(x_wr_addr), .wr_data(wr_data[nicloop_pkg::LINK_PATIENCE_CYCLES_W-1:0]), .wr_do(x_wr_do),
      .wr_known(ext_wr_known), .wr_writable(ext_wr_writable), .patience(), .*
  );
  logic wr_hold;
  logic [23:0] mailbox_hold;
  logic [31:0] mailbox_overflows;
  logic shut, domain_wr_known, domain_writable, domain_rd_known;
  logic [63:0] domain_value;
  domain_table u_domains (
      .wr_addr(x_wr_addr), .wr_data(wr_data[15:0]), .wr_do(x_wr_do), .wr_known(domain_wr_known),
      .wr_writable(domain_writable), .rd_addr(x_rd_addr), .rd_known(domain_rd_known), .rd_value(domain_value), .*
  );
  regfile #(.VC_DEPTH(9), .PORTS(5)) u_regs (
      .slept(64'h0), .here(12'd4), .nodes(12'd6), .dims({8'd1, 8'd2, 8'd3}),
      .ev_rx_packet(ended && !ended_bad && !ended_lost), .ev_rx_irq(ended_irq), .arrival_vpid(ended_vpid),
      .rx_vpid(look_vpid), .ev_rx_stall(stall), .ev_rp_refused(mb_ev_refused),
      // RMA is the business of rma_regs.
      .x_wr_known(domain_wr_known), .x_wr_writable(ext_wr_writable || domain_writable),
      .x_wr_ready(!domain_writable || !mb_busy), .x_rd_known(domain_rd_known), .x_rd_value(domain_value),
      .x_busy(1'b0), .*
  );
  /* verilator lint_on PINCONNECTEMPTY */
  mailbox_table u_table (
      .busy(mb_busy), .wr_ready(mb_wr_ready), .rp_ready(mb_rp_ready), .wr_vpid(mb_wr_vpid), .wr_base(mb_wr_base),
      .wr_slots(mb_wr_slots), .wr_ctrl(mb_wr_ctrl), .wr_rp(mb_wr_rp), .rd_vpid(mb_rd_vpid), .rd_base(mb_rd_base),
      .rd_slots(mb_rd_slots), .rd_ctrl(mb_rd_ctrl), .rd_wp(mb_rd_wp), .rd_rp(mb_rd_rp), .rd_stall(mb_rd_stall),
      .rd_hold(mailbox_hold), .rd_overflows(mailbox_overflows), .ev_refused(mb_ev_refused), .wr_on(mb_wr_on), .*
  );
endmodule
