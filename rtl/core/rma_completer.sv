// rma_completer: writes received RMA data into memory and notifies the process.
//
// Job: ANSWERS = 0: PUT, IMM_PUT and NOTI, requests; a refusal returns to the origin through the
//   responder. ANSWERS = 1: GET_RSP, LOCK_RSP and ERROR, answers; a refusal becomes an error
//   notification here, at the origin. A request must be of its destination's domain, an answer for
//   the life that requested it; late ones are discarded. The packet is buffered in full, checked
//   (CRC) and translated before its first byte is written. Three stages, each on another packet:
//   check and translate; write; await the memory's response and notify. All keep the order of
//   arrival.
// Handshake: flits in by valid/ready; client of the ATU, of the AXI write master and of the
//   notifier; err_valid is high until err_ready. fence: atu_hold refers to the accesses before it.
// Backpressure: a full notification ring blocks the packet that must notify; behind it TELL packets
//   are written and up to RMA_UNDER_WAY are buffered. Those are not translated: an access starts
//   only with a reserved entry for its notification, so that it depends on the memory alone and a
//   fence waits for no ring.
module rma_completer #(
    parameter int ANSWERS = 0,
    parameter int TELL = nicloop_pkg::RMA_UNDER_WAY  // packets whose write was begun
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [15:0]  rma_on,
    input  logic [511:0] stamps,     // {life, pdid} by VPID
    input  logic         moves,      // wr_vpid gets another domain (an answer: or life) in this cycle; wr_pdid
    input  logic [3:0]   wr_vpid,
    /* verilator lint_off UNUSEDSIGNAL */  // by answers
    input  logic [15:0]  wr_pdid,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic         in_valid,
    output logic         in_ready,
    input  nicloop_pkg::flit_t in_flit,
    output logic         busy,       // a whole packet waits or is worked on
    output logic         err_valid,
    input  logic         err_ready,
    output logic [63:0]  err_header,
    output logic [63:0]  err_ext,
    output logic [31:0]  err_stamp,
    output logic [3:0]   err_code,
    // translation
    output logic         atu_valid,
    output logic [47:0]  atu_nla,
    output logic [3:0]   atu_vpid,
    input  logic         atu_done,
    input  logic [3:0]   atu_error,
    input  logic [63:0]  atu_addr,
    input  logic         fence,
    output logic         atu_hold,
    // AXI4 write master
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
    // notifications
    output logic         noti_valid,
    output logic [3:0]   noti_vpid,
    output logic [127:0] noti_words,
    output logic [31:0]  noti_stamp,
    input  logic         noti_done,
    output logic         ev_rx,
    output logic         ev_drop,
    output logic [6:0]   drop_reason,
    output logic         ev_error,
    output logic         ev_stranger,      // a request from another domain: its header, its domain
    output logic [63:0]  stranger_header,
    output logic [15:0]  stranger_pdid,
    output logic         idle,
    output logic         active
);
  localparam logic [3:0] GOOD = nicloop_pkg::RMA_ERROR_NONE;

  logic        waits, have, look_next, drain_next, coll_idle, coll_active;
  logic [6:0]  reason;
  nicloop_pkg::header_t  header;
  nicloop_pkg::rma_ext_t ext;
  logic [63:0] quad;
  nicloop_pkg::stamp_t stamp;
  /* verilator lint_off UNUSEDSIGNAL */
  nicloop_pkg::stamp_t stamp_next;  // of a request its domain
  /* verilator lint_on UNUSEDSIGNAL */
  logic [5:0]  index;
  logic [3:0]  packet_type, vpid, vpid_next;
  rma_collect #(.BUFFERS(4)) u_collect (
      .clk, .rst, .here, .in_valid, .in_ready, .in_flit, .waits, .have, .reason, .header, .vpid, .kind(packet_type),
      .ext, .stamp, .vpid_next, .stamp_next, .index, .quad, .look_next, .drain_next, .idle(coll_idle),
      .active(coll_active)
  );

  // ---- what it is ----
  logic       known, writes, on, same, touches;
  logic [15:0] life, own_life;  // of the process it is for: when it was judged, now
  logic [9:0] bytes;
  assign bytes       = header.length - 10'd8;
  assign on          = rma_on[vpid];
  // Whether it is of the process's domain, or life, is found out in the cycle before it is shown,
  // and again in every cycle in which it is, with what is written meanwhile. No answer is for a
  // life that begins in this cycle, and a process that gets another domain is off.
  generate
    if (ANSWERS != 0) begin : g_same
      assign own_life = stamp.life;  // or it is discarded
      always_ff @(posedge clk)
        same <= stamps[{vpid_next, 5'h0}+:32] == stamp_next && !(moves && wr_vpid == vpid_next);
    end else begin : g_same
      assign own_life = stamps[{vpid, 5'h10}+:16];
      always_ff @(posedge clk)
        same <= stamp_next.pdid != '0 && (moves && wr_vpid == vpid_next ? wr_pdid == stamp_next.pdid :
            stamps[{vpid_next, 5'h0}+:16] == stamp_next.pdid);
    end
  endgenerate
  always_comb begin
    known  = 1'b0;
    writes = 1'b0;
    case (packet_type)
      nicloop_pkg::PACKET_TYPE_RMA_PUT, nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT: writes = ANSWERS == 0;
      nicloop_pkg::PACKET_TYPE_RMA_GET_RSP: writes = ANSWERS != 0;
      nicloop_pkg::PACKET_TYPE_RMA_NOTI: known = ANSWERS == 0;
      nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP, nicloop_pkg::PACKET_TYPE_RMA_ERROR: known = ANSWERS != 0;
      default: ;
    endcase
  end

  // A fragment that crosses 4 KB would need two translations; no requester sends one.
  // ---- check and translate ----
  typedef enum logic [1:0] {CHECK, TRANSLATE, PASS} state_t;
  state_t      state;
  logic        shape_ok, good, mute, refused, start, pass, sending, write_ready, tell_ready;
  logic [3:0]  error;       // of the packet that passes
  logic [63:0] addr;
  logic [12:0] behind;  // with the 8 bytes of the extension flit
  assign behind   = 13'(ext.nla[11:0]) + 13'(header.length);
  assign shape_ok = !writes || behind <= 13'h1008;
  assign good     = reason == 7'(nicloop_pkg::DROP_REASON_NONE) && (known || writes);
  assign mute     = ANSWERS != 0 && !(on && same);  // the origin has switched off the ring that the answer is for
  assign touches  = same && on && shape_ok && writes;
  assign refused  = state == CHECK && have && (!good || mute) && !sending;
  assign start    = state == CHECK && have && good && !mute && tell_ready;
  assign pass     = state == PASS && !sending && write_ready;
  assign drop_reason = reason != 7'(nicloop_pkg::DROP_REASON_NONE) ? reason :
                       !(known || writes) ? 7'(nicloop_pkg::DROP_REASON_BAD_TYPE) :
                       !on ? 7'(nicloop_pkg::DROP_REASON_WINDOW_OFF) : 7'(nicloop_pkg::DROP_REASON_LATE);
  assign ev_stranger     = ANSWERS == 0 && start && !same;
  assign stranger_header = header;
  assign stranger_pdid   = stamp.pdid;
  always_ff @(posedge clk) begin
    if (rst) state <= CHECK;
    else
      case (state)
        CHECK: if (start) state <= touches ? TRANSLATE : PASS;
        TRANSLATE: if (atu_done) state <= PASS;
        default: if (pass) state <= CHECK;
      endcase
  end
  always_ff @(posedge clk) begin
    if (state == CHECK)
      error <= !same ? nicloop_pkg::RMA_ERROR_DOMAIN : !on ? nicloop_pkg::RMA_ERROR_WINDOW_OFF :
          !shape_ok ? nicloop_pkg::RMA_ERROR_BOUNDS : nicloop_pkg::RMA_ERROR_NONE;
    else if (atu_done) error <= atu_error;
    if (atu_done) addr <= atu_addr;
    if (start) life <= own_life;
  end
  assign atu_valid = state == TRANSLATE;
  assign atu_nla   = ext.nla;
  assign atu_vpid  = vpid;

  // began: the epoch at the translation
  logic epoch, began, write_start, write_sent, write_busy, write_done, write_tag, write_error;
  always_ff @(posedge clk) if (start) began <= epoch;
  access_epoch u_accesses (
      .clk, .rst, .fence, .enter(start && touches), .epoch,
      .left({write_done, state == TRANSLATE && atu_done && atu_error != GOOD}), .left_epoch({write_tag, began}),
      .hold(atu_hold)
  );

  // ---- write; a buffer is free when its last beat has left ----
  logic [5:0] src_index;
  assign write_start = pass && writes && error == GOOD;
  assign index       = sending ? src_index : '0;
  assign look_next   = pass || refused;
  assign drain_next  = refused || (pass && !write_start) || write_sent;
  always_ff @(posedge clk) begin
    if (rst || write_sent) sending <= 1'b0;
    else if (write_start) sending <= 1'b1;
  end
  dma_write #(.DEPTH(TELL)) u_write (
      .clk, .rst, .ready(write_ready), .start(write_start), .addr, .bytes, .tag(began), .src_index, .src_data(quad),
      .sent(write_sent), .done(write_done), .done_tag(write_tag), .error(write_error), .busy(write_busy), .m_awvalid,
      .m_awready, .m_awaddr, .m_awlen, .m_wvalid, .m_wready, .m_wdata, .m_wstrb, .m_wlast, .m_bvalid, .m_bready,
      .m_bresp
  );

  // ---- notify, when the memory has answered ----
  typedef struct packed {
    logic [15:0] life;    // of the process that it is for
    logic [nicloop_pkg::STAMP_W-1:0] stamp;  // stamp_t
    logic        writes;  // so the memory is to answer
    logic [3:0]  error;
    logic [63:0] header, ext, quad;
  } told_t;
  told_t       put, told;  // the packet that passes; the oldest
  logic        told_valid, answered, answer_bad, result_ready, tell, failed, leave, wants, is_error, own_word;
  logic [$clog2(TELL+1)-1:0] told_level;
  // Of the oldest, by format; and its notification.
  nicloop_pkg::header_t      told_header;
  nicloop_pkg::rma_op_t      op;
  nicloop_pkg::rma_command_t command;
  nicloop_pkg::rma_noti_t    noti;
  logic [9:0]  told_last;  // byte
  always_comb begin
    put.life   = life;
    put.stamp  = stamp;
    put.writes = write_start;
    put.error  = error;
    put.header = header;
    put.ext    = ext;
    put.quad   = quad;
  end
  /* verilator lint_off PINCONNECTEMPTY */
  // The oldest is in a register: a cycle more, which packets that write hide.
  fifo #(.W($bits(told)), .DEPTH(TELL - 1), .FALL_THROUGH(0)) u_told (
      .clk, .rst, .wr_valid(pass), .wr_ready(tell_ready), .wr_data(put), .rd_valid(told_valid), .rd_ready(leave),
      .rd_data(told), .level(told_level)
  );
  fifo #(.W(1), .DEPTH(TELL)) u_results (
      .clk, .rst, .wr_valid(write_done), .wr_ready(result_ready), .wr_data(write_error), .rd_valid(answered),
      .rd_ready(leave && told.writes), .rd_data(answer_bad), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign told_header = told.header;
  assign op          = told_header.op;
  assign told_last   = told_header.length - 10'd9;
  assign wants       = op.noti_completer && (op.last || op.each);
  assign is_error    = told_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_ERROR;
  assign own_word    = told_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_NOTI ||
      told_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP;
  assign tell        = told_valid && (!told.writes || answered);
  assign failed      = told.error != GOOD || (told.writes && answer_bad);
  always_comb begin
    case (told_header.type_)
      nicloop_pkg::PACKET_TYPE_RMA_PUT: command = nicloop_pkg::RMA_COMMAND_PUT;
      nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT: command = nicloop_pkg::RMA_COMMAND_IMM_PUT;
      nicloop_pkg::PACKET_TYPE_RMA_GET_RSP: command = nicloop_pkg::RMA_COMMAND_GET;
      nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP: command = nicloop_pkg::RMA_COMMAND_FCAA;
      default: command = nicloop_pkg::RMA_COMMAND_NOTI_PUT;
    endcase
  end
  assign err_valid  = tell && failed && ANSWERS == 0;
  assign err_header = told.header;
  assign err_ext    = told.ext;
  assign err_stamp  = told.stamp;
  assign err_code   = told.error != GOOD ? told.error : nicloop_pkg::RMA_ERROR_DMA;
  assign noti_valid = tell && (failed ? ANSWERS != 0 : wants || is_error);
  assign noti_vpid  = told_header.dst_vpid;
  always_comb begin
    noti = told.quad;  // of an ERROR: what its sender found
    if (!is_error) begin
      noti.bytes_minus_1 = told_header.type_ == nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP ? 23'd3 : 23'(told_last);
      noti.unit          = nicloop_pkg::RMA_UNIT_COMPLETER;
      noti.command       = command;
      noti.error         = failed ? err_code : GOOD;
      noti.last          = op.last;
    end
    noti.peer_vpid = told_header.src_vpid;
    noti.peer_node = told_header.src_node;
    noti.seq       = '0;
  end
  assign noti_words = {noti, own_word ? told.quad : told.ext};
  assign noti_stamp = {told.life, told.stamp[15:0]};
  assign leave      = tell && (err_valid ? err_ready : !noti_valid || noti_done);

  assign ev_rx    = leave;
  assign ev_drop  = refused;
  assign ev_error = leave && failed;
  assign busy     = waits || sending || told_level != '0;
  assign idle     = coll_idle && told_level == '0;
  // Waiting for an entry in a ring or in the responder's buffers is not movement.
  assign active   = coll_active || refused || start || pass || leave || state == TRANSLATE || write_busy ||
      (told_level != '0 && !told_valid);

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!write_done || result_ready) else $error("rma_completer: node %0d: more answers than writes", here);
      assert (!pass || tell_ready)
          else $error("rma_completer: node %0d: a packet lost its entry among those to be told", here);
    end
`endif
endmodule
