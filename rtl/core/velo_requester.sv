// velo_requester: buffers the lines that processes have written and sends them as packets.
//
// Job: a line is assembled, word by word, in the entry after those of its process that wait; take
//   completes it. Lines of all processes are sent in the order in which they were completed, each
//   as header, payload and tail flits, the tail with the domain and life of that cycle. The fields
//   of a line (nicloop_pkg PIO_*) have been checked by pio_window.
// Handshake: put and take as in pio_window; flits valid/ready.
// Backpressure: none. full: the processes that will have VELO_LINES lines waiting in the next cycle
//   if no line is completed in this one; no line of these is completed then.
module velo_requester #(
    // processes: a power of two, 2 or more; no line of another is taken
    parameter int VPIDS = nicloop_pkg::VPIDS,
    parameter int LINES = nicloop_pkg::VELO_LINES + 1,  // entries of a process: a power of two
    // 1: the list of lines may be block RAM, and shows a line a cycle later; the CRC takes half of
    // the logic
    parameter int BLOCK = 0,
    localparam int LINE_W = $clog2(LINES),
    localparam int VPID_W = $clog2(VPIDS)
) (
    input  logic              clk,
    input  logic              rst,
    input  logic [11:0]       here,
    // lines
    input  logic              put,
    input  logic [3:0]        put_vpid,
    input  logic [2:0]        put_quad,
    input  logic [63:0]       put_data,
    input  logic [1:0]        put_words,
    input  logic              take,
    input  logic [28:0]       line_addr,
    input  logic [31:0]       line_stamp,
    output logic [15:0]       full,         // in the next cycle
    // flits
    output logic              tx_valid,
    input  logic              tx_ready,
    output logic              tx_head,
    output logic              tx_tail,
    output logic [63:0]       tx_data,
    // events, one cycle each
    output logic              ev_packet,    // a packet was sent
    output logic [3:0]        packet_vpid,  // whose
    output logic              ev_stall,     // a flit waits
    // state
    output logic [15:0]       lines,
    input  logic [3:0]        level_vpid,
    output logic [LINE_W-1:0] level_of,     // lines of level_vpid
    output logic              idle,
    output logic              active
);
  // ---- entries: a ring per process; the line at wr_at is in parts ----
  logic [LINE_W-1:0] wr_at[VPIDS], rd_at[VPIDS];
  /* verilator lint_off UNUSEDSIGNAL */  // where in the line the last piece began
  nicloop_pkg::pio_t comes, leaves;  // what the line that is taken, and the one that leaves, says of itself
  /* verilator lint_on UNUSEDSIGNAL */
  logic [VPID_W-1:0] take_vpid, line_vpid, vpid_was;
  logic              line_valid, line_done;
  logic [LINE_W-1:0] line_at;  // the same as rd_at of its process, but earlier
  assign comes     = line_addr;
  assign take_vpid = comes.src_vpid[VPID_W-1:0];
  assign level_of  = wr_at[level_vpid[VPID_W-1:0]] - rd_at[level_vpid[VPID_W-1:0]];
  logic [VPIDS-1:0] fulls, stays, frees;
  assign full  = 16'(stays);
  assign stays = fulls & ~frees;
  generate
    for (genvar v = 0; v < VPIDS; v++) begin : g_vpid
      assign fulls[v] = LINE_W'(wr_at[v] + 1'b1) == rd_at[v];
      assign frees[v] = line_done && vpid_was == VPID_W'(v);
      always_ff @(posedge clk) begin
        if (rst) begin
          wr_at[v] <= '0;
          rd_at[v] <= '0;
        end else begin
          if (take && take_vpid == VPID_W'(v)) wr_at[v] <= wr_at[v] + 1'b1;
          if (frees[v]) rd_at[v] <= rd_at[v] + 1'b1;
        end
      end
    end
  endgenerate

  // Read a cycle before it is sent, so that it may be block RAM.
  // What is read was taken, and is not written meanwhile.
  (* no_rw_check *) logic [31:0] quads_low[VPIDS*LINES*8], quads_high[VPIDS*LINES*8];
  logic [VPID_W+LINE_W+2:0]   put_at;
  logic [3:0]                 pos;
  logic                       send;
  logic [63:0]                quad;
  assign put_at = {put_vpid[VPID_W-1:0], wr_at[put_vpid[VPID_W-1:0]], put_quad};
  always_ff @(posedge clk) begin
    if (put && put_words[0]) quads_low[put_at] <= put_data[31:0];
    if (put && put_words[1]) quads_high[put_at] <= put_data[63:32];
    if (send) quad <= {quads_high[{line_vpid, line_at, pos[2:0]}], quads_low[{line_vpid, line_at, pos[2:0]}]};
  end

  // ---- the order of the lines, and their fields ----
  logic [22:0] says, line_says;  // format pio without byte
  logic [31:0] stamp;
  logic        taken_ready;
  logic [6:0]  bytes;
  logic [3:0]  flits, length_flits;  // of payload
  logic [$clog2(VPIDS*LINES+2)-1:0] level;
  assign says  = line_addr[nicloop_pkg::PIO_W-1:nicloop_pkg::PIO_BYTE_W];
  assign bytes = 7'(comes.length) + (comes.piggyback ? 7'd2 : 7'd0);
  assign flits = 4'((bytes + 7'd7) >> 3);
  fifo #(.W(LINE_W + 32 + 23 + 4), .DEPTH(VPIDS * LINES), .FALL_THROUGH(BLOCK != 0 ? 0 : 1)) u_lines (
      .clk, .rst, .wr_valid(take), .wr_ready(taken_ready), .wr_data({wr_at[take_vpid], line_stamp, says, flits}),
      .rd_valid(line_valid), .rd_ready(line_done), .rd_data({line_at, stamp, line_says, length_flits}), .level(level)
  );
  nicloop_pkg::header_t line_header;
  assign leaves    = {line_says, 6'h0};
  assign line_vpid = leaves.src_vpid[VPID_W-1:0];
  always_comb begin
    line_header           = '0;
    line_header.type_     = nicloop_pkg::PACKET_TYPE_VELO;
    line_header.kind      = leaves.kind;
    line_header.piggyback = leaves.piggyback;
    line_header.length    = 10'(leaves.length);
    line_header.src_vpid  = leaves.src_vpid;
    line_header.src_node  = here;
    line_header.dst_vpid  = leaves.dst_vpid;
    line_header.dst_node  = 12'(leaves.dst_node);
  end

  // ---- sending: position 0 is the header, then the payload, then the tail ----
  // The list of lines may be block RAM, which is late. A tail's line stood there the cycle before.
  logic [31:0] crc, stamp_was;
  logic [63:0] word;     // header or payload
  logic        on_tail;  // pos is that of the tail, known before the line is read
  // The header's answer and mark bits are 0 here, so the CRC needs no mask.
  crc32_sender #(.BEHIND(BLOCK != 0 ? 0 : 1)) u_crc (
      .clk, .send, .head(tx_head), .tail(tx_valid && tx_tail), .data(word), .stamp(stamp_was), .crc
  );

  assign send      = line_valid && tx_ready;
  assign tx_valid  = line_valid;
  assign tx_head   = pos == '0;
  assign tx_tail   = on_tail;
  assign line_done = send && tx_tail;
  assign ev_packet   = line_done;
  assign packet_vpid = 4'(line_vpid);
  assign ev_stall  = line_valid && !tx_ready;
  assign word      = tx_head ? line_header : quad;
  assign tx_data   = tx_tail ? {stamp_was, crc} : word;

  always_ff @(posedge clk) begin
    vpid_was  <= line_vpid;
    stamp_was <= stamp;
    if (rst) begin
      pos     <= '0;
      on_tail <= 1'b0;
    end else if (send) begin
      pos     <= on_tail ? '0 : pos + 1'b1;
      on_tail <= !on_tail && pos == length_flits;
    end
  end

  assign lines  = 16'(level);
  assign idle   = !line_valid;
  assign active = take || send;

`ifndef SYNTHESIS
  if (LINES != 1 << LINE_W) $fatal(1, "velo_requester: VELO_LINES + 1 is %0d, not a power of two", LINES);
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!take || (taken_ready && !fulls[take_vpid]))
          else $error("velo_requester: node %0d: a line was taken without an entry for it", here);
      assert (!line_valid || line_at == rd_at[line_vpid])
          else $error("velo_requester: node %0d: line %0d of VPID %0d is not the oldest", here, line_at, line_vpid);
      assert (!line_valid || length_flits <= 4'd7)
          else $error("velo_requester: node %0d: %0d payload flits", here, length_flits);
    end
`endif
endmodule
