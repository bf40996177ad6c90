// axi_read_monitor: the rules of an AXI4 or AXI4-Lite read port, for simulations.
//
// Job: watches AR and R of one port and fails the simulation when either end breaks a rule: VALID
//   stays asserted and its payload unchanged until READY (A3.2.1), and is low in reset behind its
//   first cycle (A3.1.2); data follows the handshake of its address (A3.3.1), as many beats as
//   ARLEN asks for, RLAST on the last. With R_WAIT, RVALID does not wait for RREADY: while data is
//   due, a beat is offered within R_WAIT cycles. Bursts with the same ID are in order, fewer than
//   RING of them.
// Handshake and backpressure: none, it watches only.
module axi_read_monitor #(
    parameter int PAYLOAD_W = 64,  // of the address channel, ARLEN and ID not included
    parameter int DATA_W    = 66,  // data and response
    parameter int ID_W      = 1,
    parameter int R_WAIT    = -1,
    // 0 where the master drives a register slice: that ignores what it does not take
    parameter bit M_STEADY  = 1,
    parameter bit OWN_RESET = 1    // both ends are reset by rst; if not, data for nothing may come
) (
    input logic                 clk,
    input logic                 rst,
    input logic                 arvalid,
    input logic                 arready,
    input logic [PAYLOAD_W-1:0] ar,
    input logic [7:0]           arlen,
    input logic [ID_W-1:0]      arid,
    input logic                 rvalid,
    input logic                 rready,
    input logic [DATA_W-1:0]    r,
    input logic                 rlast,
    input logic [ID_W-1:0]      rid
);
  localparam int RING = 256, IDS = 1 << ID_W;
  logic                      ar_held, r_held, was_reset;
  logic [PAYLOAD_W+ID_W+7:0] ar_was;
  logic [DATA_W+ID_W:0]      r_was;
  logic [7:0]                lens[IDS*RING];
  logic [7:0]                first[IDS], behind[IDS];  // oldest burst, next one; by ID
  int unsigned               beat[IDS];
  int unsigned               asked, owing;  // bursts that are due; cycles in which none of their beats was offered
  initial was_reset = 1'b0;

  always @(posedge clk) begin
    was_reset <= rst;
    ar_held   <= !rst && arvalid && !arready;
    r_held    <= !rst && rvalid && !rready;
    ar_was    <= {arid, arlen, ar};
    r_was     <= {rid, rlast, r};
    if (rst) begin
      asked <= 0;
      owing <= 0;
      for (int i = 0; i < IDS; i++) begin
        first[i]  <= '0;
        behind[i] <= '0;
        beat[i]   <= 0;
      end
    end else begin
      asked <= asked + 32'(arvalid && arready) - 32'(rvalid && rready && rlast && first[rid] != behind[rid]);
      owing <= !rvalid && asked != 0 ? owing + 1 : 0;
      if (arvalid && arready) begin
        lens[{arid, behind[arid]}] <= arlen;
        behind[arid] <= behind[arid] + 1'b1;
      end
      if (rvalid && rready) begin
        beat[rid] <= rlast ? 0 : beat[rid] + 1;
        if (rlast && first[rid] != behind[rid]) first[rid] <= first[rid] + 1'b1;
      end
    end
    assert (!OWN_RESET || !(rst && was_reset) || !(arvalid || rvalid))
        else $error("%m: a VALID is asserted in reset");
    if (!rst) begin
      assert (!ar_held || !M_STEADY || (arvalid && {arid, arlen, ar} == ar_was))
          else $error("%m: ARVALID withdrawn or its payload changed before ARREADY");
      assert (!r_held || (rvalid && {rid, rlast, r} == r_was))
          else $error("%m: RVALID withdrawn or its payload changed before RREADY");
      assert (!OWN_RESET || !rvalid || first[rid] != behind[rid])
          else $error("%m: RVALID before its address has been taken");
      assert (!rvalid || first[rid] == behind[rid] || rlast == (beat[rid] == 32'(lens[{rid, first[rid]}])))
          else $error("%m: RLAST is %0d at beat %0d, ARLEN is %0d", rlast, beat[rid], lens[{rid, first[rid]}]);
      assert (R_WAIT < 0 || int'(owing) <= R_WAIT)
          else $error("%m: RVALID waits for RREADY: data has been due for %0d cycles", owing);
    end
  end
endmodule
