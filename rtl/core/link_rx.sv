// link_rx: the receiving half of a link.
//
// Job: passes on every sequenced word once and in order; what is corrupt, out of order or a repetition
//   is discarded, and the sending half told what to say about it.
// Handshake: words in with their verdict (CRC holds or not); flit channel out, one register behind.
// Back-pressure: none needed, the sender has a credit for every flit. A gap is nacked once, since all
//   that was under way behind the missing word arrives out of order too; a corrupt word is nacked always.
module link_rx #(
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DATA_W   = 64,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int SLOT_W  = $clog2(VCS * VC_DEPTH + 1),
    localparam int SEQ_W   = SLOT_W + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = 5 + VC_W + 2 * SEQ_W + VCS * CNT_W
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 in_valid,
    input  logic                 in_good,
    input  logic [CTRL_W-1:0]    in_ctrl,
    input  logic [DATA_W-1:0]    in_data,
    // flits to the router
    output logic                 out_valid,
    output logic [VC_W-1:0]      out_vc,
    output logic                 out_head,
    output logic                 out_tail,
    output logic [DATA_W-1:0]    out_data,
    // for the sending half
    output logic                 peer_valid,
    output logic                 peer_nack,
    output logic [SEQ_W-1:0]     peer_ack,
    output logic [VCS*CNT_W-1:0] peer_freed,
    output logic                 tell_ack,
    output logic                 tell_nack,
    output logic [SEQ_W-1:0]     expected,
    output logic                 active
);
  logic                 nack, sequenced, flit, head, tail, good, accept, repeated, gap, nacked;
  logic [VC_W-1:0]      vc;
  logic [SEQ_W-1:0]     seq, ack, behind;
  logic [VCS*CNT_W-1:0] freed;
  assign {nack, sequenced, flit, head, tail, vc, seq, ack, freed} = in_ctrl;

  assign good     = in_valid && in_good;
  assign behind   = expected - seq;
  assign accept   = good && sequenced && behind == '0;
  assign repeated = good && sequenced && behind != '0 && behind <= SEQ_W'(1 << SLOT_W);
  assign gap      = good && sequenced && behind > SEQ_W'(1 << SLOT_W);

  assign tell_ack  = accept || repeated;
  assign tell_nack = (in_valid && !in_good) || (gap && !nacked);

  always_ff @(posedge clk) begin
    if (rst) begin
      expected   <= '0;
      nacked     <= 1'b0;
      out_valid  <= 1'b0;
      peer_valid <= 1'b0;
    end else begin
      if (accept) expected <= expected + 1'b1;
      if (accept || tell_nack) nacked <= tell_nack;
      out_valid  <= accept && flit;
      peer_valid <= good;
    end
    if (accept) begin
      out_vc   <= vc;
      out_head <= head;
      out_tail <= tail;
      out_data <= in_data;
    end
    if (good) begin
      peer_nack  <= nack;
      peer_ack   <= ack;
      peer_freed <= freed;
    end
  end
  assign active = in_valid || out_valid || peer_valid;
endmodule
