// Proves of axi_windows, with open and cut at any time: every burst is answered once, in order,
// with its ID and with what the core said of it, or with SLVERR when it was not passed or a cut
// came since; the core is given its beats between an address and the next, all of them unless a cut
// comes; behind a cut nothing waits for the core. Reads: as many beats as were asked for. Looks at
// one burst, any.
module axi_windows_answers #(
    parameter int BURSTS = 2
) (
    input logic       clk,
    input logic       rst,
    input logic       s_awvalid,
    input logic [1:0] s_awid,
    input logic       s_wvalid,
    input logic       s_wlast,
    input logic       s_bready,
    input logic       s_arvalid,
    input logic [1:0] s_arid,
    input logic [7:0] s_arlen,
    input logic       s_rready,
    input logic       open,
    input logic       cut,
    input logic       aw_ready,
    input logic       w_ready,
    input logic       b_valid,
    input logic [1:0] b_resp,
    input logic       mark
);
  logic       s_awready, s_wready, s_bvalid, s_arready, s_rvalid, s_rlast, aw_valid, w_valid, b_ready, busy, lost,
      refused;
  logic [1:0] s_bid, s_bresp, s_rid, s_rresp;
  axi_windows #(.ID_W(2), .BURSTS(BURSTS), .PATIENCE(4)) u_dut (
      .clk, .rst, .s_awvalid, .s_awready, .s_awid, .s_wvalid, .s_wready, .s_wlast, .s_bvalid, .s_bready, .s_bid,
      .s_bresp, .s_arvalid, .s_arready, .s_arid, .s_arlen, .s_rvalid, .s_rready, .s_rid, .s_rresp, .s_rlast, .open,
      .cut, .aw_valid, .aw_ready, .w_valid, .w_ready, .b_valid, .b_ready, .b_resp, .busy, .lost, .refused
  );
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // The core, which a cut makes forget everything: bursts that it has whole and owes an answer.
  logic       core_open;
  logic [2:0] core_owes;
  always_ff @(posedge clk)
    if (rst || cut) begin
      core_open <= 1'b0;
      core_owes <= '0;
    end else begin
      core_open <= (aw_valid && aw_ready) || (core_open && !(w_valid && w_ready && s_wlast));
      core_owes <= core_owes + 3'(w_valid && w_ready && s_wlast) - 3'(b_valid && b_ready);
    end
  always_comb begin
    if (!started) assume (rst);
    if (started) assume (!rst);
    assume (!b_valid || core_owes != '0);
    assume (!(open && cut));
  end

  // All bursts whose data is due or whose answer is; the one that is looked at.
  logic [2:0] inside_n, ahead;
  logic       on, on_gone, refuse, aw_take, b_take;
  logic [1:0] id;
  assign aw_take = s_awvalid && s_awready;
  assign b_take  = s_bvalid && s_bready;
  always_ff @(posedge clk)
    if (rst) begin
      inside_n <= '0;
      on       <= 1'b0;
    end else begin
      inside_n <= inside_n + 3'(aw_take) - 3'(b_take);
      if (!on && aw_take && mark) begin
        on     <= 1'b1;
        id     <= s_awid;
        refuse <= !open;
        ahead  <= inside_n - 3'(b_take);
      end else if (on) begin
        refuse <= refuse || cut;
        if (b_take && ahead == '0) on <= 1'b0;
        else if (b_take) ahead <= ahead - 1'b1;
      end
    end
  logic [8:0] left;
  logic       reads;
  always_ff @(posedge clk)
    if (rst) reads <= 1'b0;
    else if (s_arvalid && s_arready) begin
      reads <= 1'b1;
      left  <= 9'(s_arlen) + 9'd1;
    end else if (s_rvalid && s_rready) begin
      reads <= left != 9'd1;
      left  <= left - 1'b1;
    end
  always_comb
    if (started && !rst) begin
      assert (!b_take || inside_n != '0);
      if (on && b_take && ahead == '0) begin
        assert (s_bid == id);
        assert (s_bresp == (refuse || cut ? 2'b10 : b_resp));
        assert ((refuse || cut) != (b_valid && b_ready));
      end
      assert (!(b_valid && b_ready) || (b_take && !cut));
      assert (!w_valid || core_open);
      assert (!(aw_valid && core_open));
      assert (32'(core_owes) <= BURSTS);
      assert (!cut || (!aw_valid && !w_valid));
      if (cut && inside_n != '0) assert (s_bvalid || (s_wready && inside_n == 3'd1));
      assert (s_rvalid == reads);
      assert (!s_rvalid || (s_rlast == (left == 9'd1) && s_rresp == 2'b10));
    end
  always_ff @(posedge clk) begin
    cover (started && on && ahead == 3'd1 && refuse && !cut && b_take && core_owes != '0);
    cover (started && on && !refuse && b_take && ahead == '0 && b_resp == 2'b10 && $past(cut, 6));
  end
endmodule
