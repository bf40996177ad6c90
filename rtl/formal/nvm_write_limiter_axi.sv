// nvm_write_limiter_axi: behind a master that keeps the rules of a write port, nvm_write_limiter
// keeps them too, whatever its registers hold and whenever they change, and passes every address
// and every beat. With PROMPT the master presents data with its address, and so does the limiter:
// WVALID does not wait for AWREADY. The wait for a range ends by itself: no rate is 0, and a level
// above 0 falls in every cycle in which no burst enters.
module nvm_write_limiter_axi #(
    parameter int PROMPT = 0
) (
    input logic        clk,
    input logic        rst,
    input logic        s_awvalid,
    input logic [63:0] awaddr,
    input logic [7:0]  awlen,
    input logic        s_wvalid,
    input logic        wlast,
    input logic        m_awready,
    input logic        m_wready,
    input logic        bvalid,
    input logic        bready
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic s_awready, s_wready, m_awvalid, m_wvalid;
  nvm_write_limiter u_dut (
      .clk, .rst, .s_awvalid, .s_awready, .s_awaddr(awaddr), .s_awlen(awlen), .s_wvalid, .s_wready, .s_wlast(wlast),
      .m_awvalid, .m_awready, .m_wvalid, .m_wready
  );
  axi_write_check #(.MASTER(0), .W_WAIT(PROMPT - 1)) u_up (
      .clk, .rst, .awvalid(s_awvalid), .awready(s_awready), .awaddr, .awlen, .wvalid(s_wvalid), .wready(s_wready),
      .wdata('0), .wstrb('0), .wlast, .bvalid, .bready, .bresp('0), .idle(1'b0)
  );
  axi_write_check #(.W_WAIT(PROMPT - 1)) u_down (
      .clk, .rst, .awvalid(m_awvalid), .awready(m_awready), .awaddr, .awlen, .wvalid(m_wvalid), .wready(m_wready),
      .wdata('0), .wstrb('0), .wlast, .bvalid, .bready, .bresp('0), .idle(1'b0)
  );
  (* hierconn *) wire [16:0] \u_dut.g_range[0].rate ;
  (* hierconn *) wire [40:0] \u_dut.g_range[0].level ;
  (* hierconn *) wire [40:0] \u_dut.g_range[0].drained ;  // the next level, unless a burst enters
  always_comb
    if (started && !rst) begin
      assert (\u_dut.g_range[0].rate != '0);
      assert (\u_dut.g_range[0].level == '0 || \u_dut.g_range[0].drained < \u_dut.g_range[0].level );
      assert ((s_awvalid && s_awready) == (m_awvalid && m_awready));
      assert ((s_wvalid && s_wready) == (m_wvalid && m_wready));
    end
endmodule
