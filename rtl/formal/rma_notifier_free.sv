// rma_notifier as the way to memory sees it, for proofs: fence_client says what it may do. That the
// real one, with two notifications under way, does no more, master_rules proves.
module rma_notifier #(
    parameter int N = 4,
    parameter int DEPTH = 2,
    localparam int VPIDS = nicloop_pkg::VPIDS,
    localparam int AWAIT_W = $clog2(DEPTH + 2)
) (
    input  logic             clk,
    input  logic             rst,
    output logic             busy,
    input  logic [N-1:0]     valid,
    input  logic [N*4-1:0]   vpid,
    input  logic [N*128-1:0] words,
    input  logic [N*32-1:0]  stamp,
    input  logic [511:0]     stamps,
    output logic [N-1:0]     done,
    output logic [15:0] rma_on,
    output logic [15:0] window_on,
    output logic [15:0] window_next,

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
    output logic             m_bready,
    input  logic [1:0]       m_bresp,

    input  logic [3:0]       rd_vpid,
    output logic [63:0]      rd_base,
    output logic [12:0]      rd_slots,
    output logic [8:0]       rd_ctrl,
    output logic [31:0]      rd_wp,
    output logic [32:0]      rd_rp,
    output logic [63:0]      rd_stall,
    output logic [23:0]      rd_hold,
    output logic [31:0]      rd_overflows,
    input  logic             wr_hold,
    output logic             wr_ready,
    output logic             rp_ready,

    output logic             wr_on,
    input  logic [3:0]       wr_vpid,
    input  logic [63:0]      wr_data,
    input  logic             wr_base,
    input  logic             wr_slots,
    input  logic             wr_ctrl,
    input  logic             wr_rp,
    input  logic             shut,
    output logic             restart,

    output logic             ev_written,
    output logic             ev_off,
    output logic             ev_refused,
    output logic             ev_irq,
    output logic [3:0]       ended_vpid,
    output logic             ev_stall,
    output logic             ev_overflow,
    output logic [3:0]       at_vpid,
    output logic [N-1:0]     stalled,
    output logic [AWAIT_W-1:0] awaiting,
    output logic             active
);
  (* anyseq *) logic some_aw;
  fence_client #(.UNIT(5)) u_client (
      .clk, .rst, .want_aw(some_aw), .want_last(1'b0), .awvalid(m_awvalid), .awready(m_awready), .wvalid(m_wvalid),
      .wready(m_wready), .wlast(m_wlast), .bvalid(m_bvalid), .bready(m_bready)
  );
endmodule
