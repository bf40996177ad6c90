// link: a router port's way over a wire that corrupts, loses and fails.
//
// Job: joins link_tx and link_rx, adds and checks the CRC of every word, counts what went wrong.
//   Every flit arrives once and in order; see link_tx for how.
// Handshake: flit channels towards the router; AXI-Stream towards the wire, one word per beat:
//   tdata the flit, tuser {CRC-32, control} with control filled up by zeros. The receiving side
//   takes every word. Either end may be reset by itself (rst, or restart, which leaves counters and
//   entries behind the link): see link_session. Without session (up) the router has no credits. A
//   word and the carrier are taken into registers, with what the CRC says of the word, and count in
//   the cycle after.
// Back-pressure: towards the router the flit channel's credits. Without carrier nothing is sent and
//   nothing is lost: traffic waits. A link with carrier that answers nothing is dead after
//   DEAD_AFTER timeouts; it sends its oldest word once per timeout and goes on when an answer
//   comes. A link that failed for longer than patience ends the packets of which only a part has
//   come (see link_rx), so that they let go of the routers behind it; with drain it has the router
//   discard what is for it (see router_output).
module link #(
    parameter int VCS        = nicloop_pkg::VCS,
    parameter int VC_DEPTH   = 16,
    parameter int TIMEOUT    = 64,
    parameter int DEAD_AFTER = 8,
    parameter int COUNT_W    = 32,  // bits of a counter
    localparam int VC_W      = VCS > 1 ? $clog2(VCS) : 1,
    localparam int SEQ_W     = hw_pkg::link_seq_w(VCS, VC_DEPTH),
    localparam int CNT_W     = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W    = hw_pkg::link_ctrl_w(VCS, VC_DEPTH),
    localparam int PATIENCE_W = nicloop_pkg::LINK_PATIENCE_CYCLES_W,
    localparam int USER_W    = hw_pkg::link_user_w(VCS, VC_DEPTH)
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              restart,
    input  logic              carrier,
    input  logic [PATIENCE_W-1:0] patience,  // cycles of failure until packets are cut, or drain; 0: none ever
    input  logic              drain,       // packets for a link that failed are discarded
    // router
    input  logic              tx_valid,
    input  logic [VC_W-1:0]   tx_vc,
    input  logic              tx_head,
    input  logic              tx_tail,
    input  logic [63:0]       tx_data,
    output logic [VCS-1:0]    tx_credit,
    output logic              rx_valid,
    output logic [VC_W-1:0]   rx_vc,
    output logic              rx_head,
    output logic              rx_tail,
    output logic [63:0]       rx_data,
    input  logic [VCS-1:0]    rx_credit,
    output logic              up,
    output logic              drains,      // the router discards what is for this link
    input  logic              ev_drained,  // a packet
    input  logic              ev_ended,    // the rest of one
    // wire
    output logic              m_tvalid,
    input  logic              m_tready,
    output logic [63:0]       m_tdata,
    output logic [USER_W-1:0] m_tuser,
    input  logic              s_tvalid,
    output logic              s_tready,
    input  logic [63:0]       s_tdata,
    input  logic [USER_W-1:0] s_tuser,
    // registers
    output logic              dead,
    output logic [31:0]       crc_errors,
    output logic [31:0]       retransmissions,
    output logic [31:0]       timeouts,
    output logic [31:0]       failures,    // carrier lost, or found dead
    output logic [31:0]       cut,         // packets ended
    output logic [31:0]       drained,     // packets discarded
    output logic [31:0]       resets,      // sessions ended
    output logic [31:0]       lost,        // packets that were not accepted when theirs ended
    output logic              ev_failure,
    output logic              idle,
    output logic              active
);
  logic                 peer_valid, peer_nack, tell_ack, tell_nack, ev_resend, ev_timeout, ev_dead, carrier_was;
  logic                 tx_idle, tx_active, rx_active, good, bad;
  logic [SEQ_W-1:0]     peer_ack, expected;
  logic [VCS*CNT_W-1:0] peer_freed;
  logic [CTRL_W-1:0]    ctrl;
  logic [31:0]          tx_crc, rx_crc;
  logic [VCS-1:0]       freed, discarded;
  logic                 partial, fresh, give_up, patient, ev_cut;

  // ---- what came ----
  logic                 came, carries;
  logic [63:0]          in_data;
  logic [CTRL_W-1:0]    in_ctrl;
  /* verilator lint_off UNUSEDSIGNAL */  // of a flit only link_rx takes the fields
  hw_pkg::link_flags_t  in_flags;
  logic [VC_W-1:0]      in_vc;
  logic [SEQ_W-1:0]     in_seq, in_ack;
  logic [VCS*CNT_W-1:0] in_freed;
  /* verilator lint_on UNUSEDSIGNAL */
  assign {in_flags, in_vc, in_seq, in_ack, in_freed} = in_ctrl;
  logic [7:0]           differs;  // the CRC, by four bits
  assign s_tready = 1'b1;
  localparam int COVERED = USER_W > 96 ? USER_W - 32 : 64;
  link_crc #(.CTRL_W(COVERED)) u_rx_crc (.enable(s_tvalid), .data(s_tdata), .ctrl(COVERED'(s_tuser[USER_W-33:0])),
      .crc(rx_crc));
  always_ff @(posedge clk) begin
    came    <= !rst && s_tvalid;
    carries <= carrier;
    if (s_tvalid) begin
      in_data <= s_tdata;
      in_ctrl <= s_tuser[CTRL_W-1:0];
      for (int n = 0; n < 8; n++) differs[n] <= rx_crc[n*4+:4] != s_tuser[USER_W-32+n*4+:4];
    end
  end
  assign good = differs == '0;
  assign bad  = came && !good;

  // ---- session ----
  localparam int NUMBER_W = 8;
  logic                 in_hello, start, stop, hello_due, hello_sent, echoes, forgot, session_active;
  logic [NUMBER_W-1:0]  echo, number;
  logic [SEQ_W-1:0]     got, lost_now, lost_then;
  logic [VCS*CNT_W-1:0] places;
  assign in_hello = came && good && in_flags.hello;
  link_session #(.NUMBER_W(NUMBER_W)) u_session (
      .clk, .rst, .restart, .carrier(carries), .in_hello, .in_up(in_flags.nack), .in_echoes(in_flags.head),
      .in_number(in_data[NUMBER_W-1:0]), .in_echo(in_data[NUMBER_W+:NUMBER_W]), .hello_due, .hello_sent, .echoes, .echo,
      .number, .up, .start, .stop, .active(session_active)
  );

  link_tx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .TIMEOUT(TIMEOUT), .DEAD_AFTER(DEAD_AFTER)) u_tx (
      .clk, .rst, .carrier(carries), .up, .start, .hello_due, .hello_says({echoes, forgot}), .hello_got(got),
      .hello_data(64'({echo, number})), .hello_sent, .start_forgot(in_flags.tail), .start_got(in_ack),
      .start_freed(in_freed), .lost(lost_now), .places, .in_valid(tx_valid), .in_vc(tx_vc), .in_head(tx_head),
      .in_tail(tx_tail), .in_data(tx_data), .in_credit(tx_credit), .peer_valid, .peer_nack, .peer_ack, .peer_freed,
      .tell_ack, .tell_nack, .expected, .freed, .discarded, .out_valid(m_tvalid), .out_ready(m_tready), .out_ctrl(ctrl),
      .out_data(m_tdata), .dead, .ev_resend, .ev_timeout, .ev_dead, .idle(tx_idle), .active(tx_active)
  );
  link_crc #(.CTRL_W(COVERED)) u_tx_crc (.enable(m_tvalid), .data(m_tdata), .ctrl(COVERED'(ctrl)), .crc(tx_crc));
  assign m_tuser = {tx_crc, (USER_W - 32)'(ctrl)};

  link_rx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH)) u_rx (
      .clk, .rst, .up, .start, .got, .forgot, .places, .in_valid(came), .in_good(good), .in_ctrl, .in_data, .give_up,
      .out_valid(rx_valid), .out_vc(rx_vc), .out_head(rx_head), .out_tail(rx_tail), .out_data(rx_data),
      .out_credit(rx_credit), .peer_valid, .peer_nack, .peer_ack, .peer_freed, .tell_ack, .tell_nack, .expected, .freed,
      .discarded, .partial, .fresh, .ev_cut, .active(rx_active)
  );

  // How long the link has failed, as long as that matters, and how long a part of a packet has
  // waited for the rest meanwhile; words that still come, of a link whose other direction is dead,
  // start that anew. Nothing of it moves while the link works (a simulation passes over it). Both
  // counters show one more than that. Whether it is as long as patience is a flag, compared as the
  // counter moves: what is written to patience counts a cycle late.
  logic [PATIENCE_W:0] waited, failed;
  logic                broken, failing, troubled, drain_soon, drain_now;  // troubled: failing, or in the cycle before
  logic                ever, waited_out, failed_out;                      // patience is not 0
  assign broken     = dead || !carries;
  assign failing    = broken || !up;
  assign patient    = broken && partial && ever && !waited_out;
  assign give_up    = broken && partial && ever && waited_out;
  assign drain_soon = failing && drain && ever && !failed_out;
  assign drain_now  = failing && drain && ever && failed_out;
  always_ff @(posedge clk) begin
    troubled <= !rst && failing;
    ever     <= patience != '0;
    if (rst) begin
      waited     <= (PATIENCE_W + 1)'(1);
      failed     <= (PATIENCE_W + 1)'(1);
      waited_out <= 1'b0;
      failed_out <= 1'b0;
      drains     <= 1'b0;
    end else if (failing || troubled) begin
      if (!(partial && broken) || fresh) waited <= (PATIENCE_W + 1)'(1);
      else if (patient) waited <= waited + 1'b1;
      waited_out <= broken && partial && !fresh && {waited, ever && !waited_out} > {1'b0, patience, 1'b0};
      if (!drain || !failing) failed <= (PATIENCE_W + 1)'(1);
      else if (drain_soon) failed <= failed + 1'b1;
      failed_out <= drain && failing && {failed, ever && !failed_out} > {1'b0, patience, 1'b0};
      // A cycle late, so that no path leads from the carrier through the router.
      drains <= drain_now;
    end
  end

  // What a session took with it is told when the next one starts, a cycle late as is its end.
  logic ev_fault, ended_then;
  assign ev_fault = ev_dead || (carrier_was && !carries);
  assign ev_failure = ev_fault || ended_then || lost_then != '0;
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic logic [31:0] counted(input logic [31:0] value);  // modulo 2^COUNT_W
  /* verilator lint_on UNUSEDSIGNAL */
    counted = 32'(value[COUNT_W-1:0]);
  endfunction
  logic drained_then, ended_here;  // by the router's output, a cycle ago
  always_ff @(posedge clk) begin
    carrier_was <= !rst && carries;
    ended_then  <= !rst && stop;
    drained_then <= !rst && ev_drained;
    ended_here   <= !rst && ev_ended;
    if (rst || start || lost_then != '0) lost_then <= rst ? '0 : lost_now;
    if (rst) begin
      crc_errors      <= '0;
      retransmissions <= '0;
      timeouts        <= '0;
      failures        <= '0;
      cut             <= '0;
      drained         <= '0;
      resets          <= '0;
      lost            <= '0;
    end else begin
      if (bad) crc_errors <= counted(crc_errors + 1'b1);
      if (ev_resend) retransmissions <= counted(retransmissions + 1'b1);
      if (ev_timeout) timeouts <= counted(timeouts + 1'b1);
      if (ev_fault) failures <= counted(failures + 1'b1);
      if (ev_cut || ended_here) cut <= counted(cut + (ev_cut && ended_here ? 32'd2 : 32'd1));
      if (lost_then != '0) lost <= counted(lost + 32'(lost_then));
      if (stop) resets <= counted(resets + 1'b1);
      if (drained_then) drained <= counted(drained + 1'b1);
    end
  end

  assign idle   = tx_idle && !rx_active;
  // Of a failure that is found right now carrier_was tells, or, when it is found by a timeout,
  // tx_active.
  assign active = tx_active || rx_active || patient || drain_soon || drain_now != drains || session_active ||
      carries != carrier_was || ended_then || lost_then != '0 || drained_then || ended_here;

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (active || !ev_failure) else $error("link %m: fails, and rests");
  if (CTRL_W > USER_W - 32) $fatal(1, "link: VCS %0d and VC_DEPTH %0d need %0d bits of control, room for %0d", VCS,
      VC_DEPTH, CTRL_W, USER_W - 32);
`endif
endmodule
