// host_bus: the host of one node, as the NIC sees it through AXI.
//
// Job: three independent engines: register accesses, PIO lines and the DMA memory. Commands and
//   memory belong to the program that runs the simulation and come through DPI.
// Handshake: one register access at a time; lines back to back, their answers in order. DMA bursts
//   follow each other without a gap, up to QUEUE each way; a write is acknowledged wr_latency
//   cycles after its last beat, the first beat of a read comes rd_latency cycles after its address,
//   or behind the reads before it.
// Backpressure: answers are always taken at once.
`include "nicloop_dpi.svh"
module host_bus (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] node_id,
    input  logic [15:0] wr_latency,  // cycles, at least 1; they stand still
    input  logic [15:0] rd_latency,
    input  logic        reg_pending,
    input  logic        pio_pending,
    // registers
    output logic        axil_awvalid,
    input  logic        axil_awready,
    output logic [31:0] axil_awaddr,
    output logic        axil_wvalid,
    input  logic        axil_wready,
    output logic [63:0] axil_wdata,
    input  logic        axil_bvalid,
    input  logic [1:0]  axil_bresp,
    output logic        axil_arvalid,
    input  logic        axil_arready,
    output logic [31:0] axil_araddr,
    input  logic        axil_rvalid,
    input  logic [63:0] axil_rdata,
    input  logic [1:0]  axil_rresp,
    // registers of the simulation itself, beside the NIC: answered in the same cycle
    output logic        ext_sel,
    output logic        ext_write,
    output logic [15:0] ext_addr,
    output logic [63:0] ext_wdata,
    input  logic        ext_known,
    input  logic        ext_writable,
    input  logic [63:0] ext_rdata,
    // PIO window
    output logic        pio_awvalid,
    input  logic        pio_awready,
    output logic [28:0] pio_awaddr,
    output logic [7:0]  pio_awlen,
    output logic        pio_wvalid,
    input  logic        pio_wready,
    output logic [63:0] pio_wdata,
    output logic        pio_wlast,
    input  logic        pio_bvalid,
    input  logic [1:0]  pio_bresp,
    // DMA memory
    input  logic        dma_awvalid,
    output logic        dma_awready,
    input  logic [63:0] dma_awaddr,
    input  logic [7:0]  dma_awlen,
    input  logic        dma_wvalid,
    output logic        dma_wready,
    input  logic [63:0] dma_wdata,
    input  logic [7:0]  dma_wstrb,
    input  logic        dma_wlast,
    output logic        dma_bvalid,
    input  logic        dma_bready,
    output logic [1:0]  dma_bresp,
    input  logic        dma_arvalid,
    output logic        dma_arready,
    input  logic [63:0] dma_araddr,
    input  logic [7:0]  dma_arlen,
    output logic        dma_rvalid,
    input  logic        dma_rready,
    output logic [63:0] dma_rdata,
    output logic [1:0]  dma_rresp,
    output logic        dma_rlast,
    output logic        idle,
    output logic        active
);
  int node;
  assign node = 32'(node_id);

  // ---- registers ----
  function automatic logic is_ext(input int unsigned addr);
    is_ext = addr[31:16] == 16'(nicloop_pkg::PAGE_WIRE_BASE >> 16);
  endfunction

  logic        reg_busy, reg_done;
  logic [31:0] reg_addr;
  assign reg_done    = axil_bvalid || axil_rvalid || ext_sel;
  assign ext_addr    = reg_addr[15:0];
  assign ext_wdata   = axil_wdata;
  assign axil_awaddr = reg_addr;
  assign axil_araddr = reg_addr;

  always @(posedge clk) begin : registers
    bit              write;
    int unsigned     addr;
    longint unsigned wdata;
    if (rst) begin
      reg_busy     <= 1'b0;
      axil_awvalid <= 1'b0;
      axil_wvalid  <= 1'b0;
      axil_arvalid <= 1'b0;
      ext_sel      <= 1'b0;
    end else begin
      ext_sel <= 1'b0;
      if (axil_awready) axil_awvalid <= 1'b0;
      if (axil_wready) axil_wvalid <= 1'b0;
      if (axil_arready) axil_arvalid <= 1'b0;
      if (axil_bvalid) nl_reg_done(node, 32'(axil_bresp), 64'h0);
      if (axil_rvalid) nl_reg_done(node, 32'(axil_rresp), axil_rdata);
      if (ext_sel)
          nl_reg_done(node, !ext_known ? 3 : ext_write && !ext_writable ? 2 : 0, ext_write ? 64'h0 : ext_rdata);
      if (reg_pending && (!reg_busy || reg_done)) begin
        nl_reg_next(node, write, addr, wdata);
        reg_busy     <= 1'b1;
        axil_awvalid <= write && !is_ext(addr);
        axil_wvalid  <= write && !is_ext(addr);
        axil_arvalid <= !write && !is_ext(addr);
        ext_sel      <= is_ext(addr);
        ext_write    <= write;
        reg_addr     <= addr;
        axil_wdata   <= wdata;
      end else if (reg_done) begin
        reg_busy <= 1'b0;
      end
    end
  end

  // ---- PIO lines ----
  logic         pio_free;
  logic [511:0] line;
  logic [3:0]   line_left;    // beats that have not left
  logic [2:0]   line_unknown; // lines without an answer
  assign pio_free  = (!pio_awvalid || pio_awready) && (!pio_wvalid || (pio_wready && pio_wlast));
  assign pio_wdata = line[63:0];
  assign pio_wlast = line_left == 4'd1;

  always @(posedge clk) begin : lines
    int unsigned addr, beats;
    bit [511:0]  data;
    logic        fetch;
    if (rst) begin
      pio_awvalid  <= 1'b0;
      pio_wvalid   <= 1'b0;
      line_unknown <= '0;
    end else begin
      fetch = pio_pending && pio_free;
      if (pio_awready) pio_awvalid <= 1'b0;
      if (pio_wvalid && pio_wready) begin
        line       <= line >> 64;
        line_left  <= line_left - 1'b1;
        pio_wvalid <= !pio_wlast;
      end
      if (pio_bvalid) nl_pio_done(node, 32'(pio_bresp));
      if (fetch) begin
        nl_pio_next(node, addr, beats, data);
        pio_awvalid <= 1'b1;
        pio_wvalid  <= 1'b1;
        pio_awaddr  <= addr[28:0];
        pio_awlen   <= 8'(beats) - 8'd1;
        line        <= data;
        line_left   <= beats[3:0];
      end
      if (fetch != pio_bvalid) line_unknown <= fetch ? line_unknown + 1'b1 : line_unknown - 1'b1;
    end
  end

  // ---- DMA memory: what is under way is queued with the cycle it is due in ----
  localparam int QUEUE = 128;  // bursts each way, a power of two
  int unsigned now;
  always @(posedge clk) now <= rst ? 0 : now + 1;

  logic         dma_open;     // an address is held
  logic [63:0]  dma_addr;
  logic [7:0]   dma_len;
  logic [2:0]   dma_beat;
  logic [511:0] dma_data;
  logic [63:0]  dma_strobes;
  logic [7:0]   beats_now;  // minus one, as AXI counts
  logic [1:0]   answers[QUEUE];
  int unsigned  answer_due[QUEUE];
  int unsigned  answer_wp, answer_rp;
  assign beats_now   = dma_open ? dma_len : dma_awlen;
  assign dma_awready = !dma_open;
  assign dma_wready  = (dma_open || dma_awvalid) && answer_wp - answer_rp != QUEUE;
  assign dma_bvalid  = answer_wp != answer_rp && int'(now - answer_due[answer_rp%QUEUE]) >= 0;
  assign dma_bresp   = answers[answer_rp%QUEUE];

  always @(posedge clk) begin : dma
    bit [511:0] burst;
    bit [63:0]  strobes;
    if (rst) begin
      dma_open  <= 1'b0;
      dma_beat  <= '0;
      answer_wp <= 0;
      answer_rp <= 0;
    end else begin
      if (dma_awvalid && dma_awready) begin
        dma_open <= 1'b1;
        dma_addr <= dma_awaddr;
        dma_len  <= dma_awlen;
      end
      if (dma_wvalid && dma_wready) begin
        dma_data[{dma_beat, 6'h0}+:64]   <= dma_wdata;
        dma_strobes[{dma_beat, 3'h0}+:8] <= dma_wstrb;
        dma_beat <= dma_beat + 1'b1;
        if (dma_wlast) begin
          burst                         = dma_data;
          burst[{dma_beat, 6'h0}+:64]   = dma_wdata;
          strobes                       = dma_strobes;
          strobes[{dma_beat, 3'h0}+:8]  = dma_wstrb;
          answers[answer_wp%QUEUE] <= 2'(nl_dma_write(node, dma_open ? dma_addr : dma_awaddr,
                                                      32'(beats_now) + 1, burst, strobes));
          answer_due[answer_wp%QUEUE] <= now + 32'(wr_latency);
          answer_wp <= answer_wp + 1;
          dma_open  <= 1'b0;
          dma_beat  <= '0;
        end
      end
      if (dma_bvalid && dma_bready) answer_rp <= answer_rp + 1;
    end
  end

  // ---- DMA reads ----
  logic [511:0] rd_data[QUEUE];
  logic [1:0]   rd_resp[QUEUE];
  logic [2:0]   rd_len[QUEUE];
  int unsigned  rd_due[QUEUE];
  int unsigned  rd_wp, rd_rp;
  logic [2:0]   rd_beat;
  assign dma_arready = rd_wp - rd_rp != QUEUE;
  assign dma_rvalid  = rd_wp != rd_rp && int'(now - rd_due[rd_rp%QUEUE]) >= 0;
  assign dma_rdata   = rd_data[rd_rp%QUEUE][{rd_beat, 6'h0}+:64];
  assign dma_rresp   = rd_resp[rd_rp%QUEUE];
  assign dma_rlast   = rd_beat == rd_len[rd_rp%QUEUE];

  always @(posedge clk) begin : reads
    bit [511:0] burst;
    if (rst) begin
      rd_wp   <= 0;
      rd_rp   <= 0;
      rd_beat <= '0;
    end else begin
      if (dma_arvalid && dma_arready) begin
        rd_resp[rd_wp%QUEUE] <= 2'(nl_dma_read(node, dma_araddr, 32'(dma_arlen) + 1, burst));
        rd_data[rd_wp%QUEUE] <= burst;
        rd_len[rd_wp%QUEUE]  <= dma_arlen[2:0];
        rd_due[rd_wp%QUEUE]  <= now + 32'(rd_latency);
        rd_wp <= rd_wp + 1;
      end
      if (dma_rvalid && dma_rready) begin
        rd_beat <= dma_rlast ? '0 : rd_beat + 1'b1;
        if (dma_rlast) rd_rp <= rd_rp + 1;
      end
    end
  end

  assign idle   = !reg_busy && !pio_awvalid && !pio_wvalid && line_unknown == '0 && !dma_open &&
                  answer_wp == answer_rp && rd_wp == rd_rp;
  assign active = axil_awvalid || axil_wvalid || axil_arvalid || reg_done || (pio_awvalid && pio_awready) ||
                  (pio_wvalid && pio_wready) || pio_bvalid || answer_wp != answer_rp || (dma_wvalid && dma_wready) ||
                  rd_wp != rd_rp;

  always @(posedge clk)
    if (!rst) begin
      assert (wr_latency != '0 && rd_latency != '0)
          else $error("host_bus: node %0d: latencies %0d and %0d, expected at least 1", node, wr_latency, rd_latency);
      assert (!(dma_wvalid && dma_wready) || dma_open || dma_awvalid)
          else $error("host_bus: node %0d: DMA data without address", node);
      assert (!(dma_arvalid && dma_arready) || dma_arlen < 8'd8)
          else $error("host_bus: node %0d: DMA read of %0d quadwords", node, 32'(dma_arlen) + 1);
      assert (!pio_wvalid || line_left != '0) else $error("host_bus: node %0d: a piece has 1..8 quadwords", node);
    end
endmodule
