// wide: a design for tests of the bus models. Registers of 32 and 64 bits on a bus of 64. A write
// to SEND puts a word on the stream; a write to MOVE reads a line by a WRAP burst of 4 beats of 16
// bytes and writes it, in one beat of 512 bits, 64 bytes further on. SLOW counts the second clock.
module wide (input aclk, input slow_clk, input aresetn,
  input S_AWVALID, output S_AWREADY, input [15:0] S_AWADDR, input S_WVALID, output S_WREADY, input [63:0] S_WDATA, input [7:0] S_WSTRB,
  output reg S_BVALID, input S_BREADY, input S_ARVALID, output S_ARREADY, input [15:0] S_ARADDR, output reg S_RVALID, input S_RREADY, output reg [63:0] S_RDATA,
  output reg M_ARVALID, input M_ARREADY, output reg [39:0] M_ARADDR, output [7:0] M_ARLEN, output [2:0] M_ARSIZE, output [1:0] M_ARBURST, output [3:0] M_ARID, input M_RVALID, output M_RREADY, input [511:0] M_RDATA, input [3:0] M_RID, input M_RLAST,
  output reg M_AWVALID, input M_AWREADY, output reg [39:0] M_AWADDR, output [7:0] M_AWLEN, output [2:0] M_AWSIZE, output [1:0] M_AWBURST, output reg M_WVALID, input M_WREADY, output [511:0] M_WDATA, output [63:0] M_WSTRB, output M_WLAST, input M_BVALID, output M_BREADY,
  output reg tx_tvalid, input tx_tready, output reg [63:0] tx_tdata, input rx_tvalid, output rx_tready, input [63:0] rx_tdata,
  output reg [1:0] irq);
  reg [63:0] last, scratch; reg [31:0] words; reg [31:0] slow; reg [511:0] line; reg [1:0] beat, rbeat;
  wire w = S_AWVALID && S_WVALID && !S_BVALID;
  assign S_AWREADY = w; assign S_WREADY = w; assign S_ARREADY = !S_RVALID;
  assign M_ARLEN = 3; assign M_ARSIZE = 4; assign M_ARBURST = 2'b10; assign M_ARID = 5; assign M_RREADY = 1;
  assign M_AWLEN = 0; assign M_AWSIZE = 6; assign M_AWBURST = 1; assign M_WDATA = line; assign M_WSTRB = {~64'h0}; assign M_WLAST = 1; assign M_BREADY = 1;
  assign rx_tready = 1;
  wire [1:0] place = 2'(M_ARADDR[5:4] + rbeat);
  always @(posedge slow_clk) slow <= aresetn ? slow + 1 : 0;
  always @(posedge aclk) if (!aresetn) begin S_BVALID <= 0; S_RVALID <= 0; M_ARVALID <= 0; M_AWVALID <= 0; M_WVALID <= 0; tx_tvalid <= 0; words <= 0; irq <= 0; rbeat <= 0; scratch <= 0; end
  else begin
    irq <= 0;
    if (S_BREADY) S_BVALID <= 0;
    if (S_RREADY) S_RVALID <= 0;
    if (tx_tready) tx_tvalid <= 0;
    if (M_ARREADY) M_ARVALID <= 0;
    if (M_AWREADY) M_AWVALID <= 0;
    if (M_WREADY) M_WVALID <= 0;
    if (w) begin S_BVALID <= 1;
      for (int i = 0; i < 8; i++) if (S_AWADDR[15:3] == 0 && S_WSTRB[i]) scratch[8*i+:8] <= S_WDATA[8*i+:8];
      if (S_AWADDR == 8) begin tx_tvalid <= 1; tx_tdata <= S_WDATA; end
      if (S_AWADDR == 16'h18) begin M_ARVALID <= 1; M_ARADDR <= S_WDATA[39:0]; end
    end
    if (rx_tvalid) begin last <= rx_tdata; words <= words + 1; irq[1] <= 1; end
    if (M_RVALID) begin
      line[128*place+:128] <= M_RDATA[128*place+:128]; rbeat <= rbeat + 1;
      if (M_RLAST) begin M_AWVALID <= 1; M_WVALID <= 1; M_AWADDR <= {M_ARADDR[39:6] + 34'd1, 6'd0}; end
    end
    if (S_ARVALID && S_ARREADY) begin S_RVALID <= 1;
      case (S_ARADDR) 0: S_RDATA <= scratch; 4: S_RDATA <= scratch; 16'h10: S_RDATA <= last; 16'h20: S_RDATA <= 64'(slow); 16'h28: S_RDATA <= 64'(words); default: S_RDATA <= 0; endcase end
  end
endmodule
