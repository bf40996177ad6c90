// axi_read_check: the rules of an AXI4 or AXI4-Lite read port, for proofs.
//
// Job: watches AR and R of one port. Rules, with their section in the AXI4 specification:
//   master  ARVALID stays asserted and its payload unchanged until ARREADY (A3.2.1); it is low in
//           reset behind its first cycle (A3.1.2); bursts are aligned to quadwords and cross no 4
//           KB boundary (A3.4.1).
//   slave   RVALID stays asserted and its payload unchanged until RREADY; it is low in reset; data
//           follows the handshake of its address (A3.3.1), bursts in order, as many beats as were
//           asked for, RLAST on the last; it does not wait for RREADY: it follows within R_WAIT
//           cycles, whatever RREADY is.
//   idle is high only when no burst is awaited. ARVALID has no other channel to wait with; that it does not wait for
//   ARREADY shows in a memory that asserts ARREADY only after ARVALID.
// Handshake: MASTER 1 asserts the master's rules and assumes the slave's, 0 the other way round. Up
//   to BURSTS bursts may be awaited: the slave accepts no more. R_WAIT below 0: the rule is left
//   out.
// Backpressure: none, it watches only.
module axi_read_check #(
    parameter bit MASTER = 1,
    parameter int BURSTS = 2,
    parameter int R_WAIT = -1,
    parameter bit QUADS  = 1,  // addresses are of quadwords
    parameter int N_W    = 6   // bits of awaited
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        arvalid,
    input  logic        arready,
    input  logic [63:0] araddr,
    input  logic [7:0]  arlen,
    input  logic        rvalid,
    input  logic        rready,
    input  logic [63:0] rdata,
    input  logic [1:0]  rresp,
    input  logic        rlast,
    input  logic        idle,
    output logic [N_W-1:0] awaited  // for what makes a proof inductive
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // Lengths of the awaited bursts, oldest first.
  logic [7:0] lens[BURSTS+1];
  logic [7:0] beat;
  logic [N_W-1:0] behind;
  logic       ar_take, r_take, r_end;
  assign ar_take = arvalid && arready;
  assign r_take  = rvalid && rready;
  assign r_end   = r_take && rlast;
  assign behind  = awaited - N_W'(r_end);
  always_ff @(posedge clk) begin
    if (rst) awaited <= '0;
    else awaited <= behind + N_W'(ar_take);
    if (rst || r_end) beat <= '0;
    else if (r_take) beat <= beat + 1'b1;
    for (int i = 0; i <= BURSTS; i++) begin
      if (r_end && i < BURSTS) lens[i] <= lens[i+1];
      if (ar_take && behind == N_W'(i)) lens[i] <= arlen;
    end
  end

  logic        ar_held, r_held, was_reset;
  logic [66:0] r_was;
  logic [71:0] ar_was;
  always_ff @(posedge clk) begin
    was_reset <= started && rst;
    ar_held   <= !rst && arvalid && !arready;
    r_held    <= !rst && rvalid && !rready;
    r_was     <= {rlast, rresp, rdata};
    ar_was    <= {arlen, araddr};
  end

  logic ar_stable, ar_shape, ar_reset, quiet, r_due, r_last, r_stable, r_free, r_reset, room;
  assign ar_stable = !ar_held || (arvalid && {arlen, araddr} == ar_was);
  assign ar_shape  = !arvalid || !QUADS || (araddr[2:0] == '0 && 9'(araddr[11:3]) + 10'(arlen) < 10'd512);
  assign ar_reset  = !(rst && was_reset) || !arvalid;
  assign quiet     = !idle || (awaited == '0 && !arvalid);
  assign r_due     = !rvalid || awaited != '0;
  assign r_last    = !rvalid || rlast == (beat == lens[0]);
  assign r_stable  = !r_held || (rvalid && {rlast, rresp, rdata} == r_was);
  assign r_reset   = !(rst && was_reset) || !rvalid;
  assign room      = 32'(awaited) < BURSTS || !ar_take;
  generate
    if (R_WAIT < 0) begin : g_r_wait
      assign r_free = 1'b1;
    end else begin : g_r_wait
      logic [7:0] waited;  // cycles for which data has been due
      logic       waits;
      assign waits  = awaited != '0 && !rvalid;
      assign r_free = !waits || 32'(waited) < R_WAIT;
      always_ff @(posedge clk) waited <= rst || !waits ? '0 : waited + 8'(waited != '1);
    end
  endgenerate
  generate
    if (MASTER) begin : g_master
      always_comb
        if (started) begin
          assert (ar_reset);
          assume (r_reset);
        end
      always_comb
        if (started && !rst) begin
          assert (ar_stable);
          assert (ar_shape);
          assert (quiet);
          assume (r_due && r_last && r_stable && r_free && room);
        end
      logic answered;
      always_ff @(posedge clk) answered <= !rst && (answered || r_end);
      always_ff @(posedge clk) cover (started && answered && r_end);
    end else begin : g_slave
      always_comb
        if (started) begin
          assume (ar_reset);
          assert (r_reset);
        end
      always_comb
        if (started && !rst) begin
          assume (ar_stable && ar_shape && room);
          assert (r_due);
          assert (r_last);
          assert (r_stable);
          assert (r_free);
        end
    end
  endgenerate
endmodule
