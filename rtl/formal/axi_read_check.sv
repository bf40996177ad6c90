// axi_read_check: the rules of an AXI read port of this NIC, for proofs.
//
// Job: watches one port. An address stays, unchanged, until it is taken; a burst is aligned to quadwords and crosses no
//   4 KB boundary; a memory answers bursts in order, with as many beats as were asked for and rlast on the last;
//   idle only when none is awaited.
// Handshake: MASTER 1 proves the master's side and takes the slave's for granted, 0 the other way round. Up to BURSTS
//   bursts may be under way: the slave takes no more.
// Back-pressure: watches only.
module axi_read_check #(
    parameter bit MASTER = 1,
    parameter int BURSTS = 2
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        arvalid,
    input  logic        arready,
    input  logic [63:0] araddr,
    input  logic [7:0]  arlen,
    input  logic        rvalid,
    input  logic        rready,
    input  logic        rlast,
    input  logic        idle,
    output logic [5:0]  awaited  // for what makes a proof inductive
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // Lengths of the bursts under way, oldest first.
  logic [7:0] lens[BURSTS+1];
  logic [7:0] beat;
  logic [5:0] behind;
  logic       ar_take, r_take, r_end;
  assign ar_take = arvalid && arready;
  assign r_take  = rvalid && rready;
  assign r_end   = r_take && rlast;
  assign behind  = awaited - 6'(r_end);
  always_ff @(posedge clk) begin
    if (rst) awaited <= '0;
    else awaited <= behind + 6'(ar_take);
    if (rst || r_end) beat <= '0;
    else if (r_take) beat <= beat + 1'b1;
    for (int i = 0; i <= BURSTS; i++) begin
      if (r_end && i < BURSTS) lens[i] <= lens[i+1];
      if (ar_take && behind == 6'(i)) lens[i] <= arlen;
    end
  end

  logic        ar_held, r_held, r_was_last;
  logic [71:0] ar_was;
  always_ff @(posedge clk) begin
    ar_held    <= !rst && arvalid && !arready;
    r_held     <= !rst && rvalid && !rready;
    r_was_last <= rlast;
    ar_was     <= {arlen, araddr};
  end

  logic ar_stable, ar_shape, quiet, r_due, r_last, r_stable, room;
  assign ar_stable = !ar_held || (arvalid && {arlen, araddr} == ar_was);
  assign ar_shape  = !arvalid || (araddr[2:0] == '0 && 9'(araddr[11:3]) + 10'(arlen) < 10'd512);
  assign quiet     = !idle || (awaited == '0 && !arvalid);
  assign r_due     = !rvalid || awaited != '0;
  assign r_last    = !rvalid || rlast == (beat == lens[0]);
  assign r_stable  = !r_held || (rvalid && rlast == r_was_last);
  assign room      = 32'(awaited) < BURSTS || !ar_take;
  generate
    if (MASTER) begin : g_master
      always_comb
        if (started && !rst) begin
          assert (ar_stable);
          assert (ar_shape);
          assert (quiet);
          assume (r_due && r_last && r_stable && room);
        end
      logic answered;
      always_ff @(posedge clk) answered <= !rst && (answered || r_end);
      always_ff @(posedge clk) cover (started && answered && r_end);
    end else begin : g_slave
      always_comb
        if (started && !rst) begin
          assume (ar_stable && ar_shape && room);
          assert (r_due);
          assert (r_last);
          assert (r_stable);
        end
    end
  endgenerate
endmodule
