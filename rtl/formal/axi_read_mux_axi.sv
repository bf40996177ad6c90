// axi_read_mux_axi: axi_read_mux between masters and a memory that keep the rules: it keeps them on
// both sides, gives every unit its grant after at most one burst of each other, and no data to a
// unit that did not ask. The upper bits of an address are 0: the mux treats all of them alike.
module axi_read_mux_axi #(
    parameter int N = 2
) (
    input logic            clk,
    input logic            rst,
    input logic [N-1:0]    s_arvalid,
    input logic [N*12-1:0] addr,
    input logic [N-1:0]    len,
    input logic [N-1:0]    s_rready,
    input logic            m_arready,
    input logic            m_rvalid,
    input logic            m_rlast
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic [N*64-1:0] s_araddr;
  logic [N*8-1:0]  s_arlen;
  always_comb
    for (int i = 0; i < N; i++) begin
      s_araddr[i*64+:64] = 64'(addr[i*12+:12]);
      s_arlen[i*8+:8]    = 8'(len[i]);
    end

  logic [N-1:0] s_arready, s_rvalid;
  logic         m_arvalid, m_rready;
  logic [63:0]  m_araddr;
  logic [7:0]   m_arlen;
  axi_read_mux #(.N(N), .DEPTH(3)) u_dut (
      .clk, .rst, .s_arvalid, .s_arready, .s_araddr, .s_arlen, .s_rvalid, .s_rready, .m_arvalid, .m_arready, .m_araddr,
      .m_arlen, .m_rvalid, .m_rready, .m_rlast
  );
  axi_read_check #(.BURSTS(2 * N)) u_down (
      .clk, .rst, .arvalid(m_arvalid), .arready(m_arready), .araddr(m_araddr), .arlen(m_arlen), .rvalid(m_rvalid),
      .rready(m_rready), .rdata('0), .rresp('0), .rlast(m_rlast),
      .idle(1'b0)
  );
  generate
    for (genvar i = 0; i < N; i++) begin : g_unit
      axi_read_check #(.MASTER(0), .BURSTS(2)) u_up (
          .clk, .rst, .arvalid(s_arvalid[i]), .arready(s_arready[i]), .araddr(s_araddr[i*64+:64]),
          .arlen(s_arlen[i*8+:8]), .rvalid(s_rvalid[i]), .rready(s_rready[i]), .rdata('0), .rresp('0), .rlast(m_rlast),
          .idle(1'b0)
      );
      logic [2:0] passed;  // others served while this one waits
      always_ff @(posedge clk) begin
        if (rst || !s_arvalid[i] || s_arready[i]) passed <= '0;
        else if (m_arvalid && m_arready) passed <= passed + 1'b1;
      end
      always_comb if (started && !rst) assert (32'(passed) < N);
      always_ff @(posedge clk) cover (started && 32'(passed) == N - 1 && s_arready[i]);
    end
  endgenerate
  always_comb
    if (started && !rst) begin
      assert ((s_rvalid & (s_rvalid - 1'b1)) == '0 && m_rvalid == (s_rvalid != '0));
      assert ((m_rvalid && m_rready) == ((s_rvalid & s_rready) != '0));
      assert ((m_arvalid && m_arready) == ((s_arvalid & s_arready) != '0));
    end
endmodule
