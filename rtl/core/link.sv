// link: a router port's connection over a wire that corrupts, loses and fails.
//
// Job: joins link_tx and link_rx, adds and checks the CRC of every word, counts faults. Every flit
//   is delivered once and in order (go-back-N, see link_tx).
// Handshake: flit channels towards the router; AXI-Stream towards the wire, one word per beat:
//   tdata is the flit, tuser {CRC-32, control}, with control padded by zeros. The receiving side
//   accepts every word. Either end may be reset alone (rst, or restart, which keeps the counters
//   and the entries behind the link): see link_session. Without a session (up) the router has no
//   credits. Words, the result of their CRC check and the carrier are registered; they take effect
//   a cycle later.
// Backpressure: towards the router the flit channel's credits. Without carrier nothing is sent and
//   nothing is lost: traffic waits. A link with carrier whose peer does not answer is dead after
//   DEAD_AFTER timeouts; it sends its oldest word once per timeout and recovers with the next
//   answer. A link that has failed for longer than patience terminates the packets that are open
//   (see link_rx), which releases the routers behind it; with drain it makes the router discard
//   packets for it (see router_output).
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
    input  logic [PATIENCE_W-1:0] patience,  // cycles of failure until packets are terminated or discarded; 0: never
    input  logic              drain,       // packets for a failed link are discarded
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
    output logic              drains,      // the router discards packets for this link
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
    output logic [31:0]       failures,    // carrier lost, or dead
    output logic [31:0]       cut,         // packets terminated by a made-up tail
    output logic [31:0]       drained,     // packets discarded
    output logic [31:0]       resets,      // sessions ended
    output logic [31:0]       lost,        // packets not accepted when their session ended
    output logic              ev_failure,
    output logic              idle,
    output logic              active
);
  logic                 peer_valid, peer_nack, ack_request, nack_request, ev_resend, ev_timeout, ev_dead, carrier_qq;
  logic                 tx_idle, tx_active, rx_active, good, bad;
  logic [SEQ_W-1:0]     peer_ack, expected;
  logic [VCS*CNT_W-1:0] peer_freed;
  logic [CTRL_W-1:0]    ctrl;
  logic [31:0]          tx_crc, rx_crc;
  logic [VCS-1:0]       freed, discarded;
  logic                 packet_open, word_accepted, give_up, patient, ev_cut;

  // ---- the received word ----
  logic                 word_valid, carrier_q;
  logic [63:0]          in_data;
  logic [CTRL_W-1:0]    in_ctrl;
  /* verilator lint_off UNUSEDSIGNAL */  // of a flit only link_rx takes the fields
  hw_pkg::link_flags_t  in_flags;
  logic [VC_W-1:0]      in_vc;
  logic [SEQ_W-1:0]     in_seq, in_ack;
  logic [VCS*CNT_W-1:0] in_freed;
  /* verilator lint_on UNUSEDSIGNAL */
  assign {in_flags, in_vc, in_seq, in_ack, in_freed} = in_ctrl;
  logic [7:0]           crc_mismatch;  // by four bits of the CRC
  assign s_tready = 1'b1;
  localparam int COVERED = USER_W > 96 ? USER_W - 32 : 64;
  link_crc #(.CTRL_W(COVERED)) u_rx_crc (.enable(s_tvalid), .data(s_tdata), .ctrl(COVERED'(s_tuser[USER_W-33:0])),
      .crc(rx_crc));
  always_ff @(posedge clk) begin
    word_valid <= !rst && s_tvalid;
    carrier_q  <= carrier;
    if (s_tvalid) begin
      in_data <= s_tdata;
      in_ctrl <= s_tuser[CTRL_W-1:0];
      for (int n = 0; n < 8; n++) crc_mismatch[n] <= rx_crc[n*4+:4] != s_tuser[USER_W-32+n*4+:4];
    end
  end
  assign good = crc_mismatch == '0;
  assign bad  = word_valid && !good;

  // ---- session ----
  localparam int NUMBER_W = 8;
  logic                 in_hello, start, stop, hello_due, hello_sent, echoes, none_accepted, session_active;
  logic [NUMBER_W-1:0]  echo, number;
  logic [SEQ_W-1:0]     accepted_heads, session_lost, session_lost_q;
  logic [VCS*CNT_W-1:0] free_entries;
  assign in_hello = word_valid && good && in_flags.hello;
  link_session #(.NUMBER_W(NUMBER_W)) u_session (
      .clk, .rst, .restart, .carrier(carrier_q), .in_hello, .in_up(in_flags.nack), .in_echoes(in_flags.head),
      .in_number(in_data[NUMBER_W-1:0]), .in_echo(in_data[NUMBER_W+:NUMBER_W]), .hello_due, .hello_sent, .echoes, .echo,
      .number, .up, .start, .stop, .active(session_active)
  );

  link_tx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH), .TIMEOUT(TIMEOUT), .DEAD_AFTER(DEAD_AFTER)) u_tx (
      .clk, .rst, .carrier(carrier_q), .up, .start, .hello_due, .hello_flags({echoes, none_accepted}),
      .hello_accepted(accepted_heads), .hello_data(64'({echo, number})), .hello_sent,
      .start_none_accepted(in_flags.tail), .start_accepted(in_ack), .start_freed(in_freed), .lost(session_lost),
      .free_entries, .in_valid(tx_valid), .in_vc(tx_vc), .in_head(tx_head), .in_tail(tx_tail), .in_data(tx_data),
      .in_credit(tx_credit), .peer_valid, .peer_nack, .peer_ack, .peer_freed, .ack_request, .nack_request, .expected,
      .freed, .discarded, .out_valid(m_tvalid), .out_ready(m_tready), .out_ctrl(ctrl), .out_data(m_tdata), .dead,
      .ev_resend, .ev_timeout, .ev_dead, .idle(tx_idle), .active(tx_active)
  );
  link_crc #(.CTRL_W(COVERED)) u_tx_crc (.enable(m_tvalid), .data(m_tdata), .ctrl(COVERED'(ctrl)), .crc(tx_crc));
  assign m_tuser = {tx_crc, (USER_W - 32)'(ctrl)};

  link_rx #(.VCS(VCS), .VC_DEPTH(VC_DEPTH)) u_rx (
      .clk, .rst, .up, .start, .accepted_heads, .none_accepted, .free_entries, .in_valid(word_valid), .in_good(good),
      .in_ctrl, .in_data, .give_up, .out_valid(rx_valid), .out_vc(rx_vc), .out_head(rx_head), .out_tail(rx_tail),
      .out_data(rx_data), .out_credit(rx_credit), .peer_valid, .peer_nack, .peer_ack, .peer_freed, .ack_request,
      .nack_request, .expected, .freed, .discarded, .packet_open, .word_accepted, .ev_cut, .active(rx_active)
  );

  // failed_cycles counts for how long the link has failed, while drain is set. open_cycles counts
  // for how long an open packet has waited for its rest meanwhile; it restarts with every word that
  // still arrives (of a link whose other direction is dead). Neither moves while the link works, so
  // that a simulation can skip idle cycles. Both counters are one above the number of cycles. The
  // comparison with patience is registered, so a write to patience takes effect a cycle late.
  logic [PATIENCE_W:0] open_cycles, failed_cycles;
  logic                broken, failing, failing_q, drain_soon, drain_now;
  logic                patience_set, waited_out, failed_out;  // patience_set: it is not 0
  assign broken     = dead || !carrier_q;
  assign failing    = broken || !up;
  assign patient    = broken && packet_open && patience_set && !waited_out;
  assign give_up    = broken && packet_open && patience_set && waited_out;
  assign drain_soon = failing && drain && patience_set && !failed_out;
  assign drain_now  = failing && drain && patience_set && failed_out;
  always_ff @(posedge clk) begin
    failing_q    <= !rst && failing;
    patience_set <= patience != '0;
    if (rst) begin
      open_cycles   <= (PATIENCE_W + 1)'(1);
      failed_cycles <= (PATIENCE_W + 1)'(1);
      waited_out    <= 1'b0;
      failed_out    <= 1'b0;
      drains        <= 1'b0;
    end else if (failing || failing_q) begin
      if (!(packet_open && broken) || word_accepted) open_cycles <= (PATIENCE_W + 1)'(1);
      else if (patient) open_cycles <= open_cycles + 1'b1;
      waited_out <= broken && packet_open && !word_accepted &&
          {open_cycles, patience_set && !waited_out} > {1'b0, patience, 1'b0};
      if (!drain || !failing) failed_cycles <= (PATIENCE_W + 1)'(1);
      else if (drain_soon) failed_cycles <= failed_cycles + 1'b1;
      failed_out <= drain && failing && {failed_cycles, patience_set && !failed_out} > {1'b0, patience, 1'b0};
      // A cycle late, so that no path leads from the carrier through the router.
      drains <= drain_now;
    end
  end

  // The packets that a session lost are known when the next one starts. They, and the end of a
  // session, are counted a cycle late.
  logic ev_fault, stop_q;
  assign ev_fault = ev_dead || (carrier_qq && !carrier_q);
  assign ev_failure = ev_fault || stop_q || session_lost_q != '0;
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic logic [31:0] counted(input logic [31:0] value);  // modulo 2^COUNT_W
  /* verilator lint_on UNUSEDSIGNAL */
    counted = 32'(value[COUNT_W-1:0]);
  endfunction
  logic drained_q, truncated_q;  // events of the router's output, a cycle ago
  always_ff @(posedge clk) begin
    carrier_qq  <= !rst && carrier_q;
    stop_q      <= !rst && stop;
    drained_q   <= !rst && ev_drained;
    truncated_q <= !rst && ev_ended;
    if (rst || start || session_lost_q != '0) session_lost_q <= rst ? '0 : session_lost;
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
      if (ev_cut || truncated_q) cut <= counted(cut + (ev_cut && truncated_q ? 32'd2 : 32'd1));
      if (session_lost_q != '0) lost <= counted(lost + 32'(session_lost_q));
      if (stop) resets <= counted(resets + 1'b1);
      if (drained_q) drained <= counted(drained + 1'b1);
    end
  end

  assign idle   = tx_idle && !rx_active;
  // A failure that is detected in this cycle shows in carrier_qq or, if a timeout detects it, in
  // tx_active.
  assign active = tx_active || rx_active || patient || drain_soon || drain_now != drains || session_active ||
      carrier_q != carrier_qq || stop_q || session_lost_q != '0 || drained_q || truncated_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (active || !ev_failure) else $error("link %m: fails while it is not active");
  if (CTRL_W > USER_W - 32) $fatal(1, "link: VCS %0d and VC_DEPTH %0d need %0d bits of control, room for %0d", VCS,
      VC_DEPTH, CTRL_W, USER_W - 32);
`endif
endmodule
