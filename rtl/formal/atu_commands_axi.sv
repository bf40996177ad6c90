// atu_commands_axi: atu_commands keeps the rules of its write port; a fence is told only when every
// access that was under way when it began has ended, each command once and with its number, at the
// address that was set when it came; every put is taken or refused at once, and none is lost.
module atu_commands_axi (
    input logic        clk,
    input logic        rst,
    input logic        put,
    input logic [63:0] command,
    input logic        done_set,
    input logic [60:0] done_addr,
    input logic [1:0]  hold,
    input logic        awready,
    input logic        wready,
    input logic        bvalid,
    input logic [1:0]  bresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        fence, active, awvalid, wvalid, wlast, bready;
  logic [63:0] awaddr, wdata;
  logic [7:0]  awlen, wstrb;
  logic [31:0] count, refused, errors;
  logic [1:0]  queued;
  atu_commands #(.N(2), .DEPTH(2)) u_dut (
      .clk, .rst, .put, .command, .done_set, .done_addr({done_addr, 3'h0}), .hold, .fence, .m_awvalid(awvalid),
      .m_awready(awready), .m_awaddr(awaddr), .m_awlen(awlen), .m_wvalid(wvalid), .m_wready(wready), .m_wdata(wdata),
      .m_wstrb(wstrb), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready), .m_bresp(bresp), .count, .refused,
      .errors, .queued, .active
  );
  logic [5:0] awaited;
  axi_write_check #(.W_WAIT(0)) u_check (
      .clk, .rst, .awvalid, .awready, .awaddr, .awlen, .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready,
      .idle(!active), .awaited
  );

  logic [1:0] owing;  // accesses from before the fence
  logic [3:0] puts, told, bad;
  logic       told_any;
  always_ff @(posedge clk) begin
    if (rst) owing <= '0;
    else if (fence) owing <= hold;
    else owing <= owing & hold;
    puts     <= rst ? '0 : puts + 4'(put);
    told     <= rst ? '0 : told + 4'(bvalid && bready);
    bad      <= rst ? '0 : bad + 4'(bvalid && bready && bresp != 2'b00);
    told_any <= !rst && (told_any || (bvalid && bready));
  end
  // Where one of them is to be told, which the solver chooses (one bit of the address stands for
  // all).
  (* anyconst *) logic [3:0] some_one;
  logic its_set, its_addr;
  always_ff @(posedge clk)
    if (put && puts - refused[3:0] == some_one) begin
      its_set  <= done_set;
      its_addr <= done_addr[0];
    end
  logic [3:0] inside;  // queued or under way
  assign inside = puts - count[3:0] - refused[3:0];
  always_comb
    if (started && !rst) begin
      assert (!(awvalid || wvalid) || owing == '0);
      assert (inside <= 4'd3 && inside >= 4'(queued));
      assert (queued <= 2'd2 && bad == errors[3:0]);
      assert (!wvalid || wdata[3:0] == count[3:0] + 4'd1);
      if ((awvalid || wvalid) && count[3:0] == some_one) assert (its_set && (!awvalid || awaddr[3] == its_addr));
      assert (active || inside == '0);
      assert (!(awvalid || wvalid || bready) || inside != '0);
    end
  always_ff @(posedge clk) cover (started && told_any && owing == 2'b11 && refused[0] && queued == 2'd2);
endmodule
