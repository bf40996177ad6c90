// pcie_read_tags: the tags of pcie_read: which are free, what each was requested for, and when a
//   request without its completions is given up.
//
// Job: keeps a free tag at hand (found) and, per tag, its state, its timer and how many quadwords
//   of its request were asked for and have arrived.
// Handshake: take, a pulse, allocates found_tag for take_size quadwords; grow adds to the request
//   of grow_tag before it is sent. np_*: the request at the sender. failed, a pulse: a completion
//   of failed_tag reports an error. ends: a completion of ends_tag is complete, all in all ends_got
//   quadwords have arrived, ends_broken: its data is corrupt. read_out: the last beat of read_tag
//   has left for the core. look_* and order_size are combinational lookups.
// Backpressure: found is low while no tag is free. A tag is retired when its data has left and none
//   of its completions can arrive any more.
//
//   a tag    free -take-> busy -sent-> waiting -all data arrived-> busy -last beat left-> free
//                                         |-time-out, error-> resting -2..3 TICK, last beat left-> free
//                                         |-flr-------------> resting
//   With a reset of the core the last beat of every tag counts as left.
module pcie_read_tags #(
    parameter int TAGS = 32,
    parameter int TICK = 1 << 20,
    parameter int T = $clog2(TAGS),  // bits of a tag
    parameter int S = 5              // bits of a quadword's number in a slot
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            core,            // the core is in reset
    input  logic            flr,
    input  logic            ext_tag_enable,  // low: tags below 32 only
    // allocation
    output logic            found,
    output logic [T-1:0]    found_tag,
    output logic            may_take,        // found_tag is not above what ext_tag_enable allows now
    input  logic            take,
    input  logic [S:0]      take_size,       // quadwords
    input  logic [3:0]      take_low,        // low bits of the address, in quadwords
    input  logic            grow,
    input  logic [T-1:0]    grow_tag,
    input  logic [S:0]      grow_size,
    // the request at the sender
    input  logic            np_valid,
    input  logic            np_done,
    input  logic            np_dropped,
    input  logic [T-1:0]    np_tag,
    // completions
    input  logic [T-1:0]    look_tag,
    output logic [S:0]      look_size,
    output logic [S:0]      look_got,
    output logic [3:0]      look_low,
    input  logic            failed,
    input  logic [T-1:0]    failed_tag,
    input  logic            ends,
    input  logic            ends_broken,
    input  logic [T-1:0]    ends_tag,
    input  logic [S:0]      ends_got,
    output logic            ends_all,        // the request of ends_tag is complete with it
    // data
    input  logic [T-1:0]    order_tag,
    output logic [S:0]      order_size,
    input  logic            read_out,
    input  logic [T-1:0]    read_tag,
    // state, by tag
    output logic [TAGS-1:0] busy,
    output logic [TAGS-1:0] waiting,
    output logic [TAGS-1:0] resting,
    output logic [TAGS-1:0] left,            // its last beat has left, or the core has been reset since
    output logic [TAGS-1:0] expires,         // times out in this cycle; one-hot
    output logic            gone,            // the last beat of gone_tag left in the cycle before
    output logic [T-1:0]    gone_tag
);
  // ---- a free tag ----
  logic [TAGS-1:0] usable, free_grant;
  logic [T-1:0]    free_tag;
  always_comb for (int t = 0; t < TAGS; t++) usable[t] = t < 32 || ext_tag_enable;
  rr_arbiter #(.N(TAGS)) u_free (.clk, .rst, .req(~busy & usable), .advance(!found), .grant(free_grant));
  always_comb begin
    free_tag = '0;
    for (int t = 0; t < TAGS; t++) if (free_grant[t]) free_tag = T'(t);
  end
  // Kept in a register. Only take makes it busy, so it stays free.
  always_ff @(posedge clk) begin
    if (rst) found <= 1'b0;
    else found <= found ? !take && may_take : (~busy & usable) != '0;
    if (!found) found_tag <= free_tag;
  end
  assign may_take = TAGS <= 32 || ext_tag_enable || 32'(found_tag) < 32;

  // ---- time ----
  logic [TAGS-1:0]         old, gives_up;
  logic [1:0]              age[TAGS];  // in units of TICK, saturating
  logic [$clog2(TICK)-1:0] cycles;
  logic                    tick;
  assign tick = cycles == $clog2(TICK)'(TICK - 1);
  // The counter stands while no tag waits or rests, so that nothing depends on the length of idle
  // times.
  always_ff @(posedge clk) cycles <= rst || tick || (waiting | resting) == '0 ? '0 : cycles + 1'b1;
  // One time-out in a cycle, so that each is counted.
  always_comb for (int t = 0; t < TAGS; t++) old[t] = waiting[t] && age[t] == 2'd3;
  assign expires = old & (~old + 1'b1);
  always_comb
    for (int t = 0; t < TAGS; t++)
      gives_up[t] = (failed && failed_tag == T'(t)) || (ends && ends_broken && ends_tag == T'(t)) || expires[t] || flr;

  // ---- state ----
  logic [S:0] size[TAGS], got[TAGS];  // quadwords requested and arrived
  logic [3:0] low[TAGS];
  assign look_size  = size[look_tag];
  assign look_got   = got[look_tag];
  assign look_low   = low[look_tag];
  assign order_size = size[order_tag];
  assign ends_all   = ends_got == size[ends_tag];
  always_ff @(posedge clk) begin
    gone     <= !rst && !core && read_out;
    gone_tag <= read_tag;
  end
  always_ff @(posedge clk)
    for (int t = 0; t < TAGS; t++) begin
      if (rst) begin
        busy[t]    <= 1'b0;
        waiting[t] <= 1'b0;
        resting[t] <= 1'b0;
      end else if (!busy[t]) begin
        busy[t] <= take && found_tag == T'(t) && !core;
        left[t] <= 1'b0;
      end else if (waiting[t]) begin
        if (core) left[t] <= 1'b1;
        if (gives_up[t]) begin
          waiting[t] <= 1'b0;
          resting[t] <= 1'b1;
        end else if (ends && ends_tag == T'(t)) waiting[t] <= !ends_all;
      end else begin
        if (core || (gone && gone_tag == T'(t))) left[t] <= 1'b1;
        if (np_valid && np_tag == T'(t)) begin
          waiting[t] <= np_done && !np_dropped && !flr;
          resting[t] <= np_done && (np_dropped || flr);
        end else if (resting[t] ? left[t] && age[t] == 2'd3 : left[t] || (gone && gone_tag == T'(t))) begin
          busy[t]    <= 1'b0;
          resting[t] <= 1'b0;
        end
      end
      // Starts when the tag begins to wait, and again when it begins to rest.
      if (!waiting[t] && !resting[t]) age[t] <= '0;
      else if (waiting[t] && gives_up[t]) age[t] <= '0;
      else if (tick && age[t] != 2'd3) age[t] <= age[t] + 1'b1;
      if (take && found_tag == T'(t)) got[t] <= '0;
      else if (ends && ends_tag == T'(t)) got[t] <= ends_got;
    end
  always_ff @(posedge clk)
    if (take) begin
      size[found_tag] <= take_size;
      low[found_tag]  <= take_low;
    end else if (grow) size[grow_tag] <= grow_size;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!take || !busy[found_tag]) else $error("pcie_read_tags %m: tag %0d is in use", found_tag);
      assert (!read_out || busy[read_tag]) else $error("pcie_read_tags %m: data of tag %0d, which is free", read_tag);
    end
`endif
endmodule
