// board_memory_words: board_memory is a memory, whoever reads and writes it when. A quadword that
// is looked at or read by the NIC is what was written last before, byte by byte; a burst has one
// answer, behind its last beat, a read as many beats as were asked for, the last one marked;
// answers stand until they are taken; a look is told in the cycle behind it. What lies outside of
// memory, from the first such quadword of a burst on, answers DECERR, reads 0 and changes nothing.
// Bursts of up to 4 beats, addresses in memory, just behind it and far behind it; one bit stands
// for all.
module board_memory_words #(
    parameter int QUADS = 4
) (
    input logic        clk,
    input logic        rst,
    input logic        awvalid,
    input logic        arvalid,
    input logic        aw_far,
    input logic        ar_far,
    input logic [2:0]  aw_at,
    input logic [2:0]  ar_at,
    input logic [1:0]  arlen,
    input logic        wvalid,
    input logic        wlast,
    input logic [63:0] wdata,
    input logic [7:0]  wstrb,
    input logic        bready,
    input logic        rready,
    input logic        look,
    input logic        look_write,
    input logic        look_far,
    input logic [2:0]  look_at,
    input logic [2:0]  look_byte,
    input logic [63:0] look_value
);
  localparam logic [1:0] OKAY = 2'b00, DECERR = 2'b11;
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        awready, wready, bvalid, arready, rvalid, rlast, told, told_known, idle;
  logic [1:0]  bresp, rresp;
  logic [63:0] rdata, told_value;
  board_memory #(.BYTES(8 * QUADS)) u_dut (
      .clk, .rst, .s_awvalid(awvalid), .s_awready(awready), .s_awaddr({aw_far, 57'h0, aw_at, 3'h0}), .s_wvalid(wvalid),
      .s_wready(wready), .s_wdata(wdata), .s_wstrb(wstrb), .s_wlast(wlast), .s_bvalid(bvalid), .s_bready(bready),
      .s_bresp(bresp), .s_arvalid(arvalid), .s_arready(arready), .s_araddr({ar_far, 57'h0, ar_at, 3'h0}),
      .s_arlen({6'h0, arlen}), .s_rvalid(rvalid), .s_rready(rready), .s_rdata(rdata), .s_rresp(rresp), .s_rlast(rlast),
      .look, .look_write, .look_addr({look_far, 33'h0, look_at, look_byte}), .look_value, .told, .told_known,
      .told_value, .idle
  );
  // Who looks waits for the answer.
  always_comb assume (!(look && told));

  // ---- one bit of the memory ----
  (* anyconst *) logic [2:0] at;
  (* anyconst *) logic [5:0] index;
  always_comb assume (32'(at) < QUADS);
  logic known, value;  // it was written, and what
  logic wrote, looked_here;

  // ---- writes of the NIC ----
  logic       open, owed, bad, w_far;  // a burst is open; its answer is due; the last one lay outside
  logic [3:0] w_at;                    // its next quadword
  logic [1:0] beats;
  logic       w_out;
  assign w_out = w_far || 32'(w_at) >= QUADS;
  assign wrote = wvalid && wready && !w_out && w_at[2:0] == at && wstrb[index[5:3]];
  assign looked_here = look && look_write && !look_far && look_byte == '0 && look_at == at;
  always_comb if (started && open) assume (beats != 2'd3 || wlast);
  always_ff @(posedge clk) begin
    if (rst) begin
      open  <= 1'b0;
      owed  <= 1'b0;
      known <= 1'b0;
    end else begin
      open <= open ? !(wvalid && wready && wlast) : awvalid && awready;
      owed <= wvalid && wready && wlast || owed && !(bvalid && bready);
      known <= known || wrote || looked_here;
    end
    if (awvalid && awready) begin
      w_at  <= {1'b0, aw_at};
      w_far <= aw_far;
      beats <= '0;
    end else if (wvalid && wready) begin
      if (32'(w_at) != 32'd15) w_at <= w_at + 1'b1;
      beats <= beats + 1'b1;
    end
    if (wvalid && wready && wlast) bad <= w_out;
    if (looked_here) value <= look_value[index];
    else if (wrote) value <= wdata[index];
  end

  // ---- reads of the NIC: what stood there when the beat was fetched, a cycle or more before it is
  // seen ----
  logic       reading, r_far, r_ends, more;  // more: another burst has been asked for
  logic [6:0] next;
  assign r_ends = rvalid && rready && rlast;
  logic [3:0] r_at;    // the next beat to be taken
  logic [1:0] r_left;
  logic       r_out;
  assign r_out = r_far || 32'(r_at) >= QUADS;
  // Between the answer's fetch and its beat a write may come: what it may show is what stood there
  // in any cycle since the beat before was taken, but nothing else.
  logic could_0, could_1;
  always_ff @(posedge clk) begin
    if (rst) {reading, more} <= '0;
    else begin
      reading <= arvalid && arready || more || (reading && !r_ends);
      more    <= reading && !r_ends && (more || (arvalid && arready));
    end
    if (arvalid && arready) next <= {1'b0, ar_at, ar_far, arlen};
    if (arvalid && arready && (!reading || r_ends)) {r_at, r_far, r_left} <= {1'b0, ar_at, ar_far, arlen};
    else if (r_ends) {r_at, r_far, r_left} <= next;
    else if (rvalid && rready) begin
      if (32'(r_at) != 32'd15) r_at <= r_at + 1'b1;
      r_left <= r_left - 1'b1;
    end
    if (arvalid && arready && !reading || rvalid && rready) {could_0, could_1} <= {!known || !value, !known || value};
    else {could_0, could_1} <= {could_0 || !known || !value, could_1 || !known || value};
  end

  // ---- who looks ----
  logic was_look, was_known, was_read, was_value_known, was_value;
  always_ff @(posedge clk) begin
    was_look  <= look && !rst;
    was_known <= !look_far && look_byte == '0 && 32'(look_at) < QUADS;
    was_read  <= !look_write && look_at == at;
    {was_value_known, was_value} <= {known, value};
  end

  logic b_stood, r_stood;
  logic [1:0]  b_was;
  logic [66:0] r_was;
  always_ff @(posedge clk) begin
    b_stood <= !rst && bvalid && !bready;
    r_stood <= !rst && rvalid && !rready;
    b_was   <= bresp;
    r_was   <= {rlast, rresp, rdata};
  end
  always_comb
    if (started && !rst) begin
      assert (!(wvalid && wready) || open);
      assert (bvalid == owed);
      if (bvalid) assert (bresp == (bad ? DECERR : OKAY));
      assert (!b_stood || (bvalid && bresp == b_was));
      assert (!rvalid || reading);
      assert (!(more && arready));
      if (rvalid) begin
        assert (rlast == (r_left == '0));
        assert (rresp == (r_out ? DECERR : OKAY));
        if (r_out) assert (rdata == '0);
        else if (r_at[2:0] == at) assert (rdata[index] ? could_1 : could_0);
      end
      assert (!r_stood || (rvalid && {rlast, rresp, rdata} == r_was));
      assert (told == was_look);
      if (told) begin
        assert (told_known == was_known);
        if (!was_known) assert (told_value == '0);
        else if (was_read && was_value_known) assert (told_value[index] == was_value);
      end
      assert (!idle || !(open || owed || reading || told));
      // A look takes a cycle from the NIC, and no more; a write of the same quadword one from a
      // read.
      assert (!(open && !look && (!wlast || !bvalid || bready)) || wready);
    end

  // ---- all of it can be ----
  logic crossed;
  always_ff @(posedge clk) begin
    crossed <= !rst && (crossed || (open && w_out && !w_far && wvalid && wready && beats != '0));
    cover (started && !rst && crossed && bvalid && known);
    cover (started && !rst && told && was_read && was_value_known && was_value && was_known && reading);
    cover (started && !rst && rvalid && rready && rlast && r_at[2:0] == at && !r_out && rdata[index] && known &&
        !could_0);
  end
endmodule
