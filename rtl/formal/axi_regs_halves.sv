// Proves of axi_regs, with open and cut at any time: one answer per access, no two accesses with
// the core; what it is told to write are the last two halves that the host wrote, to one register,
// the lower one first and nothing written between; an upper half that is read is the one that came
// with the lower half before it, or the register's of now; behind a cut the answer is there in the
// next cycle. Its port keeps the rules of a slave; with PROMPT, a core that answers at once, an
// answer follows within 3 cycles, whatever BREADY and RREADY are.
module axi_regs_halves #(
    parameter int PROMPT = 0
) (
    input logic        clk,
    input logic        rst,
    input logic        s_awvalid,
    input logic [20:0] s_awaddr,
    input logic        s_wvalid,
    input logic [31:0] s_wdata,
    input logic [3:0]  s_wstrb,
    input logic        s_bready,
    input logic        s_arvalid,
    input logic [20:0] s_araddr,
    input logic        s_rready,
    input logic        open,
    input logic        cut,
    input logic        req_ready,
    input logic        rsp_valid,
    input logic [1:0]  rsp_resp,
    input logic [63:0] rsp_data
);
  logic        s_awready, s_wready, s_bvalid, s_arready, s_rvalid, req_valid, req_write, rsp_ready, brd_write, busy,
      lost, refused;
  logic [1:0]  s_bresp, s_rresp;
  logic [31:0] s_rdata, brd_data;
  logic [16:0] req_addr;
  logic [17:0] brd_addr;
  logic [63:0] req_data;
  axi_regs #(.PATIENCE(4)) u_dut (
      .clk, .rst, .s_awvalid, .s_awready, .s_awaddr, .s_wvalid, .s_wready, .s_wdata, .s_wstrb, .s_bvalid, .s_bready,
      .s_bresp, .s_arvalid, .s_arready, .s_araddr, .s_rvalid, .s_rready, .s_rdata, .s_rresp, .open, .cut, .req_valid,
      .req_ready, .req_write, .req_addr, .req_data, .rsp_valid, .rsp_ready, .rsp_resp, .rsp_data, .brd_write, .brd_addr,
      .brd_data, .brd_value(32'h0), .busy, .lost, .refused
  );
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb begin
    if (!started) assume (rst);
    if (started) assume (!rst);
    assume (!(open && cut));
    if (PROMPT != 0) assume (req_ready && rsp_valid);
    // To keep the proof small: four registers, data of two bits per half.
    assume (s_awaddr[19:4] == '0 && s_araddr[19:4] == '0 && s_wdata[31:2] == '0 && rsp_data[63:34] == '0 &&
        rsp_data[31:2] == '0);
  end

  axi_write_check #(.MASTER(0), .BURSTS(2), .B_WAIT(PROMPT * 4 - 1), .W_FIRST(1), .QUADS(0), .N_W(2)) u_writes (
      .clk, .rst, .awvalid(s_awvalid), .awready(s_awready), .awaddr(64'(s_awaddr)), .awlen(8'd0), .wvalid(s_wvalid),
      .wready(s_wready), .wdata(64'(s_wdata)), .wstrb(8'(s_wstrb)), .wlast(1'b1), .bvalid(s_bvalid),
      .bready(s_bready), .bresp(s_bresp), .idle(1'b0)
  );
  axi_read_check #(.MASTER(0), .BURSTS(2), .R_WAIT(PROMPT * 4 - 1), .QUADS(0), .N_W(2)) u_reads (
      .clk, .rst, .arvalid(s_arvalid), .arready(s_arready), .araddr(64'(s_araddr)), .arlen(8'd0), .rvalid(s_rvalid),
      .rready(s_rready), .rdata(64'(s_rdata)), .rresp(s_rresp), .rlast(1'b1), .idle(1'b0)
  );

  // ---- a write that waits is passed by one read at most, a read by one write ----
  logic passed_write, passed_read;
  always_ff @(posedge clk) begin
    passed_write <= !rst && s_awvalid && s_wvalid && !s_awready && (passed_write || (s_arvalid && s_arready));
    passed_read  <= !rst && s_arvalid && !s_arready && (passed_read || (s_awvalid && s_awready));
  end
  always_comb
    if (started && !rst) begin
      assert (!(passed_write && s_arvalid && s_arready));
      assert (!(passed_read && s_awvalid && s_awready));
    end

  // ---- what the host did: the write before the last, and the last ----
  logic        wr, rd, due_b, due_r, was_low, now_write, now_core;
  logic [20:2] now_addr;
  logic [31:0] now_data, before_data;
  logic [16:0] before_addr;
  assign wr = s_awvalid && s_awready;
  assign rd = s_arvalid && s_arready;
  always_ff @(posedge clk)
    if (rst) begin
      {due_b, due_r, was_low} <= '0;
    end else begin
      if (wr) begin
        now_write   <= 1'b1;
        now_addr    <= s_awaddr[20:2];
        now_data    <= s_wdata;
        now_core    <= s_wstrb == 4'hf;
      end else if (rd) begin
        now_write <= 1'b0;
        now_addr  <= s_araddr[20:2];
      end
      due_b <= wr || (due_b && !(s_bvalid && s_bready));
      due_r <= rd || (due_r && !(s_rvalid && s_rready));
      // When its answer is out, a write to the core's registers is the one before the next.
      if (cut) was_low <= 1'b0;
      else if (s_bvalid && s_bready && !now_addr[20]) begin
        was_low     <= !now_addr[2] && now_core && s_bresp == '0;
        before_addr <= now_addr[19:3];
        before_data <= now_data;
      end
    end

  // ---- reads: the upper half that came with the last lower one ----
  logic        pair, fresh;
  logic [16:0] pair_addr;
  logic [31:0] pair_data, got;
  always_ff @(posedge clk) begin
    if (rst || cut || (s_rvalid && s_rready && !now_addr[20])) pair <= !rst && !cut && !now_addr[2] && s_rresp == '0;
    if (rsp_valid && rsp_ready && !now_write) begin
      got   <= rsp_data[63:32];
      fresh <= 1'b1;
    end else if (rd) fresh <= 1'b0;
    if (s_rvalid && s_rready && !now_addr[20] && !now_addr[2]) begin
      pair_addr <= now_addr[19:3];
      pair_data <= got;
    end
  end
  logic cut_was, cut_since;  // since the read
  always_ff @(posedge clk) cut_since <= !rst && !rd && (cut || cut_since);
  always_ff @(posedge clk) cut_was <= !rst && cut && busy;
  always_comb
    if (started && !rst) begin
      assert (s_bvalid == 1'b0 || due_b);
      assert (s_rvalid == 1'b0 || due_r);
      assert (!(due_b && due_r));
      assert (!(wr || rd) || !(due_b || due_r));
      if (req_valid && req_write) begin
        assert (was_low && req_addr == before_addr && req_addr == now_addr[19:3] && now_addr[2] && !now_addr[20] &&
            now_core);
        assert (req_data == {now_data, before_data});
      end
      if (req_valid && !req_write) assert (req_addr == now_addr[19:3] && !now_addr[20]);
      if (s_rvalid && now_addr[2] && !now_addr[20] && s_rresp == '0 && !cut_since)
          assert (fresh ? s_rdata == got : pair && pair_addr == now_addr[19:3] && s_rdata == pair_data);
      assert (!cut_was || (s_bvalid || s_rvalid));
      assert (!cut || (!req_valid && !rsp_ready));
    end
  always_ff @(posedge clk) begin
    cover (started && req_valid && req_ready && req_write);
    cover (started && s_rvalid && now_addr[2] && !fresh && s_rresp == '0 && s_rdata != '0);
    cover (started && cut_was);
  end
endmodule
