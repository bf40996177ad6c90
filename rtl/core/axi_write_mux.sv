// axi_write_mux: several units share the NIC's AXI write master.
//
// Job: gives address and data channel to one unit per burst, fair round-robin, from its address to its last beat, and
//   remembers whose answer comes next: without IDs a memory answers in order. Up to DEPTH answers are awaited.
// Handshake: AXI4 write channels, packed by unit. A unit raises its data only with or after its address, and no next
//   address before its last beat was taken.
// Back-pressure: the others wait for at most one burst of everybody else; with DEPTH answers awaited all wait. An answer that its
//   unit does not take stands before everybody's.
module axi_write_mux #(
    parameter int N     = 2,
    parameter int DEPTH = 16
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
  // ---- address and data ----
  logic [N-1:0] grant, owner, sel;
  logic         room, aw_gone, w_gone, aw_done, w_done, done;
  rr_arbiter #(.N(N)) u_turn (.clk, .rst, .req(s_awvalid), .advance(owner == '0 && room), .grant);
  assign sel     = owner != '0 ? owner : grant & {N{room}};
  assign aw_done = aw_gone || (m_awvalid && m_awready);
  assign w_done  = w_gone || (m_wvalid && m_wready && m_wlast);
  assign done    = aw_done && w_done;
  always_ff @(posedge clk) begin
    if (rst || done) begin
      owner   <= '0;
      aw_gone <= 1'b0;
      w_gone  <= 1'b0;
    end else begin
      owner   <= sel;
      aw_gone <= aw_done;
      w_gone  <= w_done;
    end
  end

  assign m_awvalid = |(s_awvalid & sel) && !aw_gone;
  assign m_wvalid  = |(s_wvalid & sel) && !w_gone;
  assign m_wlast   = |(s_wlast & sel);
  assign s_awready = sel & {N{m_awready && !aw_gone}};
  assign s_wready  = sel & {N{m_wready && !w_gone}};
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

  // ---- answers ----
  logic         have;
  logic [N-1:0] asker, to;
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(N), .DEPTH(DEPTH)) u_askers (
      .clk, .rst, .wr_valid(done), .wr_ready(room), .wr_data(sel), .rd_valid(have), .rd_ready(m_bvalid && m_bready),
      .rd_data(asker), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign to       = have ? asker : '0;
  assign s_bvalid = to & {N{m_bvalid}};
  assign m_bready = |(s_bready & to);

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!m_bvalid || have) else $error("axi_write_mux %m: an answer to nothing");
`endif
endmodule
