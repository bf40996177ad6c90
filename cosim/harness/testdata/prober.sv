// prober: a design for tests of the bus models. It issues any AXI4 burst that software describes,
// legal or not, on two masters of 32 and 128 bits; it sends and receives stream words with TLAST;
// the page 0x8000 of its registers never answers. quiet is high while no burst is outstanding and
// no word is waiting; EDGES counts the clock edges that the design gets.
//
// With BUG a write to the register BUG plants a mistake, for tests that compare two versions: 1
// inverts a byte of the third beat of a write of master A, 2 changes the stream word 5, 3 changes
// what LAST_WORD reads, 4 loses the stream word 9.
module prober #(
    parameter int BUG = 0
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [15:0] s_awaddr,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [31:0] s_wdata,
    output logic        s_bvalid,
    input  logic        s_bready,
    input  logic        s_arvalid,
    output logic        s_arready,
    input  logic [15:0] s_araddr,
    output logic        s_rvalid,
    input  logic        s_rready,
    output logic [31:0] s_rdata,
    output logic        a_awvalid, input logic a_awready, output logic [31:0] a_awaddr, output logic [7:0] a_awlen,
    output logic [2:0]  a_awsize, output logic [1:0] a_awburst, output logic [1:0] a_awid,
    output logic        a_wvalid, input logic a_wready, output logic [31:0] a_wdata, output logic [3:0] a_wstrb,
    output logic        a_wlast, input logic a_bvalid, output logic a_bready, input logic [1:0] a_bid,
    input  logic [1:0]  a_bresp, output logic a_arvalid, input logic a_arready, output logic [31:0] a_araddr,
    output logic [7:0]  a_arlen, output logic [2:0] a_arsize, output logic [1:0] a_arburst, output logic [1:0] a_arid,
    input  logic        a_rvalid, output logic a_rready, input logic [31:0] a_rdata, input logic [1:0] a_rid,
    input  logic [1:0]  a_rresp, input logic a_rlast,
    output logic        b_awvalid, input logic b_awready, output logic [31:0] b_awaddr, output logic [7:0] b_awlen,
    output logic [2:0]  b_awsize, output logic [1:0] b_awburst, output logic [1:0] b_awid,
    output logic        b_wvalid, input logic b_wready, output logic [127:0] b_wdata, output logic [15:0] b_wstrb,
    output logic        b_wlast, input logic b_bvalid, output logic b_bready, input logic [1:0] b_bid,
    input  logic [1:0]  b_bresp, output logic b_arvalid, input logic b_arready, output logic [31:0] b_araddr,
    output logic [7:0]  b_arlen, output logic [2:0] b_arsize, output logic [1:0] b_arburst, output logic [1:0] b_arid,
    input  logic        b_rvalid, output logic b_rready, input logic [127:0] b_rdata, input logic [1:0] b_rid,
    input  logic [1:0]  b_rresp, input logic b_rlast,
    output logic        out_tvalid, input logic out_tready, output logic [31:0] out_tdata, output logic out_tlast,
    input  logic        in_tvalid, output logic in_tready, input logic [31:0] in_tdata, input logic in_tlast,
    output logic        quiet
);
  logic [31:0] bug;
  logic        write, a_busy, b_busy, hold;
  logic [31:0] edges, words, frames, last_word, a_value, b_value;
  assign write     = s_awvalid && s_wvalid && !s_bvalid && s_awaddr[15:12] != 4'h8 &&
                     !(out_tvalid && s_awaddr[15:12] == 4'h2);
  assign s_awready = write;
  assign s_wready  = write;
  assign s_arready = s_arvalid && !s_rvalid && s_araddr[15:12] != 4'h8;
  assign in_tready = !hold;
  assign quiet     = !a_busy && !b_busy && !out_tvalid && !s_awvalid && !s_arvalid && !s_bvalid && !s_rvalid;

  prober_master #(.W(32)) u_a (
      .clk, .rst, .bug(BUG != 0 && bug == 1), .write(write && s_awaddr[15:12] == 4'h0), .addr(s_awaddr[11:0]), .wdata(s_wdata),
      .raddr(s_araddr[11:0]), .value(a_value), .busy(a_busy),
      .awvalid(a_awvalid), .awready(a_awready), .awaddr(a_awaddr), .awlen(a_awlen), .awsize(a_awsize),
      .awburst(a_awburst), .awid(a_awid), .wvalid(a_wvalid), .wready(a_wready), .m_wdata(a_wdata), .wstrb(a_wstrb),
      .wlast(a_wlast), .bvalid(a_bvalid), .bready(a_bready), .bid(a_bid), .bresp(a_bresp), .arvalid(a_arvalid),
      .arready(a_arready), .araddr(a_araddr), .arlen(a_arlen), .arsize(a_arsize), .arburst(a_arburst), .arid(a_arid),
      .rvalid(a_rvalid), .rready(a_rready), .rdata(a_rdata), .rid(a_rid), .rresp(a_rresp), .rlast(a_rlast));
  prober_master #(.W(128)) u_b (
      .clk, .rst, .bug(1'b0), .write(write && s_awaddr[15:12] == 4'h1), .addr(s_awaddr[11:0]), .wdata(s_wdata),
      .raddr(s_araddr[11:0]), .value(b_value), .busy(b_busy),
      .awvalid(b_awvalid), .awready(b_awready), .awaddr(b_awaddr), .awlen(b_awlen), .awsize(b_awsize),
      .awburst(b_awburst), .awid(b_awid), .wvalid(b_wvalid), .wready(b_wready), .m_wdata(b_wdata), .wstrb(b_wstrb),
      .wlast(b_wlast), .bvalid(b_bvalid), .bready(b_bready), .bid(b_bid), .bresp(b_bresp), .arvalid(b_arvalid),
      .arready(b_arready), .araddr(b_araddr), .arlen(b_arlen), .arsize(b_arsize), .arburst(b_arburst), .arid(b_arid),
      .rvalid(b_rvalid), .rready(b_rready), .rdata(b_rdata), .rid(b_rid), .rresp(b_rresp), .rlast(b_rlast));

  always_ff @(posedge clk) begin
    edges <= rst ? 0 : edges + 1;
    if (s_bready) s_bvalid <= 1'b0;
    if (s_rready) s_rvalid <= 1'b0;
    if (out_tready) out_tvalid <= 1'b0;
    if (write) begin
      s_bvalid <= 1'b1;
      if (s_awaddr == 16'h2000 || s_awaddr == 16'h2004) begin
        out_tvalid <= !(BUG != 0 && bug == 4 && s_wdata == 9);
        out_tdata  <= BUG != 0 && bug == 2 && s_wdata == 5 ? 32'd6 : s_wdata;
        out_tlast  <= s_awaddr[2];
      end
      if (s_awaddr == 16'h2008) hold <= s_wdata[0];
      if (s_awaddr == 16'h201c) bug <= s_wdata;
    end
    if (s_arready) begin
      s_rvalid <= 1'b1;
      unique case (s_araddr)
        16'h200c: s_rdata <= words;
        16'h2010: s_rdata <= frames;
        16'h2014: s_rdata <= BUG != 0 && bug == 3 ? last_word + 1 : last_word;
        16'h2018: s_rdata <= edges;
        default:  s_rdata <= s_araddr[12] ? b_value : a_value;
      endcase
    end
    if (in_tvalid && in_tready) begin
      words     <= words + 1;
      frames    <= frames + 32'(in_tlast);
      last_word <= in_tdata;
    end
    if (rst) begin
      s_bvalid   <= 1'b0;
      s_rvalid   <= 1'b0;
      out_tvalid <= 1'b0;
      hold       <= 1'b0;
      bug        <= 0;
      words      <= 0;
      frames     <= 0;
    end
  end
endmodule

// prober_master: performs one burst at a time. Registers: 0x00 ADDR, 0x04 SHAPE, 0x08 SEED, 0x0c
// STRB, 0x10 GO (bit 0: write), 0x14 DONE, 0x18 RESP, 0x400 RDATA. Byte i of beat n of a write is
// SEED + 16 * n + i.
module prober_master #(
    parameter int W = 32
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           bug,
    input  logic           write,
    input  logic [11:0]    addr,
    input  logic [31:0]    wdata,
    input  logic [11:0]    raddr,
    output logic [31:0]    value,
    output logic           busy,
    output logic           awvalid, input logic awready, output logic [31:0] awaddr, output logic [7:0] awlen,
    output logic [2:0]     awsize, output logic [1:0] awburst, output logic [1:0] awid,
    output logic           wvalid, input logic wready, output logic [W-1:0] m_wdata, output logic [W/8-1:0] wstrb,
    output logic           wlast, input logic bvalid, output logic bready, input logic [1:0] bid, input logic [1:0] bresp,
    output logic           arvalid, input logic arready, output logic [31:0] araddr, output logic [7:0] arlen,
    output logic [2:0]     arsize, output logic [1:0] arburst, output logic [1:0] arid,
    input  logic           rvalid, output logic rready, input logic [W-1:0] rdata, input logic [1:0] rid,
    input  logic [1:0]     rresp, input logic rlast
);
  localparam int WORDS = W / 32;
  logic [31:0] start, at, next, seed, strb, done, resp;
  logic [7:0]  len, beat, rbeat;
  logic [2:0]  size;
  logic [1:0]  burst;
  logic        raw, early;  // STRB as it is instead of masking the lanes of the beat; WLAST one beat early
  logic [31:0] got[64];
  logic [W/8-1:0] lanes;
  logic [31:0] step, whole;
  assign step    = 32'd1 << size;
  assign whole   = step * (32'(len) + 32'd1);
  assign awaddr  = start;
  assign araddr  = start;
  assign awlen   = len;
  assign arlen   = len;
  assign awsize  = size;
  assign arsize  = size;
  assign awburst = burst;
  assign arburst = burst;
  assign awid    = 2'd2;
  assign arid    = 2'd1;
  assign bready  = 1'b1;
  assign rready  = 1'b1;
  assign wlast   = beat == (early && len != 0 ? len - 8'd1 : len);
  always_comb begin
    next = (at & ~(step - 1)) + step;
    if (burst == 2'b00) next = at;
    else if (burst == 2'b10 && (next & (whole - 1)) == 0) next = next - whole;
    for (int i = 0; i < W / 8; i++) begin
      lanes[i]        = 32'(i) >= at % (W / 8) && 32'(i) < (at % (W / 8) & ~(step - 1)) + step;
      m_wdata[8*i+:8] = 8'(seed) + 8'(16 * beat) + 8'(i);
    end
    if (bug && beat == 8'd2) m_wdata[7:0] = ~m_wdata[7:0];
    wstrb = raw ? strb[W/8-1:0] : lanes & strb[W/8-1:0];
    if (raddr >= 12'h400) value = got[raddr[7:2]];
    else value = raddr[2] ? done : resp;
  end
  always_ff @(posedge clk) begin
    if (awready) awvalid <= 1'b0;
    if (arready) arvalid <= 1'b0;
    if (wvalid && wready) begin
      beat <= beat + 8'd1;
      at   <= next;
      if (beat == len) wvalid <= 1'b0;
    end
    if (rvalid) begin
      for (int i = 0; i < WORDS; i++) got[6'(32'(rbeat) * WORDS + i)] <= rdata[32*i+:32];
      rbeat <= rbeat + 8'd1;
      if (rlast) begin
        busy <= 1'b0;
        done <= done + 1;
        resp <= {26'd0, rid, 2'd0, rresp};
      end
    end
    if (bvalid) begin
      busy <= 1'b0;
      done <= done + 1;
      resp <= {26'd0, bid, 2'd0, bresp};
    end
    if (write)
      unique case (addr)
        12'h00: start <= wdata;
        12'h04: {early, raw, burst, size, len} <= {wdata[17:16], wdata[13:12], wdata[10:0]};
        12'h08: seed <= wdata;
        12'h0c: strb <= wdata;
        12'h10: begin
          busy    <= 1'b1;
          at      <= start;
          beat    <= 8'd0;
          rbeat   <= 8'd0;
          awvalid <= wdata[0];
          wvalid  <= wdata[0];
          arvalid <= !wdata[0];
        end
        default: ;
      endcase
    if (rst) begin
      busy    <= 1'b0;
      awvalid <= 1'b0;
      wvalid  <= 1'b0;
      arvalid <= 1'b0;
      done    <= 0;
    end
  end
endmodule
