// link_rx: the receiving half of a link.
//
// Job: passes on every sequenced word once and in order; what is corrupt, out of order or a
//   repetition is discarded, and the sending half told what to say about it.
// Handshake: words in with their verdict (CRC holds or not); flit channel out, one register behind.
// Back-pressure: none needed, the sender has a credit for every flit. A gap is nacked once, since
// all
//   that was under way behind the missing word arrives out of order too; a corrupt word is nacked always.
//
// A packet of which only a part came holds the outputs of all routers up to its destination. When
// the link is given up (give_up), it is ended here by a tail of zeros, whose CRC the destination
// finds wrong. The rest, should it come after all, is discarded up to its tail. To the sender the
// made-up tail takes the entry of the one that it will send: an entry that becomes free is kept
// from it (withheld) until that tail has come, so credits stay what they were.
//
// Without session (up) words are not for it. A packet of which a part came when one ended is ended
// too, as soon as there is an entry and before anything of the next session is taken, which starts
// with the entries that are then free.
module link_rx #(
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DATA_W   = 64,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int SLOT_W  = $clog2(VCS * VC_DEPTH + 1),
    localparam int SEQ_W   = SLOT_W + 1,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1),
    localparam int CTRL_W  = 6 + VC_W + 2 * SEQ_W + VCS * CNT_W
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 up,         // there is a session; start: one starts
    input  logic                 start,
    input  logic                 in_valid,
    input  logic                 in_good,
    input  logic [CTRL_W-1:0]    in_ctrl,
    input  logic [DATA_W-1:0]    in_data,
    input  logic                 give_up,    // what is missing of a packet will not come
    // flits to the router
    output logic                 out_valid,
    output logic [VC_W-1:0]      out_vc,
    output logic                 out_head,
    output logic                 out_tail,
    output logic [DATA_W-1:0]    out_data,
    input  logic [VCS-1:0]       out_credit,
    // for the sending half
    output logic                 peer_valid,
    output logic                 peer_nack,
    output logic [SEQ_W-1:0]     peer_ack,
    output logic [VCS*CNT_W-1:0] peer_freed,
    output logic                 tell_ack,
    output logic                 tell_nack,
    output logic [SEQ_W-1:0]     expected,
    output logic [VCS-1:0]       freed,      // entries the sender hears of: by the router, and by a discarded flit
    output logic [VCS-1:0]       discarded,
    output logic                 partial,    // of some packet only a part has come
    output logic                 fresh,      // a word that was expected
    output logic                 ev_cut,     // a packet is ended
    output logic [SEQ_W-1:0]     got,        // heads accepted since reset; forgot: none ever, the number means nothing
    output logic                 forgot,
    output logic [VCS*CNT_W-1:0] places,     // that will be free behind this cycle, without those of ends that are owed
    output logic                 active
);
  logic                 hello, nack, sequenced, flit, head, tail, good, accept, nacked;
  logic [VC_W-1:0]      vc;
  logic [SEQ_W-1:0]     seq, ack, behind;
  logic [VCS*CNT_W-1:0] there;
  assign {hello, nack, sequenced, flit, head, tail, vc, seq, ack, there} = in_ctrl;

  // Whether the CRC holds is known late in the cycle, so it comes last.
  logic heard, numbered, next, in_order;
  assign heard    = in_valid && !hello && up;
  assign numbered = heard && sequenced;
  assign behind   = expected - seq;
  assign next     = seq == expected;  // by itself: the difference takes longer
  assign in_order = numbered && next && !late;
  assign good     = in_good && heard;
  assign accept   = in_good && in_order;
  assign tell_ack = in_good && (in_order || (numbered && !next && behind <= SEQ_W'(1 << SLOT_W)));  // or a repetition
  assign tell_nack = (up && in_valid && !in_good) || (in_good && numbered &&
      ((behind > SEQ_W'(1 << SLOT_W) && !nacked) || (next && late)));

  // ---- packets that are cut ----
  logic [VCS-1:0]  comes, into, dump, open, orphan, ended, withheld, room, cut;  // orphan: open when its session ended
  logic [VC_W-1:0] cut_vc;
  logic            pass, late;                                       // late: an orphan is ended
  assign fresh   = accept;
  assign partial = open != '0;
  assign pass    = accept && into != '0;
  assign ev_cut  = late || (ends && give_up);
  // A packet is given up in a cycle in which no word came. That it is, is known last.
  function automatic logic [VCS-1:0] lowest(input logic [VCS-1:0] x);
    for (int v = 0; v < VCS; v++) lowest[v] = x[v] && (x & VCS'((1 << v) - 1)) == '0;  // without a carry
  endfunction
  logic [VCS-1:0] cut_late, cut_up;
  logic           ends;  // of an open packet, should it be given up
  assign late = (orphan & room) != '0;
  assign ends = !in_valid && up && !late && (open & room) != '0;
  always_comb begin
    cut_late = lowest(orphan & room);
    cut_up   = lowest(open & room) & {VCS{ends}};
    cut    = cut_late | (cut_up & {VCS{give_up}});
    cut_vc = '0;
    for (int v = 0; v < VCS; v++) if (cut[v]) cut_vc = cut_vc | VC_W'(v);
  end
  // entries taken behind the link; room: not all are, a flag since what it allows takes long enough
  logic [VCS*CNT_W-1:0] held;
  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [CNT_W:0] taken;  // entries, with those of ends that are owed; of interest without session
      always_comb begin
        taken = '0;
        places[v*CNT_W+:CNT_W] = '0;
        if (!up) begin
          taken = (CNT_W + 1)'(held[v*CNT_W+:CNT_W]) + (CNT_W + 1)'(open[v] || orphan[v]) - (CNT_W + 1)'(out_credit[v]);
          places[v*CNT_W+:CNT_W] = taken >= (CNT_W + 1)'(VC_DEPTH) ? '0 : CNT_W'(VC_DEPTH) - taken[CNT_W-1:0];
        end
      end
      assign comes[v]     = accept && flit && vc == VC_W'(v);
      assign freed[v]     = out_credit[v] && !withheld[v];
      assign into[v]      = flit && vc == VC_W'(v) && !ended[v];
      assign dump[v]      = flit && vc == VC_W'(v) && ended[v] && !(tail && withheld[v] && !out_credit[v]);
      assign discarded[v] = accept && dump[v];
      always_ff @(posedge clk) begin
        if (rst) begin
          held[v*CNT_W+:CNT_W] <= '0;
          room[v]  <= 1'b1;
          open[v]  <= 1'b0;
          ended[v] <= 1'b0;
          withheld[v] <= 1'b0;
          orphan[v] <= 1'b0;
        end else if (!up) begin
          held[v*CNT_W+:CNT_W] <= held[v*CNT_W+:CNT_W] + CNT_W'(cut[v]) - CNT_W'(out_credit[v]);
          if (cut[v] != out_credit[v]) room[v] <= out_credit[v] || held[v*CNT_W+:CNT_W] != CNT_W'(VC_DEPTH - 1);
          open[v]     <= 1'b0;
          orphan[v]   <= (open[v] || orphan[v]) && !cut[v];
          ended[v]    <= 1'b0;
          withheld[v] <= taken > (CNT_W + 1)'(VC_DEPTH);
        end else if (comes[v] || cut[v] || out_credit[v]) begin
          if (((accept && into[v]) || cut[v]) != out_credit[v]) begin
            held[v*CNT_W+:CNT_W] <= out_credit[v] ? held[v*CNT_W+:CNT_W] - 1'b1 : held[v*CNT_W+:CNT_W] + 1'b1;
            room[v] <= out_credit[v] || held[v*CNT_W+:CNT_W] != CNT_W'(VC_DEPTH - 1);
          end
          if (cut[v]) orphan[v] <= 1'b0;
          if (cut[v] && !late) begin
            open[v]     <= 1'b0;
            ended[v]    <= 1'b1;
            withheld[v] <= 1'b1;
          end else begin
            if (comes[v] && !ended[v]) open[v] <= !tail;
            if (comes[v] && tail) ended[v] <= 1'b0;
            if (out_credit[v] || (comes[v] && tail)) withheld[v] <= 1'b0;
          end
        end
      end
    end
  endgenerate

  always_ff @(posedge clk) begin
    if (rst || start) begin
      expected <= '0;
      nacked   <= 1'b0;
    end else begin
      if (accept) expected <= expected + 1'b1;
      if (accept || tell_nack) nacked <= tell_nack;
    end
    if (rst) begin
      got        <= '0;
      forgot     <= 1'b1;
      out_valid  <= 1'b0;
      peer_valid <= 1'b0;
    end else begin
      if (accept) forgot <= 1'b0;
      if (accept && flit && head) got <= got + 1'b1;
      out_valid  <= pass || ev_cut;
      peer_valid <= good;
    end
    if (in_valid || ev_cut) begin
      out_vc   <= ev_cut ? cut_vc : vc;
      out_head <= !ev_cut && head;
      out_tail <= ev_cut || tail;
      out_data <= ev_cut ? '0 : in_data;
    end
    if (good) begin
      peer_nack  <= nack;
      peer_ack   <= ack;
      peer_freed <= there;
    end
  end
  assign active = in_valid || out_valid || peer_valid || ev_cut;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!ev_cut || late || give_up) else $error("link_rx %m: a packet is cut whose session goes on");
`endif
endmodule
