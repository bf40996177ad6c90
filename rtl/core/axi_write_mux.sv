// axi_write_mux: several units share the NIC's AXI write master.
//
// Job: grants address and data channel to one unit per burst, fair round-robin, from its address to
//   its last beat, and remembers whose response is next: without IDs a memory answers in order. Up
//   to DEPTH responses are pending. Address and data leave a cycle after their arrival, from
//   registers; the next burst starts when the previous address has left. The last unit keeps the
//   channels until another one requests them: its burst then starts in the cycle in which its
//   address is shown, that of another unit in the next, unless the address was already present at
//   the previous last beat.
// Handshake: AXI4 write channels, packed by unit. A unit raises its data only with or after its
//   address, and no next address before its last beat was accepted.
// Backpressure: the others wait for at most one burst of each other unit; with DEPTH responses
//   pending all wait. A response that its unit does not accept blocks those of all others.
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
  // ---- address and data: both leave from registers ----
  logic [N-1:0] grant, owner, others;  // owner: one-hot; keeps the channels until another unit requests them
  logic         room, start, done, open, change;
  logic         full, behind;  // an address waits in its register; data of the previous burst is before its own
  logic         w_valid, w_ready, w_last;
  logic [63:0]  aw_addr, w_data;
  logic [7:0]   aw_len, w_strb;
  // Nothing from a unit to its own ready: the owner is chosen beside the last beat of a burst, or
  // in a cycle in which it does not ask.
  assign others    = s_awvalid & ~owner;
  assign start     = !open && room && !full && |(s_awvalid & owner);
  assign s_awready = owner & {N{!open && room && !full}};
  assign s_wready  = owner & {N{w_ready && (open || (room && !full))}};
  assign w_valid   = |(s_wvalid & owner) && (open || (room && !full));
  assign w_last    = |(s_wlast & owner);
  assign done      = w_valid && w_ready && w_last;
  assign change    = |others && (done || (!open && (s_awvalid & owner) == '0));
  rr_arbiter #(.N(N)) u_arbiter (.clk, .rst, .req(others), .advance(change), .grant);
  always_ff @(posedge clk) begin
    if (rst) owner <= N'(1);
    else if (change) owner <= grant;
    open <= !rst && !done && (open || start);
  end
  always_comb begin
    aw_addr = '0;
    aw_len  = '0;
    w_data  = '0;
    w_strb  = '0;
    for (int i = 0; i < N; i++)
      if (owner[i]) begin
        aw_addr = aw_addr | s_awaddr[i*64+:64];
        aw_len  = aw_len | s_awlen[i*8+:8];
        w_data  = w_data | s_wdata[i*64+:64];
        w_strb  = w_strb | s_wstrb[i*8+:8];
      end
  end
  always_ff @(posedge clk) begin
    if (rst) full <= 1'b0;
    else if (start) full <= 1'b1;
    else if (m_awready && !behind) full <= 1'b0;
    if (rst) behind <= 1'b0;
    else if (start) behind <= m_wvalid && !(m_wready && m_wlast);
    else if (m_wready && m_wlast) behind <= 1'b0;
  end
  assign m_awvalid = full && !behind;
  always_ff @(posedge clk)
    if (start) begin
      m_awaddr <= aw_addr;
      m_awlen  <= aw_len;
    end
  skid #(.W(73)) u_data (
      .clk, .rst, .s_valid(w_valid), .s_ready(w_ready), .s_data({w_data, w_strb, w_last}), .m_valid(m_wvalid),
      .m_ready(m_wready), .m_data({m_wdata, m_wstrb, m_wlast})
  );

  // ---- answers ----
  logic         have;
  logic [N-1:0] asker, to;
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(N), .DEPTH(DEPTH)) u_askers (
      .clk, .rst, .wr_valid(done), .wr_ready(room), .wr_data(owner), .rd_valid(have), .rd_ready(m_bvalid && m_bready),
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
