// axi_write_check: the rules of an AXI4 or AXI4-Lite write port, for proofs.
//
// Job: watches AW, W and B of one port. Rules, with their section in the AXI4 specification:
//   master  VALID stays asserted and its payload unchanged until READY (A3.2.1); VALID is low in
//           reset behind its first cycle (A3.1.2); bursts are aligned to quadwords and cross no 4
//           KB boundary (A3.4.1); WLAST is asserted on the last beat and on no other; WVALID does
//           not wait for AWREADY or WREADY (A3.3.1): it follows AWVALID within W_WAIT cycles,
//           whatever both READYs are. This NIC's masters also present data with or after its
//           address (not with W_FIRST), and no next address or data before both of a burst have
//           been taken.
//   slave   BVALID stays asserted and BRESP unchanged until BREADY; BVALID is low in reset; a
//           response follows the handshakes of its address and of its last beat, one per burst; it
//           does not wait for BREADY: it follows them within B_WAIT cycles, whatever BREADY is.
//   idle is high only when no burst is open and no response awaited.
// Handshake: MASTER 1 asserts the master's rules and assumes the slave's, 0 the other way round.
//   W_WAIT or B_WAIT below 0: the rule is left out, since the data, or what a response waits for,
//   does not depend on this port alone.
// Backpressure: none, it watches only.
module axi_write_check #(
    parameter bit MASTER  = 1,
    parameter int BURSTS  = 32, // responses that may be awaited, at most
    parameter int W_WAIT  = -1,
    parameter int B_WAIT  = -1,
    parameter bit W_FIRST = 0,  // data may be presented before its address, of one burst
    parameter bit QUADS   = 1,  // addresses are of quadwords
    parameter int N_W     = 6   // bits of awaited
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
    input  logic [1:0]  bresp,
    input  logic        idle,
    // the open burst, for what makes a proof inductive
    output logic        aw_gone,
    output logic        w_gone,
    output logic [7:0]  len,
    output logic [7:0]  beat,
    output logic [N_W-1:0] awaited
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // The open burst: its address and its data are taken in either order.
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
    else awaited <= awaited + N_W'(aw_done && w_done) - N_W'(bvalid && bready);
  end

  logic        aw_held, w_held, b_held, was_reset;
  logic [71:0] aw_was;
  logic [72:0] w_was;
  logic [1:0]  b_was;
  always_ff @(posedge clk) begin
    was_reset <= started && rst;
    aw_held   <= !rst && awvalid && !awready;
    w_held    <= !rst && wvalid && !wready;
    b_held    <= !rst && bvalid && !bready;
    aw_was    <= {awlen, awaddr};
    w_was     <= {wlast, wstrb, wdata};
    b_was     <= bresp;
  end

  logic aw_stable, w_stable, aw_shape, aw_once, w_once, w_last, w_whole, w_free, m_reset, b_due, b_stable, b_free,
      b_reset, quiet, full;
  assign aw_stable = !aw_held || (awvalid && {awlen, awaddr} == aw_was);
  assign w_stable  = !w_held || (wvalid && {wlast, wstrb, wdata} == w_was);
  assign aw_shape  = !awvalid || !QUADS || (awaddr[2:0] == '0 && 9'(awaddr[11:3]) + 10'(awlen) < 10'd512);
  assign aw_once   = !awvalid || !aw_gone;
  assign w_once    = !wvalid || (!w_gone && (W_FIRST || aw_gone || awvalid));
  assign w_last    = !wvalid || !(aw_gone || awvalid) || wlast == (beat == len);
  assign w_whole   = !awvalid || beat <= awlen || (w_gone && beat == awlen + 8'd1);
  assign m_reset   = !(rst && was_reset) || !(awvalid || wvalid);
  assign quiet     = !idle || (awaited == '0 && !aw_gone && !w_gone && !awvalid && !wvalid && beat == '0);
  assign full      = 32'(awaited) >= BURSTS;
  assign b_due     = !bvalid || awaited != '0;
  assign b_stable  = !b_held || (bvalid && bresp == b_was);
  assign b_reset   = !(rst && was_reset) || !bvalid;
  generate
    if (W_WAIT < 0) begin : g_w_wait
      assign w_free = 1'b1;
    end else begin : g_w_wait
      logic [7:0] waited;  // cycles for which the address has been there and its data has not
      logic       waits;
      assign waits  = (awvalid || aw_gone) && !w_gone && !wvalid;
      assign w_free = !waits || 32'(waited) < W_WAIT;
      always_ff @(posedge clk) waited <= rst || !waits ? '0 : waited + 8'(waited != '1);
    end
    if (B_WAIT < 0) begin : g_b_wait
      assign b_free = 1'b1;
    end else begin : g_b_wait
      logic [7:0] waited;  // cycles for which a response has been due
      logic       waits;
      assign waits  = awaited != '0 && !bvalid;
      assign b_free = !waits || 32'(waited) < B_WAIT;
      always_ff @(posedge clk) waited <= rst || !waits ? '0 : waited + 8'(waited != '1);
    end
  endgenerate
  generate
    if (MASTER) begin : g_master
      always_comb
        if (started) begin
          assert (m_reset);
          assume (b_reset);
        end
      always_comb
        if (started && !rst) begin
          assert (aw_stable);
          assert (w_stable);
          assert (aw_shape);
          assert (aw_once);
          assert (w_once);
          assert (w_last);
          assert (w_whole);
          assert (w_free);
          assert (quiet);
          assert (32'(awaited) <= BURSTS);
          assume (b_due && b_stable && b_free);
        end
      logic answered;
      always_ff @(posedge clk) answered <= !rst && (answered || (bvalid && bready));
      always_ff @(posedge clk) cover (started && answered && wvalid && wready && wlast);
    end else begin : g_slave
      always_comb
        if (started) begin
          assume (m_reset);
          assert (b_reset);
        end
      always_comb
        if (started && !rst) begin
          assume (aw_stable && w_stable && aw_shape && aw_once && w_once && w_last && w_whole && w_free);
          assume (!full || !awvalid);
          assert (b_due);
          assert (b_stable);
          assert (b_free);
        end
    end
  endgenerate
endmodule
