// rma_responder as the way to memory, the ATU and a fence see it, for proofs: fence_client says
// what it may do. That the real one, with two requests under way, does no more, fence_ends proves.
module rma_responder #(
    parameter int BUFFERS = 2
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [15:0]  rma_on,
    input  logic [511:0] stamps,
    input  logic         moves,
    input  logic [3:0]   wr_vpid,
    input  logic [15:0]  wr_pdid,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [65:0]  in_flit,
    output logic         busy,

    input  logic         err_valid,
    output logic         err_ready,
    input  logic [63:0]  err_header,
    input  logic [63:0]  err_ext,
    input  logic [31:0]  err_stamp,
    input  logic [3:0]   err_code,

    output logic         atu_valid,
    output logic [47:0]  atu_nla,
    output logic [3:0]   atu_vpid,
    output logic [1:0]   atu_need,
    input  logic         atu_done,
    input  logic [3:0]   atu_error,
    input  logic [63:0]  atu_addr,
    input  logic         fence,
    output logic         atu_hold,

    output logic         m_arvalid,
    input  logic         m_arready,
    output logic [63:0]  m_araddr,
    output logic [7:0]   m_arlen,
    input  logic         m_rvalid,
    output logic         m_rready,
    input  logic [63:0]  m_rdata,
    input  logic [1:0]   m_rresp,
    input  logic         m_rlast,
    output logic         m_awvalid,
    input  logic         m_awready,
    output logic [63:0]  m_awaddr,
    output logic [7:0]   m_awlen,
    output logic         m_wvalid,
    input  logic         m_wready,
    output logic [63:0]  m_wdata,
    output logic [7:0]   m_wstrb,
    output logic         m_wlast,
    input  logic         m_bvalid,
    output logic         m_bready,
    input  logic [1:0]   m_bresp,

    output logic         tx_valid,
    input  logic         tx_ready,
    output logic         tx_head,
    output logic         tx_tail,
    output logic [63:0]  tx_data,

    output logic         noti_valid,
    output logic [3:0]   noti_vpid,
    output logic [127:0] noti_words,
    output logic [31:0]  noti_stamp,
    input  logic         noti_done,
    output logic         ev_rx,
    output logic         ev_drop,
    output logic [6:0]   drop_reason,
    output logic         ev_packet,
    output logic         ev_error,
    output logic         ev_stranger,
    output logic [63:0]  stranger_header,
    output logic [15:0]  stranger_pdid,
    output logic         idle,
    output logic         active
);
  (* anyseq *) logic some_atu, some_ar, some_two, some_r, some_aw, some_last, some_hold;
  assign atu_hold = some_hold;
  fence_client #(.UNIT(2)) u_client (
      .clk, .rst, .want_atu(some_atu), .want_ar(some_ar), .want_two(some_two), .want_r(some_r), .want_aw(some_aw),
      .want_last(some_last), .fence, .hold(atu_hold), .atu_valid, .atu_done,
      .arvalid(m_arvalid), .arready(m_arready), .arlen(m_arlen), .rvalid(m_rvalid), .rready(m_rready),
      .awvalid(m_awvalid), .awready(m_awready), .wvalid(m_wvalid), .wready(m_wready), .wlast(m_wlast),
      .bvalid(m_bvalid), .bready(m_bready)
  );
endmodule
