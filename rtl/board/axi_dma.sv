// axi_dma: the core's DMA, and interrupts, as an AXI4 master with IDs, of which a reset of the core
// leaves nothing hanging.
//
// Job: bursts of the core leave with an ID of their own per direction, so that their answers come
//   in order; a dword of an interrupt (msi_*) leaves as a write with a third. cut: no burst of the
//   core leaves any more; a write that has begun gets the rest of its beats without strobes;
//   answers to what is under way are taken and dropped, how late ever they come, while those of
//   what leaves behind the cut go to the core.
// Handshake: valid/ready. An interrupt stays (or is withdrawn before it left) until msi_done, the
//   answer to it. settled: no answer is awaited for what was cut. stray, pulses: an answer to
//   nothing, of a read, of a write; dropped.
// Backpressure: up to BURSTS bursts per direction are under way. Data leaves behind its address, a
// burst at a time.
module axi_dma #(
    parameter int ID_W     = 4,
    parameter int WRITE_ID = 0,
    parameter int READ_ID  = 1,
    parameter int MSI_ID   = 2,
    parameter int BURSTS   = 32
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            cut,
    // the core
    input  logic            aw_valid,
    output logic            aw_ready,
    input  logic [63:0]     aw_addr,
    input  logic [7:0]      aw_len,
    input  logic            w_valid,
    output logic            w_ready,
    input  logic [63:0]     w_data,
    input  logic [7:0]      w_strb,
    output logic            b_valid,
    input  logic            b_ready,
    input  logic            ar_valid,
    output logic            ar_ready,
    output logic            r_valid,
    input  logic            r_ready,
    // an interrupt
    input  logic            msi_valid,
    input  logic [61:0]     msi_addr,
    input  logic [31:0]     msi_word,
    output logic            msi_done,
    // the bus; address and length of reads, data and responses of answers go beside this block
    output logic            m_awvalid,
    input  logic            m_awready,
    output logic [ID_W-1:0] m_awid,
    output logic [63:0]     m_awaddr,
    output logic [7:0]      m_awlen,
    output logic            m_wvalid,
    input  logic            m_wready,
    output logic [63:0]     m_wdata,
    output logic [7:0]      m_wstrb,
    output logic            m_wlast,
    input  logic            m_bvalid,
    output logic            m_bready,
    input  logic [ID_W-1:0] m_bid,
    output logic            m_arvalid,
    input  logic            m_arready,
    output logic [ID_W-1:0] m_arid,
    input  logic            m_rvalid,
    output logic            m_rready,
    input  logic [ID_W-1:0] m_rid,
    input  logic            m_rlast,
    output logic            settled,
    output logic [1:0]      stray
);
  localparam int N_W = $clog2(BURSTS + 1);

  // ---- write bursts ----
  logic        data_due, of_msi, spoiled, next_ok, core_ok, msi_ok, msi_out, msi_live, aw_take, w_end;
  logic [7:0]  left;
  logic [31:0] msi_kept;
  logic        msi_upper;
  logic [N_W-1:0] wr_owed, wr_stale, wr_then, rd_owed, rd_stale, rd_then;
  assign w_end     = m_wvalid && m_wready && m_wlast;
  assign next_ok   = !data_due || w_end;
  assign msi_ok    = next_ok && msi_valid && !msi_out;
  assign core_ok   = next_ok && !msi_ok && !cut && aw_valid && wr_owed != N_W'(BURSTS);
  assign m_awvalid = msi_ok || core_ok;
  assign aw_ready  = core_ok && m_awready;
  assign aw_take   = m_awvalid && m_awready;
  assign m_awid    = msi_ok ? ID_W'(MSI_ID) : ID_W'(WRITE_ID);
  assign m_awaddr  = msi_ok ? {msi_addr[61:1], 3'b000} : aw_addr;
  assign m_awlen   = msi_ok ? 8'd0 : aw_len;

  logic fill;
  assign fill     = spoiled || cut;
  assign m_wvalid = data_due && (of_msi || fill || w_valid);
  assign m_wlast  = left == '0;
  assign m_wdata  = of_msi ? {2{msi_kept}} : w_data;
  assign m_wstrb  = of_msi ? {{4{msi_upper}}, {4{!msi_upper}}} : fill ? 8'h00 : w_strb;
  assign w_ready  = data_due && !of_msi && !fill && m_wready;
  always_ff @(posedge clk) begin
    data_due <= !rst && (aw_take || (data_due && !w_end));
    spoiled  <= data_due && !w_end && !of_msi && fill;
    if (aw_take) begin
      of_msi    <= msi_ok;
      left      <= m_awlen;
      msi_kept  <= msi_word;
      msi_upper <= msi_addr[0];
    end else if (m_wvalid && m_wready) left <= left - 1'b1;
  end

  // ---- their answers ----
  logic b_core, b_msi, b_drop, b_take;
  assign b_core   = m_bid == ID_W'(WRITE_ID) && wr_owed != '0;
  assign b_msi    = m_bid == ID_W'(MSI_ID) && msi_out;
  assign b_drop   = !b_core || cut || wr_stale != '0;
  assign b_valid  = m_bvalid && !b_drop;
  assign m_bready = b_drop || b_ready;
  assign b_take   = m_bvalid && m_bready;
  assign msi_done = b_take && b_msi && msi_live && msi_valid;
  assign wr_then  = wr_owed + N_W'(aw_take && !msi_ok) - N_W'(b_take && b_core);
  always_ff @(posedge clk) begin
    msi_out  <= !rst && ((aw_take && msi_ok) || (msi_out && !(b_take && b_msi)));
    msi_live <= (aw_take && msi_ok) || (msi_live && msi_valid);  // it was not withdrawn meanwhile
    wr_owed  <= rst ? '0 : wr_then;
    if (rst) wr_stale <= '0;
    else if (cut) wr_stale <= wr_then;
    else if (b_take && b_core && wr_stale != '0) wr_stale <= wr_stale - 1'b1;
  end

  // ---- reads ----
  logic r_core, r_drop, r_end;
  assign m_arvalid = ar_valid && !cut && rd_owed != N_W'(BURSTS);
  assign ar_ready  = m_arready && !cut && rd_owed != N_W'(BURSTS);
  assign m_arid    = ID_W'(READ_ID);
  assign r_core    = m_rid == ID_W'(READ_ID) && rd_owed != '0;
  assign r_drop    = !r_core || cut || rd_stale != '0;
  assign r_valid   = m_rvalid && !r_drop;
  assign m_rready  = r_drop || r_ready;
  assign r_end     = m_rvalid && m_rready && m_rlast && r_core;
  assign rd_then   = rd_owed + N_W'(m_arvalid && m_arready) - N_W'(r_end);
  always_ff @(posedge clk) begin
    rd_owed <= rst ? '0 : rd_then;
    if (rst) rd_stale <= '0;
    else if (cut) rd_stale <= rd_then;
    else if (r_end && rd_stale != '0) rd_stale <= rd_stale - 1'b1;
  end
  assign settled = cut ? wr_owed == '0 && rd_owed == '0 && !data_due : wr_stale == '0 && rd_stale == '0 && !spoiled;
  assign stray   = {m_rvalid && !r_core, m_bvalid && !b_core && !b_msi};
endmodule
