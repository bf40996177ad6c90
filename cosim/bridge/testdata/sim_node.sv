// A stand-in for a node with the ports and DPI imports of the real sim_node.
// It builds in seconds and misbehaves on request, which the NIC must never do.
//
// Registers: 0x20 SCRATCH, 0x28 NODE_ID, 0x30 CYCLES, 0x40 IRQ (bit 0 is the
// line), 0x48 HOLD (1: a full mailbox), 0x50 BASE of the mailbox, 0x58 SLOTS, 0x60
// MISBEHAVE. 0x100 and up: SLVERR; 0x1000 and up: DECERR. A PIO line goes to the node in
// address bits 18..23 and becomes a slot there 6 cycles later, one at a time; while that
// node's HOLD is set the line waits and its sender's PIO bus stands still. A length
// (bits 6..11) above 56 is refused with SLVERR.
//
// There is no network: a sender looks up HOLD, BASE and SLOTS of the other node in the line
// at SETTINGS of that node's memory, where each node keeps them.
//
// MISBEHAVE: 1 a failing assertion, 2 $fatal, 3 $finish, 4 a DMA write outside the
// memory, 5 active for ever, 6 no answer, 7 an answer nobody waits for.
`include "nicloop_dpi.svh"

module sim_node #(parameter int PORTS = 5, VC_DEPTH = 16, TORUS = 0) (
    input  logic clk,
    input  logic clk_local, clk_rma, clk_link0, clk_link1, clk_link2, clk_link3,  // nothing here has a gated clock
    output logic local_rests, rma_rests,
    output logic [PORTS-2:0] link_rests,
    input  logic rst,
    input  logic link_rst,
    input  logic [11:0] node_id,
    input  logic [59:0] shape,
    input  logic [63:0] slept,
    input  logic [15:0] host_wr_latency,
    input  logic [15:0] host_rd_latency,
    input  logic trace_on,
    input  logic reg_pending,
    input  logic pio_pending,
    input  logic [PORTS-2:0] link_up,
    input  logic [PORTS-2:0] carrier,
    output logic [PORTS-2:0] wire_down,
    output logic [PORTS-2:0] tx_valid,
    output logic [(PORTS-1)*128-1:0] tx_word,
    input  logic [PORTS-2:0] rx_valid,
    input  logic [(PORTS-1)*128-1:0] rx_word,
    input  logic expect_credits,
    output logic irq,
    output logic idle,
    output logic active
);
  localparam longint unsigned SETTINGS = 64'hff00;
  int n, nodes;
  assign n = 32'(node_id);
  assign nodes = 32'(shape[59:48]);
  assign {wire_down, tx_valid, tx_word, local_rests, rma_rests, link_rests} = '0;

  logic [63:0] cycles;
  always_ff @(posedge clk) cycles <= rst ? 64'd0 : cycles + 64'd1;

  // Register engine.
  bit rwrite;
  int unsigned raddr;
  longint unsigned rdata;
  logic [1:0] rstate;
  logic [63:0] scratch, base;
  logic [31:0] slots;
  logic hold, mute, restless;
  always @(posedge clk) begin
    if (rst) begin
      rstate <= 0;
      scratch <= 0;
      irq <= 0;
      mute <= 0;
      hold = 0;
      restless <= 0;
      base = 0;
      slots = 1;
    end else if (rstate == 0) begin
      if (reg_pending && !mute) begin
        nl_reg_next(n, rwrite, raddr, rdata);
        rstate <= 1;
      end
    end else if (rstate == 1) rstate <= 2;
    else begin
      rstate <= 0;
      if (raddr >= 32'h1000) nl_reg_done(n, 3, 0);
      else if (raddr >= 32'h100) nl_reg_done(n, 2, 0);
      else if (!rwrite)
        case (raddr)
          32'h20: nl_reg_done(n, 0, scratch);
          32'h28: nl_reg_done(n, 0, 64'(n));
          32'h30: nl_reg_done(n, 0, cycles + slept);
          default: nl_reg_done(n, 0, 0);
        endcase
      else begin
        if (!(raddr == 32'h60 && rdata == 6)) nl_reg_done(n, 0, 0);
        case (raddr)
          32'h20: scratch <= rdata;
          32'h40: irq <= rdata[0];
          32'h48: hold = rdata[0];
          32'h50: base = rdata;
          32'h58: slots = rdata[31:0];
          32'h60: begin
            assert (rdata != 1) else $error("node %0d: asked to fail", n);
            if (rdata == 2) $fatal(1, "node %0d: asked to die", n);
            if (rdata == 3) $finish;
            if (rdata == 4) void'(nl_dma_write(n, 64'hffff_ffff_ffff_fff8, 8, 512'd0, '1));
            if (rdata == 5) restless <= 1;
            if (rdata == 6) mute <= 1;
            if (rdata == 7) nl_reg_done(n, 0, 0);
          end
          default: ;
        endcase
        if (raddr == 32'h48 || raddr == 32'h50 || raddr == 32'h58)
          void'(nl_dma_write(n, SETTINGS, 3, {320'd0, 63'd0, hold, 32'd0, slots, base}, 64'hffffff));
      end
    end
  end

  // PIO engine.
  int unsigned paddr;
  int unsigned pbeats;
  bit [511:0] pdata;
  bit [511:0] there;
  logic [2:0] pstate;
  logic [31:0] serial;
  int to;
  assign to = 32'(paddr[24:19]);
  logic [63:0] slot_header;
  assign slot_header = {serial, 4'd0, paddr[14:13], 4'd0, paddr[11:6], 12'(n), paddr[28:25]};
  assign idle = rstate == 0 && pstate == 0;
  assign active = rstate != 0 || (pstate != 0 && pstate != 5) || restless;
  always @(posedge clk) begin
    if (rst) begin
      pstate <= 0;
      serial <= 1;
    end else if (pstate == 0) begin
      if (pio_pending) begin
        nl_pio_next(n, paddr, pbeats, pdata);
        pstate <= 1;
      end
    end else if (pstate < 4) pstate <= pstate + 3'd1;
    else if (paddr[11:6] > 6'd56) begin
      nl_pio_done(n, 2);
      pstate <= 0;
    end else begin
      there = '0;
      if (to < nodes) void'(nl_dma_read(to, SETTINGS, 3, there));
      if (there[95:64] == 0) there[95:64] = 1;
      if (there[128]) pstate <= 5;
      else begin
        nl_pio_done(n, 0);
        pstate <= 0;
        serial <= serial + 1;
        if (trace_on) nl_trace(n, 8, 3, 0, 64'(paddr));
        if (to < nodes) begin
          void'(nl_dma_write(to, there[63:0] + 64 * 64'((serial - 1) % there[95:64]), 8, {slot_header, pdata[447:0]}, '1));
          if (trace_on) nl_trace(to, 9, 0, 0, slot_header);
        end
      end
    end
  end
endmodule
