// axi_read_mux: several units share the NIC's AXI read master.
//
// Job: passes one address at a time, fair round-robin, and remembers whose data is next: without
//   IDs a memory answers in order. Up to DEPTH bursts are outstanding.
// Handshake: AXI4 read channels, packed by unit; data and response are broadcast, valid is per
//   unit.
// Backpressure: data that its unit does not accept blocks that of all others (head-of-line
//   blocking); with DEPTH bursts outstanding addresses wait.
module axi_read_mux #(
    parameter int N     = 2,
    parameter int DEPTH = 16
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
  // ---- addresses: one that was shown stays ----
  logic [N-1:0] grant, shown, sel;
  logic         room, ar_take;
  rr_arbiter #(.N(N)) u_arbiter (.clk, .rst, .req(s_arvalid), .advance(shown == '0 && room), .grant);
  assign sel     = shown != '0 ? shown : grant & {N{room}};
  assign ar_take = m_arvalid && m_arready;
  always_ff @(posedge clk) begin
    if (rst || ar_take) shown <= '0;
    else shown <= sel;
  end
  assign m_arvalid = |sel;
  assign s_arready = sel & {N{m_arready}};
  always_comb begin
    m_araddr = '0;
    m_arlen  = '0;
    for (int i = 0; i < N; i++)
      if (sel[i]) begin
        m_araddr = m_araddr | s_araddr[i*64+:64];
        m_arlen  = m_arlen | s_arlen[i*8+:8];
      end
  end

  // ---- data ----
  logic         have;
  logic [N-1:0] owner, to;
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(N), .DEPTH(DEPTH)) u_owners (
      .clk, .rst, .wr_valid(ar_take), .wr_ready(room), .wr_data(sel), .rd_valid(have),
      .rd_ready(m_rvalid && m_rready && m_rlast), .rd_data(owner), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign to       = have ? owner : '0;
  assign s_rvalid = to & {N{m_rvalid}};
  assign m_rready = |(s_rready & to);

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!m_rvalid || have)
      else $error("axi_read_mux %m: data that nobody asked for");
`endif
endmodule
