// wishbone_host: performs the accesses of csr_host on a Wishbone port (revision B4).
//
// Job: turns one AXI4-Lite access at a time into a Wishbone cycle. Classic: STB until ACK or ERR;
//   pipelined (the design has STALL): STB until STALL is low, then CYC until ACK or ERR. ERR
//   becomes the response SLVERR. WORDS: the address counts words of the bus, not bytes.
// Handshake: AXI4-Lite from csr_host, which has one access outstanding and presents address and
//   data of a write together; Wishbone to the design. All outputs but the READYs come from
//   registers.
// Backpressure: an access is accepted when the previous cycle has ended.
module wishbone_host #(
    parameter int DATA_W    = 32,
    parameter bit PIPELINED = 0,
    parameter bit WORDS     = 0
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                awvalid,
    output logic                awready,
    input  logic [31:0]         awaddr,
    input  logic                wvalid,
    output logic                wready,
    input  logic [DATA_W-1:0]   wdata,
    input  logic [DATA_W/8-1:0] wstrb,
    output logic                bvalid,
    output logic [1:0]          bresp,
    input  logic                arvalid,
    output logic                arready,
    input  logic [31:0]         araddr,
    output logic                rvalid,
    output logic [DATA_W-1:0]   rdata,
    output logic [1:0]          rresp,
    output logic                cyc,
    output logic                stb,
    output logic                we,
    output logic [31:0]         adr,
    output logic [DATA_W/8-1:0] sel,
    output logic [DATA_W-1:0]   dat_w,
    input  logic [DATA_W-1:0]   dat_r,
    input  logic                ack,
    input  logic                err,
    input  logic                stall
);
  logic accept_write, accept_read;
  assign accept_write = awvalid && wvalid && !cyc;
  assign accept_read  = arvalid && !cyc;
  assign awready      = accept_write;
  assign wready       = accept_write;
  assign arready      = accept_read;

  always_ff @(posedge clk) begin
    bvalid <= 1'b0;
    rvalid <= 1'b0;
    if (rst) begin
      cyc <= 1'b0;
      stb <= 1'b0;
    end else if (accept_write || accept_read) begin
      cyc   <= 1'b1;
      stb   <= 1'b1;
      we    <= accept_write;
      adr   <= (accept_write ? awaddr : araddr) >> (WORDS ? $clog2(DATA_W / 8) : 0);
      sel   <= accept_write ? wstrb : '1;
      dat_w <= wdata;
    end else if (cyc && (ack || err)) begin
      cyc    <= 1'b0;
      stb    <= 1'b0;
      bvalid <= we;
      rvalid <= !we;
      bresp  <= {err, 1'b0};
      rresp  <= {err, 1'b0};
      rdata  <= dat_r;
    end else if (PIPELINED && !stall) begin
      stb <= 1'b0;
    end
  end

  always_ff @(posedge clk)
    if (!rst) begin
      assert (cyc || !(ack || err)) else $error("wishbone_host: the design acknowledges without a cycle");
    end
endmodule
