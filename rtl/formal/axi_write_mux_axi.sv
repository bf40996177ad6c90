// axi_write_mux_axi: axi_write_mux between masters and a memory that keep the rules: it keeps them
// on both sides, gives every unit its grant after at most one burst of each other. The upper bits
// of addresses and data are 0: the mux treats all of them alike.
module axi_write_mux_axi #(
    parameter int N = 2,
    parameter int BURSTS = 2,
    parameter int PROMPT = 0  // units present data with its address; so does the mux
) (
    input logic            clk,
    input logic            rst,
    input logic [N-1:0]    s_awvalid,
    input logic [N*12-1:0] addr,
    input logic [N*2-1:0]  len,
    input logic [N-1:0]    s_wvalid,
    input logic [N-1:0]    data,
    input logic [N-1:0]    strb,
    input logic [N-1:0]    s_wlast,
    input logic [N-1:0]    s_bready,
    input logic            m_awready,
    input logic            m_wready,
    input logic            m_bvalid
);
  logic         started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic [N*64-1:0] s_awaddr, s_wdata;
  logic [N*8-1:0]  s_awlen, s_wstrb;
  always_comb
    for (int i = 0; i < N; i++) begin
      s_awaddr[i*64+:64] = 64'(addr[i*12+:12]);
      s_awlen[i*8+:8]    = 8'(len[i*2+:2]);
      s_wdata[i*64+:64]  = 64'(data[i]);
      s_wstrb[i*8+:8]    = 8'(strb[i]);
    end

  logic [N-1:0] s_awready, s_wready, s_bvalid;
  logic         m_awvalid, m_wvalid, m_wlast, m_bready;
  logic [63:0]  m_awaddr, m_wdata;
  logic [7:0]   m_awlen, m_wstrb;
  axi_write_mux #(.N(N), .DEPTH(3)) u_dut (
      .clk, .rst, .s_awvalid, .s_awready, .s_awaddr, .s_awlen, .s_wvalid, .s_wready, .s_wdata, .s_wstrb, .s_wlast,
      .s_bvalid, .s_bready, .m_awvalid, .m_awready, .m_awaddr, .m_awlen, .m_wvalid, .m_wready, .m_wdata, .m_wstrb,
      .m_wlast, .m_bvalid, .m_bready
  );
  axi_write_check #(.MASTER(1), .BURSTS(N * BURSTS), .W_WAIT(PROMPT - 1)) u_down (
      .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .awaddr(m_awaddr), .awlen(m_awlen), .wvalid(m_wvalid),
      .wready(m_wready), .wdata(m_wdata), .wstrb(m_wstrb), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready),
      .bresp('0), .idle(1'b0)
  );
  generate
    for (genvar i = 0; i < N; i++) begin : g_unit
      axi_write_check #(.MASTER(0), .BURSTS(BURSTS), .W_WAIT(PROMPT - 1)) u_up (
          .clk, .rst, .awvalid(s_awvalid[i]), .awready(s_awready[i]), .awaddr(s_awaddr[i*64+:64]),
          .awlen(s_awlen[i*8+:8]), .wvalid(s_wvalid[i]), .wready(s_wready[i]), .wdata(s_wdata[i*64+:64]),
          .wstrb(s_wstrb[i*8+:8]), .wlast(s_wlast[i]), .bvalid(s_bvalid[i]), .bready(s_bready[i]), .bresp('0),
          .idle(1'b0)
      );
      // Others served while this one waits.
      logic [2:0] passed;
      always_ff @(posedge clk) begin
        if (rst || !s_awvalid[i] || s_awready[i]) passed <= '0;
        else if ((s_awvalid & s_awready) != '0) passed <= passed + 1'b1;
      end
      always_comb if (started && !rst) assert (32'(passed) < N);
      always_ff @(posedge clk) cover (started && 32'(passed) == N - 1 && s_awready[i]);
    end
  endgenerate
  logic [1:0] addresses, beats;
  always_ff @(posedge clk) begin
    if (rst) begin
      addresses <= '0;
      beats     <= '0;
    end else begin
      addresses <= addresses + 2'((s_awvalid & s_awready) != '0) - 2'(m_awvalid && m_awready);
      beats     <= beats + 2'((s_wvalid & s_wready) != '0) - 2'(m_wvalid && m_wready);
    end
  end
  // The address that is in the register, as its unit showed it, and which unit's answer it is.
  logic [71:0] shown;
  always_ff @(posedge clk) for (int i = 0; i < N; i++)
      if (s_awvalid[i] && s_awready[i]) shown <= {s_awlen[i*8+:8], s_awaddr[i*64+:64]};
  always_comb
    if (started && !rst) begin
      if (m_awvalid) assert ({m_awlen, m_awaddr} == shown);
      assert ((s_awready & (s_awready - 1'b1)) == '0 && (s_wready & (s_wready - 1'b1)) == '0 &&
          (s_bvalid & (s_bvalid - 1'b1)) == '0);
      // What leaves came in before, and is kept in a register between.
      assert ((!m_awvalid || addresses == 2'd1) && m_wvalid == (beats != 2'd0));
      assert (addresses <= 2'd1 && beats <= 2'd2);
      assert (m_bvalid == (s_bvalid != '0));
    end
endmodule
