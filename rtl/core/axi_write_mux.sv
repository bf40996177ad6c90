// axi_write_mux: several units share the NIC's AXI write master.
//
// Job: gives the master to one unit per burst, fair round-robin, from its address to its answer.
// Handshake: AXI4 write channels, packed by unit. A unit raises its data only with or after its address.
// Back-pressure: the others wait for at most one burst of everybody else.
module axi_write_mux #(
    parameter int N = 2
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [N-1:0]     s_awvalid,
    output logic [N-1:0]     s_awready,
    input  logic [N*64-1:0]  s_awaddr,
    input  logic [N*8-1:0]   s_awlen,
    input  logic [N-1:0]     s_wvalid,
    output logic [N-1:0]     s_wready,
    input  logic [N*64-1:0]  s_wdata,
    input  logic [N*8-1:0]   s_wstrb,
    input  logic [N-1:0]     s_wlast,
    output logic [N-1:0]     s_bvalid,
    input  logic [N-1:0]     s_bready,
    output logic             m_awvalid,
    input  logic             m_awready,
    output logic [63:0]      m_awaddr,
    output logic [7:0]       m_awlen,
    output logic             m_wvalid,
    input  logic             m_wready,
    output logic [63:0]      m_wdata,
    output logic [7:0]       m_wstrb,
    output logic             m_wlast,
    input  logic             m_bvalid,
    output logic             m_bready
);
  logic [N-1:0] grant, owner, sel;
  logic         done;
  rr_arbiter #(.N(N)) u_turn (.clk, .rst, .req(s_awvalid), .advance(owner == '0), .grant);
  assign sel  = owner != '0 ? owner : grant;
  assign done = m_bvalid && m_bready;
  always_ff @(posedge clk) begin
    if (rst || done) owner <= '0;
    else owner <= sel;
  end

  assign m_awvalid = |(s_awvalid & sel);
  assign m_wvalid  = |(s_wvalid & sel);
  assign m_wlast   = |(s_wlast & sel);
  assign m_bready  = |(s_bready & sel);
  assign s_awready = sel & {N{m_awready}};
  assign s_wready  = sel & {N{m_wready}};
  assign s_bvalid  = sel & {N{m_bvalid}};
  always_comb begin
    m_awaddr = '0;
    m_awlen  = '0;
    m_wdata  = '0;
    m_wstrb  = '0;
    for (int i = 0; i < N; i++)
      if (sel[i]) begin
        m_awaddr = m_awaddr | s_awaddr[i*64+:64];
        m_awlen  = m_awlen | s_awlen[i*8+:8];
        m_wdata  = m_wdata | s_wdata[i*64+:64];
        m_wstrb  = m_wstrb | s_wstrb[i*8+:8];
      end
  end
endmodule
