// rma_requester: turns descriptors into RMA request packets.
//
// Job: serves processes round-robin, one fragment at a time. A fragment is at most RMA_MTU bytes
//   and crosses no 4 KB boundary on either side, so that one translation covers all of it. The data
//   of a PUT is translated and read here, while the data of earlier fragments arrives; the other
//   commands contain theirs. An error in a descriptor ends it with an error notification; neither
//   the failing fragment nor a later one is sent. A descriptor that is dead, because its window was
//   switched off, ends without a notification.
// Handshake: rma_window's head and pop; client of the ATU and of the AXI read master; rma_sender's
//   flits and notifications. fence: atu_hold refers to the accesses before it.
// Backpressure: without a free packet buffer no fragment is started; descriptors wait in the
//   window's FIFOs.
module rma_requester #(
    parameter int BUFFERS = nicloop_pkg::RMA_UNDER_WAY,  // fragments begun that have not left; a power of two
    localparam int VPIDS = nicloop_pkg::VPIDS
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [11:0]      here,
    input  logic [11:0]      nodes,      // that exist
    input  logic [VPIDS-1:0] waiting,
    output logic [3:0]       head_vpid,
    input  logic [191:0]     head,
    input  logic             head_dead,
    input  logic [511:0]     stamps,     // {life, pdid} by VPID
    output logic             pop,
    // translation
    output logic             atu_valid,
    output logic [47:0]      atu_nla,
    output logic [3:0]       atu_vpid,
    input  logic             atu_done,
    input  logic [3:0]       atu_error,
    input  logic [63:0]      atu_addr,
    input  logic             fence,
    output logic             atu_hold,   // an address is wanted or in use
    // AXI4 read master
    output logic             m_arvalid,
    input  logic             m_arready,
    output logic [63:0]      m_araddr,
    output logic [7:0]       m_arlen,
    input  logic             m_rvalid,
    output logic             m_rready,
    input  logic [63:0]      m_rdata,
    input  logic [1:0]       m_rresp,
    input  logic             m_rlast,
    // flits
    output logic             tx_valid,
    input  logic             tx_ready,
    output logic             tx_head,
    output logic             tx_tail,
    output logic [63:0]      tx_data,
    // notifications
    output logic             noti_valid,
    output logic [3:0]       noti_vpid,
    output logic [127:0]     noti_words,
    output logic [31:0]      noti_stamp,
    input  logic             noti_done,
    output logic             ev_packet,
    output logic             ev_error,
    output logic             ev_purged,
    input  logic [3:0]       level_vpid,
    output logic [4:0]       level_of,   // fragments of level_vpid that are not yet sent or not yet notified
    output logic             idle,
    output logic             active
);
  localparam logic [3:0] PUT = nicloop_pkg::RMA_COMMAND_PUT, GET = nicloop_pkg::RMA_COMMAND_GET,
      IMM_PUT = nicloop_pkg::RMA_COMMAND_IMM_PUT, NOTI_PUT = nicloop_pkg::RMA_COMMAND_NOTI_PUT,
      FCAA = nicloop_pkg::RMA_COMMAND_FCAA;
  localparam logic [3:0] GOOD = nicloop_pkg::RMA_ERROR_NONE, BOUNDS = nicloop_pkg::RMA_ERROR_BOUNDS,
      BAD_COMMAND = nicloop_pkg::RMA_ERROR_BAD_COMMAND;

  // ---- which process ----
  typedef enum logic [2:0] {IDLE, LOAD, HOLD, SPLIT, MEASURE, CHECK, TRANSLATE, PASS} state_t;
  state_t           state;
  logic [VPIDS-1:0] after, behind;  // the processes above the one that was served last; those of them that wait
  logic             sender_ready, begin_one;
  // The lowest number, by fours: the number is wanted, and one-hot grants would have to be encoded.
  function automatic logic [3:0] lowest(input logic [VPIDS-1:0] x);
    lowest = 4'd12;
    for (int i = 3; i >= 0; i--)
      if (x[4*i+:4] != '0) lowest = {2'(i), !(x[4*i] || x[4*i+1]), !x[4*i] && (x[4*i+1] || !x[4*i+2])};
  endfunction
  assign behind    = waiting & after;
  assign begin_one = state == IDLE && sender_ready && |waiting;
  always_ff @(posedge clk) begin
    if (begin_one) head_vpid <= |behind ? lowest(behind) : lowest(waiting);
    if (rst) after <= '0;
    // With ~ in front of the cast itself yosys 0.23 would invert VPIDS, the width.
    else if (state == LOAD) after <= (~(VPIDS'(1))) << head_vpid;
  end

  // ---- its descriptor, by the output of its RAM, and how far it is ----
  typedef struct packed {
    logic [63:0] word2, word1, word0;  // word0: format rma_desc, which determines the format of the others
  } desc_t;
  desc_t        loaded, desc;
  logic [22:0]  progress[VPIDS];
  logic [22:0]  offset;
  always_ff @(posedge clk)
    if (state == LOAD) begin
      loaded <= head;
      offset <= progress[head_vpid];
    end
  always_ff @(posedge clk) if (state == HOLD) desc <= loaded;

  nicloop_pkg::rma_desc_t word0;
  logic [3:0]  command;
  logic        to_read, to_write;
  logic [22:0] bytes_minus_1;
  assign word0    = desc.word0;
  assign command  = word0.command;
  assign to_read  = command == PUT || command == GET;                  // word1 is an NLA
  assign to_write = to_read || command == IMM_PUT || command == FCAA;  // word2 is one
  always_comb begin
    case (command)
      NOTI_PUT: bytes_minus_1 = 23'd7;
      FCAA: bytes_minus_1 = 23'd3;
      default: bytes_minus_1 = word0.bytes_minus_1;
    endcase
  end

  // ---- this fragment: where it starts and what could end it, then its bytes. All lengths minus
  // 1 ----
  localparam logic [7:0] MOST = 8'(nicloop_pkg::RMA_MTU - 1);
  logic [47:0] read_from, write_from, read_nla, write_nla;
  logic [22:0] rest;
  logic [7:0]  rest_end, read_end, write_end;  // last byte up to which the descriptor, and the 4 KB of its sides, go
  logic        more;                           // than a fragment can have are left
  logic [3:0]  judged, verdict;
  logic [7:0]  last_byte;
  logic [9:0]  bytes;
  logic        last;
  assign read_from  = desc.word1[47:0] + 48'(offset);
  assign write_from = desc.word2[47:0] + 48'(offset);
  assign rest       = bytes_minus_1 - offset;
  always_ff @(posedge clk)
    if (state == SPLIT) begin
      read_nla  <= read_from;
      write_nla <= write_from;
      read_end  <= to_read && read_from[11:8] == '1 ? ~read_from[7:0] : MOST;
      write_end <= to_write && write_from[11:8] == '1 ? ~write_from[7:0] : MOST;
      rest_end  <= rest[7:0];
      more      <= rest[22:8] != '0;
    end
  logic least;
  assign least = !more && rest_end <= read_end && rest_end <= write_end;
  always_ff @(posedge clk)
    if (state == MEASURE) begin
      verdict   <= judged;
      last      <= least;
      last_byte <= least ? rest_end : read_end <= write_end ? read_end : write_end;
    end
  assign bytes = 10'(last_byte) + 10'd1;

  // What is wrong is found out beside the split, and weighed beside the measure. An NLA has 48
  // bits, and no operation leaves its table.
  function automatic logic outside(input logic [63:0] nla, input logic [22:0] size);
    outside = nla[63:48] != '0 || ({1'b0, nla[43:0]} + 45'(size) >> 44) != '0;
  endfunction
  logic unknown, nowhere, reads_outside, writes_outside;
  always_ff @(posedge clk)
    if (state == SPLIT) begin
      unknown <= command == 4'd0 || command > FCAA || (command == IMM_PUT && bytes_minus_1 > 23'd7) ||
          (command == FCAA && desc.word2[1:0] != '0);
      nowhere        <= word0.dst_node >= nodes;
      reads_outside  <= outside(desc.word1, bytes_minus_1);
      writes_outside <= outside(desc.word2, bytes_minus_1);
    end
  always_comb begin
    if (unknown) judged = BAD_COMMAND;
    else if (nowhere) judged = nicloop_pkg::RMA_ERROR_NO_SUCH_NODE;
    else if ((to_read && reads_outside) || (to_write && writes_outside)) judged = BOUNDS;
    else judged = GOOD;
  end

  // ---- steps ----
  logic [3:0]  error, late_error;
  logic [63:0] addr;
  // kill: the descriptor has failed already; fails: one has right now
  logic        pass, ends, kill, fails, read_ready, read_start, began, epoch;
  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (begin_one) state <= LOAD;
        LOAD: state <= HOLD;
        HOLD: state <= SPLIT;
        SPLIT: state <= MEASURE;
        MEASURE: state <= CHECK;
        CHECK: if (!fails) state <= pass ? IDLE : TRANSLATE;
        TRANSLATE: if (atu_done) state <= PASS;
        default: if (pass) state <= IDLE;
      endcase
  end
  always_ff @(posedge clk)
    if (atu_done) begin
      late_error <= atu_error;
      addr       <= atu_addr;
    end
  assign error      = state == CHECK ? verdict : late_error;
  // What a read that fails does to this one is known a cycle later.
  assign pass       = !fails && ((state == CHECK && (command != PUT || verdict != GOOD || kill)) ||
      (state == PASS && (read_ready || late_error != GOOD)));
  assign ends       = last || error != GOOD || kill;
  assign pop        = pass && ends;
  assign read_start = state == PASS && pass && late_error == GOOD && !kill;
  assign atu_valid  = state == TRANSLATE;
  assign atu_nla    = read_nla;
  assign atu_vpid   = head_vpid;

  logic        read_valid, read_done, read_tag, read_error;
  logic [5:0]  read_index;
  logic [63:0] read_data;
  always_ff @(posedge clk) if (state == CHECK) began <= epoch;
  access_epoch u_accesses (
      .clk, .rst, .fence, .enter(state == CHECK && !pass && !fails), .epoch,
      .left({read_done, state == PASS && pass && !read_start}), .left_epoch({read_tag, began}), .hold(atu_hold)
  );

  // How far each process's descriptor is, written a cycle later: it is read two cycles later at the
  // earliest.
  logic [4:0]  clear;  // after reset every process starts at offset 0
  logic        moved, moved_ends;
  logic [3:0]  moved_vpid;
  logic [22:0] moved_from;
  logic [7:0]  moved_last;
  always_ff @(posedge clk) begin
    if (rst) clear <= '0;
    else if (!clear[4]) clear <= clear + 1'b1;
  end
  always_ff @(posedge clk) begin
    moved      <= pass;
    moved_ends <= ends;
    moved_vpid <= head_vpid;
    moved_from <= offset;
    moved_last <= last_byte;
  end
  always_ff @(posedge clk)
    if (!clear[4] || moved)
      progress[clear[4] ? moved_vpid : clear[3:0]] <= !clear[4] || moved_ends ? '0 :
          moved_from + 23'(moved_last) + 1'b1;

  // ---- the fragment: its packet and its notification ----
  typedef struct packed {
    logic [15:0] life, pdid;  // of the process, as they are when the fragment passes
    logic        packet;      // one is to leave
    logic        notifies;    // the process is notified
    logic [63:0] header;
    logic [63:0] ext;         // of the packet, and of the notification with noti_nla instead
    logic [63:0] quad;        // behind it, where nothing is read
    logic [63:0] noti;
    logic [47:0] noti_nla;    // this node's side, where there is one
  } fragment_t;
  fragment_t   fragment;      // that passes
  // Of it, by format.
  nicloop_pkg::header_t   header;
  nicloop_pkg::rma_op_t   op;
  nicloop_pkg::rma_ext_t  ext;
  nicloop_pkg::rma_get_t  get;
  nicloop_pkg::rma_noti_t noti;
  always_comb begin
    op                = '0;
    op.last           = last;
    op.noti_requester = word0.noti_requester;
    op.noti_responder = word0.noti_responder;
    op.noti_completer = word0.noti_completer;
    op.each           = word0.each;

    get               = '0;
    get.nla           = write_nla;
    get.bytes_minus_1 = 10'(last_byte);

    noti               = '0;
    noti.bytes_minus_1 = error == BAD_COMMAND || error == BOUNDS ? bytes_minus_1 : 23'(last_byte);
    noti.unit          = nicloop_pkg::RMA_UNIT_REQUESTER;
    noti.command       = command;
    noti.error         = error;
    noti.last          = ends;
    noti.peer_vpid     = word0.dst_vpid;
    noti.peer_node     = word0.dst_node;
  end
  always_comb begin
    header            = '0;
    header.type_      = nicloop_pkg::PACKET_TYPE_RMA_PUT;
    header.length     = 10'd16;
    header.op         = op;
    header.src_vpid   = head_vpid;
    header.src_node   = here;
    header.dst_vpid   = word0.dst_vpid;
    header.dst_node   = word0.dst_node;
    ext.tag           = word0.tag;
    ext.nla           = write_nla;
    fragment.quad     = desc.word1;
    fragment.noti_nla = write_nla;
    case (command)
      GET: begin
        header.type_  = nicloop_pkg::PACKET_TYPE_RMA_GET_REQ;
        ext.nla       = read_nla;
        fragment.quad = get;
      end
      IMM_PUT: begin
        header.type_  = nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT;
        header.length = 10'(last_byte) + 10'd9;
        fragment.quad = desc.word1 >> {offset[2:0], 3'h0} & ~(64'hffffffff_ffffffff << {bytes[3:0], 3'h0});
      end
      NOTI_PUT: begin
        header.type_      = nicloop_pkg::PACKET_TYPE_RMA_NOTI;
        ext.nla           = '0;
        fragment.noti_nla = '0;
      end
      FCAA: header.type_ = nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ;
      default: begin
        header.length     = 10'(last_byte) + 10'd9;
        fragment.noti_nla = read_nla;
      end
    endcase
    fragment.header                = header;
    fragment.ext                   = ext;
    fragment.noti                  = noti;
    {fragment.life, fragment.pdid} = stamps[{head_vpid, 5'h0}+:32];
    fragment.packet                = error == GOOD && !kill;
    fragment.notifies = !kill && (error != GOOD || (word0.noti_requester && (word0.each || last)));
  end

  // ---- fragments in flight, oldest first: packet and notification of each (u_jobs), its read,
  // and its state (u_fragments) ----
  logic [VPIDS-1:0] broken;
  logic [3:0]       oldest_vpid;
  logic             oldest_valid, oldest_reads, oldest_cancelled, job_valid, retire, ended;
  fragment_t   job;  // the oldest
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W($bits(job)), .DEPTH(BUFFERS)) u_jobs (
      .clk, .rst, .wr_valid(pass), .wr_ready(), .wr_data(fragment), .rd_valid(job_valid), .rd_ready(retire),
      .rd_data(job), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  dma_read #(.DEPTH(BUFFERS)) u_read (
      .clk, .rst, .ready(read_ready), .start(read_start), .addr, .bytes, .tag(began),
      .take(oldest_valid && oldest_reads), .q_valid(read_valid), .q_index(read_index), .q_data(read_data),
      .done(read_done), .done_tag(read_tag), .error(read_error), .m_arvalid, .m_arready, .m_araddr, .m_arlen, .m_rvalid,
      .m_rready, .m_rdata, .m_rresp, .m_rlast
  );
  fragments_in_flight #(.BUFFERS(BUFFERS)) u_fragments (
      .clk, .rst, .pass, .pass_vpid(head_vpid), .pass_reads(read_start), .pass_ends(ends), .pass_killed(kill), .broken,
      .read_done, .read_error, .oldest_valid, .oldest_reads, .oldest_cancelled, .oldest_vpid, .retire, .fails,
      .notified(ended), .notified_vpid(noti_vpid), .level_vpid, .level_of
  );
  assign kill      = head_dead || broken[head_vpid];
  assign ev_purged = pop && head_dead;

  nicloop_pkg::rma_noti_t told;      // the notification's second quadword
  nicloop_pkg::rma_ext_t  told_ext;  // and its first
  always_comb begin
    told = job.noti;
    if (fails) begin
      told.last  = 1'b1;
      told.error = nicloop_pkg::RMA_ERROR_DMA;
    end
    told_ext     = job.ext;
    told_ext.nla = job.noti_nla;
  end
  logic send_idle, send_active;
  rma_sender #(.BUFFERS(BUFFERS)) u_sender (
      .clk, .rst, .ready(sender_ready), .reserve(begin_one), .q_valid(read_valid || (retire && !oldest_reads)),
      .q_index(oldest_reads ? read_index : 6'd0), .q_data(oldest_reads ? read_data : job.quad), .commit(retire),
      .job_packet(job.packet && !fails && !oldest_cancelled), .job_header(job.header), .job_ext(job.ext),
      .job_stamp({job.life, job.pdid}), .job_life(job.life), .job_noti((job.notifies && !oldest_cancelled) || fails),
      .job_vpid(oldest_vpid), .job_words({told, told_ext}), .tx_valid, .tx_ready, .tx_head, .tx_tail, .tx_data,
      .noti_valid, .noti_vpid, .noti_words, .noti_stamp, .noti_done, .ev_packet, .ev_done(ended), .idle(send_idle),
      .active(send_active)
  );
  // An error that is not notified, because an earlier read has failed, does not count.
  assign ev_error = fails || (retire && job.notifies && !job.packet && !oldest_cancelled);

  assign idle   = state == IDLE && waiting == '0 && send_idle && clear[4];
  assign active = state != IDLE || begin_one || job_valid || send_active || !clear[4];

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (oldest_valid == job_valid) else $error("rma_requester: node %0d: lost count", here);
`endif
endmodule
