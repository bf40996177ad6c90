// rma_completer: writes what arrives by RMA into memory and tells the process.
//
// Job: ANSWERS = 0: PUT, IMM_PUT and NOTI of channel 0; a refusal goes back to the origin through the responder.
//   ANSWERS = 1: GET_RSP, LOCK_RSP and ERROR of channel 1; a refusal becomes an error notification right here, at
//   the origin. Nothing is written before the packet was whole and its page was granted.
// Handshake: flits in by valid/ready; client of the ATU, of the AXI write master and of the notifier; err_valid holds
//   until err_ready.
// Back-pressure: two packets are kept; a full notification ring holds the packet that wants to notify.
module rma_completer #(
    parameter bit ANSWERS = 1'b0
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [15:0]  rma_on,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [65:0]  in_flit,
    output logic         busy,       // a whole packet waits or is worked on
    output logic         err_valid,
    input  logic         err_ready,
    output logic [63:0]  err_header,
    output logic [63:0]  err_ext,
    output logic [3:0]   err_code,
    // translation
    output logic         atu_valid,
    output logic [47:0]  atu_nla,
    output logic [3:0]   atu_vpid,
    input  logic         atu_done,
    input  logic [3:0]   atu_error,
    input  logic [63:0]  atu_addr,
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
    input  logic         noti_done,
    output logic         ev_rx,
    output logic         ev_drop,
    output logic [6:0]   drop_reason,
    output logic         ev_error,
    output logic         idle,
    output logic         active
);
  localparam logic [3:0] GOOD = 4'(nicloop_pkg::RMA_ERROR_NONE);
  localparam logic [2:0] CHECK = 3'd0, TRANSLATE = 3'd1, WRITE = 3'd2, NOTIFY = 3'd3, FAIL = 3'd4;

  logic        have, take_next, coll_idle, coll_active;
  logic [6:0]  reason;
  logic [63:0] header, ext, quad;
  logic [5:0]  index;
  rma_collect u_collect (
      .clk, .rst, .here, .in_valid, .in_ready, .in_flit, .have, .reason, .header, .ext, .index, .quad,
      .take_next, .idle(coll_idle), .active(coll_active)
  );

  // ---- what it is ----
  logic [3:0] packet_type, vpid, command, error;
  logic       known, writes, last, each, wants, on, is_error, is_lock, is_noti;
  logic [9:0] bytes;
  assign packet_type = header[nicloop_pkg::HEADER_TYPE_LSB+:4];
  assign vpid        = header[nicloop_pkg::HEADER_DST_VPID_LSB+:4];
  assign bytes       = header[nicloop_pkg::HEADER_LENGTH_LSB+:10] - 10'd8;
  assign last        = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_LAST_LSB];
  assign each        = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_EACH_LSB];
  assign wants       = header[nicloop_pkg::HEADER_OP_LSB+nicloop_pkg::RMA_OP_NOTI_COMPLETER_LSB] && (last || each);
  assign on          = rma_on[vpid];
  assign is_error    = packet_type == 4'(nicloop_pkg::PACKET_TYPE_RMA_ERROR);
  assign is_lock     = packet_type == 4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP);
  assign is_noti     = packet_type == 4'(nicloop_pkg::PACKET_TYPE_RMA_NOTI);
  always_comb begin
    known   = ANSWERS ? is_error || is_lock : is_noti;
    writes  = 1'b0;
    command = 4'(nicloop_pkg::RMA_COMMAND_NOTI_PUT);
    case (packet_type)
      4'(nicloop_pkg::PACKET_TYPE_RMA_PUT): {writes, command} = {!ANSWERS, 4'(nicloop_pkg::RMA_COMMAND_PUT)};
      4'(nicloop_pkg::PACKET_TYPE_RMA_IMM_PUT): {writes, command} = {!ANSWERS, 4'(nicloop_pkg::RMA_COMMAND_IMM_PUT)};
      4'(nicloop_pkg::PACKET_TYPE_RMA_GET_RSP): {writes, command} = {ANSWERS, 4'(nicloop_pkg::RMA_COMMAND_GET)};
      4'(nicloop_pkg::PACKET_TYPE_RMA_LOCK_RSP): command = 4'(nicloop_pkg::RMA_COMMAND_FCAA);
      default: ;
    endcase
  end

  // A fragment that crosses 4 KB would need two translations; no requester sends one.
  logic shape_ok, good, refused, start, mute;
  logic [2:0] state;
  assign shape_ok = !writes || 13'(ext[11:0]) + 13'(bytes) <= 13'h1000;
  assign good     = reason == 7'(nicloop_pkg::DROP_REASON_NONE) && (known || writes);
  assign mute     = ANSWERS && !on;  // the origin has switched off the ring that the answer is for
  assign refused  = state == CHECK && have && (!good || mute);
  assign start    = state == CHECK && have && good && !mute;
  assign drop_reason = reason != 7'(nicloop_pkg::DROP_REASON_NONE) ? reason :
                       mute ? 7'(nicloop_pkg::DROP_REASON_WINDOW_OFF) : 7'(nicloop_pkg::DROP_REASON_BAD_TYPE);

  logic write_start, write_busy, write_done, write_error, writing, leave;
  always_ff @(posedge clk) begin
    if (rst) state <= CHECK;
    else
      case (state)
        CHECK:
          if (start) begin
            if (!on || !shape_ok) state <= FAIL;
            else if (writes) state <= TRANSLATE;
            else state <= NOTIFY;
          end
        TRANSLATE: if (atu_done) state <= atu_error != GOOD ? FAIL : WRITE;
        WRITE: if (write_done) state <= write_error ? FAIL : NOTIFY;
        default: if (leave) state <= CHECK;
      endcase
    writing <= state == WRITE;
  end
  logic [63:0] addr;
  always_ff @(posedge clk) begin
    case (state)
      CHECK: error <= on ? 4'(nicloop_pkg::RMA_ERROR_BOUNDS) : 4'(nicloop_pkg::RMA_ERROR_WINDOW_OFF);
      TRANSLATE: error <= atu_error;
      WRITE: error <= 4'(nicloop_pkg::RMA_ERROR_DMA);
      default: ;
    endcase
    if (state == TRANSLATE) addr <= atu_addr;
  end
  assign atu_valid   = state == TRANSLATE;
  assign atu_nla     = ext[nicloop_pkg::RMA_EXT_NLA_LSB+:48];
  assign atu_vpid    = vpid;
  assign atu_hold    = state == TRANSLATE || state == WRITE;
  assign write_start = state == WRITE && !writing;
  dma_write u_write (
      .clk, .rst, .start(write_start), .addr, .bytes, .busy(write_busy), .src_index(index), .src_data(quad),
      .done(write_done), .error(write_error), .m_awvalid, .m_awready, .m_awaddr, .m_awlen, .m_wvalid, .m_wready,
      .m_wdata, .m_wstrb, .m_wlast, .m_bvalid, .m_bready, .m_bresp
  );

  // ---- telling ----
  logic        notify;
  logic [63:0] noti0, noti1;
  assign notify     = state == NOTIFY ? wants || is_error : state == FAIL && ANSWERS;
  assign noti_valid = notify;
  assign noti_vpid  = vpid;
  assign noti0      = is_noti || is_lock ? quad : ext;
  always_comb begin
    noti1 = {14'h0, header[nicloop_pkg::HEADER_SRC_NODE_LSB+:12], header[nicloop_pkg::HEADER_SRC_VPID_LSB+:4], last,
             state == FAIL ? error : GOOD, command, 2'(nicloop_pkg::RMA_UNIT_COMPLETER), 13'h0, is_lock ? 10'd3 : bytes - 10'd1};
    if (is_error) noti1[nicloop_pkg::RMA_NOTI_PEER_VPID_LSB-1:0] = quad[nicloop_pkg::RMA_NOTI_PEER_VPID_LSB-1:0];
  end
  assign noti_words = {noti1, noti0};
  assign err_valid  = state == FAIL && !ANSWERS;
  assign err_header = header;
  assign err_ext    = ext;
  assign err_code   = error;
  assign leave      = err_valid ? err_ready : !notify || noti_done;
  assign take_next  = refused || ((state == NOTIFY || state == FAIL) && leave);

  assign ev_rx    = take_next && !refused;
  assign ev_drop  = refused;
  assign ev_error = state == FAIL && leave;
  assign busy     = have;
  assign idle     = coll_idle;
  // Waiting for a place in a ring or in the responder's buffers is not movement.
  assign active   = coll_active || take_next || start || state == TRANSLATE || state == WRITE;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!write_start || !write_busy) else $error("rma_completer: node %0d: a write while another is under way", here);
`endif
endmodule
