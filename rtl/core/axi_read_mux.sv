// axi_read_mux: several units share the NIC's AXI read master.
//
// Job: gives the master to one unit per burst, fair round-robin, from its address to its last data.
// Handshake: AXI4 read channels, packed by unit; data and response go to all, valid to one.
// Back-pressure: the others wait for at most one burst of everybody else.
module axi_read_mux #(
    parameter int N = 2
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [N-1:0]    s_arvalid,
    output logic [N-1:0]    s_arready,
    input  logic [N*64-1:0] s_araddr,
    input  logic [N*8-1:0]  s_arlen,
    output logic [N-1:0]    s_rvalid,
    input  logic [N-1:0]    s_rready,
    output logic            m_arvalid,
    input  logic            m_arready,
    output logic [63:0]     m_araddr,
    output logic [7:0]      m_arlen,
    input  logic            m_rvalid,
    output logic            m_rready,
    input  logic            m_rlast
);
  logic [N-1:0] grant, owner, sel;
  logic         done;
  rr_arbiter #(.N(N)) u_turn (.clk, .rst, .req(s_arvalid), .advance(owner == '0), .grant);
  assign sel  = owner != '0 ? owner : grant;
  assign done = m_rvalid && m_rready && m_rlast;
  always_ff @(posedge clk) begin
    if (rst || done) owner <= '0;
    else owner <= sel;
  end

  assign m_arvalid = |(s_arvalid & sel);
  assign m_rready  = |(s_rready & sel);
  assign s_arready = sel & {N{m_arready}};
  assign s_rvalid  = sel & {N{m_rvalid}};
  always_comb begin
    m_araddr = '0;
    m_arlen  = '0;
    for (int i = 0; i < N; i++)
      if (sel[i]) begin
        m_araddr = m_araddr | s_araddr[i*64+:64];
        m_arlen  = m_arlen | s_arlen[i*8+:8];
      end
  end
endmodule
