// four_state_node: one nic_core, as yosys wrote it, with a host, for a simulator that knows X
// (scripts/four-state).
//
// Job: resets, register accesses and lines by tasks; DMA writes go to memory, reads come out of it.
//   Everything starts as X. Once reset has ended, no control output may be X, nor any data that a
//   valid goes with.
// Handshake: a task returns when the access is answered. Clock edges are posedge clk of the caller.
`timescale 1ns / 1ns
module four_state_node (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  node_id,
    output logic [1:0]   tx_valid,
    output logic [127:0] tx_data,
    output logic [191:0] tx_user,
    input  logic [1:0]   rx_valid,
    input  logic [127:0] rx_data,
    input  logic [191:0] rx_user,
    output integer       failures
);
  logic         awvalid = 0, awready, wvalid = 0, wready, bvalid, arvalid = 0, arready, rvalid;
  logic [31:0]  addr = 0;
  logic [63:0]  wdata = 0, rdata;
  logic [1:0]   bresp, rresp;
  logic         p_awvalid = 0, p_awready, p_wvalid = 0, p_wready, p_wlast = 0, p_bvalid;
  logic [28:0]  p_addr = 0;
  logic [7:0]   p_len = 0;
  logic [63:0]  p_data = 0;
  logic [1:0]   p_bresp;
  logic         d_awvalid, d_wvalid, d_wlast, d_bready, d_arvalid, d_rready, d_bvalid = 0, d_rvalid = 0, d_rlast = 0;
  logic [63:0]  d_awaddr, d_wdata, d_araddr, d_rdata = 0;
  logic [7:0]   d_awlen, d_wstrb, d_arlen;
  logic [2:0]   d_awsize, d_arsize;
  logic [1:0]   d_awburst, d_arburst, s_tready;
  logic         local_rests, rma_rests, irq, idle, active;
  logic [nicloop_pkg::VPIDS:0] irq_lines;
  logic [1:0]   link_rests;

  nic_core u_nic (
      .clk(clk), .clk_local(clk), .clk_rma(clk), .clk_link({2{clk}}), .local_rests(local_rests),
      .rma_rests(rma_rests), .link_rests(link_rests), .rst(rst), .link_rst(rst), .node_id(node_id),
      .shape(60'h0), .slept(64'h0), .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_awaddr(addr),
      .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_wdata(wdata), .s_axil_wstrb(8'hff),
      .s_axil_bvalid(bvalid), .s_axil_bready(1'b1), .s_axil_bresp(bresp), .s_axil_arvalid(arvalid),
      .s_axil_arready(arready), .s_axil_araddr(addr), .s_axil_rvalid(rvalid), .s_axil_rready(1'b1),
      .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axi_awvalid(p_awvalid), .s_axi_awready(p_awready),
      .s_axi_awaddr(p_addr), .s_axi_awlen(p_len), .s_axi_awsize(3'd3), .s_axi_awburst(2'b01),
      .s_axi_wvalid(p_wvalid), .s_axi_wready(p_wready), .s_axi_wdata(p_data), .s_axi_wstrb(8'hff),
      .s_axi_wlast(p_wlast), .s_axi_bvalid(p_bvalid), .s_axi_bready(1'b1), .s_axi_bresp(p_bresp),
      .m_axi_awvalid(d_awvalid), .m_axi_awready(1'b1), .m_axi_awaddr(d_awaddr), .m_axi_awlen(d_awlen),
      .m_axi_awsize(d_awsize), .m_axi_awburst(d_awburst), .m_axi_wvalid(d_wvalid), .m_axi_wready(1'b1),
      .m_axi_wdata(d_wdata), .m_axi_wstrb(d_wstrb), .m_axi_wlast(d_wlast), .m_axi_bvalid(d_bvalid),
      .m_axi_bready(d_bready), .m_axi_bresp(2'b00), .m_axi_arvalid(d_arvalid), .m_axi_arready(!read_open),
      .m_axi_araddr(d_araddr), .m_axi_arlen(d_arlen), .m_axi_arsize(d_arsize), .m_axi_arburst(d_arburst),
      .m_axi_rvalid(d_rvalid), .m_axi_rready(d_rready), .m_axi_rdata(d_rdata), .m_axi_rresp(2'b00),
      .m_axi_rlast(d_rlast), .link_up(2'b11), .carrier(2'b11), .m_axis_tvalid(tx_valid), .m_axis_tready(2'b11),
      .m_axis_tdata(tx_data), .m_axis_tuser(tx_user), .s_axis_tvalid(rx_valid), .s_axis_tready(s_tready),
      .s_axis_tdata(rx_data), .s_axis_tuser(rx_user), .irq(irq), .irq_lines(irq_lines), .idle(idle), .active(active)
  );

  // ---- memory of 64 KB ----
  logic [63:0] memory[8192];
  logic [63:0] burst_addr[64], burst_data[512];
  logic [7:0]  burst_strobes[512];
  integer      bursts = 0, bursts_done = 0, beats = 0, beats_done = 0, burst_ends[64], ends = 0, answered = 0, b, i, k;
  logic        read_open = 0;
  logic [63:0] read_addr;
  logic [7:0]  read_left;
  always @(posedge clk)
    if (!rst) begin
      if (d_awvalid) begin
        burst_addr[bursts%64] = d_awaddr;
        bursts = bursts + 1;
      end
      if (d_wvalid) begin
        burst_data[beats%512] = d_wdata;
        burst_strobes[beats%512] = d_wstrb;
        beats = beats + 1;
        if (d_wlast) begin
          burst_ends[ends%64] = beats;
          ends = ends + 1;
        end
      end
      if (d_bvalid && d_bready) d_bvalid <= 1'b0;
      if (bursts_done < bursts && bursts_done < ends && (!d_bvalid || d_bready)) begin
        for (i = 0; beats_done < burst_ends[bursts_done%64]; i = i + 1) begin
          for (b = 0; b < 8; b = b + 1)
            if (burst_strobes[beats_done%512][b])
                memory[burst_addr[bursts_done%64][15:3]+i][8*b+:8] = burst_data[beats_done%512][8*b+:8];
          beats_done = beats_done + 1;
        end
        bursts_done = bursts_done + 1;
        d_bvalid <= 1'b1;
      end
      if (d_arvalid && !read_open) begin
        read_open <= 1'b1;
        read_addr <= d_araddr + 64'd8;
        read_left <= d_arlen;
        d_rvalid  <= 1'b1;
        d_rdata   <= memory[d_araddr[15:3]];
        d_rlast   <= d_arlen == 0;
      end else if (d_rvalid && d_rready) begin
        if (d_rlast) begin
          d_rvalid  <= 1'b0;
          read_open <= 1'b0;
        end else begin
          d_rdata   <= memory[read_addr[15:3]];
          read_addr <= read_addr + 64'd8;
          read_left <= read_left - 8'd1;
          d_rlast   <= read_left == 8'd1;
        end
      end
    end

  // ---- nothing that counts is X ----
  initial failures = 0;
  task fail(input [8*24-1:0] what);
    begin
      if (failures < 10) $display("four_state: node %0d, cycle %0d: X in %0s", node_id, $time / 10, what);
      failures = failures + 1;
    end
  endtask
  logic was_reset = 0;
  always @(posedge clk) begin
    was_reset <= was_reset || rst;
    if (was_reset && !rst) begin
      if ((^{awready, wready, bvalid, arready, rvalid}) === 1'bx) fail("s_axil handshakes");
      if (bvalid && (^bresp) === 1'bx) fail("s_axil_bresp");
      if (rvalid && (^{rresp, rdata}) === 1'bx) begin
        $display("four_state: read of %05x: %b", addr, rdata);
        fail("s_axil_rdata");
      end
      if ((^{p_awready, p_wready, p_bvalid}) === 1'bx) fail("s_axi handshakes");
      if (p_bvalid && (^p_bresp) === 1'bx) fail("s_axi_bresp");
      if ((^{d_awvalid, d_wvalid, d_bready, d_arvalid, d_rready}) === 1'bx) fail("m_axi handshakes");
      if (d_awvalid && (^{d_awaddr, d_awlen, d_awsize, d_awburst}) === 1'bx) fail("m_axi_awaddr");
      if (d_arvalid && (^{d_araddr, d_arlen, d_arsize, d_arburst}) === 1'bx) fail("m_axi_araddr");
      if (d_wvalid && (^{d_wlast, d_wstrb}) === 1'bx) fail("m_axi_wstrb");
      if (d_wvalid)
        for (k = 0; k < 8; k = k + 1) if (d_wstrb[k] && (^d_wdata[8*k+:8]) === 1'bx) fail("m_axi_wdata");
      if ((^{tx_valid, s_tready}) === 1'bx) fail("m_axis_tvalid");
      if (tx_valid[0] === 1'b1 && (^{tx_data[63:0], tx_user[95:0]}) === 1'bx) fail("m_axis word 0");
      if (tx_valid[1] === 1'b1 && (^{tx_data[127:64], tx_user[191:96]}) === 1'bx) fail("m_axis word 1");
      if ((^{irq, irq_lines, idle, active, local_rests, rma_rests, link_rests}) === 1'bx) fail("irq, idle, rests");
    end
  end

  // ---- the host ----
  task write_register(input [31:0] where, input [63:0] value);
    begin
      addr <= where;
      wdata <= value;
      awvalid <= 1'b1;
      wvalid <= 1'b1;
      @(posedge clk);
      while (awvalid || wvalid || bvalid !== 1'b1) begin
        if (awready === 1'b1) awvalid <= 1'b0;
        if (wready === 1'b1) wvalid <= 1'b0;
        @(posedge clk);
      end
      if (bresp !== 2'b00) begin
        $display("four_state: node %0d: write of %05x answered %b", node_id, where, bresp);
        failures = failures + 1;
      end
    end
  endtask

  task read_register(input [31:0] where, output [63:0] value, output [1:0] resp);
    begin
      addr <= where;
      arvalid <= 1'b1;
      @(posedge clk);
      while (arvalid || rvalid !== 1'b1) begin
        if (arready === 1'b1) arvalid <= 1'b0;
        @(posedge clk);
      end
      value = rdata;
      resp = rresp;
    end
  endtask

  task put_line(input [28:0] where, input integer quads, input [511:0] line);
    integer q;
    begin
      p_addr <= where;
      p_len <= quads - 1;
      p_awvalid <= 1'b1;
      p_wvalid <= 1'b1;
      p_data <= line[63:0];
      p_wlast <= quads == 1;
      q = 0;
      @(posedge clk);
      while (q < quads) begin
        if (p_awvalid && p_awready === 1'b1) p_awvalid <= 1'b0;
        if (p_wvalid && p_wready === 1'b1) begin
          q = q + 1;
          p_data <= line[64*q+:64];
          p_wlast <= q == quads - 1;
          p_wvalid <= q < quads;
        end
        @(posedge clk);
      end
      while (p_bvalid !== 1'b1) @(posedge clk);
      if (p_bresp !== 2'b00) begin
        $display("four_state: node %0d: a line was answered %b", node_id, p_bresp);
        failures = failures + 1;
      end
    end
  endtask
endmodule
