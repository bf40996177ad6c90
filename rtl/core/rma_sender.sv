// rma_sender: the sending end of the RMA requester and responder.
//
// Job: BUFFERS packets: one is sent as header, extension flit, quadwords and tail with CRC while
//   the others are reserved or filled; then its notification is requested. A job may have no packet
//   (an error found before anything was sent) or no notification; jobs are done in order.
// Handshake: reserve, while ready, reserves a buffer; reserved ones are filled in order: quadwords
//   are put at q_index, and commit ends the job, in the same cycle as its last quadword or later.
//   Flits out by valid/ready. noti_valid is high until noti_done.
// Backpressure: ready falls while all buffers are reserved or in use.
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
    input  logic [63:0]  job_header,  // its length is the number of quadwords that follow
    input  logic [63:0]  job_ext,
    input  logic [31:0]  job_stamp,   // for the tail: life and domain of the process that asked
    input  logic         job_noti,
    input  logic [3:0]   job_vpid,    // whose ring
    input  logic [15:0]  job_life,    // of the notified process; its domain is that of the tail
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

  typedef struct packed {
    logic         packet;     // there is one
    logic [63:0]  header, ext;
    logic [nicloop_pkg::STAMP_W-1:0] stamp;  // stamp_t
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
  nicloop_pkg::stamp_t stamp_was;           // of a tail, whose job stood there the cycle before
  /* verilator lint_off UNUSEDSIGNAL */  // all of it leaves, but one field is looked at
  nicloop_pkg::header_t header;     // length: of the extension flit and what follows it, in bytes
  /* verilator lint_on UNUSEDSIGNAL */
  assign header     = job.header;
  assign noti_vpid  = job.vpid;
  assign noti_words = job.words;
  assign noti_stamp = {job.life, job.stamp[15:0]};

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
`ifdef FORMAL
  // Every job is done once, in order and whole: its packet leaves as header, extension flit,
  // quadwords and tail, then its notification is asked for, and its buffer is promised to nobody
  // else before that. Bit 0 stands for a flit, two quadwords for all. Taken for granted is what the
  // owner keeps. The CRC has a proof of its own.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  nicloop_pkg::header_t put_header;
  assign put_header = job_header;
  logic [PTR_W:0] owed, whole;  // promised and not filled; filled and not done
  always_comb begin
    if (!formal_started) assume (rst);
    assume (!reserve || ready);
    assume (!(commit || q_valid) || owed != '0 || reserve);
    assume (!commit || (put_header.length >= 10'd8 && put_header.length <= 10'd24));
    assume (!noti_done || noti_valid);
    assume (!q_valid || 7'(q_index) < 7'(QUADS));
  end
  typedef struct packed {
    logic       packet, noti, head, ext, pdid, life, word;
    logic [9:0] length;
    logic [3:0] vpid;
    logic       quad_0, quad_1, known_0, known_1;  // the first two quadwords, and which of them were put
  } model_t;
  model_t     coming, oldest, younger;
  logic [1:0] fill_quad, fill_known, now_quad, now_known;
  logic [6:0] model_pos, model_last;
  logic       model_sent, fires, ends, retires;
  always_comb begin
    for (int i = 0; i < 2; i++) begin
      now_quad[i]  = q_valid && q_index == 6'(i) ? q_data[0] : fill_quad[i];
      now_known[i] = (q_valid && q_index == 6'(i)) || fill_known[i];
    end
    coming.packet = job_packet;
    coming.noti   = job_noti;
    coming.head   = job_header[0];
    coming.ext    = job_ext[0];
    coming.pdid   = job_stamp[0];
    coming.life   = job_life[0];
    coming.word   = job_words[0];
    coming.length = put_header.length;
    coming.vpid   = job_vpid;
    coming.quad_0  = now_quad[0];
    coming.quad_1  = now_quad[1];
    coming.known_0 = now_known[0];
    coming.known_1 = now_known[1];
  end
  assign model_last = 7'((oldest.length + 10'd7) >> 3) + 7'd1;
  assign fires      = tx_valid && tx_ready;
  assign ends       = fires && model_pos == model_last;
  assign retires    = whole != '0 && (oldest.noti ? noti_done : oldest.packet ? ends : 1'b1);
  always_ff @(posedge clk) begin
    owed       <= rst ? '0 : owed + (PTR_W + 1)'(reserve) - (PTR_W + 1)'(commit);
    whole      <= rst ? '0 : whole + (PTR_W + 1)'(commit) - (PTR_W + 1)'(retires);
    model_pos  <= rst || ends ? '0 : model_pos + 7'(fires);
    model_sent <= !rst && !retires && (model_sent || ends);
    fill_quad  <= now_quad;
    fill_known <= rst || commit ? '0 : now_known;
    if (retires || whole == '0) oldest <= whole == (PTR_W + 1)'(2) ? younger : coming;
    if (commit && whole == (PTR_W + 1)'(1) && !retires) younger <= coming;
  end
  logic [PTR_W-1:0] second_at;
  job_t first_job, second_job;
  assign second_at  = drain_at + 1'b1;
  assign first_job  = jobs[drain_at];
  assign second_job = jobs[second_at];
  // yosys 0.23 does not cut bits out of a field.
  logic [63:0]  first_head, first_ext, second_head, second_ext;
  logic [31:0]  first_stamp, second_stamp, stamp_bits;
  logic [15:0]  first_life, second_life;
  logic [127:0] first_words, second_words;
  assign first_head   = first_job.header;
  assign first_ext    = first_job.ext;
  assign first_stamp  = first_job.stamp;
  assign first_life   = first_job.life;
  assign first_words  = first_job.words;
  assign second_head  = second_job.header;
  assign second_ext   = second_job.ext;
  assign second_stamp = second_job.stamp;
  assign second_life  = second_job.life;
  assign second_words = second_job.words;
  assign stamp_bits   = stamp_was;
  nicloop_pkg::header_t first_header, second_header;
  assign first_header  = first_job.header;
  assign second_header = second_job.header;
  always_comb
    if (formal_started && !rst) begin
      assert (ready == (owed + whole != (PTR_W + 1)'(BUFFERS)) && idle == (owed + whole == '0));
      assert (tx_valid == (whole != '0 && oldest.packet && !model_sent));
      if (tx_valid) begin
        assert (tx_head == (model_pos == '0) && tx_tail == (model_pos == model_last));
        if (tx_head) assert (tx_data[0] == oldest.head);
        if (model_pos == 7'd1) assert (tx_data[0] == oldest.ext);
        if (tx_tail) assert (tx_data[32] == oldest.pdid);
        if (model_pos == 7'd2 && !tx_tail && oldest.known_0) assert (tx_data[0] == oldest.quad_0);
        if (model_pos == 7'd3 && !tx_tail && oldest.known_1) assert (tx_data[0] == oldest.quad_1);
      end
      assert (ev_packet == ends && ev_done == retires);
      assert (noti_valid == (whole != '0 && oldest.noti && (model_sent || !oldest.packet)));
      if (noti_valid)
        assert (noti_vpid == oldest.vpid && noti_words[0] == oldest.word && noti_stamp[0] == oldest.pdid &&
            noti_stamp[16] == oldest.life);
      // what makes it inductive
      assert (owed == promised - filled && whole == filled - drained);
      assert (32'(owed) + 32'(whole) <= BUFFERS);
      assert (pos == model_pos && sent == model_sent);
      assert (whole != '0 || (model_pos == '0 && !model_sent));
      assert (!model_sent || (model_pos == '0 && oldest.packet && oldest.noti));
      assert (on_tail == (model_pos != '0 && model_pos == model_last));
      if (model_pos != '0) assert (oldest.packet && last == model_last && model_pos <= model_last);
      if (whole != '0) begin
        assert (first_job.packet == oldest.packet && first_job.noti == oldest.noti && first_ext[0] == oldest.ext);
        assert (first_head[0] == oldest.head && first_header.length == oldest.length);
        assert (first_stamp[0] == oldest.pdid && first_life[0] == oldest.life);
        assert (first_words[0] == oldest.word && first_job.vpid == oldest.vpid);
        assert (oldest.length >= 10'd8 && oldest.length <= 10'd24);
        if (oldest.known_0) assert (quads[{drain_at, IDX_W'(0)}][0] == oldest.quad_0);
        if (oldest.known_1) assert (quads[{drain_at, IDX_W'(1)}][0] == oldest.quad_1);
        if (model_pos != '0) assert (stamp_bits[0] == oldest.pdid);
        if (model_pos == 7'd2 && oldest.known_0) assert (quad[0] == oldest.quad_0);
        if (model_pos == 7'd3 && oldest.known_1) assert (quad[0] == oldest.quad_1);
      end
      if (whole == (PTR_W + 1)'(2)) begin
        assert (second_job.packet == younger.packet && second_job.noti == younger.noti);
        assert (second_ext[0] == younger.ext && second_head[0] == younger.head);
        assert (second_stamp[0] == younger.pdid && second_life[0] == younger.life);
        assert (second_words[0] == younger.word && second_job.vpid == younger.vpid);
        assert (second_header.length == younger.length && younger.length >= 10'd8 && younger.length <= 10'd24);
        if (younger.known_0) assert (quads[{second_at, IDX_W'(0)}][0] == younger.quad_0);
        if (younger.known_1) assert (quads[{second_at, IDX_W'(1)}][0] == younger.quad_1);
      end
      for (int i = 0; i < 2; i++)
        if (fill_known[i]) assert (owed != '0 && quads[{fill_at, IDX_W'(i)}][0] == fill_quad[i]);
    end
  always_ff @(posedge clk) begin
    cover (formal_started && !rst && ends && model_pos == 7'd4 && whole == (PTR_W + 1)'(2) && oldest.known_0 &&
        oldest.known_1);
    cover (formal_started && !rst && retires && oldest.noti && !oldest.packet && younger.packet && whole[1]);
  end
`endif
endmodule
