// rma_sender: the sending end of the RMA requester and responder.
//
// Job: BUFFERS packets: one leaves as header, extension flit, quadwords and tail with CRC while the others are promised
//   or filled; then the notification that belongs to it is asked for. A job may have no packet (an error found before
//   anything was sent) or no notification; they are done in order.
// Handshake: reserve, while ready, promises a buffer; promised ones are filled in order: quadwords are put at q_index,
//   and commit ends the job, in the same cycle as its last quadword or later. Flits out by valid/ready. noti_valid
//   holds until noti_done.
// Back-pressure: ready falls while all buffers are promised or taken.
module rma_sender #(
    parameter int BUFFERS = nicloop_pkg::RMA_UNDER_WAY  // a power of two
) (
    input  logic         clk,
    input  logic         rst,
    output logic         ready,
    input  logic         reserve,
    input  logic         q_valid,
    input  logic [5:0]   q_index,
    input  logic [63:0]  q_data,
    input  logic         commit,
    input  logic         job_packet,
    input  logic [63:0]  job_header,  // its length says how many quadwords follow
    input  logic [63:0]  job_ext,
    input  logic [31:0]  job_stamp,   // for the tail: life and domain of the process that asked
    input  logic         job_noti,
    input  logic [3:0]   job_vpid,    // whose ring
    input  logic [15:0]  job_life,    // of the process that is told; its domain is that of the tail
    input  logic [127:0] job_words,   // the notification
    output logic         tx_valid,
    input  logic         tx_ready,
    output logic         tx_head,
    output logic         tx_tail,
    output logic [63:0]  tx_data,
    output logic         noti_valid,
    output logic [3:0]   noti_vpid,
    output logic [127:0] noti_words,
    output logic [31:0]  noti_stamp,
    input  logic         noti_done,
    output logic         ev_packet,
    output logic         ev_done,     // the job of noti_vpid is over
    output logic         idle,
    output logic         active
);
  localparam int QUADS = nicloop_pkg::RMA_MTU / 8;
  localparam int IDX_W = $clog2(QUADS);
  localparam int PTR_W = $clog2(BUFFERS);

  typedef struct packed {  // format tail, above its CRC
    logic [15:0] life, pdid;
  } stamp_t;
  typedef struct packed {
    logic         packet;     // there is one
    logic [63:0]  header, ext;
    stamp_t       stamp;
    logic         noti;       // and a notification
    logic [3:0]   vpid;
    logic [15:0]  life;
    logic [127:0] words;
  } job_t;
  job_t job, put;  // the oldest; the one that is committed

  logic [63:0]      quads[BUFFERS * QUADS];
  logic [$bits(put)-1:0] jobs[BUFFERS];         // of job_t, by whose name yosys 0.23 cannot index
  logic [PTR_W:0]   promised, filled, drained;  // so far, modulo 2 * BUFFERS
  logic [PTR_W-1:0] fill_at, drain_at;
  logic             full, next;
  assign fill_at  = filled[PTR_W-1:0];
  assign drain_at = drained[PTR_W-1:0];
  assign ready    = promised - drained != (PTR_W + 1)'(BUFFERS);
  assign full     = filled != drained;  // a whole job is there

  always_ff @(posedge clk) if (q_valid) quads[{fill_at, q_index[IDX_W-1:0]}] <= q_data;
  always_comb begin
    put.packet = job_packet;
    put.header = job_header;
    put.ext    = job_ext;
    put.stamp  = job_stamp;
    put.noti   = job_noti;
    put.vpid   = job_vpid;
    put.life   = job_life;
    put.words  = job_words;
  end
  always_ff @(posedge clk) if (commit) jobs[fill_at] <= put;
  assign job = jobs[drain_at];
  always_ff @(posedge clk) begin
    if (rst) begin
      promised <= '0;
      filled   <= '0;
      drained  <= '0;
    end else begin
      if (reserve) promised <= promised + 1'b1;
      if (commit) filled <= filled + 1'b1;
      if (next) drained <= drained + 1'b1;
    end
  end

  logic        sent;                // the packet has left, the notification is due
  // 0 header, 1 extension flit, then quadwords, last is the tail; known behind the header
  logic [6:0]  pos, last;
  logic [6:0]  pos_next;
  logic [IDX_W-1:0] at_next;
  logic [63:0] quad;                // of pos, read a cycle ahead, so that the buffers are a block RAM
  logic        on_tail;             // pos == last, known before the job is read
  logic [31:0] crc;
  logic [63:0] word;                // header, extension flit or quadword
  stamp_t      stamp_was;           // of a tail, whose job stood there the cycle before
  /* verilator lint_off UNUSEDSIGNAL */  // all of it leaves, but one field is looked at
  nicloop_pkg::header_t header;     // length: of the extension flit and what follows it, in bytes
  /* verilator lint_on UNUSEDSIGNAL */
  assign header     = job.header;
  assign noti_vpid  = job.vpid;
  assign noti_words = job.words;
  assign noti_stamp = {job.life, job.stamp.pdid};

  assign tx_valid   = full && job.packet && !sent;
  assign tx_head    = pos == '0;
  assign tx_tail    = on_tail;
  assign ev_packet  = tx_valid && tx_ready && tx_tail;
  assign noti_valid = full && job.noti && (sent || !job.packet);
  assign next       = full && (job.noti ? noti_done : job.packet ? ev_packet : 1'b1);
  assign ev_done    = next;
  assign word       = tx_head ? job.header : pos == 7'd1 ? job.ext : quad;
  assign tx_data    = tx_tail ? {stamp_was, crc} : word;
  // The header's answer and mark bits are 0 here, so the CRC needs no mask.
  crc32_sender u_crc (
      .clk, .send(tx_valid && tx_ready), .head(tx_head), .tail(tx_valid && tx_tail), .data(word), .stamp(stamp_was),
      .crc
  );

  assign pos_next = !(tx_valid && tx_ready) ? pos : on_tail ? '0 : pos + 1'b1;
  assign at_next  = IDX_W'(pos_next - 7'd2);
  always_ff @(posedge clk) quad <= quads[{drain_at, at_next}];
  always_ff @(posedge clk) begin
    stamp_was <= job.stamp;
    if (rst) begin
      pos     <= '0;
      on_tail <= 1'b0;
      sent    <= 1'b0;
    end else begin
      if (tx_valid && tx_ready) begin
        pos     <= pos_next;
        on_tail <= !on_tail && !tx_head && pos_next == last;
      end
      if (next) sent <= 1'b0;
      else if (ev_packet) sent <= 1'b1;
    end
  end
  always_ff @(posedge clk) if (tx_head) last <= 7'((header.length + 10'd7) >> 3) + 7'd1;

  assign idle   = promised == drained;
  assign active = commit || q_valid || (tx_valid && tx_ready) || next;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!reserve || ready) else $error("rma_sender %m: no buffer is free");
      assert (!(commit || q_valid) || filled != promised || reserve)
          else $error("rma_sender %m: no buffer was promised");
      assert (!tx_valid || header.length != '0) else $error("rma_sender %m: a packet without extension flit");
      assert (!tx_valid || (header.answer == '0 && header.mark == '0))
          else $error("rma_sender %m: header %016x has bits that the CRC leaves out", job.header);
    end
`endif
endmodule
