// register_bound: nic_core answers every register access within a fixed number of cycles, whatever
// the rest of it, network and memory do. Rings may be full, memory may never answer or answer all
// at once, links may be down: all units but those between the register port and the tables say
// anything in every cycle (see list), and so do the tables' contents. What is behind the tables'
// write ports is real: the VELO completer and the notifier, whose beginnings and answers are all
// that an access waits for.
module register_bound #(
    // cycles from the offer of a write, or the answer before it, to its answer, at most, beside
    // those after reset in which tables clear
    parameter int WRITES = 45,
    parameter int READS  = 21   // of a read, with them
) (
    input logic        clk,
    input logic        rst,
    input logic        awvalid,
    input logic [31:0] awaddr,
    input logic [63:0] wdata,
    input logic [7:0]  wstrb,
    input logic        arvalid,
    input logic [31:0] araddr
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic awready, wready, bvalid, arready, rvalid;
  nic_core u_core (
      .clk, .clk_local(clk), .clk_rma(clk), .clk_link({2{clk}}),
      .rst, .s_axil_awvalid(awvalid), .s_axil_awready(awready),
      .s_axil_awaddr(awaddr), .s_axil_wvalid(awvalid), .s_axil_wready(wready), .s_axil_wdata(wdata),
      .s_axil_wstrb(wstrb), .s_axil_bvalid(bvalid), .s_axil_bready(1'b1), .s_axil_arvalid(arvalid),
      .s_axil_arready(arready), .s_axil_araddr(araddr), .s_axil_rvalid(rvalid), .s_axil_rready(1'b1)
  );

  // What is offered stays until it is taken.
  logic        w_held, r_held;
  logic [31:0] w_was, r_was;
  logic [7:0]  s_was;
  always_ff @(posedge clk) begin
    w_held <= !rst && awvalid && !awready;
    r_held <= !rst && arvalid && !arready;
    w_was  <= awaddr;
    s_was  <= wstrb;
    r_was  <= araddr;
  end
  always_comb
    if (started && !rst) begin
      assume (!w_held || (awvalid && awaddr == w_was && wstrb == s_was));
      assume (!r_held || (arvalid && araddr == r_was));
    end

  logic       old;  // the tables have cleared
  logic [5:0] age;
  always_ff @(posedge clk) age <= rst ? '0 : age == '1 ? age : age + 1'b1;
  assign old = age >= 6'd20;

  // Cycles for which something has been offered or under way since the last answer. One access is
  // under way at a time.
  logic [6:0] w_waits, r_waits;
  logic       w_open, r_open;  // one was taken that has no answer yet
  always_ff @(posedge clk) begin
    w_open  <= !rst && (awvalid && awready || w_open && !bvalid);
    r_open  <= !rst && (arvalid && arready || r_open && !rvalid);
    w_waits <= rst || bvalid || !(awvalid || w_open) ? '0 : w_waits + 7'(old);
    r_waits <= rst || rvalid || !(arvalid || r_open) ? '0 : r_waits + 1'b1;
  end
  always_comb
    if (started && !rst) begin
      assert (awready == wready || !awvalid);
      assert (!bvalid || w_open);
      assert (!rvalid || r_open);
      assert (w_waits < 7'(WRITES));
      assert (r_waits < 7'(READS));
    end
  always_ff @(posedge clk) begin
    cover (started && !rst && old && w_waits == 7'd3);
    cover (started && !rst && r_waits == 7'd15);
  end
endmodule
