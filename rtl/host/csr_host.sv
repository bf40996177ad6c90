// csr_host: performs the register accesses of software on an AXI4-Lite port of any design.
//
// Job: fetches one access at a time through DPI (nl_reg_next), performs it on the bus and returns
//   response and data (nl_reg_done). Width 32: every access is one word. Width 64: an access with
//   bit 31 of its address set is a word of four bytes, any other a quadword; the bit is not passed
//   on. Accesses to the page SIM_PAGE do not reach the design: they read and clear irq_host.
// Handshake: AXI4-Lite, all outputs come from registers. The address and the data of a write are
//   valid in the same cycle, and each stays valid until it is accepted.
// Backpressure: the next access is fetched when the previous one has been answered. One that is not
//   answered within LIMIT cycles is reported by $error, with its address.
`include "nicloop_dpi.svh"

module csr_host #(
    parameter int DATA_W = 32,  // 32 or 64
    parameter int unsigned LIMIT = 100000
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [11:0]         node_id,
    input  logic                reg_pending,
    output logic                awvalid,
    input  logic                awready,
    output logic [31:0]         awaddr,
    output logic                wvalid,
    input  logic                wready,
    output logic [DATA_W-1:0]   wdata,
    output logic [DATA_W/8-1:0] wstrb,
    input  logic                bvalid,
    output logic                bready,
    input  logic [1:0]          bresp,
    output logic                arvalid,
    input  logic                arready,
    output logic [31:0]         araddr,
    input  logic                rvalid,
    output logic                rready,
    input  logic [DATA_W-1:0]   rdata,
    input  logic [1:0]          rresp,
    output logic                idle,
    // registers of irq_host
    output logic                sim_sel,
    output logic                sim_write,
    output logic [11:0]         sim_addr,
    output logic [63:0]         sim_wdata,
    input  logic [63:0]         sim_rdata
);
  localparam logic [18:0] SIM_PAGE = 19'h7ffff;  // bits 30 to 12 of its addresses

  int          node;
  logic        busy, done;
  logic        high, narrow;  // the upper word of a quadword, a word of a wider bus
  logic [31:0] addr;
  assign node     = 32'(node_id);
  assign bready   = 1'b1;
  assign rready   = 1'b1;
  assign awaddr   = addr;
  assign araddr   = addr;
  assign sim_addr = addr[11:0];
  assign idle     = !busy;
  assign done     = busy && (bvalid || rvalid || sim_sel);

  always @(posedge clk) begin : accesses
    bit              write, to_sim;
    int unsigned     next_addr;
    longint unsigned value;
    if (rst) begin
      busy    <= 1'b0;
      awvalid <= 1'b0;
      wvalid  <= 1'b0;
      arvalid <= 1'b0;
      sim_sel <= 1'b0;
    end else begin
      sim_sel <= 1'b0;
      if (awready) awvalid <= 1'b0;
      if (wready) wvalid <= 1'b0;
      if (arready) arvalid <= 1'b0;
      if (busy && bvalid) nl_reg_done(node, 32'(bresp), 64'h0);
      else if (busy && rvalid)
        nl_reg_done(node, 32'(rresp), narrow ? 64'(rdata[(high ? DATA_W-32 : 0)+:32]) : 64'(rdata));
      else if (sim_sel) nl_reg_done(node, 0, sim_write ? 64'h0 : sim_rdata);
      if (done) busy <= 1'b0;
      if (reg_pending && (!busy || done)) begin
        nl_reg_next(node, write, next_addr, value);
        to_sim    = next_addr[30:12] == SIM_PAGE;
        busy      <= 1'b1;
        addr      <= {1'b0, next_addr[30:0]};
        narrow    <= DATA_W == 64 && next_addr[31];
        high      <= next_addr[2];
        awvalid   <= write && !to_sim;
        wvalid    <= write && !to_sim;
        arvalid   <= !write && !to_sim;
        sim_sel   <= to_sim;
        sim_write <= write;
        sim_wdata <= value;
        wdata     <= DATA_W'(DATA_W == 64 && next_addr[31] ? {2{value[31:0]}} : value);
        wstrb     <= DATA_W == 64 && next_addr[31] ? (DATA_W/8)'(next_addr[2] ? 8'hf0 : 8'h0f) : '1;
      end
    end
  end

  int unsigned waited;
  string       access;  // a literal would be padded to the longer of the two
  always_comb begin
    access = "read";
    if (sim_write) access = "write";
  end
  always @(posedge clk) begin
    waited <= rst || !busy || done ? 0 : waited + 1;
    if (!rst && waited == LIMIT)
      $error("csr_host: node %0d: the design has not answered the %s of register 0x%h for %0d cycles",
             node, access, addr, LIMIT);
  end

  always @(posedge clk)
    if (!rst) begin
      assert (!bvalid || (busy && !sim_sel))
      else $error("csr_host: node %0d: a write response that no write waits for", node);
      assert (!rvalid || (busy && !sim_sel))
      else $error("csr_host: node %0d: read data that no read waits for", node);
    end
endmodule
