// rma_responder: answers what others ask of this node's memory.
//
// Job: GET_REQ: translate, read, send GET_RSP. LOCK_REQ: translate, read, compare and add, write, send LOCK_RSP;
//   one at a time, which makes it atomic against all RMA requests. Every refusal goes back to the origin as an ERROR packet,
//   also those that the completer of channel 0 finds (err_*).
// Handshake: flits in by valid/ready, answers out on virtual channel 1; client of the ATU and of both AXI masters.
// Back-pressure: without a free packet buffer no request is begun, so requests wait for answers to leave.
module rma_responder (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [15:0]  rma_on,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [65:0]  in_flit,
    output logic         busy,       // a whole request waits or is worked on
    // errors of the completer: the packet that failed
    input  logic         err_valid,
    output logic         err_ready,
    input  logic [63:0]  err_header,
    input  logic [63:0]  err_ext,
    input  logic [3:0]   err_code,
    // translation
    output logic         atu_valid,
    output logic [47:0]  atu_nla,
    output logic [3:0]   atu_vpid,
    output logic [1:0]   atu_need,   // {write, read}
    input  logic         atu_done,
    input  logic [3:0]   atu_error,
    input  logic [63:0]  atu_addr,
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
    input  logic         noti_done,
    output logic         ev_rx,
    output logic         ev_drop,
    output logic [6:0]   drop_reason,
    output logic         ev_packet,
    output logic         ev_error,
    output logic         idle,
    output logic         active
);
  localparam logic [3:0] GOOD = 4'(nicloop_pkg::RMA_ERROR_NONE);
  localparam logic [2:0] CHECK = 3'd0, TRANSLATE = 3'd1, READ = 3'd2, WRITE = 3'd3, ANSWER = 3'd4, FAIL = 3'd5;

  logic        have, take_next, coll_idle, coll_active;
  logic [6:0]  reason;
  logic [63:0] header, ext, quad;
  rma_collect u_collect (
      .clk, .rst, .here, .in_valid, .in_ready, .in_flit, .have, .reason, .header, .ext, .index(6'd0), .quad,
      .take_next, .idle(coll_idle), .active(coll_active)
  );

  // ---- the request ----
  logic [2:0]  state;
  logic        is_lock, last, each, notify, good, sender_ready, refused, start;
  logic [3:0]  error, vpid;
  logic [9:0]  bytes;
  logic [63:0] addr;
  logic [47:0] nla;
  assign is_lock = header[nicloop_pkg::HEADER_TYPE_LSB+:4] == 4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ);
  assign vpid    = header[nicloop_pkg::HEADER_DST_VPID_LSB+:4];
  assign last    = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_LAST_LSB];
  assign each    = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_EACH_LSB];
  assign notify  = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_NOTI_RESPONDER_LSB];
  assign nla     = ext[nicloop_pkg::RMA_EXT_NLA_LSB+:48];
  assign bytes   = is_lock ? 10'd4 : quad[nicloop_pkg::RMA_GET_BYTES_MINUS_1_LSB+:10] + 10'd1;

  // A request that its sender got wrong must not reach the memory: too long, across 4 KB, a word off its place.
  logic shape_ok;
  assign shape_ok = bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU) && 13'(nla[11:0]) + 13'(bytes) <= 13'h1000 &&
                    !(is_lock && nla[1:0] != '0);
  assign good    = reason == 7'(nicloop_pkg::DROP_REASON_NONE);
  assign refused = state == CHECK && have && !good;
  assign start   = state == CHECK && have && good && sender_ready && !err_valid;

  logic read_start, read_busy, read_valid, read_done, read_error, write_start, write_busy, write_done, write_error, entered;
  logic [5:0]  read_index;
  logic [63:0] read_data;
  always_ff @(posedge clk) begin
    if (rst) state <= CHECK;
    else
      case (state)
        CHECK: if (start) state <= !rma_on[vpid] || !shape_ok ? FAIL : TRANSLATE;
        TRANSLATE: if (atu_done) state <= atu_error != GOOD ? FAIL : READ;
        READ: if (read_done) state <= read_error ? FAIL : is_lock && success ? WRITE : ANSWER;
        WRITE: if (write_done) state <= write_error ? FAIL : ANSWER;
        default: state <= CHECK;
      endcase
    entered <= state == READ || state == WRITE;
  end
  always_ff @(posedge clk) begin
    case (state)
      CHECK: error <= rma_on[vpid] ? 4'(nicloop_pkg::RMA_ERROR_BOUNDS) : 4'(nicloop_pkg::RMA_ERROR_WINDOW_OFF);
      TRANSLATE: error <= atu_error;
      READ, WRITE: error <= 4'(nicloop_pkg::RMA_ERROR_DMA);
      default: ;
    endcase
    if (state == TRANSLATE) addr <= atu_addr;
  end

  assign atu_valid  = state == TRANSLATE;
  assign atu_nla    = nla;
  assign atu_vpid   = vpid;
  assign atu_need   = {is_lock, 1'b1};
  assign atu_hold   = state == TRANSLATE || state == READ || state == WRITE;
  assign take_next  = refused || state == ANSWER || state == FAIL;
  assign read_start = state == READ && !entered;

  dma_read u_read (
      .clk, .rst, .start(read_start), .addr, .bytes, .busy(read_busy), .q_valid(read_valid), .q_index(read_index),
      .q_data(read_data), .done(read_done), .error(read_error),
      .m_arvalid, .m_arready, .m_araddr, .m_arlen, .m_rvalid, .m_rready, .m_rdata, .m_rresp, .m_rlast
  );

  // ---- fetch-compare-and-add ----
  logic [31:0] old, now;
  logic        success;
  assign now     = read_valid ? read_data[31:0] : old;
  assign success = now <= quad[nicloop_pkg::RMA_LOCK_COMPARE_LSB+:32];
  always_ff @(posedge clk) if (read_valid) old <= read_data[31:0];

  logic writing;
  always_ff @(posedge clk) writing <= state == WRITE;
  assign write_start = state == WRITE && !writing;
  /* verilator lint_off PINCONNECTEMPTY */
  dma_write u_write (
      .clk, .rst, .start(write_start), .addr, .bytes(10'd4), .busy(write_busy), .src_index(),
      .src_data({32'h0, old + quad[nicloop_pkg::RMA_LOCK_ADD_LSB+:32]}), .done(write_done), .error(write_error),
      .m_awvalid, .m_awready, .m_awaddr, .m_awlen, .m_wvalid, .m_wready, .m_wdata, .m_wstrb, .m_wlast, .m_bvalid,
      .m_bready, .m_bresp
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- the answer: from here to the origin, or to the origin of the packet that the completer refused ----
  logic        from_err, commit, q_valid;
  logic [63:0] of_header, of_ext, out_header, out_quad, result, error_word, noti1;
  logic [3:0]  out_type, command;
  logic [9:0]  length;
  assign from_err  = err_valid && state == CHECK;
  assign err_ready = from_err && sender_ready;
  assign commit    = state == ANSWER || state == FAIL || err_ready;
  assign of_header = from_err ? err_header : header;
  assign of_ext    = from_err ? err_ext : ext;

  always_comb begin
    case (of_header[nicloop_pkg::HEADER_TYPE_LSB+:4])
      4'(nicloop_pkg::PACKET_TYPE_RMA_GET_REQ): command = 4'(nicloop_pkg::RMA_COMMAND_GET);
      4'(nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT): command = 4'(nicloop_pkg::RMA_COMMAND_IMM_PUT);
      4'(nicloop_pkg::PACKET_TYPE_RMA_NOTI): command = 4'(nicloop_pkg::RMA_COMMAND_NOTI_PUT);
      4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_REQ): command = 4'(nicloop_pkg::RMA_COMMAND_FCAA);
      default: command = 4'(nicloop_pkg::RMA_COMMAND_PUT);
    endcase
  end
  logic [9:0] of_bytes;
  assign of_bytes   = from_err ? of_header[nicloop_pkg::HEADER_LENGTH_LSB+:10] - 10'd8 : bytes;
  assign error_word = {14'h0, 16'h0, of_header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_LAST_LSB], from_err ? err_code : error, command,
                       from_err ? 2'(nicloop_pkg::RMA_UNIT_COMPLETER) : 2'(nicloop_pkg::RMA_UNIT_RESPONDER), 13'h0, of_bytes - 10'd1};
  assign result     = {ext[nicloop_pkg::RMA_EXT_TAG_LSB+:16], 15'h0, success, old};
  always_comb begin
    out_type = 4'(nicloop_pkg::PACKET_TYPE_RMA_ERROR);
    length   = 10'd16;
    out_quad = error_word;
    if (state == ANSWER && is_lock) begin
      out_type = 4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP);
      out_quad = result;
    end else if (state == ANSWER) begin
      out_type = 4'(nicloop_pkg::PACKET_TYPE_RMA_GET_RSP);
      length   = 10'd8 + bytes;
    end
  end
  // Back to where it came from, with the same modifiers.
  assign out_header = {of_header[nicloop_pkg::HEADER_SRC_NODE_LSB+:12], of_header[nicloop_pkg::HEADER_SRC_VPID_LSB+:4], here,
                       of_header[nicloop_pkg::HEADER_DST_VPID_LSB+:4], 8'h0, of_header[nicloop_pkg::HEADER_OP_LSB+:6], length,
                       3'h0, out_type, 1'b0};
  assign noti1 = {14'h0, header[nicloop_pkg::HEADER_SRC_NODE_LSB+:12], header[nicloop_pkg::HEADER_SRC_VPID_LSB+:4], last, GOOD,
                  command, 2'(nicloop_pkg::RMA_UNIT_RESPONDER), 13'h0, bytes - 10'd1};
  assign q_valid = (read_valid && !is_lock) || (commit && !(state == ANSWER && !is_lock));

  logic send_idle, send_active;
  rma_sender u_sender (
      .clk, .rst, .ready(sender_ready), .q_valid, .q_index(read_valid ? read_index : 6'd0),
      .q_data(read_valid ? read_data : out_quad), .commit, .job_packet(1'b1), .job_header(out_header),
      .job_ext(state == ANSWER && !is_lock ? {ext[63:48], quad[nicloop_pkg::RMA_GET_NLA_LSB+:48]} : of_ext),
      .job_noti(state == ANSWER && notify && (each || last)), .job_vpid(vpid), .job_words({noti1, ext}),
      .tx_valid, .tx_ready, .tx_head, .tx_tail, .tx_data, .noti_valid, .noti_vpid, .noti_words, .noti_done,
      .ev_packet, .idle(send_idle), .active(send_active)
  );

  assign ev_rx       = (state == ANSWER || state == FAIL);
  assign ev_drop     = refused;
  assign drop_reason = reason;
  assign ev_error    = state == FAIL;
  assign busy        = have;
  assign idle        = coll_idle && send_idle;
  assign active      = coll_active || send_active || refused || start || state != CHECK || err_ready;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!read_start || !read_busy) else $error("rma_responder: node %0d: a read while another is under way", here);
      assert (!write_start || !write_busy) else $error("rma_responder: node %0d: a write while another is under way", here);
    end
`endif
endmodule
