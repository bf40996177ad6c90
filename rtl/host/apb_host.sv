// apb_host: performs the accesses of csr_host on an APB port (AMBA 3 or 4).
//
// Job: turns one AXI4-Lite access at a time into an APB transfer: a setup cycle with PSEL, then
//   PENABLE until PREADY. PSLVERR becomes the response SLVERR.
// Handshake: AXI4-Lite from csr_host, which has one access outstanding and presents address and
//   data of a write together; APB to the design. All outputs but the READYs come from registers.
// Backpressure: an access is accepted when the previous transfer has ended.
module apb_host #(
    parameter int DATA_W = 32
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
    output logic                psel,
    output logic                penable,
    output logic                pwrite,
    output logic [31:0]         paddr,
    output logic [DATA_W-1:0]   pwdata,
    output logic [DATA_W/8-1:0] pstrb,
    input  logic                pready,
    input  logic                pslverr,
    input  logic [DATA_W-1:0]   prdata
);
  logic accept_write, accept_read;
  assign accept_write = awvalid && wvalid && !psel;
  assign accept_read  = arvalid && !psel;
  assign awready      = accept_write;
  assign wready       = accept_write;
  assign arready      = accept_read;

  always_ff @(posedge clk) begin
    bvalid <= 1'b0;
    rvalid <= 1'b0;
    if (rst) begin
      psel    <= 1'b0;
      penable <= 1'b0;
    end else if (accept_write || accept_read) begin
      psel   <= 1'b1;
      pwrite <= accept_write;
      paddr  <= accept_write ? awaddr : araddr;
      pwdata <= wdata;
      pstrb  <= accept_write ? wstrb : '0;
    end else if (psel && !penable) begin
      penable <= 1'b1;
    end else if (psel && pready) begin
      psel    <= 1'b0;
      penable <= 1'b0;
      bvalid  <= pwrite;
      rvalid  <= !pwrite;
      bresp   <= {pslverr, 1'b0};
      rresp   <= {pslverr, 1'b0};
      rdata   <= prdata;
    end
  end
endmodule
