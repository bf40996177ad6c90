// fragments_in_flight: the RMA fragments that rma_requester has started and not yet retired.
//
// Job: keeps one entry per fragment, oldest first: its process, whether it reads memory, and
//   whether it is the last of its descriptor. When a read fails, the descriptor ends with that
//   fragment: its younger fragments are cancelled, up to the one that ends the descriptor; if that
//   one has not passed yet, the process is marked as broken until it does. Counts per process the
//   fragments that have passed and are not yet sent or notified.
// Handshake: pass, a pulse, appends the fragment of pass_*. oldest_* describe entry 0, which
//   retires at once, or with read_done if it reads. fails, together with retire: its read has
//   failed, and no older failure has cancelled it. notified, a pulse: the fragment of notified_vpid
//   is sent and notified.
// Backpressure: none; rma_requester passes a fragment only when a packet buffer is reserved for it,
//   and there are BUFFERS of these.
//
//   entry   empty -pass-> in flight -retire-> empty
//                            | an older read of its descriptor fails
//                            v
//                         cancelled -retire-> empty    neither packet nor notification
module fragments_in_flight #(
    parameter int BUFFERS = nicloop_pkg::RMA_UNDER_WAY,
    localparam int VPIDS = nicloop_pkg::VPIDS
) (
    input  logic             clk,
    input  logic             rst,
    // a fragment passes
    input  logic             pass,
    input  logic [3:0]       pass_vpid,
    input  logic             pass_reads,
    input  logic             pass_ends,         // it is the last of its descriptor
    input  logic             pass_killed,       // its descriptor had failed before
    output logic [VPIDS-1:0] broken,            // the descriptor has failed; rma_window still offers it
    // the oldest
    input  logic             read_done,         // its read is complete
    input  logic             read_error,
    output logic             oldest_valid,
    output logic             oldest_reads,
    output logic             oldest_cancelled,
    output logic [3:0]       oldest_vpid,
    output logic             retire,
    output logic             fails,
    // levels
    input  logic             notified,
    input  logic [3:0]       notified_vpid,
    input  logic [3:0]       level_vpid,
    output logic [4:0]       level_of           // fragments of level_vpid not yet sent or not yet notified
);
  logic [3:0]         vpids[BUFFERS];  // entry 0 is the oldest
  logic [BUFFERS-1:0] held, reads, last_of_desc, cancelled;
  assign oldest_valid     = held[0];
  assign oldest_reads     = reads[0];
  assign oldest_cancelled = cancelled[0];
  assign oldest_vpid      = vpids[0];
  assign retire           = held[0] && (!reads[0] || read_done);
  assign fails            = held[0] && reads[0] && read_done && read_error && !cancelled[0];

  // ---- a failed read cancels the younger fragments of its descriptor ----
  logic [BUFFERS-1:0] same_vpid, desc_ends, cancel;
  logic               desc_open;  // the fragment that ends the descriptor has not passed yet
  always_comb for (int i = 0; i < BUFFERS; i++) same_vpid[i] = i > 0 && held[i] && vpids[i] == vpids[0];
  assign desc_ends = same_vpid & last_of_desc;
  assign desc_open = fails && !last_of_desc[0] && desc_ends == '0;
  assign cancel    = fails && !last_of_desc[0] ? same_vpid & (desc_ends ^ (desc_ends - 1'b1)) : '0;
  always_ff @(posedge clk) begin
    if (rst) broken <= '0;
    else begin
      if (desc_open) broken[vpids[0]] <= 1'b1;
      if (pass && pass_killed) broken[pass_vpid] <= 1'b0;
    end
  end

  // ---- entries: a shift register ----
  logic [BUFFERS-1:0] entry;  // one-hot: where the fragment that passes is stored
  assign entry = retire ? held & ~(held >> 1) : ~held & {held[BUFFERS-2:0], 1'b1};
  always_ff @(posedge clk) begin
    for (int i = 0; i < BUFFERS; i++) begin
      if (rst) held[i] <= 1'b0;
      else if (pass && entry[i]) held[i] <= 1'b1;
      else if (retire) held[i] <= i + 1 < BUFFERS ? held[(i+1)%BUFFERS] : 1'b0;
      if (pass && entry[i]) begin
        vpids[i]        <= pass_vpid;
        reads[i]        <= pass_reads;
        last_of_desc[i] <= pass_ends;
        cancelled[i]    <= 1'b0;
      end else if (retire) begin
        vpids[i]        <= vpids[(i+1)%BUFFERS];
        reads[i]        <= reads[(i+1)%BUFFERS];
        last_of_desc[i] <= last_of_desc[(i+1)%BUFFERS];
        cancelled[i]    <= cancelled[(i+1)%BUFFERS] || cancel[(i+1)%BUFFERS];
      end
    end
  end

  // ---- levels ----
  logic [4:0] levels[VPIDS];
  assign level_of = levels[level_vpid];
  always_ff @(posedge clk) begin
    if (rst) for (int v = 0; v < VPIDS; v++) levels[v] <= '0;
    else if (!(pass && notified && pass_vpid == notified_vpid)) begin
      if (pass) levels[pass_vpid] <= levels[pass_vpid] + 1'b1;
      if (notified) levels[notified_vpid] <= levels[notified_vpid] - 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert ((held & (held + 1'b1)) == '0) else $error("fragments_in_flight %m: a gap between entries");
`endif
endmodule
