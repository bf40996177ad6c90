// axi_write_monitor: the rules of an AXI4 or AXI4-Lite write port, for simulations.
//
// Job: watches AW, W and B of one port and fails the simulation when either end breaks a rule:
//   VALID stays asserted and its payload unchanged until READY (A3.2.1), and is low in reset behind
//   its first cycle (A3.1.2); WLAST is asserted on the last beat of AWLEN and on no other; a
//   response follows the handshakes of its address and of its last beat (A3.3.1). With W_WAIT,
//   WVALID does not wait for AWREADY or WREADY: it follows AWVALID within W_WAIT cycles. With
//   B_WAIT, BVALID does not wait for BREADY: while a response is due, one is offered within B_WAIT
//   cycles. Data may be ahead of its address and addresses ahead of their data, by fewer than RING
//   bursts; responses may be reordered.
// Handshake and backpressure: none, it watches only.
module axi_write_monitor #(
    parameter int PAYLOAD_W = 64,  // of the address channel, AWLEN not included
    parameter int DATA_W    = 72,  // data and strobes
    parameter int RESP_W    = 2,   // response and ID
    parameter int W_WAIT    = -1,
    parameter int B_WAIT    = -1,
    // 0 where the master, or the slave, drives a register slice: that ignores what it does not take
    parameter bit M_STEADY  = 1,
    parameter bit S_STEADY  = 1,
    parameter bit OWN_RESET = 1    // both ends are reset by rst; if not, responses to nothing may come
) (
    input logic                 clk,
    input logic                 rst,
    input logic                 awvalid,
    input logic                 awready,
    input logic [PAYLOAD_W-1:0] aw,
    input logic [7:0]           awlen,
    input logic                 wvalid,
    input logic                 wready,
    input logic [DATA_W-1:0]    w,
    input logic                 wlast,
    input logic                 bvalid,
    input logic                 bready,
    input logic [RESP_W-1:0]    b
);
  localparam int RING = 256;
  logic                 aw_held, w_held, b_held, was_reset;
  logic [PAYLOAD_W+7:0] aw_was;
  logic [DATA_W:0]      w_was;
  logic [RESP_W-1:0]    b_was;
  logic [7:0]           aw_lens[RING], w_lens[RING];  // by burst: of its address, of its data
  int unsigned          addresses, bursts, responses, beat, waited;  // so far; of the open burst
  int unsigned          owing;  // cycles for which a response has been due and none offered
  initial was_reset = 1'b0;

  always @(posedge clk) begin
    was_reset <= rst;
    aw_held   <= !rst && awvalid && !awready;
    w_held    <= !rst && wvalid && !wready;
    b_held    <= !rst && bvalid && !bready;
    aw_was    <= {awlen, aw};
    w_was     <= {wlast, w};
    b_was     <= b;
    if (rst) begin
      addresses <= 0;
      bursts    <= 0;
      responses <= 0;
      beat      <= 0;
      waited    <= 0;
      owing     <= 0;
    end else begin
      if (awvalid && awready) begin
        aw_lens[addresses%RING] <= awlen;
        addresses <= addresses + 1;
      end
      if (wvalid && wready) begin
        if (wlast) w_lens[bursts%RING] <= 8'(beat);
        if (wlast) bursts <= bursts + 1;
        beat <= wlast ? 0 : beat + 1;
      end
      if (bvalid && bready && addresses != responses && bursts != responses) responses <= responses + 1;
      owing  <= !bvalid && addresses != responses && bursts != responses ? owing + 1 : 0;
      waited <= !wvalid && (addresses != bursts ? int'(addresses - bursts) > 0 : awvalid) ? waited + 1 : 0;
    end
    assert (!OWN_RESET || !(rst && was_reset) || !(awvalid || wvalid || bvalid))
        else $error("%m: a VALID is asserted in reset");
    if (!rst) begin
      assert (!aw_held || !M_STEADY || (awvalid && {awlen, aw} == aw_was))
          else $error("%m: AWVALID withdrawn or its payload changed before AWREADY");
      assert (!w_held || !M_STEADY || (wvalid && {wlast, w} == w_was))
          else $error("%m: WVALID withdrawn or its payload changed before WREADY");
      assert (!b_held || !S_STEADY || (bvalid && b == b_was))
          else $error("%m: BVALID withdrawn or its payload changed before BREADY");
      assert (!wvalid || int'(addresses - bursts) <= 0 || wlast == (beat == 32'(aw_lens[bursts%RING])))
          else $error("%m: WLAST is %0d at beat %0d, AWLEN is %0d", wlast, beat, aw_lens[bursts%RING]);
      assert (!(awvalid && awready) || int'(bursts - addresses) <= 0 || w_lens[addresses%RING] == awlen)
          else $error("%m: AWLEN is %0d, its data had %0d beats", awlen, 32'(w_lens[addresses%RING]) + 1);
      assert (!OWN_RESET || !bvalid || (int'(addresses - responses) > 0 && int'(bursts - responses) > 0))
          else $error("%m: BVALID before the address and all data of a burst have been taken");
      assert (W_WAIT < 0 || int'(waited) <= W_WAIT)
          else $error("%m: WVALID waits for AWREADY or WREADY: %0d cycles behind AWVALID", waited);
      assert (B_WAIT < 0 || int'(owing) <= B_WAIT)
          else $error("%m: BVALID waits for BREADY: a response has been due for %0d cycles", owing);
    end
  end
endmodule
