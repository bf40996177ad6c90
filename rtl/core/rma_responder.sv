// rma_responder: answers remote accesses to this node's memory.
//
// Job: GET_REQ: translate, read, send GET_RSP; the next one is translated and read while the data
//   of earlier ones arrives. LOCK_REQ: translate, read, compare and add, write, send LOCK_RSP;
//   alone, which makes it atomic with respect to all RMA requests. Every refusal returns to the
//   origin as an ERROR packet, also those found by the completer of requests (err_*). Answers leave
//   in the order of the requests.
// Handshake: flits in by valid/ready, answers out on their channel; client of the ATU and of both
//   AXI masters. fence: atu_hold refers to the accesses before it.
// Backpressure: without a free packet buffer no request is started, so requests wait until answers
//   have been sent.
module rma_responder #(
    parameter int BUFFERS = nicloop_pkg::RMA_UNDER_WAY  // requests begun whose answers have not left; a power of two
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [15:0]  rma_on,
    input  logic [511:0] stamps,     // {life, pdid} by VPID
    input  logic         moves,      // wr_vpid gets another domain in this cycle, wr_pdid
    input  logic [3:0]   wr_vpid,
    input  logic [15:0]  wr_pdid,
    input  logic         in_valid,
    output logic         in_ready,
    input  nicloop_pkg::flit_t in_flit,
    output logic         busy,       // a whole request waits or is worked on
    // errors of the completer: the packet that failed
    input  logic         err_valid,
    output logic         err_ready,
    input  logic [63:0]  err_header,
    input  logic [63:0]  err_ext,
    input  logic [31:0]  err_stamp,
    input  logic [3:0]   err_code,
    // translation
    output logic         atu_valid,
    output logic [47:0]  atu_nla,
    output logic [3:0]   atu_vpid,
    output logic [1:0]   atu_need,   // {write, read}
    input  logic         atu_done,
    input  logic [3:0]   atu_error,
    input  logic [63:0]  atu_addr,
    input  logic         fence,
    output logic         atu_hold,
    // AXI4 master
    output logic         m_arvalid,
    input  logic         m_arready,
    output logic [63:0]  m_araddr,
    output logic [7:0]   m_arlen,
    input  logic         m_rvalid,
    output logic         m_rready,
    input  logic [63:0]  m_rdata,
    input  logic [1:0]   m_rresp,
    input  logic         m_rlast,
    output logic         m_awvalid,
    input  logic         m_awready,
    output logic [63:0]  m_awaddr,
    output logic [7:0]   m_awlen,
    output logic         m_wvalid,
    input  logic         m_wready,
    output logic [63:0]  m_wdata,
    output logic [7:0]   m_wstrb,
    output logic         m_wlast,
    input  logic         m_bvalid,
    output logic         m_bready,
    input  logic [1:0]   m_bresp,
    // flits
    output logic         tx_valid,
    input  logic         tx_ready,
    output logic         tx_head,
    output logic         tx_tail,
    output logic [63:0]  tx_data,
    // notifications
    output logic         noti_valid,
    output logic [3:0]   noti_vpid,
    output logic [127:0] noti_words,
    output logic [31:0]  noti_stamp,
    input  logic         noti_done,
    output logic         ev_rx,
    output logic         ev_drop,
    output logic [6:0]   drop_reason,
    output logic         ev_packet,
    output logic         ev_error,
    output logic         ev_stranger,      // a request from another domain: its header, its domain
    output logic [63:0]  stranger_header,
    output logic [15:0]  stranger_pdid,
    output logic         idle,
    output logic         active
);
  localparam logic [3:0] GOOD = nicloop_pkg::RMA_ERROR_NONE;

  logic        waits, have, take_next, coll_idle, coll_active;
  logic [6:0]  reason;
  logic [63:0] first;
  logic [3:0]  vpid, vpid_next, kind;
  nicloop_pkg::header_t  header;
  nicloop_pkg::rma_ext_t ext;
  nicloop_pkg::rma_get_t quad;  // rma_lock of a lock
  nicloop_pkg::stamp_t stamp;
  /* verilator lint_off UNUSEDSIGNAL */
  nicloop_pkg::stamp_t stamp_next;      // its domain
  /* verilator lint_on UNUSEDSIGNAL */
  always_ff @(posedge clk) quad <= first;  // as the others, in the cycle in which the packet is shown
  rma_collect #(.BUFFERS(2), .QUADS(2)) u_collect (
      .clk, .rst, .here, .in_valid, .in_ready, .in_flit, .waits, .have, .reason, .header, .vpid, .kind, .ext, .stamp,
      .vpid_next, .stamp_next, .index(6'd0), .quad(first), .look_next(take_next), .drain_next(take_next),
      .idle(coll_idle), .active(coll_active)
  );

  // ---- begin: check, translate, ask for the data ----
  typedef enum logic [1:0] {CHECK, TRANSLATE, PASS, ALONE} state_t;
  state_t      state;
  logic        is_lock, good, shape_ok, on, same, touches, sender_ready, refused, start, pass, read_ready, read_start,
      job_valid, leave;
  logic [3:0]  error;
  logic [9:0]  bytes, last_byte;  // of what is asked for: their number, and that less 1
  logic [63:0] addr;
  logic [47:0] nla;
  assign is_lock   = kind == nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ;
  assign nla       = ext.nla;
  assign last_byte = is_lock ? 10'd3 : quad.bytes_minus_1;
  assign bytes     = last_byte + 10'd1;
  assign on        = rma_on[vpid];

  // Nobody of another domain learns whether the process is there. Found out in the cycle before the
  // request is shown, and again in every cycle in which it is, with what is written.
  always_ff @(posedge clk)
    same <= stamp_next.pdid != '0 && (moves && wr_vpid == vpid_next ? wr_pdid == stamp_next.pdid :
        stamps[{vpid_next, 5'h0}+:16] == stamp_next.pdid);
  assign touches         = same && on && shape_ok;
  assign ev_stranger     = start && !same;
  assign stranger_header = header;
  assign stranger_pdid   = stamp.pdid;

  // A request that its sender got wrong must not reach the memory: too long, across 4 KB, a word
  // that is not aligned.
  logic crosses;
  assign crosses  = 1'((13'(nla[11:0]) + 13'(last_byte)) >> 12);
  assign shape_ok = last_byte < 10'(nicloop_pkg::RMA_MTU) && !crosses && !(is_lock && nla[1:0] != '0);
  assign good    = reason == 7'(nicloop_pkg::DROP_REASON_NONE);
  assign refused = state == CHECK && have && !good;
  assign start   = state == CHECK && have && good && sender_ready && !err_valid && !(is_lock && jobs);
  assign pass    = state == PASS && read_ready;
  always_ff @(posedge clk) begin
    if (rst) state <= CHECK;
    else
      case (state)
        CHECK: if (start) state <= touches ? TRANSLATE : PASS;
        TRANSLATE: if (atu_done) state <= PASS;
        PASS: if (pass) state <= is_lock ? ALONE : CHECK;
        default: if (!jobs) state <= CHECK;
      endcase
  end
  always_ff @(posedge clk) begin
    if (state == CHECK)
      error <= !same ? nicloop_pkg::RMA_ERROR_DOMAIN : !on ? nicloop_pkg::RMA_ERROR_WINDOW_OFF :
          !shape_ok ? nicloop_pkg::RMA_ERROR_BOUNDS : nicloop_pkg::RMA_ERROR_NONE;
    else if (atu_done) error <= atu_error;
    if (atu_done) addr <= atu_addr;
    if (start) life <= stamps[{vpid, 5'h10}+:16];
  end
  assign atu_valid   = state == TRANSLATE;
  assign atu_nla     = nla;
  assign atu_vpid    = vpid;
  assign atu_need    = {is_lock, 1'b1};
  assign take_next   = refused || pass;
  assign read_start  = pass && error == GOOD;
  assign drop_reason = reason;

  // ---- under way: the oldest request ----
  typedef struct packed {
    logic [15:0] life;    // of the process that is asked
    logic [nicloop_pkg::STAMP_W-1:0] stamp;  // stamp_t
    logic [3:0]  error;
    logic [63:0] header, ext, quad;
  } job_t;
  job_t        put, job;  // the request that passes; the oldest
  logic [15:0] life;
  logic [$clog2(BUFFERS+2)-1:0] job_level;
  logic        jobs;      // there are some
  assign jobs = job_level != '0;
  logic        job_read, job_lock, read_valid, read_done, read_error, read_tag;
  logic [9:0]  job_last;  // byte
  logic [5:0]  read_index;
  logic [63:0] read_data;
  always_comb begin
    put.life   = life;
    put.stamp  = stamp;
    put.error  = error;
    put.header = header;
    put.ext    = ext;
    put.quad   = quad;
  end
  /* verilator lint_off PINCONNECTEMPTY */
  // The oldest is in a register, a cycle later, which requests that read hide.
  fifo #(.W($bits(job)), .DEPTH(BUFFERS), .FALL_THROUGH(0)) u_jobs (
      .clk, .rst, .wr_valid(pass), .wr_ready(), .wr_data(put), .rd_valid(job_valid), .rd_ready(leave), .rd_data(job),
      .level(job_level)
  );
  /* verilator lint_on PINCONNECTEMPTY */
  // By format; quad as that of a GET_REQ and of a LOCK_REQ.
  nicloop_pkg::header_t   job_header;
  nicloop_pkg::rma_op_t   job_op;
  nicloop_pkg::rma_ext_t  job_ext;
  nicloop_pkg::rma_get_t  asked;
  nicloop_pkg::rma_lock_t operands;
  assign job_header = job.header;
  assign job_op     = job_header.op;
  assign job_ext    = job.ext;
  assign asked      = job.quad;
  assign operands   = job.quad;
  assign job_lock   = job_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ;
  assign job_read   = job_valid && job.error == GOOD;
  assign job_last   = job_lock ? 10'd3 : asked.bytes_minus_1;
  dma_read #(.DEPTH(BUFFERS)) u_read (
      .clk, .rst, .ready(read_ready), .start(read_start), .addr(is_lock ? {addr[63:3], 3'h0} : addr),
      .bytes(is_lock ? 10'd8 : bytes), .tag(began), .take(job_read), .q_valid(read_valid), .q_index(read_index),
      .q_data(read_data), .done(read_done), .done_tag(read_tag), .error(read_error), .m_arvalid, .m_arready, .m_araddr,
      .m_arlen, .m_rvalid, .m_rready, .m_rdata, .m_rresp, .m_rlast
  );

  // ---- fetch-compare-and-add: nothing else is under way; the quadword of the word is read, so it
  // is here before the read is done ----
  logic [31:0] old;
  logic        success, writes, write_start, write_ready, write_done, write_error, write_tag;
  assign writes      = job_lock && success && !read_error;
  assign write_start = read_done && writes;
  logic [31:0] found;
  assign found = job_ext.nla[2] ? m_rdata[63:32] : m_rdata[31:0];  // whole, so not shifted
  always_ff @(posedge clk)
    if (read_valid) begin
      old     <= found;
      success <= found <= operands.compare;
    end
  /* verilator lint_off PINCONNECTEMPTY */
  dma_write #(.DEPTH(1)) u_write (
      .clk, .rst, .ready(write_ready), .start(write_start), .addr, .bytes(10'd4), .tag(read_tag), .src_index(),
      .src_data({32'h0, old + operands.add}), .sent(), .done(write_done), .done_tag(write_tag), .error(write_error),
      .busy(), .m_awvalid, .m_awready, .m_awaddr, .m_awlen, .m_wvalid, .m_wready, .m_wdata, .m_wstrb, .m_wlast,
      .m_bvalid, .m_bready, .m_bresp
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // The write of a lock belongs to the access that its translation began.
  logic epoch, began;
  always_ff @(posedge clk) if (start) began <= epoch;
  access_epoch u_accesses (
      .clk, .rst, .fence, .enter(start && touches), .epoch, .left({(read_done && !writes) || write_done,
      state == TRANSLATE && atu_done && atu_error != GOOD}), .left_epoch({write_done ? write_tag : read_tag, began}),
      .hold(atu_hold)
  );

  logic       failed;
  logic [3:0] code;
  assign leave  = job_valid && (!job_read || (read_done && !writes) || write_done);
  assign failed = !job_read || (read_done && read_error) || (write_done && write_error);
  assign code   = job_read ? nicloop_pkg::RMA_ERROR_DMA : job.error;

  // ---- the answer: from here to the origin, or to the origin of the packet that the completer
  // refused ----
  logic        from_err, data, word;  // data: the bytes that were read; word: one quadword instead
  nicloop_pkg::header_t      err, of_header, out_header;
  nicloop_pkg::rma_op_t      op;
  nicloop_pkg::rma_ext_t     of_ext, out_ext;
  nicloop_pkg::rma_command_t command;
  nicloop_pkg::rma_noti_t    error_word, noti;  // in an ERROR; for the process that was asked
  nicloop_pkg::rma_result_t  result;            // in a LOCK_RSP
  logic        notify;
  logic [9:0]  err_last;              // byte
  logic [63:0] out_quad;
  assign from_err  = err_valid && !jobs;
  assign err_ready = from_err && state == CHECK && sender_ready;
  assign err       = err_header;
  assign of_header = from_err ? err : job_header;
  assign of_ext    = from_err ? err_ext : job_ext;
  assign op        = of_header.op;
  // known before the request leaves
  assign data      = !from_err && !job_lock && job_read && !(read_done && read_error);
  assign word      = (leave || err_ready) && !data;

  always_comb begin
    case (of_header.type_)
      nicloop_pkg::PACKET_TYPE_RMA_GET_REQ: command = nicloop_pkg::RMA_COMMAND_GET;
      nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT: command = nicloop_pkg::RMA_COMMAND_IMM_PUT;
      nicloop_pkg::PACKET_TYPE_RMA_NOTI: command = nicloop_pkg::RMA_COMMAND_NOTI_PUT;
      nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ: command = nicloop_pkg::RMA_COMMAND_FCAA;
      default: command = nicloop_pkg::RMA_COMMAND_PUT;
    endcase
  end
  assign err_last = err.length - 10'd9;
  always_comb begin
    error_word               = '0;
    error_word.bytes_minus_1 = from_err ? 23'(err_last) : 23'(job_last);
    error_word.unit          = from_err ? nicloop_pkg::RMA_UNIT_COMPLETER : nicloop_pkg::RMA_UNIT_RESPONDER;
    error_word.command       = command;
    error_word.error         = from_err ? err_code : code;
    error_word.last          = op.last;

    result         = '0;
    result.old     = old;
    result.success = success;
    result.tag     = job_ext.tag;
  end
  always_comb begin
    // Back to its origin, with the same modifiers.
    out_header          = '0;
    out_header.type_    = nicloop_pkg::PACKET_TYPE_RMA_ERROR;
    out_header.length   = 10'd16;
    out_header.op       = of_header.op;
    out_header.src_vpid = of_header.dst_vpid;
    out_header.src_node = here;
    out_header.dst_vpid = of_header.src_vpid;
    out_header.dst_node = of_header.src_node;
    out_ext             = of_ext;
    out_quad            = error_word;
    if (data) begin
      out_header.type_  = nicloop_pkg::PACKET_TYPE_RMA_GET_RSP;
      out_header.length = 10'd9 + job_last;
      out_ext.nla       = asked.nla;
    end else if (!from_err && !failed) begin
      out_header.type_ = nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP;
      out_quad         = result;
    end
  end
  assign notify = job_op.noti_responder && (job_op.last || job_op.each);
  always_comb begin
    noti               = '0;
    noti.bytes_minus_1 = 23'(job_last);
    noti.unit          = nicloop_pkg::RMA_UNIT_RESPONDER;
    noti.command       = command;
    noti.error         = GOOD;
    noti.last          = job_op.last;
    noti.peer_vpid     = job_header.src_vpid;
    noti.peer_node     = job_header.src_node;
  end

  logic send_idle, send_active;
  /* verilator lint_off UNUSEDSIGNAL */
  logic ended;
  /* verilator lint_on UNUSEDSIGNAL */
  rma_sender #(.BUFFERS(BUFFERS)) u_sender (
      .clk, .rst, .ready(sender_ready), .reserve(start || err_ready), .q_valid(read_valid || word),
      .q_index(data ? read_index : 6'd0), .q_data(data ? read_data : out_quad), .commit(leave || err_ready),
      .job_packet(1'b1), .job_header(out_header), .job_ext(out_ext), .job_stamp(from_err ? err_stamp : job.stamp),
      .job_life(job.life), .job_noti(!from_err && !failed && notify), .job_vpid(job_header.dst_vpid),
      .job_words({noti, job_ext}), .tx_valid, .tx_ready, .tx_head, .tx_tail, .tx_data, .noti_valid, .noti_vpid,
      .noti_words, .noti_stamp, .noti_done, .ev_packet, .ev_done(ended), .idle(send_idle), .active(send_active)
  );

  assign ev_rx    = leave;
  assign ev_drop  = refused;
  assign ev_error = leave && failed;
  assign busy     = waits || jobs || state == ALONE;
  assign idle     = coll_idle && send_idle;
  assign active   = coll_active || send_active || refused || start || state != CHECK || jobs || err_ready;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!write_start || write_ready)
          else $error("rma_responder: node %0d: a write while another is under way", here);
      assert (!write_start || (state == ALONE && job_lock))
          else $error("rma_responder: node %0d: a lock that is not alone", here);
    end
`endif
endmodule
