// Proves of axi_dma, with cut at any time: every write burst gets as many beats as its address
// says, the last one marked, and no beat comes without an address; behind a cut beats and answers
// wait for nobody but the bus, a burst is not begun, and an answer reaches the core just when its
// burst left behind the last cut. Looks at one burst per direction, any.
module axi_dma_ends #(
    parameter int BURSTS = 3
) (
    input logic       clk,
    input logic       rst,
    input logic       cut,
    input logic       aw_valid,
    input logic [7:0] aw_len,
    input logic       w_valid,
    input logic       b_ready,
    input logic       ar_valid,
    input logic       r_ready,
    input logic       msi_valid,
    input logic       m_awready,
    input logic       m_wready,
    input logic       m_bvalid,
    input logic [1:0] m_bid,
    input logic       m_arready,
    input logic       m_rvalid,
    input logic [1:0] m_rid,
    input logic       m_rlast,
    input logic       mark
);
  logic        aw_ready, w_ready, b_valid, ar_ready, r_valid, msi_done, m_awvalid, m_wvalid, m_wlast, m_bready,
      m_arvalid, m_rready, settled;
  logic [1:0]  m_awid, m_arid, stray;
  logic [63:0] m_awaddr, m_wdata;
  logic [7:0]  m_awlen, m_wstrb;
  axi_dma #(.ID_W(2), .BURSTS(BURSTS)) u_dut (
      .clk, .rst, .cut, .aw_valid, .aw_ready, .aw_addr(64'h40), .aw_len, .w_valid, .w_ready, .w_data(64'h0),
      .w_strb(8'hff), .b_valid, .b_ready, .ar_valid, .ar_ready, .r_valid, .r_ready, .msi_valid, .msi_addr(62'h1),
      .msi_word(32'h0), .msi_done, .m_awvalid, .m_awready, .m_awid, .m_awaddr, .m_awlen, .m_wvalid, .m_wready, .m_wdata,
      .m_wstrb, .m_wlast, .m_bvalid, .m_bready, .m_bid, .m_arvalid, .m_arready, .m_arid, .m_rvalid, .m_rready, .m_rid,
      .m_rlast, .settled, .stray
  );
  (* hierconn *) wire [1:0] \u_dut.rd_stale ;
  (* hierconn *) wire \u_dut.spoiled ;
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb begin
    if (!started) assume (rst);
    if (started) assume (!rst);
    assume (aw_len <= 8'd7);
  end

  // ---- beats of the burst whose address was taken last ----
  logic       due, core_burst, spoilt, aw_take, w_take;
  logic [8:0] beats;
  assign aw_take = m_awvalid && m_awready;
  assign w_take  = m_wvalid && m_wready;
  always_ff @(posedge clk)
    if (rst) due <= 1'b0;
    else if (aw_take) begin
      spoilt     <= 1'b0;
      due        <= 1'b1;
      beats      <= 9'(m_awlen) + 9'd1;
      core_burst <= m_awid == 2'd0;
    end else if (w_take) begin
      due    <= beats != 9'd1;
      beats  <= beats - 1'b1;
      spoilt <= spoilt || cut;
    end else if (cut) spoilt <= 1'b1;
  // The core's data that it has taken: no beat of a burst cut is taken of a later one.
  always_comb
    if (started && !rst) begin
      assert (!m_wvalid || due);
      assert (!m_wvalid || m_wlast == (beats == 9'd1));
      assert (!aw_take || !due || (w_take && beats == 9'd1));
      assert (!(cut && due) || m_wvalid);
      assert (!(due && spoilt) || (m_wvalid && (!core_burst || m_wstrb == 8'h00)));
      assert (!(cut && m_awvalid) || m_awid == 2'd2);
      assert (!(cut && m_arvalid));
      assert (!(cut && w_ready && w_valid));
      assert (!cut || (m_bready && m_rready && !b_valid && !r_valid));
      assert (!(w_take && core_burst) || m_wstrb == 8'h00 || (w_valid && w_ready));
      assert (!(m_bvalid && m_bready && m_bid != 2'd0) || !b_valid);
    end

  // ---- one write, one read: counted from when it left ----
  logic [2:0] wr_n, rd_n, wr_ahead, rd_ahead;
  logic       wr_on, rd_on, wr_dead, rd_dead, b_core, r_core, wr_out, rd_out;
  assign wr_out = aw_take && m_awid == 2'd0;
  assign rd_out = m_arvalid && m_arready;
  assign b_core = m_bvalid && m_bready && m_bid == 2'd0 && wr_n != '0;
  assign r_core = m_rvalid && m_rready && m_rid == 2'd1 && m_rlast && rd_n != '0;
  always_ff @(posedge clk)
    if (rst) begin
      {wr_n, rd_n}   <= '0;
      {wr_on, rd_on} <= '0;
    end else begin
      wr_n <= wr_n + 3'(wr_out) - 3'(b_core);
      rd_n <= rd_n + 3'(rd_out) - 3'(r_core);
      if (!wr_on && wr_out && mark) begin
        wr_on    <= 1'b1;
        wr_ahead <= wr_n - 3'(b_core);
        wr_dead  <= 1'b0;
      end else if (wr_on) begin
        wr_dead <= wr_dead || cut;
        if (b_core && wr_ahead == '0) wr_on <= 1'b0;
        else if (b_core) wr_ahead <= wr_ahead - 1'b1;
      end
      if (!rd_on && rd_out && mark) begin
        rd_on    <= 1'b1;
        rd_ahead <= rd_n - 3'(r_core);
        rd_dead  <= 1'b0;
      end else if (rd_on) begin
        rd_dead <= rd_dead || cut;
        if (r_core && rd_ahead == '0) rd_on <= 1'b0;
        else if (r_core) rd_ahead <= rd_ahead - 1'b1;
      end
    end
  always_comb
    if (started && !rst) begin
      assert (32'(wr_n) <= BURSTS && 32'(rd_n) <= BURSTS);
      if (wr_on && b_core && wr_ahead == '0) assert (b_valid == !(wr_dead || cut));
      if (rd_on && m_rvalid && m_rready && m_rid == 2'd1 && rd_ahead == '0) assert (r_valid == !(rd_dead || cut));
      assert (!(b_valid && b_ready) || b_core);
      assert (!(wr_on && wr_dead && !cut) || !settled);
      assert (!(rd_on && rd_dead && !cut) || !settled);
    end
  always_ff @(posedge clk) begin
    cover (started && wr_on && wr_dead && b_core && wr_ahead == 3'd1 && !cut);
    cover (started && rd_on && !rd_dead && r_valid && r_ready && rd_ahead == '0 && $past(\u_dut.rd_stale == 1));
    cover (started && due && \u_dut.spoiled && !cut && w_take);
  end
endmodule
