// link_rx_vc: one virtual channel at the receiving end of a link: its open packet, and its entries
//   in the router behind.
//
// Job: tracks whether a packet is open, whether it has been terminated by a made-up tail and its
//   rest must be discarded, and how many entries behind the link are taken.
// Handshake: flit: the word at the input holds a flit of this channel, with tail; accept: it is
//   accepted in this cycle. cut: the open packet is terminated in this cycle, orphaned if its
//   session is over. out_credit: the router has freed an entry.
// Backpressure: none; room: an entry for a made-up tail is free.
//
// State, by register (of the first three at most one is set while credits are kept):
//   open | orphan | ended | meaning
//     0  |   0    |   0   | no packet
//     1  |   0    |   0   | a head has arrived and no tail
//     0  |   1    |   0   | its session is over: it is terminated as soon as there is room
//     0  |   0    |   1   | it was terminated within its session: the rest is discarded up to
//        |        |       | its tail
// withheld: one freed entry is not reported to the sender. The made-up tail has taken the entry of
// the real tail, so the sender's count stays right if the credit is withheld until that has come.
module link_rx_vc #(
    parameter int VC_DEPTH = 16,
    localparam int CNT_W   = $clog2(VC_DEPTH + 1)
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             up,          // the link has a session
    input  logic             accept,
    input  logic             flit,
    input  logic             tail,
    input  logic             cut,
    input  logic             late,        // what is cut in this cycle is an orphan
    input  logic             out_credit,
    output logic             open,
    output logic             orphan,
    output logic             room,        // not all entries are taken: a flag, since the paths behind it are long
    output logic             into,        // the flit belongs to the router
    output logic             discarded,   // a discarded flit returns its entry to the sender
    output logic             freed,       // an entry is returned to the sender
    output logic [CNT_W-1:0] free_entries // without a session: free in the next cycle, less one for a made-up tail
);
  logic             ended, withheld, comes, dump;
  logic [CNT_W-1:0] held;   // entries taken behind the link
  logic [CNT_W:0]   taken;  // the same in the next cycle, with one for a tail still to be made up
  always_comb begin
    taken        = '0;
    free_entries = '0;
    if (!up) begin
      taken        = (CNT_W + 1)'(held) + (CNT_W + 1)'(open || orphan) - (CNT_W + 1)'(out_credit);
      free_entries = taken >= (CNT_W + 1)'(VC_DEPTH) ? '0 : CNT_W'(VC_DEPTH) - taken[CNT_W-1:0];
    end
  end
  assign comes     = accept && flit;
  assign freed     = out_credit && !withheld;
  assign into      = flit && !ended;
  assign dump      = flit && ended && !(tail && withheld && !out_credit);
  assign discarded = accept && dump;
  always_ff @(posedge clk) begin
    if (rst) begin
      held     <= '0;
      room     <= 1'b1;
      open     <= 1'b0;
      ended    <= 1'b0;
      withheld <= 1'b0;
      orphan   <= 1'b0;
    end else if (!up) begin
      held <= held + CNT_W'(cut) - CNT_W'(out_credit);
      if (cut != out_credit) room <= out_credit || held != CNT_W'(VC_DEPTH - 1);
      open     <= 1'b0;
      orphan   <= (open || orphan) && !cut;
      ended    <= 1'b0;
      withheld <= taken > (CNT_W + 1)'(VC_DEPTH);
    end else if (comes || cut || out_credit) begin
      if (((accept && into) || cut) != out_credit) begin
        held <= out_credit ? held - 1'b1 : held + 1'b1;
        room <= out_credit || held != CNT_W'(VC_DEPTH - 1);
      end
      if (cut) orphan <= 1'b0;
      if (cut && !late) begin
        open     <= 1'b0;
        ended    <= 1'b1;
        withheld <= 1'b1;
      end else begin
        if (comes && !ended) open <= !tail;
        if (comes && tail) ended <= 1'b0;
        if (out_credit || (comes && tail)) withheld <= 1'b0;
      end
    end
  end
endmodule
