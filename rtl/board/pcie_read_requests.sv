// pcie_read_requests: the memory read requests of pcie_read.
//
// Job: cuts bursts into pieces at multiples of the maximum read request size and of SLOT (no 4 KB
//   boundary lies within such a piece). A piece that continues the youngest request joins it, if it
//   comes within HOLD cycles, or within LONG while several requests are outstanding and whole lines
//   are read: the core asks for the next line when one has arrived, so single lines would stay
//   single lines.
// Handshake: AXI4 read address channel. asks, a pulse, for each piece in order, with its length and
//   the tag of its request; tag_take when the piece starts a request of its own, joins when it
//   continues that of st_tag. np_*: a request for tlp_tx, until np_done.
// Backpressure: a piece waits for a free tag, for the request before it to leave, and for room in
//   the queue of pieces.
module pcie_read_requests #(
    parameter int SLOT = 256,
    parameter int HOLD = 3,
    parameter int LONG = 40,
    parameter int T = 5,
    parameter int S = 5
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         core,           // the core is in reset
    input  logic         bus_master,
    input  logic         hold,           // no address is taken
    input  logic [2:0]   mrrs,
    input  logic [15:0]  id,
    input  logic         s_arvalid,
    output logic         s_arready,
    input  logic [63:0]  s_araddr,
    input  logic [7:0]   s_arlen,
    // tags
    input  logic         tag_ready,      // found_tag may be taken
    input  logic [T-1:0] found_tag,
    input  logic         several,        // two requests or more are outstanding, as of the cycle before
    output logic         tag_take,
    output logic         joins,
    output logic [3:0]   line_low4,      // low bits of the piece's address, in quadwords
    output logic [S:0]   joined_size,    // of the request of st_tag, with the piece that joins it
    // pieces
    input  logic         order_room,
    output logic         asks,
    output logic         piece_last,     // of its burst
    output logic [S:0]   piece,          // quadwords
    // requests
    output logic         st_valid,       // the youngest request, which may still grow
    output logic [T-1:0] st_tag,
    output logic         np_valid,
    input  logic         np_done,
    output logic [T-1:0] np_tag,
    output logic [127:0] np_header,
    output logic         np_four,
    output logic         open            // a burst that was taken is not all asked for
);
  localparam int F = $clog2(LONG + 1);

  // ---- the burst, cut into pieces ----
  logic [60:0] line;        // address of the next piece, in quadwords
  logic [8:0]  beats;       // left of the burst
  logic [6:0]  to_edge;     // quadwords up to the boundary at which a piece ends
  logic [6:0]  edge_quads, line_low;
  logic [60:0] line_next;
  // piece is known late, and 64 quadwords at most: the bits above grow by one or not, without a
  // carry behind it.
  assign line_low   = {1'b0, line[5:0]} + 7'(piece);
  assign line_next  = {line_low[6] ? line[60:6] + 1'b1 : line[60:6], line_low[5:0]};
  assign edge_quads = SLOT / 8 <= 16 || mrrs == 3'd0 ? 7'(SLOT / 8 < 16 ? SLOT / 8 : 16) :
                      SLOT / 8 <= 32 || mrrs == 3'd1 ? 7'd32 : 7'd64;
  assign to_edge    = edge_quads - (7'(line[5:0]) & (edge_quads - 7'd1));
  assign piece_last = beats <= 9'(to_edge);
  assign piece      = piece_last ? (S + 1)'(beats) : (S + 1)'(to_edge);
  assign line_low4  = line[3:0];
  assign s_arready  = !open && !hold;
  always_ff @(posedge clk) begin
    if (rst || core) open <= 1'b0;
    else open <= open ? !(asks && piece_last) : s_arvalid && s_arready;
    if (!open) begin
      line  <= s_araddr[63:3];
      beats <= {1'b0, s_arlen} + 9'd1;
    end else if (asks) begin
      line  <= line_next;
      beats <= beats - 9'(piece);
    end
  end

  // ---- the request that may grow (st), then the one at the sender (np) ----
  logic         st_edge, st_leaves, st_line_whole, same_block, goes_on;
  logic [60:0]  st_line, st_end;
  logic [S:0]   st_quads;
  logic [F-1:0] st_for;     // cycles since it grew, up to LONG
  logic [60:0]  req_line;
  logic [S:0]   req_quads;
  assign st_edge     = (st_end[6:0] & (edge_quads - 7'd1)) == '0;
  assign same_block  = line[60:6] == st_end[60:6];
  assign goes_on     = HOLD != 0 && open && st_valid && !st_edge && bus_master && same_block &&
      line[5:0] == st_end[5:0];
  assign joins       = goes_on && order_room;
  assign joined_size = st_quads + piece;
  assign st_leaves   = st_valid && !np_valid && !joins &&
      (st_edge || (open && !goes_on) || st_for == F'(LONG) || (st_for >= F'(HOLD) && !(several && st_line_whole)));
  assign asks        = open && order_room && (joins || !bus_master || (tag_ready && !st_valid));
  assign tag_take    = asks && bus_master && !joins;
  always_ff @(posedge clk) begin
    if (rst || core || st_leaves) st_valid <= 1'b0;
    else if (tag_take) st_valid <= 1'b1;
    if (tag_take) begin
      st_line  <= line;
      st_tag   <= found_tag;
      st_quads <= piece;
    end else if (joins) st_quads <= joined_size;
    if (tag_take || joins) begin
      st_end        <= line_next;
      st_for        <= '0;
      st_line_whole <= line[2:0] == '0 && piece[2:0] == '0;
    end else if (st_for != F'(LONG)) st_for <= st_for + 1'b1;
    if (rst || np_done) np_valid <= 1'b0;
    else if (st_leaves && !core) np_valid <= 1'b1;
    if (st_leaves) begin
      req_line  <= st_line;
      np_tag    <= st_tag;
      req_quads <= st_quads;
    end
  end
  assign np_four   = req_line[60:29] != '0;
  assign np_header = {req_line[28:0], 3'b000, np_four ? req_line[60:29] : {req_line[28:0], 3'b000}, id, 8'(np_tag),
      8'hff, 2'b00, np_four,
                      5'b00000, 14'h0, 10'({req_quads, 1'b0})};
endmodule
