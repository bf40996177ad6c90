// velo_requester: turns a line written by a process into a VELO packet.
//
// Job: AXI4 write slave of the PIO window. One burst is one send; everything but the payload is in the
//   address (nicloop_pkg PIO_*). A send is checked against the window's enable bit, the process's domain, the length
//   rules and the number of nodes; then header, payload and tail flits leave, the tail with the domain and life of then.
// Handshake: AXI4 write channels; B comes when the line stands in the line buffer (LINES lines), SLVERR
//   and one error pulse when the send was refused. Whole quadwords only: every strobe bit is set.
// Back-pressure: with all lines taken awready stays low, so a blocked network blocks the PIO bus.
module velo_requester #(
    parameter int LINES = 4   // a power of two
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] here,
    input  logic [11:0] nodes,      // that exist
    // AXI4 write slave
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [27:0] s_awaddr,
    input  logic [7:0]  s_awlen,
    input  logic [2:0]  s_awsize,
    input  logic [1:0]  s_awburst,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [63:0] s_wdata,
    input  logic [7:0]  s_wstrb,
    input  logic        s_wlast,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    input  logic [15:0] window_on,  // by VPID
    input  logic [511:0] stamps,    // {life, pdid} by VPID
    // flits
    output logic        tx_valid,
    input  logic        tx_ready,
    output logic        tx_head,
    output logic        tx_tail,
    output logic [63:0] tx_data,
    // events, one cycle each
    output logic        ev_line,    // a line was taken: its PIO address is line_addr
    output logic        ev_error,   // a send was refused: reason and who, also about line_addr
    output logic [27:0] line_addr,
    output logic [6:0]  error_reason,
    output logic        ev_packet,  // a packet was sent
    output logic        ev_stall,   // a flit waits
    // state
    output logic [15:0] lines,
    input  logic [3:0]  level_vpid,
    output logic [2:0]  level_of,   // lines of level_vpid
    output logic        idle,
    output logic        active
);
  localparam int LINE_W = $clog2(LINES);
  localparam logic [1:0] OKAY = 2'b00, SLVERR = 2'b10;

  // ---- the address says what to send ----
  logic [27:0] addr;
  logic [7:0]  addr_len;
  logic [2:0]  addr_size;
  logic [1:0]  addr_burst;
  logic        open;  // an address is held, its data is on the way

  logic [5:0] length;
  logic       piggyback;
  logic [5:0] dst_node;
  logic [3:0] src_vpid;
  assign length    = addr[nicloop_pkg::PIO_LENGTH_LSB+:nicloop_pkg::PIO_LENGTH_W];
  assign piggyback = addr[nicloop_pkg::PIO_PIGGYBACK_LSB];
  assign dst_node  = addr[nicloop_pkg::PIO_DST_NODE_LSB+:nicloop_pkg::PIO_DST_NODE_W];
  assign src_vpid  = addr[nicloop_pkg::PIO_SRC_VPID_LSB+:nicloop_pkg::PIO_SRC_VPID_W];
  logic [31:0] stamp, line_stamp;
  assign stamp = stamps[{src_vpid, 5'h0}+:32];

  logic [6:0] bytes;
  logic [3:0] flits, beats;  // payload flits of the packet, beats of the burst: at least one
  assign bytes = 7'(length) + (piggyback ? 7'd2 : 7'd0);
  assign flits = 4'((bytes + 7'd7) >> 3);
  assign beats = flits == '0 ? 4'd1 : flits;

  logic shape_ok;
  assign shape_ok = addr[nicloop_pkg::PIO_BYTE_LSB+:nicloop_pkg::PIO_BYTE_W] == '0 &&
                    addr[nicloop_pkg::PIO_RSVD_LSB+:nicloop_pkg::PIO_RSVD_W] == '0 &&
                    bytes <= 7'(nicloop_pkg::VELO_PAYLOAD) && addr_len == 8'(beats) - 8'd1 &&
                    addr_size == 3'd3 && addr_burst == 2'b01;

  // ---- taking the line ----
  logic       aw_take, w_take, w_end, strobes_ok;
  logic [2:0] beat;
  logic       desc_ready;
  logic [LINE_W:0] level;

  assign w_end     = w_take && s_wlast;
  assign s_wready  = open && !(s_wlast && s_bvalid && !s_bready);
  assign w_take    = s_wvalid && s_wready;
  // The line in progress has its place: one more address may come while its last beat leaves.
  assign s_awready = (!open || w_end) && level + (LINE_W + 1)'(open) < (LINE_W + 1)'(LINES);
  assign aw_take   = s_awvalid && s_awready;

  always_comb begin
    if (!window_on[src_vpid]) error_reason = 7'(nicloop_pkg::DROP_REASON_WINDOW_OFF);
    else if (stamp[15:0] == '0) error_reason = 7'(nicloop_pkg::DROP_REASON_DOMAIN);
    else if (!shape_ok || !strobes_ok || s_wstrb != 8'hff) error_reason = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (12'(dst_node) >= nodes) error_reason = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
    else error_reason = 7'(nicloop_pkg::DROP_REASON_NONE);
  end
  assign ev_error  = w_end && error_reason != 7'(nicloop_pkg::DROP_REASON_NONE);
  assign ev_line   = w_end && !ev_error;
  assign line_addr = addr;

  always_ff @(posedge clk) begin
    if (rst) begin
      open     <= 1'b0;
      s_bvalid <= 1'b0;
    end else begin
      if (aw_take) open <= 1'b1;
      else if (w_end) open <= 1'b0;
      if (w_end) s_bvalid <= 1'b1;
      else if (s_bready) s_bvalid <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (aw_take) begin
      addr       <= s_awaddr;
      addr_len   <= s_awlen;
      addr_size  <= s_awsize;
      addr_burst <= s_awburst;
      beat       <= '0;
      strobes_ok <= 1'b1;
    end else if (w_take) begin
      beat       <= beat + 1'b1;  // a burst that is too long wraps and is refused
      strobes_ok <= strobes_ok && s_wstrb == 8'hff;
    end
    if (w_end) s_bresp <= ev_error ? SLVERR : OKAY;
  end

  // ---- line buffer: eight quadwords per line, and one descriptor per line that was accepted ----
  logic [63:0]       quads[LINES * 8];
  logic [LINE_W-1:0] wr_line, rd_line;
  always_ff @(posedge clk) if (w_take) quads[{wr_line, beat}] <= s_wdata;
  always_ff @(posedge clk) begin
    if (rst) wr_line <= '0;
    else if (ev_line) wr_line <= wr_line + 1'b1;
  end

  logic [63:0] new_header;
  always_comb begin
    new_header = '0;
    new_header[nicloop_pkg::HEADER_TYPE_LSB+:nicloop_pkg::HEADER_TYPE_W]         = 4'(nicloop_pkg::PACKET_TYPE_VELO);
    new_header[nicloop_pkg::HEADER_KIND_LSB+:nicloop_pkg::HEADER_KIND_W]         = addr[nicloop_pkg::PIO_KIND_LSB+:nicloop_pkg::PIO_KIND_W];
    new_header[nicloop_pkg::HEADER_PIGGYBACK_LSB]                                = piggyback;
    new_header[nicloop_pkg::HEADER_LENGTH_LSB+:nicloop_pkg::HEADER_LENGTH_W]     = 10'(length);
    new_header[nicloop_pkg::HEADER_SRC_VPID_LSB+:nicloop_pkg::HEADER_SRC_VPID_W] = src_vpid;
    new_header[nicloop_pkg::HEADER_SRC_NODE_LSB+:nicloop_pkg::HEADER_SRC_NODE_W] = here;
    new_header[nicloop_pkg::HEADER_DST_VPID_LSB+:nicloop_pkg::HEADER_DST_VPID_W] = addr[nicloop_pkg::PIO_DST_VPID_LSB+:nicloop_pkg::PIO_DST_VPID_W];
    new_header[nicloop_pkg::HEADER_DST_NODE_LSB+:nicloop_pkg::HEADER_DST_NODE_W] = 12'(dst_node);
  end

  logic        line_valid, line_done;
  logic [63:0] line_header;
  logic [2:0]  line_flits;
  fifo #(.W(32 + 64 + 3), .DEPTH(LINES)) u_lines (
      .clk, .rst, .wr_valid(ev_line), .wr_ready(desc_ready), .wr_data({stamp, flits[2:0], new_header}),
      .rd_valid(line_valid), .rd_ready(line_done), .rd_data({line_stamp, line_flits, line_header}), .level(level)
  );

  // ---- sending: position 0 is the header, then the payload, then the tail ----
  logic [3:0]  pos;
  logic        send;
  logic [31:0] crc, crc_next;
  logic [63:0] covered;  // by the CRC, which counts as 0 itself
  // The header's vc and mark bits are 0 here, so the CRC needs no mask.
  crc32_d64 u_crc (.enable(tx_valid), .crc_in(tx_head ? 32'hffffffff : crc), .data(covered), .crc_out(crc_next));

  assign send      = line_valid && tx_ready;
  assign tx_valid  = line_valid;
  assign tx_head   = pos == '0;
  assign tx_tail   = pos == 4'(line_flits) + 4'd1;
  assign line_done = send && tx_tail;
  assign ev_packet = line_done;
  assign ev_stall  = line_valid && !tx_ready;
  always_comb begin
    if (tx_head) covered = line_header;
    else if (tx_tail) covered = {line_stamp, 32'h0};
    else covered = quads[{rd_line, 3'(pos - 4'd1)}];
  end
  assign tx_data = tx_tail ? {line_stamp, ~crc_next} : covered;

  always_ff @(posedge clk) begin
    if (rst) begin
      pos     <= '0;
      rd_line <= '0;
    end else if (send) begin
      pos <= tx_tail ? '0 : pos + 1'b1;
      if (tx_tail) rd_line <= rd_line + 1'b1;
    end
  end
  always_ff @(posedge clk) if (send) crc <= crc_next;

  // Whose the lines are: those from the one that leaves, as many as there are.
  logic [3:0]        owners[LINES];
  logic [LINE_W-1:0] behind;
  always_ff @(posedge clk) if (ev_line) owners[wr_line] <= src_vpid;
  always_comb begin
    level_of = '0;
    behind   = '0;
    for (int i = 0; i < LINES; i++) begin
      behind = LINE_W'(i) - rd_line;
      if (owners[i] == level_vpid && {1'b0, behind} < level) level_of = level_of + 1'b1;
    end
  end

  assign lines   = 16'(level);
  assign idle    = !open && !s_bvalid && !line_valid;
  assign active  = aw_take || w_take || (s_bvalid && s_bready) || send;

`ifndef SYNTHESIS
  if (LINES != 1 << LINE_W) $fatal(1, "velo_requester: LINES %0d is not a power of two", LINES);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!ev_line || desc_ready) else $error("velo_requester: node %0d: a line was taken without a place for it", here);
      assert (!ev_line || flits[3] == 1'b0) else $error("velo_requester: node %0d: %0d payload flits", here, flits);
    end
`endif
endmodule
