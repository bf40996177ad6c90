// mmio_read_answers: every non-posted request is answered, in order and under its own tag and
// requester, by completions that make up what was asked for: dwords, lower addresses and bytes to
// come go on from one to the next, each but the last ends at a multiple of 128 bytes, and one with
// an error is the last. No register is read for a request before every write that came ahead of it
// has been answered, and none for one that is refused. An access to a register stays until it is
// taken, or the core is reset; a read that meets a reset of the core is answered with UR.
module mmio_read_answers (
    input logic        clk,
    input logic        rst,
    input logic        core_rst,
    input logic        n_valid,
    input logic        n_ur,
    input logic [1:0]  n_size,
    input logic [2:0]  bar,
    input logic [31:0] addr,
    input logic [10:0] len,
    input logic [3:0]  first_be,
    input logic [3:0]  last_be,
    input logic        settled,
    input logic        arready,
    input logic        rvalid,
    input logic [1:0]  rresp,
    input logic        ticket,
    input logic        done
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // ---- what comes: requests that tlp_rx lets through, numbered by their tags ----
  typedef struct packed {
    logic        ur;
    logic [1:0]  size;
    logic [2:0]  bar;
    logic [29:0] addr;
    logic [10:0] len;
    logic [3:0]  first_be, last_be;
  } request_t;
  request_t    now, was, r;
  logic [54:0] kept[4];              // request_t: yosys keeps no array of those
  logic        n_ready, waits, ripe[4];
  logic        missed;               // the access that is done has met a reset of the core
  logic [2:0]  came, answered;
  assign now = {n_ur, n_size, bar, addr[31:2], len, first_be, last_be};
  always_comb begin
    assume (len != '0 && len <= 11'd1024 && 12'(addr[11:2]) + 12'(len) <= 12'd1024);
    if (!n_ur) assume (n_size == '0);
    if (!n_ur) assume (len == 11'd1 ? last_be == '0 : first_be != '0 && last_be != '0);
    if (started && waits) assume (n_valid && now == was);
  end

  logic         arvalid, ar_was, reading, ask, sending, idle, four, odd;
  logic [31:0]  araddr, araddr_was;
  logic [127:0] header;
  logic [10:0]  out_len;
  mmio_read #(.DEPTH(2), .SPARE(1)) u_dut (
      .clk, .rst, .core_rst, .id(16'h0300), .n_valid, .n_ready, .n_ur, .n_locked(1'b0), .n_size, .bar, .addr,
      .len_in(len), .first_be, .last_be, .requester({13'h5, came}), .tag({5'h0, came}), .tc(3'd0), .attr(3'd0),
      .settled,
      .m_axil_arvalid(arvalid), .m_axil_arready(arready), .m_axil_araddr(araddr), .m_axil_rvalid(rvalid),
      .m_axil_rdata(64'h0), .m_axil_rresp(rresp), .msix_data(64'h0), .ask, .ticket, .header, .four, .odd, .len(out_len),
      .index(8'h0), .done, .idle
  );
  always_comb begin
    assume (!ticket || ask);
    assume (!done || sending);
    assume (!rvalid || (reading && !core_rst));
  end

  // ---- what has to leave ----
  logic [10:0] sent;                 // dwords of the oldest request that have been answered
  logic        good, part;
  logic [11:0] end_dw;
  logic [1:0]  skipped, cut;
  logic [3:0]  be_end;
  logic [12:0] to_come;
  assign r       = kept[answered[1:0]];
  assign good    = header[30];
  assign part    = good && sent + out_len < r.len;
  assign end_dw  = 12'(r.addr[9:0]) + 12'(sent) + 12'(out_len);
  assign be_end  = r.len == 11'd1 ? r.first_be : r.last_be;
  assign skipped = sent != '0 || r.first_be[0] ? 2'd0 : r.first_be[1] ? 2'd1 : r.first_be[2] ? 2'd2 : r.first_be[3] ?
      2'd3 : 2'd0;
  assign cut     = be_end[3] ? 2'd0 : be_end[2] ? 2'd1 : be_end[1] ? 2'd2 : 2'd3;
  assign to_come = r.len == 11'd1 && r.first_be == '0 ? 13'd1 : {r.len - sent, 2'b00} - 13'(skipped) - 13'(cut);
  always_ff @(posedge clk) begin
    waits      <= !rst && n_valid && !n_ready;
    was        <= now;
    ar_was     <= !rst && !core_rst && arvalid && !arready;
    araddr_was <= araddr;
    if (rst) begin
      came     <= '0;
      answered <= '0;
      sent     <= '0;
      sending  <= 1'b0;
      reading  <= 1'b0;
      missed   <= 1'b0;
    end else begin
      if (n_valid && n_ready) begin
        kept[came[1:0]] <= now;
        came            <= came + 1'b1;
      end
      sending <= sending ? !done : ticket;
      reading <= !core_rst && (reading ? !rvalid : arvalid && arready);
      missed  <= done ? 1'b0 : missed || (core_rst && (arvalid || reading));
      if (done) begin
        sent     <= part ? sent + out_len : '0;
        answered <= answered + 3'(!part);
      end
    end
    for (int i = 0; i < 4; i++)
      if (settled) ripe[i] <= 1'b1;
      else if (n_valid && n_ready && came[1:0] == 2'(i)) ripe[i] <= 1'b0;
  end
  always_comb
    if (started && !rst) begin
      assert (3'(came - answered) <= 3'd4 && (!idle || came == answered));
      assert (!(ask || sending || arvalid || reading) || came != answered);
      assert (!core_rst || !arvalid);
      assert (!ar_was || core_rst || (arvalid && araddr == araddr_was));
      assert (!(arvalid && reading) && !(ask && (arvalid || reading)));
      assert (!arvalid || (ripe[answered[1:0]] && !r.ur && r.bar != 3'd2 && r.bar != 3'd4));
      if (ask || sending) begin
        assert (header[79:72] == {5'h0, answered} && header[95:80] == {13'h5, answered} && header[63:48] == 16'h0300 &&
            !four);
        assert (good == (out_len != '0) && 11'(header[9:0]) == out_len && good == (header[47:45] == 3'd0));
        assert (!(r.ur || r.bar == 3'd2) || header[47:45] == 3'd1);
        assert (!good || (sent + out_len <= r.len && header[70:66] == 5'(r.addr[4:0] + sent[4:0]) &&
            header[65:64] == skipped && odd == (r.addr[0] ^ sent[0])));
        assert (!part || end_dw[4:0] == '0);
        assert (!good || !missed);
        assert (header[43:32] == (r.size == 2'd0 ? to_come[11:0] : r.size == 2'd1 ? 12'd4 :
            r.size == 2'd2 ? {r.len[9:0], 2'b00} : {r.len, 1'b0}));
      end
    end
  always_ff @(posedge clk) cover (started && ask && good && sent != '0 && r.bar == 3'd0);
  always_ff @(posedge clk) cover (started && ask && !good && sent != '0);
  always_ff @(posedge clk) cover (started && done && answered == 3'd1 && !part && good);
endmodule
