// A stand-in for the NIC with the ports and DPI imports of the real simulation top.
// It builds in seconds and misbehaves on request, which the NIC must never do.
//
// Per node. Registers: 0x20 SCRATCH, 0x28 NODE_ID, 0x30 CYCLES, 0x40 IRQ (bit 0 is the
// line), 0x48 HOLD (1: a full mailbox), 0x50 BASE of the mailbox, 0x58 SLOTS, 0x60
// MISBEHAVE. 0x100 and up: SLVERR; 0x1000 and up: DECERR. A PIO line goes to the node in
// address bits 18..23 and becomes a slot there 6 cycles later, one at a time; while that
// node's HOLD is set the line waits and its sender's PIO bus stands still. A length
// (bits 6..11) above 56 is refused with SLVERR.
//
// MISBEHAVE: 1 a failing assertion, 2 $fatal, 3 $finish, 4 a DMA write outside the
// memory, 5 active for ever, 6 no answer, 7 an answer nobody waits for.
`include "nicloop_dpi.svh"

module sim_top #(parameter int NODES = 4, DIM_X = 2, DIM_Y = 2, DIM_Z = 1, VC_DEPTH = 16, HOST_WR_LATENCY = 4) (
    input logic clk,
    input logic rst,
    input logic [NODES-1:0] reg_pending,
    input logic [NODES-1:0] pio_pending,
    input logic trace_on,
    output logic [NODES-1:0] irq,
    output logic idle,
    output logic active
);
  logic [NODES-1:0] hold, moving, waiting, restless;
  logic [63:0] cycles;
  assign idle = !(|moving) && !(|waiting);
  assign active = |moving || |restless;
  always_ff @(posedge clk) cycles <= rst ? 64'd0 : cycles + 64'd1;

  logic [63:0] base[NODES];
  logic [31:0] slots[NODES];

  for (genvar n = 0; n < NODES; n++) begin : node
    // Register engine.
    bit rwrite;
    int unsigned raddr;
    longint unsigned rdata;
    logic [1:0] rstate;
    logic [63:0] scratch;
    logic irq_line;
    logic mute;
    always @(posedge clk) begin
      if (rst) begin
        rstate <= 0;
        scratch <= 0;
        irq_line <= 0;
        mute <= 0;
        hold[n] <= 0;
        restless[n] <= 0;
        base[n] <= 0;
        slots[n] <= 1;
      end else if (rstate == 0) begin
        if (reg_pending[n] && !mute) begin
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
            32'h30: nl_reg_done(n, 0, cycles);
            default: nl_reg_done(n, 0, 0);
          endcase
        else begin
          if (!(raddr == 32'h60 && rdata == 6)) nl_reg_done(n, 0, 0);
          case (raddr)
            32'h20: scratch <= rdata;
            32'h40: irq_line <= rdata[0];
            32'h48: hold[n] <= rdata[0];
            32'h50: base[n] <= rdata;
            32'h58: slots[n] <= rdata[31:0];
            32'h60: begin
              assert (rdata != 1) else $error("node %0d: asked to fail", n);
              if (rdata == 2) $fatal(1, "node %0d: asked to die", n);
              if (rdata == 3) $finish;
              if (rdata == 4) void'(nl_dma_write(n, 64'hffff_ffff_ffff_fff8, 8, 512'd0, '1));
              if (rdata == 5) restless[n] <= 1;
              if (rdata == 6) mute <= 1;
              if (rdata == 7) nl_reg_done(n, 0, 0);
            end
            default: ;
          endcase
        end
      end
    end
    assign irq[n] = irq_line;

    // PIO engine.
    int unsigned paddr;
    int unsigned pbeats;
    bit [447:0] pdata;
    logic [2:0] pstate;
    logic [31:0] serial;
    wire [5:0] to = paddr[23:18];
    wire [63:0] slot_header = {serial, 4'd0, paddr[13:12], 4'd0, paddr[11:6], 12'(n), paddr[27:24]};
    wire [$clog2(NODES)-1:0] dst = to[$clog2(NODES)-1:0];
    wire [31:0] slot = (serial - 1) % slots[dst];
    assign moving[n] = rstate != 0 || (pstate != 0 && pstate != 5);
    assign waiting[n] = pstate == 5;
    always @(posedge clk) begin
      if (rst) begin
        pstate <= 0;
        serial <= 1;
      end else if (pstate == 0) begin
        if (pio_pending[n]) begin
          nl_pio_next(n, paddr, pbeats, pdata);
          pstate <= 1;
        end
      end else if (pstate < 4) pstate <= pstate + 3'd1;
      else if (paddr[11:6] > 6'd56) begin
        nl_pio_done(n, 2);
        pstate <= 0;
      end else if (32'(to) < NODES && hold[dst]) pstate <= 5;
      else begin
        nl_pio_done(n, 0);
        pstate <= 0;
        serial <= serial + 1;
        if (trace_on) nl_trace(n, 8, 3, 0, 64'(paddr));
        if (32'(to) < NODES) begin
          void'(nl_dma_write(32'(to), base[dst] + 64 * 64'(slot), 8, {slot_header, pdata}, '1));
          if (trace_on) nl_trace(32'(to), 9, 0, 0, slot_header);
        end
      end
    end
  end
endmodule
