// inject: the NIC's senders share the local port of the router.
//
// Job: virtual channel 0 carries whole packets of the VELO and of the RMA requester alternately, channel 1 those
//   of the RMA responder, so that no request ever stands before an answer. One flit leaves per cycle.
// Handshake: valid/ready per source (0 VELO requester, 1 RMA requester, 2 RMA responder); flit channel out.
// Back-pressure: ready needs a credit of the source's channel, and the grant.
module inject #(
    parameter int VC_DEPTH = 16,
    localparam int COUNT_W = $clog2(VC_DEPTH + 1)
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [2:0]   valid,
    output logic [2:0]   ready,
    input  logic [2:0]   head,
    input  logic [2:0]   tail,
    input  logic [191:0] data,
    output logic         tx_valid,
    output logic         tx_vc,
    output logic         tx_head,
    output logic         tx_tail,
    output logic [63:0]  tx_data,
    input  logic [1:0]   tx_credit,
    output logic [7:0]   credits0,
    output logic [7:0]   credits1,
    output logic         active
);
  logic [1:0]         credit, want, granted, owner, fresh, choice;
  logic [2:0]         send;
  logic [COUNT_W-1:0] count0, count1;
  credit_counter #(.DEPTH(VC_DEPTH)) u_credit0 (
      .clk, .rst, .spend(granted[0]), .give(tx_credit[0]), .available(credit[0]), .count(count0)
  );
  credit_counter #(.DEPTH(VC_DEPTH)) u_credit1 (
      .clk, .rst, .spend(granted[1]), .give(tx_credit[1]), .available(credit[1]), .count(count1)
  );

  // ---- channel 0: one packet at a time ----
  rr_arbiter #(.N(2)) u_packet (.clk, .rst, .req(valid[1:0]), .advance(granted[0] && owner == '0), .grant(fresh));
  assign choice = owner != '0 ? owner & valid[1:0] : fresh;
  always_ff @(posedge clk) begin
    if (rst) owner <= '0;
    else if (granted[0]) owner <= |(choice & tail[1:0]) ? '0 : choice;
  end

  // ---- one flit per cycle ----
  assign want = {valid[2], |choice} & credit;
  rr_arbiter #(.N(2)) u_vc (.clk, .rst, .req(want), .advance(1'b1), .grant(granted));
  assign send  = {granted[1], choice & {2{granted[0]}}};
  assign ready = send;

  assign tx_valid = |granted;
  assign tx_vc    = granted[1];
  assign tx_head  = |(send & head);
  assign tx_tail  = |(send & tail);
  always_comb begin
    tx_data = '0;
    for (int i = 0; i < 3; i++) if (send[i]) tx_data = tx_data | data[i*64+:64];
    tx_data[nicloop_pkg::HEADER_VC_LSB] = tx_data[nicloop_pkg::HEADER_VC_LSB] || (granted[1] && tx_head);
  end
  assign credits0 = 8'(count0);
  assign credits1 = 8'(count1);
  assign active   = |granted || |tx_credit;
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // Sources keep what they offer and send whole packets, without a promise when the next flit comes; credits come
  // back only for flits that were sent.
  logic [2:0] was_valid, was_tail, inside;
  logic [8:0] out0, out1;  // flits sent and not given back
  always_ff @(posedge clk) begin
    was_valid <= rst ? '0 : valid & ~ready;
    was_tail  <= tail;
    if (rst) inside <= '0;
    else inside <= (inside | ready) & ~(ready & tail);
    out0 <= rst ? '0 : out0 + 9'(tx_valid && !tx_vc) - 9'(tx_credit[0]);
    out1 <= rst ? '0 : out1 + 9'(tx_valid && tx_vc) - 9'(tx_credit[1]);
  end
  always_comb
    if (formal_started && !rst) begin
      assume ((was_valid & ~valid) == '0 && (was_valid & (tail ^ was_tail)) == '0);
      assume (!(tx_credit[0] && out0 == '0) && !(tx_credit[1] && out1 == '0));
    end

  // Packets of the other source of channel 0 that ended while this one waits; flits of the other channel while this
  // one could send.
  logic [1:0] passed[2];
  logic [1:0] was_want;
  always_ff @(posedge clk) begin
    for (int i = 0; i < 2; i++)
      if (rst || !valid[i] || ready[i]) passed[i] <= '0;
      else if (ready[1-i] && tail[1-i]) passed[i] <= passed[i] + 1'b1;
    was_want <= rst ? '0 : want & ~granted;
  end

  always_comb
    if (formal_started && !rst) begin
      assert (9'(count0) + out0 == 9'(VC_DEPTH) && 9'(count1) + out1 == 9'(VC_DEPTH));  // no credit lost or invented
      assert (!tx_valid || (tx_vc ? count1 != '0 : count0 != '0));
      assert ((ready & (ready - 1'b1)) == '0 && (ready & ~valid) == '0 && tx_valid == (ready != '0) && tx_vc == ready[2]);
      assert (!(inside[0] && ready[1]) && !(inside[1] && ready[0]));  // packets of a channel do not mix
      assert ((was_want & want & ~granted) == '0);
      assert (tx_valid || want == '0);
      for (int i = 0; i < 2; i++) assert (passed[i] <= 2'd1);
    end
  always_ff @(posedge clk) begin
    cover (formal_started && passed[0] == 2'd1 && ready[0]);
    cover (formal_started && passed[1] == 2'd1 && ready[1]);
    cover (formal_started && count0 == '0 && ready[2] && valid[0]);
  end
`endif
endmodule
