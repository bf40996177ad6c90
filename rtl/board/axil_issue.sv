// axil_issue: accesses to registers, one by one, on the core's AXI4-Lite port.
//
// Job: makes an access of a request and an answer of its response.
// Handshake: valid/ready; a request is taken when the answer to the one before is.
// Backpressure: the answer waits for rsp_ready.
module axil_issue (
    input  logic        clk,
    input  logic        rst,
    input  logic        req_valid,
    output logic        req_ready,
    input  logic        req_write,
    output logic        rsp_valid,
    input  logic        rsp_ready,
    output logic        m_awvalid,
    input  logic        m_awready,
    output logic        m_wvalid,
    input  logic        m_wready,
    input  logic        m_bvalid,
    output logic        m_bready,
    output logic        m_arvalid,
    input  logic        m_arready,
    input  logic        m_rvalid,
    output logic        m_rready
);
  // The request stays in front of the port until its answer is out, since address and data go from
  // there.
  logic under_way;
  assign rsp_valid = under_way && (m_bvalid || m_rvalid);
  assign req_ready = rsp_valid && rsp_ready;
  assign m_bready  = under_way && rsp_ready;
  assign m_rready  = under_way && rsp_ready;
  always_ff @(posedge clk) begin
    under_way <= !rst && req_valid && !req_ready;
    if (rst) {m_awvalid, m_wvalid, m_arvalid} <= '0;
    else begin
      m_awvalid <= m_awvalid ? !m_awready : req_valid && !under_way && req_write;
      m_wvalid  <= m_wvalid ? !m_wready : req_valid && !under_way && req_write;
      m_arvalid <= m_arvalid ? !m_arready : req_valid && !under_way && !req_write;
    end
  end
endmodule
