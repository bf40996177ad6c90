// pcie_read_completions: judges the completions of pcie_read's requests.
//
// Job: a completion counts if its tag waits and it continues where the data of the tag ends; other
//   completions are dropped and counted. One with an error status or poisoned data fails its tag.
// Handshake: completions and their quadwords as tlp_rx delivers them: the quadwords follow their
//   header. A header is looked up (look_*) in its first cycle and judged in the second; its data is
//   delayed by a cycle, too. wr_*: a quadword for the slot of its tag.
// Backpressure: none; the space for a completion is allocated with its tag.
module pcie_read_completions #(
    parameter int TAGS = 32,
    parameter int T = 5,
    parameter int S = 5
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            flr,
    input  logic [15:0]     id,
    input  logic            c_valid,
    input  logic            c_data,
    input  logic            c_poisoned,
    input  logic [2:0]      c_status,
    input  logic [11:0]     c_count,
    input  logic [6:0]      c_lower,
    input  logic [10:0]     c_len,
    input  logic [15:0]     c_requester,
    input  logic [7:0]      c_tag,
    input  logic            q_valid,
    input  logic [63:0]     q_data,
    input  logic            q_ok,
    input  logic            q_last,
    // tags
    input  logic [TAGS-1:0] waiting,
    input  logic [TAGS-1:0] expires,
    output logic [T-1:0]    look_tag,
    input  logic [S:0]      look_size,
    input  logic [S:0]      look_got,
    input  logic [3:0]      look_low,
    output logic            failed,
    output logic [T-1:0]    failed_tag,
    output logic            ends,
    output logic            ends_broken,
    output logic [S:0]      ends_got,
    // data
    output logic            wr_valid,
    output logic [T-1:0]    wr_tag,          // also the tag of ends
    output logic [S-1:0]    wr_at,           // quadword in the slot
    output logic [63:0]     wr_data,
    output logic            cpl_valid,       // a completion is being judged
    output logic            ev_failed,
    output logic            ev_unexpected
);
  typedef struct packed {
    logic         mine;   // a tag of this function
    logic         fails;  // error status, or poisoned
    logic [T-1:0] slot;
    logic [11:0]  count;
    logic [6:0]   lower;
    logic [10:0]  len;
    logic [S:0]   size, got;  // of its tag: constant while the tag waits, except for what ends in this very cycle
    logic [3:0]   low;
  } completion_t;
  typedef struct packed {
    logic        ok, last;
    logic [63:0] data;
  } quad_t;
  completion_t  cpl_d, cpl;
  quad_t        quad_d, quad;
  logic         quad_valid;
  logic [S:0]   now_at, now_got;  // of wr_tag: the next quadword; all when the completion is complete
  assign look_tag = c_tag[T-1:0];
  always_comb begin
    cpl_d.mine  = 32'(c_tag) < TAGS && c_requester == id;
    cpl_d.fails = c_status != '0 || !c_data || c_poisoned;
    cpl_d.slot  = look_tag;
    cpl_d.count = c_count;
    cpl_d.lower = c_lower;
    cpl_d.len   = c_len;
    cpl_d.size  = look_size;
    cpl_d.got   = ends && wr_tag == look_tag ? now_got : look_got;
    cpl_d.low   = look_low;
    quad_d.ok   = q_ok;
    quad_d.last = q_last;
    quad_d.data = q_data;
  end
  always_ff @(posedge clk) begin
    cpl_valid  <= !rst && c_valid;
    quad_valid <= !rst && q_valid;
    if (c_valid) cpl <= cpl_d;
    if (q_valid) quad <= quad_d;
  end

  // ---- the conditions under which it counts ----
  logic         c_known, c_fits, c_fails, c_counts, accepted;
  logic [S:0]   c_left;
  assign c_known  = cpl.mine && waiting[cpl.slot];
  assign c_left   = cpl.size - cpl.got;
  assign c_fits   = cpl.count == 12'({c_left, 3'h0}) && cpl.lower == {4'(cpl.low + 4'(cpl.got)), 3'h0} &&
      !cpl.len[0] && cpl.len <= 11'({c_left, 1'b0});
  assign c_fails  = cpl_valid && c_known && cpl.fails;
  assign c_counts = cpl_valid && c_known && !cpl.fails && c_fits;
  always_ff @(posedge clk) begin
    if (cpl_valid) begin
      wr_tag   <= cpl.slot;
      now_at   <= cpl.got;
      now_got  <= cpl.got + (S + 1)'(cpl.len >> 1);
      accepted <= c_counts;
    end else if (quad_valid) now_at <= now_at + 1'b1;
    if (rst || flr || (!cpl_valid && expires[wr_tag])) accepted <= 1'b0;
  end
  // The tag is told a cycle later; the next completion comes later still.
  always_ff @(posedge clk) begin
    failed     <= !rst && c_fails;
    failed_tag <= cpl.slot;
  end
  logic broken;  // a quadword of it was corrupt
  assign ends        = quad_valid && quad.last && accepted && waiting[wr_tag];
  assign ends_broken = broken || !quad.ok;
  assign ends_got    = now_got;
  always_ff @(posedge clk) broken <= !cpl_valid && (broken || (quad_valid && !quad.ok));
  assign wr_valid = quad_valid && accepted;
  assign wr_at    = now_at[S-1:0];
  assign wr_data  = quad.data;
  always_ff @(posedge clk) begin
    ev_failed     <= !rst && (c_fails || (ends && ends_broken));
    ev_unexpected <= !rst && cpl_valid && !c_fails && !c_counts;
  end
endmodule
