// atu_commands_axi: atu_commands keeps the rules of its write port; a fence is told only when every access that was under way
// when it began has ended, each command once and with its number.
module atu_commands_axi (
    input logic        clk,
    input logic        rst,
    input logic        want,
    input logic [63:0] command,
    input logic [1:0]  hold,
    input logic        awready,
    input logic        wready,
    input logic        bvalid
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        ready, start, awvalid, wvalid, wlast, bready;
  logic [63:0] awaddr, wdata;
  logic [7:0]  awlen, wstrb;
  logic [31:0] count;
  assign start = want && ready;
  atu_commands #(.N(2)) u_dut (
      .clk, .rst, .ready, .start, .command, .hold, .m_awvalid(awvalid), .m_awready(awready), .m_awaddr(awaddr), .m_awlen(awlen),
      .m_wvalid(wvalid), .m_wready(wready), .m_wdata(wdata), .m_wstrb(wstrb), .m_wlast(wlast), .m_bvalid(bvalid), .m_bready(bready), .count
  );
  axi_write_check u_check (
      .clk, .rst, .awvalid, .awready, .awaddr, .awlen, .wvalid, .wready, .wdata, .wstrb, .wlast, .bvalid, .bready, .idle(ready)
  );

  logic [1:0] owing;  // accesses from before the fence
  logic [7:0] begun, told;
  always_ff @(posedge clk) begin
    if (rst) owing <= '0;
    else if (start) owing <= command[3:0] == 4'(nicloop_pkg::ATU_OP_FENCE) ? hold : '0;
    else owing <= owing & hold;
    begun <= rst ? '0 : begun + 8'(start);
    told  <= rst ? '0 : told + 8'(bvalid && bready);
  end
  always_comb
    if (started && !rst) begin
      assert (!(awvalid || wvalid) || owing == '0);
      assert (told == count[7:0] && begun == told + 8'(!ready));
      assert (!wvalid || wdata[7:0] == begun);
    end
  always_ff @(posedge clk) cover (started && told == 8'd1 && owing == 2'b11);
endmodule
