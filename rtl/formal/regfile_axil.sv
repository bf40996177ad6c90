// regfile_axil: regfile answers every access exactly once, whatever the rest of the NIC says.
// Inputs that are not connected here are free: the solver chooses them anew in every cycle.
module regfile_axil (
    input logic        clk,
    input logic        rst,
    input logic        awvalid,
    input logic [31:0] awaddr,
    input logic        wvalid,
    input logic [63:0] wdata,
    input logic [7:0]  wstrb,
    input logic        bready,
    input logic        arvalid,
    input logic [31:0] araddr,
    input logic        rready,
    input logic        mb_busy,
    input logic        mb_wr_ready,
    input logic        mb_rp_ready,
    input logic        x_wr_ready,
    input logic        x_busy
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        awready, wready, bvalid, arready, rvalid;
  logic [1:0]  bresp, rresp;
  logic [63:0] rdata;
  logic        idle;
  regfile u_dut (
      .clk, .rst, .s_awvalid(awvalid), .s_awready(awready), .s_awaddr(awaddr), .s_wvalid(wvalid), .s_wready(wready),
      .s_wdata(wdata), .s_wstrb(wstrb), .s_bvalid(bvalid), .s_bready(bready), .s_bresp(bresp), .s_arvalid(arvalid),
      .s_arready(arready), .s_araddr(araddr), .s_rvalid(rvalid), .s_rready(rready), .s_rdata(rdata), .s_rresp(rresp),
      .mb_busy, .mb_wr_ready, .mb_rp_ready, .x_wr_ready, .x_busy, .idle
  );

  logic aw_take, w_take, b_take, ar_take, r_take;
  assign aw_take = awvalid && awready;
  assign w_take  = wvalid && wready;
  assign b_take  = bvalid && bready;
  assign ar_take = arvalid && arready;
  assign r_take  = rvalid && rready;

  logic [1:0]  writes, reads;  // taken and not answered
  logic [2:0]  write_age, read_age;  // cycles since one was taken in which nobody had it wait
  logic        b_held, r_held, bad_taken, bad_strobes, answered;
  logic [1:0]  b_was;
  logic [65:0] r_was;
  always_ff @(posedge clk) begin
    writes   <= rst ? '0 : writes + 2'(aw_take) - 2'(b_take);
    reads    <= rst ? '0 : reads + 2'(ar_take) - 2'(r_take);
    b_held   <= !rst && bvalid && !bready;
    r_held   <= !rst && rvalid && !rready;
    b_was    <= bresp;
    r_was    <= {rresp, rdata};
    answered <= !rst && (answered || b_take);
    if (rst || aw_take) write_age <= '0;
    else if (write_age != '1 && (!bvalid || bready) && mb_wr_ready && mb_rp_ready && x_wr_ready)
        write_age <= write_age + 1'b1;
    if (rst || ar_take) read_age <= '0;
    else if (read_age != '1 && (!rvalid || rready) && !mb_busy && !x_busy) read_age <= read_age + 1'b1;
    if (w_take) bad_taken <= wstrb != 8'hff;
    if (bvalid && bready || !bvalid) bad_strobes <= bad_taken;  // of the write whose answer is next
  end
  always_comb
    if (started && !rst) begin
      assert (aw_take == w_take);
      // one under way, and one answer
      assert (writes <= 2'd2 && reads <= 2'd2 && writes >= 2'(bvalid) && reads >= 2'(rvalid));
      assert (idle == (writes == '0 && reads == '0 && !awvalid && !wvalid && !arvalid));
      assert (!b_held || (bvalid && bresp == b_was));
      assert (!r_held || (rvalid && {rresp, rdata} == r_was));
      assert (!bvalid || bresp != 2'b01);
      assert (!rvalid || rresp == 2'b00 || rresp == 2'b11);
      assert (!(bvalid && bad_strobes) || bresp != 2'b00);
      // No access waits longer than its steps when those behind the register file are ready, nor
      // for more than the one before it.
      assert (writes == 2'(bvalid) || write_age < 3'd4);
      assert (reads == 2'(rvalid) || read_age < 3'd4);
      assert (!(awvalid && wvalid && writes == 2'(bvalid)) || aw_take);
      assert (!(arvalid && reads == 2'(rvalid)) || ar_take);
    end
  always_ff @(posedge clk) begin
    cover (started && answered && bvalid && bresp == 2'b10);
    cover (started && answered && bvalid && bresp == 2'b11);
    cover (started && rvalid && rresp == 2'b00 && r_held);
  end
endmodule
