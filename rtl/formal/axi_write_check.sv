// axi_write_check: the rules of an AXI write port of this NIC, for proofs.
//
// Job: watches one port. What is offered stays, unchanged, until it is taken; a burst is aligned to quadwords and
//   crosses no 4 KB boundary; data comes with or after its address; wlast stands on the last beat and nowhere else; no
//   next address before the data of the one before is out; as many answers as bursts; idle only when none is awaited.
// Handshake: MASTER 1 proves the master's side and takes the slave's for granted, 0 the other way round.
// Back-pressure: watches only.
module axi_write_check #(
    parameter bit MASTER = 1,
    parameter int BURSTS = 32  // answers that may be awaited, at most
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        awvalid,
    input  logic        awready,
    input  logic [63:0] awaddr,
    input  logic [7:0]  awlen,
    input  logic        wvalid,
    input  logic        wready,
    input  logic [63:0] wdata,
    input  logic [7:0]  wstrb,
    input  logic        wlast,
    input  logic        bvalid,
    input  logic        bready,
    input  logic        idle,
    // the burst under way, for what makes a proof inductive
    output logic        aw_gone,
    output logic        w_gone,
    output logic [7:0]  len,
    output logic [7:0]  beat,
    output logic [5:0]  awaited
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // The burst under way: its address and its data may be out in either order.
  logic       aw_take, w_take, aw_done, w_done;
  logic [7:0] len_kept;
  assign aw_take = awvalid && awready;
  assign w_take  = wvalid && wready;
  assign aw_done = aw_gone || aw_take;
  assign w_done  = w_gone || (w_take && wlast);
  assign len     = aw_gone ? len_kept : awlen;
  always_ff @(posedge clk) begin
    if (rst || (aw_done && w_done)) begin
      aw_gone <= 1'b0;
      w_gone  <= 1'b0;
      beat    <= '0;
    end else begin
      aw_gone <= aw_done;
      w_gone  <= w_done;
      beat    <= beat + 8'(w_take);
    end
    if (aw_take) len_kept <= awlen;
    if (rst) awaited <= '0;
    else awaited <= awaited + 6'(aw_done && w_done) - 6'(bvalid && bready);
  end

  logic        aw_held, w_held, b_held;
  logic [71:0] aw_was;
  logic [72:0] w_was;
  always_ff @(posedge clk) begin
    aw_held <= !rst && awvalid && !awready;
    w_held  <= !rst && wvalid && !wready;
    b_held  <= !rst && bvalid && !bready;
    aw_was  <= {awlen, awaddr};
    w_was   <= {wlast, wstrb, wdata};
  end

  logic aw_stable, w_stable, aw_shape, aw_once, w_once, w_last, b_due, b_stable, quiet;
  assign aw_stable = !aw_held || (awvalid && {awlen, awaddr} == aw_was);
  assign w_stable  = !w_held || (wvalid && {wlast, wstrb, wdata} == w_was);
  assign aw_shape  = !awvalid || (awaddr[2:0] == '0 && 9'(awaddr[11:3]) + 10'(awlen) < 10'd512);
  assign aw_once   = !awvalid || !aw_gone;
  assign w_once    = !wvalid || (!w_gone && (aw_gone || awvalid));
  assign w_last    = !wvalid || wlast == (beat == len);
  assign quiet     = !idle || (awaited == '0 && !aw_gone && !w_gone && !awvalid && !wvalid && beat == '0);
  assign b_due     = !bvalid || awaited != '0;
  assign b_stable  = !b_held || bvalid;
  generate
    if (MASTER) begin : g_master
      always_comb
        if (started && !rst) begin
          assert (aw_stable);
          assert (w_stable);
          assert (aw_shape);
          assert (aw_once);
          assert (w_once);
          assert (w_last);
          assert (quiet);
          assert (32'(awaited) <= BURSTS);
          assume (b_due && b_stable);
        end
      logic answered;
      always_ff @(posedge clk) answered <= !rst && (answered || (bvalid && bready));
      always_ff @(posedge clk) cover (started && answered && wvalid && wready && wlast);
    end else begin : g_slave
      always_comb
        if (started && !rst) begin
          assume (aw_stable && w_stable && aw_shape && aw_once && w_once && w_last);
          assume (32'(awaited) < BURSTS || !awvalid);
          assert (b_due);
          assert (b_stable);
        end
    end
  endgenerate
endmodule
