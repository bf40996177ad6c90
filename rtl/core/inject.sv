// inject: the NIC's senders share the local port of the router.
//
// Job: each of the three senders has the virtual channel of its class, so that none blocks another:
//   VELO waits for a mailbox, which software may empty only after its GET has ended; requests wait
//   for answers, and answers for memory. One flit leaves per cycle, channels round-robin.
// Handshake: valid/ready per source (0 VELO requester, 1 RMA requester, 2 RMA responder), which is
//   also its channel; flit channel out.
// Backpressure: ready needs a credit of the source's channel, and the grant.
module inject #(
    parameter int VC_DEPTH = 16,
    localparam int VCS     = nicloop_pkg::VCS,
    localparam int VC_W    = $clog2(VCS),
    localparam int COUNT_W = $clog2(VC_DEPTH + 1)
) (
    input  logic              clk,
    input  logic              rst,
    input  logic [VCS-1:0]    valid,
    output logic [VCS-1:0]    ready,
    input  logic [VCS-1:0]    head,
    input  logic [VCS-1:0]    tail,
    input  logic [VCS*64-1:0] data,
    output logic              tx_valid,
    output logic [VC_W-1:0]   tx_vc,
    output logic              tx_head,
    output logic              tx_tail,
    output logic [63:0]       tx_data,
    input  logic [VCS-1:0]    tx_credit,
    output logic [VCS*8-1:0]  credits,
    output logic              active
);
  localparam int ANSWERS = VCS - 1;  // their heads say so

  logic [VCS-1:0]         credit, granted;
  logic [VCS*COUNT_W-1:0] counts;
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      credit_counter #(.DEPTH(VC_DEPTH)) u_credit (
          .clk, .rst, .spend(granted[v]), .give(tx_credit[v]), .available(credit[v]), .count(counts[v*COUNT_W+:COUNT_W])
      );
      assign credits[v*8+:8] = 8'(counts[v*COUNT_W+:COUNT_W]);
    end
  endgenerate
  rr_arbiter #(.N(VCS)) u_vc (.clk, .rst, .req(valid & credit), .advance(1'b1), .grant(granted));
  assign ready = granted;

  assign tx_valid = |granted;
  assign tx_head  = |(granted & head);
  assign tx_tail  = |(granted & tail);
  always_comb begin
    tx_vc   = '0;
    tx_data = '0;
    for (int v = 0; v < VCS; v++)
      if (granted[v]) begin
        tx_vc   = tx_vc | VC_W'(v);
        tx_data = tx_data | data[v*64+:64];
      end
    tx_data[nicloop_pkg::HEADER_ANSWER_LSB] = tx_data[nicloop_pkg::HEADER_ANSWER_LSB] || (granted[ANSWERS] && tx_head);
  end
  assign active = |granted || |tx_credit;
`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // Sources keep what they offer; credits come back only for flits that were sent.
  logic [VCS-1:0]   was_valid, was_want;
  logic [VCS*9-1:0] out;  // flits sent and not given back
  always_ff @(posedge clk) begin
    was_valid <= rst ? '0 : valid & ~ready;
    was_want  <= rst ? '0 : valid & credit & ~granted;
  end
  always_comb if (formal_started && !rst) assume ((was_valid & ~valid) == '0);

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_check
      logic [1:0] passed;  // flits of other channels while this one could send
      always_ff @(posedge clk) begin
        out[v*9+:9] <= rst ? '0 : out[v*9+:9] + 9'(tx_valid && tx_vc == VC_W'(v)) - 9'(tx_credit[v]);
        if (rst || !(valid[v] && credit[v]) || ready[v]) passed <= '0;
        else if (tx_valid) passed <= passed + 1'b1;
      end
      always_comb
        if (formal_started && !rst) begin
          assume (!(tx_credit[v] && out[v*9+:9] == '0));
          assert (9'(counts[v*COUNT_W+:COUNT_W]) + out[v*9+:9] == 9'(VC_DEPTH));  // no credit lost or invented
          // A channel with a credit is served as soon as the others have been: none waits for the
          // credits of another channel.
          assert (passed < 2'(VCS));
          if (valid[v] && credit[v] && !ready[v]) assert (tx_valid);
          if (ready[v]) assert (valid[v] && counts[v*COUNT_W+:COUNT_W] != '0 && tx_vc == VC_W'(v) &&
              tx_tail == tail[v] && tx_head == head[v]);
          if (ready[v] && !(v == ANSWERS && head[v])) assert (tx_data == data[v*64+:64]);
        end
      always_ff @(posedge clk) cover (formal_started && passed == 2'd2 && ready[v]);
    end
  endgenerate
  always_comb
    if (formal_started && !rst) begin
      assert ((ready & (ready - 1'b1)) == '0 && tx_valid == (ready != '0));
      assert (tx_valid || (was_want & valid) == '0);
    end
  always_ff @(posedge clk) begin
    // Two channels without credits, and the third proceeds.
    for (int v = 0; v < VCS; v++) cover (formal_started && valid == '1 && credit == VCS'(1 << v) && ready[v]);
  end
`endif
endmodule
