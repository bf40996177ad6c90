// pcie_write: the core's DMA writes as posted memory writes.
//
// Job: AXI4 write slave. Cuts bursts at multiples of the maximum payload size, which no 4 KB
//   boundary lies within, joins those that go on where the one before ended, keeps each piece until
//   it is whole, since its header says which bytes of the last dword count, and has it sent. An
//   address below 4 GB has a header of 3 dwords.
// Handshake: AXI4, INCR, 8 bytes a beat, one burst at a time. The bytes of a piece are contiguous,
//   as the core's are; two quadwords need not be filled up to each other only where the piece is a
//   single quadword. A piece with holes is not sent, and its burst answers SLVERR, as all do while
//   bus_master is low. A piece with no bytes needs no TLP. A burst is answered when its last piece
//   has its ticket: nothing that gets one later, interrupt or completion, passes it. When
//   bus_master falls, tlp_tx discards pieces that have a ticket (dropped), although their bursts
//   may have been answered OKAY; a burst of which a piece was discarded before the last one had its
//   ticket answers SLVERR. core_rst resets the AXI side: whole pieces still leave, their answers
//   are discarded. A piece that ends with its burst, full and short of the payload size, waits HOLD
//   cycles for an address that goes on:
//     wdata     A7 __ B0 B1 ... B7 C0 ...     A to D: lines of 64 bytes, side by side
//     awaddr    __ B  __           C          one TLP of 256 bytes; without B at once, one of 64 goes out
// Backpressure: data waits while QUADS quadwords or HEADERS pieces are kept; answers wait for
// bready.
module pcie_write #(
    parameter int QUADS   = 128,  // a power of two, at least the largest payload
    parameter int HEADERS = 8
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         core_rst,
    input  logic         bus_master,
    input  logic         hold,        // no address is taken
    input  logic [2:0]   mps,         // 128 bytes << mps; up to what QUADS holds is used
    input  logic [15:0]  id,
    input  logic         s_awvalid,
    output logic         s_awready,
    input  logic [63:0]  s_awaddr,
    input  logic [7:0]   s_awlen,
    input  logic         s_wvalid,
    output logic         s_wready,
    input  logic [63:0]  s_wdata,
    input  logic [7:0]   s_wstrb,
    input  logic         s_wlast,
    output logic         s_bvalid,
    input  logic         s_bready,
    output logic [1:0]   s_bresp,
    // a sender of tlp_tx
    output logic         ask,
    input  logic         ticket,
    output logic [127:0] header,
    output logic         four,
    output logic         odd,
    output logic [10:0]  len,
    output logic [63:0]  quad,
    input  logic [7:0]   index,
    input  logic         done,
    input  logic         dropped,     // with done: it was not sent
    output logic         idle
);
  localparam int A = $clog2(QUADS), P = A + 1;

  // ---- beats: into memory, and what the strobes of the piece have been ----
  localparam int HOLD = 2;
  logic         open, first, w_take, ends, edge_here, piece_ends, piece_waits, closes, asks_room;
  logic         waits;           // a piece that may go on, after its burst
  logic         joined;          // and its next burst has come, but no beat of it
  logic [1:0]   held_for;
  logic [60:0]  line;            // of the beat
  logic [A:0]   wr, rd, begins;  // positions; the first of the piece
  logic [A:0]   edge_mask;       // ones below the size at which pieces end
  logic [63:0]  mem[QUADS];
  logic         full, may_wait, goes_on, fits, bad, bad_before;
  logic [3:0]   answers;         // bursts that ended in the piece before this beat
  assign edge_mask  = mps == 3'd0 || A <= 4 ? P'(15) : mps == 3'd1 || A <= 5 ? P'(31) : P'(63);
  assign full       = wr - rd == P'(QUADS);
  // While a piece waits, only the address that goes on is taken; a beat that does not belong to it
  // has it closed first.
  assign s_awready   = !open && !hold && (!waits || goes_on);
  // Of what closes a piece only a beat that does not belong to it can come while a burst is open.
  assign s_wready    = open && !full && asks_room && !(waits && (!bus_master || !fits));
  assign w_take      = s_wvalid && s_wready;
  assign ends        = w_take && s_wlast;
  assign edge_here   = (P'(line) & edge_mask) == edge_mask;
  assign may_wait    = !edge_here && (first ? up : all_full && !holes) && bus_master && !bad_before &&
                       answers < 4'd14 && 10'(so_far) < 10'(QUADS / 2 - 1);  // the other half sends meanwhile
  assign piece_waits = ends && may_wait;
  assign piece_ends  = w_take && (edge_here || (s_wlast && !may_wait));
  assign goes_on     = s_awaddr[63:3] == line && bus_master;
  assign closes      = waits && asks_room && (!bus_master ||
      (joined ? s_wvalid && !fits : s_awvalid ? !goes_on : held_for == 2'(HOLD)));
  always_ff @(posedge clk) if (w_take) mem[wr[A-1:0]] <= s_wdata;

  // A first quadword whose bytes reach up to the next one; a last whose bytes begin at its bottom;
  // one by itself may have any of two dwords' bytes.
  logic       up, down, all_full, whole, none;
  logic [7:0] first_strobes;
  logic       holes;             // of quadwords before this one
  logic [60:0] piece_line;
  logic [6:0] so_far;            // quadwords of the piece before this one
  assign up       = s_wstrb[7] && (s_wstrb[6:0] & ~s_wstrb[7:1]) == '0;
  assign down     = s_wstrb[0] && (s_wstrb[7:1] & ~s_wstrb[6:0]) == '0;
  assign all_full = s_wstrb == 8'hff;
  assign whole    = first ? s_wlast || edge_here || up : s_wlast || edge_here ? down : all_full;
  assign none     = first && s_wstrb == '0;
  assign fits     = all_full || (s_wlast && down);
  assign bad      = (!first && holes) || !whole || !bus_master;
  always_ff @(posedge clk) begin
    if (rst || core_rst) begin
      open  <= 1'b0;
      first <= 1'b1;
    end else begin
      open <= open ? !ends : s_awvalid && s_awready;
      if (w_take) first <= piece_ends;
      else if (closes) first <= 1'b1;
    end
    waits  <= !rst && !core_rst && (w_take ? piece_waits : waits && !closes);
    joined <= !rst && !core_rst && waits && !closes && !w_take && (joined || (s_awvalid && s_awready));
    if (!waits || w_take) held_for <= '0;
    else if (held_for != 2'(HOLD)) held_for <= held_for + 1'b1;
    if (rst || core_rst || piece_ends || closes) answers <= '0;
    else if (piece_waits) answers <= answers + 1'b1;
    if (!open && !waits) line <= s_awaddr[63:3];
    else if (w_take) line <= line + 1'b1;
    if (w_take) holes <= bad;
    if (w_take && first) first_strobes <= s_wstrb;
    if (rst || core_rst || !open) bad_before <= 1'b0;
    else if (piece_ends) bad_before <= bad_before || (bad && !none);
    if (w_take && first) piece_line <= line;
    so_far <= piece_ends || closes || rst || core_rst ? '0 : so_far + 7'(w_take);
  end

  // ---- a piece is whole: its header, or nothing to send ----
  typedef struct packed {
    logic        send, bad;
    logic        more;  // its last burst goes on in the next piece
    logic [3:0]  answers;
    logic [61:0] addr;  // of its first dword
    logic [7:0]  len;   // dwords
    logic [3:0]  first_be, last_be;
  } piece_t;
  piece_t     piece, held, out, asking, sent;
  logic [7:0] head_strobes;
  logic       low_first, low_last;  // the first dword is a lower half; the last is
  logic       sends;
  assign head_strobes = first ? s_wstrb : first_strobes;
  assign low_first    = head_strobes[3:0] != '0;
  assign low_last     = s_wstrb[7:4] == '0;
  assign sends        = !bad && !none;
  always_comb begin
    piece.send     = sends;
    piece.more     = !s_wlast;
    piece.answers  = answers + 4'(s_wlast);
    piece.bad      = bad_before || (bad && !none) || !bus_master;
    piece.addr     = {first ? line : piece_line, !low_first};
    piece.len      = {so_far, 1'b0} + 8'd2 - 8'(!low_first) - 8'(low_last);
    piece.first_be = low_first ? head_strobes[3:0] : head_strobes[7:4];
    piece.last_be  = piece.len == 8'd1 ? 4'h0 : low_last ? s_wstrb[3:0] : s_wstrb[7:4];
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      wr     <= '0;
      begins <= '0;
    end else if (core_rst) wr <= begins;
    else if (piece_ends) begin
      wr     <= sends ? wr + 1'b1 : begins;
      begins <= sends ? wr + 1'b1 : begins;
    end else if (w_take) wr <= wr + 1'b1;
    else if (closes) begins <= wr;
    if (piece_waits) held <= piece;
  end
  assign out = closes ? held : piece;

  // ---- pieces that wait for their ticket, and those that have it ----
  localparam int LEVEL_W = $clog2(HEADERS + 2);
  logic               have_asking, pass, sent_room, have_sent, b_room;
  logic [LEVEL_W-1:0] asking_level, sent_level;
  logic [LEVEL_W-1:0] stale;    // pieces, oldest first, whose answers are for a core that has been reset since
  logic               spoiled;  // an earlier piece of the burst that the next one goes on with was not sent
  fifo #(.W(85), .DEPTH(HEADERS)) u_asking (
      .clk, .rst, .wr_valid((piece_ends || closes) && !core_rst), .wr_ready(asks_room), .wr_data(out),
      .rd_valid(have_asking), .rd_ready(pass), .rd_data(asking), .level(asking_level)
  );
  fifo #(.W(85), .DEPTH(HEADERS)) u_sent (
      .clk, .rst, .wr_valid(pass && asking.send), .wr_ready(sent_room), .wr_data(asking), .rd_valid(have_sent),
      .rd_ready(done), .rd_data(sent), .level(sent_level)
  );
  logic [3:0] b_left;  // answers
  assign s_bvalid = b_left != '0;
  assign b_room   = b_left == '0 || (b_left == 4'd1 && s_bready);
  assign ask    = have_asking && asking.send && sent_room && b_room;
  assign pass   = have_asking && b_room && (ticket || !asking.send);
  always_ff @(posedge clk) begin
    if (rst || core_rst) b_left <= '0;
    else if (b_room) b_left <= pass && stale == '0 ? asking.answers : '0;
    else if (s_bready) b_left <= b_left - 1'b1;
    if (b_room) s_bresp <= {asking.bad || !bus_master || spoiled, 1'b0};
    if (rst) stale <= '0;
    else if (core_rst) stale <= asking_level - LEVEL_W'(pass);
    else if (pass && stale != '0) stale <= stale - 1'b1;
    if (rst || core_rst) spoiled <= 1'b0;
    else if (pass) spoiled <= asking.more && (!bus_master || (spoiled && asking.answers == '0));
    else if (done && dropped && sent.more && sent_level == LEVEL_W'(1)) spoiled <= 1'b1;
  end

  // ---- the oldest that has its ticket ----
  logic [8:0] sent_quads;
  assign sent_quads = 9'((10'(sent.len) + 10'(odd) + 10'd1) >> 1);
  always_ff @(posedge clk) begin
    if (rst) rd <= '0;
    else if (done) rd <= rd + P'(sent_quads);
  end
  assign four   = sent.addr[61:30] != '0;
  assign odd    = sent.addr[0];
  assign len    = {3'h0, sent.len};
  assign quad   = mem[A'(rd[A-1:0] + A'(index))];
  assign header = {sent.addr[29:0], 2'b00, four ? sent.addr[61:30] : {sent.addr[29:0], 2'b00}, id, 8'h0, sent.last_be,
      sent.first_be,
                   1'b0, 1'b1, four, 5'b00000, 14'h0, 10'(sent.len)};
  assign idle   = !open && !waits && !have_asking && !have_sent && !s_bvalid;

`ifndef SYNTHESIS
  if (QUADS < 16) $fatal(1, "pcie_write: QUADS %0d, expected at least 16", QUADS);
  always_ff @(posedge clk)
    if (!rst) assert (!done || have_sent) else $error("pcie_write %m: nothing was sent");
`endif
`ifdef FORMAL
  // Whatever is written: what is sent is legal, and what is kept belongs to it.
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  logic [2:0] mps_was;
  always_ff @(posedge clk) mps_was <= mps;
  logic [10:0] most;  // dwords
  assign most = mps == 3'd0 ? 11'd32 : mps == 3'd1 ? 11'd64 : 11'd128;
  always_comb begin
    if (!formal_started) assume (rst);
    if (formal_started) assume (mps == mps_was);
    assume (!ticket || ask);
    assume (!done || have_sent);
  end
  logic [60:0] aligned;
  assign aligned = ~{{61 - P{1'b0}}, edge_mask};
  logic [3:0] first_run, last_run;
  assign first_run = piece.first_be | (piece.first_be - 4'd1);
  assign last_run  = piece.last_be & (piece.last_be + 4'd1);
  always_comb
    if (formal_started && !rst) begin
      assert (first == (so_far == '0));
      assert (first || (61'(so_far) == line - piece_line && P'(so_far) <= edge_mask));
      assert (first || (piece_line & aligned) == (line & aligned));
      assert (P'(so_far) == wr - begins);
      assert (open || first || waits);
      assert (!waits || (!first && !holes && held.send && !held.bad));
      assert (!joined || (waits && open));
      assert (!waits || open == joined);
      assert (!waits || (held.answers != '0 && held.answers == answers));
      assert (first || holes || (first_strobes[7] && (first_strobes | (first_strobes - 8'd1)) == 8'hff));
      if (piece_ends && sends) begin
        assert (piece.len != '0 && 11'(piece.len) <= most);
        assert (12'(piece.addr[9:0]) + 12'(piece.len) <= 12'd1024);
        assert (piece.first_be != '0 && (piece.last_be == '0) == (piece.len == 8'd1));
        assert (piece.len <= 8'd2 || (first_run == 4'hf && last_run == '0));
        assert ((10'(piece.len) + 10'(piece.addr[0]) + 10'd1) >> 1 == 10'(so_far) + 10'd1);
      end
    end
  always_ff @(posedge clk) cover (formal_started && piece_ends && sends && so_far == 7'd15 && piece.last_be == 4'h1);
  always_ff @(posedge clk) cover (formal_started && s_bvalid && s_bresp != '0 && have_sent);
`endif
endmodule
