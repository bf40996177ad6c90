// writes_under_way: tracks the outstanding writes to rings, and which of them no longer count.
//
// Job: several writes are sent before the memory has answered the first; responses arrive in order.
//   When a ring is switched off, by software or because a write of it failed, its outstanding
//   writes do not count any more, even if it is switched on again meanwhile.
// Handshake: begun, a pulse in the cycle after the one in which the ring was looked up; ended, a
//   pulse per response, with lost in the same cycle. off and failed (with ended) apply to all rings
//   looked up to this cycle.
// Backpressure: none; at most DEPTH are outstanding.
module writes_under_way #(
    parameter int DEPTH = nicloop_pkg::DMA_WRITES,
    parameter int VPIDS = nicloop_pkg::VPIDS,  // processes: a power of two, 2 or more; no other is named here
    localparam int W = $clog2(DEPTH + 1),
    localparam int VPID_W = $clog2(VPIDS)
) (
    input  logic       clk,
    input  logic       rst,
    input  logic       begun,
    input  logic [VPID_W-1:0] begun_vpid,
    input  logic       ended,
    input  logic       failed,
    input  logic [VPID_W-1:0] ended_vpid,
    output logic       lost,        // what ends does not count
    input  logic       off,
    input  logic [VPID_W-1:0] off_vpid,
    input  logic [VPID_W-1:0] busy_vpid,
    output logic       busy         // something is written into its ring
);
  logic [W-1:0] count[VPIDS];
  logic [W-1:0] stale[VPIDS];       // the oldest of them, which do not count
  logic [VPIDS-1:0] any_stale;      // there are some, known before they are counted
  logic         off_was, failed_was;
  logic [VPID_W-1:0] off_at, failed_at;
  assign lost = any_stale[ended_vpid] || (off_was && off_at == ended_vpid) || (failed_was && failed_at == ended_vpid);
  assign busy = count[busy_vpid] != '0;

  always_ff @(posedge clk) begin
    off_was    <= !rst && off;
    failed_was <= !rst && failed;
    off_at     <= off_vpid;
    failed_at  <= ended_vpid;
  end

  // Each ring by itself: a number is changed where it stands, and none is chosen by who begins or
  // ends.
  generate
    for (genvar v = 0; v < VPIDS; v++) begin : g_vpid
      logic         in, out, restarts;  // restarts: all that is under way behind this cycle does not count
      logic [W-1:0] now;                // that is under way then
      assign in       = begun && begun_vpid == VPID_W'(v);
      assign out      = ended && ended_vpid == VPID_W'(v);
      assign restarts = (off_was && off_at == VPID_W'(v)) || (failed_was && failed_at == VPID_W'(v));
      assign now      = in == out ? count[v] : in ? count[v] + 1'b1 : count[v] - 1'b1;
      always_ff @(posedge clk) begin
        if (rst) begin
          count[v]     <= '0;
          stale[v]     <= '0;
          any_stale[v] <= 1'b0;
        end else begin
          count[v] <= now;
          if (restarts) begin
            stale[v]     <= now;
            any_stale[v] <= in || (count[v] != '0 && !(count[v] == W'(1) && out));
          end else if (out && any_stale[v]) begin
            stale[v]     <= stale[v] - 1'b1;
            any_stale[v] <= stale[v] != W'(1);
          end
        end
      end
    end
  endgenerate

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!ended || count[ended_vpid] != '0) else $error("writes_under_way %m: an answer to nothing");
      assert (!begun || count[begun_vpid] != W'(DEPTH) || (ended && ended_vpid == begun_vpid))
          else $error("writes_under_way %m: more than %0d writes", DEPTH);
    end
`endif
`ifdef FORMAL
  // What is under way, oldest first: two rings are enough.
  logic         formal_started = 1'b0;
  logic [DEPTH:0] theirs, gone;     // of ring 1, not 0; it does not count
  logic [W-1:0] level;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb begin
    if (!formal_started) assume (rst);
    assume (begun_vpid[3:1] == '0 && ended_vpid[3:1] == '0 && off_vpid[3:1] == '0 && busy_vpid[3:1] == '0);
    assume (!ended || (level != '0 && ended_vpid[0] == theirs[0]));
    assume (!begun || level != W'(DEPTH));
    assume (!failed || (ended && !lost));
  end
  logic [1:0] off_last;  // by ring, in the cycle before
  logic [1:0] off_now;
  assign off_now[0] = (off && !off_vpid[0]) || (failed && !ended_vpid[0]);
  assign off_now[1] = (off && off_vpid[0]) || (failed && ended_vpid[0]);
  always_ff @(posedge clk) begin
    off_last <= rst ? '0 : off_now;
    level    <= rst ? '0 : level + W'(begun) - W'(ended);
    for (int i = 0; i < DEPTH; i++)
      if (begun && W'(i) == level - W'(ended)) begin
        theirs[i] <= begun_vpid[0];
        gone[i]   <= off_last[begun_vpid[0]] || off_now[begun_vpid[0]];
      end else begin
        theirs[i] <= ended ? theirs[i+1] : theirs[i];
        gone[i]   <= ended ? gone[i+1] || off_now[theirs[i+1]] : gone[i] || off_now[theirs[i]];
      end
  end
  logic any;
  always_comb begin
    any = 1'b0;
    for (int i = 0; i < DEPTH; i++) any = any || (W'(i) < level && theirs[i] == busy_vpid[0]);
    if (formal_started && !rst) begin
      assert (!ended || lost == gone[0]);
      assert (busy == any);
    end
  end
  always_ff @(posedge clk) cover (formal_started && ended && lost && level == W'(DEPTH));
`endif
endmodule
