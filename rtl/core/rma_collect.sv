// rma_collect: takes RMA packets whole and judges them before anybody acts on them.
//
// Job: two buffers, one fills while the other is worked on. Checks frame, CRC, length and node; which types
//   are welcome is the owner's business.
// Handshake: flits in by valid/ready; have shows the oldest packet (reason 0: good) until take_next, a pulse.
//   Quadword index of what follows the extension flit is shown at once.
// Back-pressure: with both buffers full no flit is taken.
module rma_collect (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] here,
    input  logic        in_valid,
    output logic        in_ready,
    input  logic [65:0] in_flit,    // {tail, head, data}
    output logic        have,
    output logic [6:0]  reason,
    output logic [63:0] header,
    output logic [63:0] ext,
    input  logic [5:0]  index,
    output logic [63:0] quad,
    input  logic        take_next,
    output logic        idle,       // nothing is inside, not even part of a packet
    output logic        active
);
  localparam int QUADS = nicloop_pkg::RMA_MTU / 8;
  localparam int IDX_W = $clog2(QUADS);
  localparam logic [63:0] CRC_MASK = ~(64'h1 << nicloop_pkg::HEADER_VC_LSB) &
      ~(((64'h1 << nicloop_pkg::HEADER_MARK_W) - 64'h1) << nicloop_pkg::HEADER_MARK_LSB);

  logic [63:0] quads[2 * QUADS];
  logic [63:0] headers[2], exts[2];
  logic [6:0]  reasons[2];
  logic [1:0]  full;
  logic        fill_at, drain_at, open, framed;  // open: flits since the last tail; framed: they began with a head
  logic [6:0]  count;                            // quadwords between header and tail, 127 means more
  logic [31:0] crc, crc_next;

  logic        head, tail, cut, take, done;
  logic [63:0] data;
  assign {tail, head, data} = in_flit;
  assign cut      = in_valid && head && open;    // the tail of the packet before is missing
  assign in_ready = !full[fill_at] && !cut;
  assign take     = in_valid && in_ready;
  assign done     = !full[fill_at] && (cut || (take && tail));

  crc32_d64 u_crc (.crc_in(head ? 32'hffffffff : crc), .data(head ? data & CRC_MASK : data), .crc_out(crc_next));

  always_ff @(posedge clk) begin
    if (rst) begin
      open   <= 1'b0;
      framed <= 1'b0;
    end else if (done) begin
      open   <= 1'b0;
      framed <= 1'b0;
    end else if (take) begin
      open   <= 1'b1;
      framed <= framed || head;
    end
  end
  logic [6:0] place;  // of a payload quadword; the extension flit comes first
  assign place = count - 7'd1;
  always_ff @(posedge clk) begin
    if (take) begin
      crc   <= crc_next;
      count <= head ? '0 : count + 7'(count != 7'h7f);
      if (head || !open) headers[fill_at] <= head ? data : '0;
      if (!head && count == '0) exts[fill_at] <= data;
      if (!head && !tail && count != '0 && place < 7'(QUADS)) quads[{fill_at, place[IDX_W-1:0]}] <= data;
    end
  end

  // ---- judging at the tail ----
  logic [63:0] in_header;
  logic [9:0]  bytes;
  logic [6:0]  verdict;
  assign in_header = headers[fill_at];
  assign bytes     = in_header[nicloop_pkg::HEADER_LENGTH_LSB+:nicloop_pkg::HEADER_LENGTH_W];
  always_comb begin
    if (cut || !framed) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (data[31:0] != ~crc) verdict = 7'(nicloop_pkg::DROP_REASON_CRC);
    else if (bytes <= 10'd8 || bytes > 10'd8 + 10'(nicloop_pkg::RMA_MTU)) verdict = 7'(nicloop_pkg::DROP_REASON_BAD_LENGTH);
    else if (10'(count) != (bytes + 10'd7) >> 3) verdict = 7'(nicloop_pkg::DROP_REASON_TRUNCATED);
    else if (in_header[nicloop_pkg::HEADER_DST_NODE_LSB+:nicloop_pkg::HEADER_DST_NODE_W] != here)
      verdict = 7'(nicloop_pkg::DROP_REASON_NO_SUCH_NODE);
    else verdict = 7'(nicloop_pkg::DROP_REASON_NONE);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      full     <= '0;
      fill_at  <= 1'b0;
      drain_at <= 1'b0;
    end else begin
      if (done) full[fill_at] <= 1'b1;
      if (done) fill_at <= !fill_at;
      if (take_next) full[drain_at] <= 1'b0;
      if (take_next) drain_at <= !drain_at;
    end
  end
  always_ff @(posedge clk) if (done) reasons[fill_at] <= verdict;

  assign have   = full[drain_at];
  assign reason = reasons[drain_at];
  assign header = headers[drain_at];
  assign ext    = exts[drain_at];
  assign quad   = quads[{drain_at, index[IDX_W-1:0]}];
  assign idle   = !open && full == '0;
  assign active = take || done;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!take_next || have) else $error("rma_collect %m: node %0d: no packet to take", here);
`endif
endmodule
