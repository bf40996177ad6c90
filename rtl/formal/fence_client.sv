// fence_client: any unit that a fence waits for, or another master of the way to memory, as that
// way and the ATU see it. It does what it likes (want_*) within these rules: what is asked stays
// asked; data of a write stands from its address to its last beat, of LEN at most, and no address
// before the data of the one before is out; data that was read is taken at the latest STALL cycles
// after it came, an answer at once; no more than BEATS of reads (2 a burst at most) and BURSTS of
// writes are awaited. In place of a unit it may want anything in any cycle. Beside a real unit it
// wants what that one does: where both then do the same, the unit keeps the rules (fence_ends,
// master_rules). over: something came more often since the latest fence than it may until every
// access from before it has ended: a translation, a write, the address of a read, an answer, a beat
// of data, a cycle in which nothing is asked. fence_ends proves that it never is.
module fence_client #(
    parameter int UNIT = 0,  // 0 completer, 1 completer of answers, 2 responder, 3 requester, 4 VELO, 5 notifier
    // how often each may come, a translation lowest
    localparam logic [23:0] MOST = UNIT < 2 ? 24'h2060a2 : UNIT == 2 ? 24'hc62a22 : 24'hc60a02
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       want_atu,
    input  logic       want_ar,
    input  logic       want_two,    // beats of that burst
    input  logic       want_r,
    input  logic       want_aw,
    input  logic       want_last,
    input  logic       fence,
    input  logic       hold,
    output logic       atu_valid,
    input  logic       atu_done,
    output logic       arvalid,
    input  logic       arready,
    output logic [7:0] arlen,
    input  logic       rvalid,
    output logic       rready,
    output logic       awvalid,
    input  logic       awready,
    output logic       wvalid,
    input  logic       wready,
    output logic       wlast,
    input  logic       bvalid,
    output logic       bready,
    output logic       over  // one came more often than it may
);
  localparam int BEATS  = UNIT == 2 || UNIT == 3 ? 4 : 0;  // 0: it does not read
  localparam int BURSTS = UNIT < 2 ? 4 : UNIT == 3 ? 0 : 2;
  localparam int LEN    = UNIT == 4 ? 8 : 2;
  logic       atu_kept, ar_kept, ar_two, aw_kept, w_kept, last_kept, aw_gone, w_gone, two;
  logic [3:0] beats;   // asked for, not here
  logic [2:0] bursts;  // sent, with no answer yet
  logic [2:0] beat;    // of the burst that is sent
  logic       stall;  // it has not taken what came
  assign atu_valid = want_atu || atu_kept;
  assign two       = ar_kept ? ar_two : want_two;
  assign arvalid   = ar_kept || (want_ar && 32'(beats) + 32'(two) < BEATS);
  assign arlen     = {7'h0, two};
  assign rready    = want_r || stall;
  assign awvalid   = aw_kept || (want_aw && !aw_gone && !w_gone && 32'(bursts) < BURSTS);
  assign wvalid    = (awvalid || aw_gone) && !w_gone;
  assign wlast     = 32'(beat) >= LEN - 1 || (w_kept ? last_kept : want_last);
  assign bready    = bursts != '0;

  logic ar_take, r_take, aw_done, w_done, w_take, b_take;
  assign ar_take = arvalid && arready;
  assign r_take  = rvalid && rready;
  assign w_take  = wvalid && wready;
  assign aw_done = aw_gone || (awvalid && awready);
  assign w_done  = w_gone || (w_take && wlast);
  assign b_take  = bvalid && bready;
  always_ff @(posedge clk) begin
    atu_kept  <= !rst && atu_valid && !atu_done;
    ar_kept   <= !rst && arvalid && !arready;
    ar_two    <= two;
    beats     <= rst ? '0 : beats + (ar_take ? 4'(two) + 4'd1 : '0) - 4'(r_take);
    stall     <= !rst && (stall || rvalid) && !r_take;
    aw_kept   <= !rst && awvalid && !awready;
    w_kept    <= !rst && wvalid && !wready;
    last_kept <= wlast;
    aw_gone   <= !rst && aw_done && !w_done;
    w_gone    <= !rst && w_done && !aw_done;
    beat      <= rst || w_gone || (w_take && wlast) ? '0 : beat + 3'(w_take);
    bursts    <= rst ? '0 : bursts + 3'(aw_done && w_done) - 3'(b_take);
  end

  logic [23:0] counts;
  logic [4:0]  asks;  // data, answer, address of a read, write, translation
  logic [5:0]  comes;
  logic        waits;  // for an access from before the latest fence
  assign asks  = {BEATS != 0 && beats != '0, BURSTS != 0 && bursts != '0, BEATS != 0 && arvalid,
      BURSTS != 0 && (awvalid || wvalid), atu_valid};
  assign comes = {asks == '0, asks[4:1] & {r_take, b_take, ar_take, aw_done && w_done}, atu_valid && atu_done};
  always_ff @(posedge clk) begin
    waits <= !rst && (fence || waits) && hold;
    for (int k = 0; k < 6; k++)
      counts[k*4+:4] <= rst || !waits ? '0 : counts[k*4+:4] + 4'(comes[k] && counts[k*4+:4] != '1);
  end
  always_comb begin
    over = 1'b0;
    for (int k = 0; k < 6; k++) if (counts[k*4+:4] > MOST[k*4+:4]) over = 1'b1;
  end
endmodule
