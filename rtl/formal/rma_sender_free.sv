// rma_sender as its owner sees it, for proofs: a buffer is free at any time, or never again, but no
// more of them are promised than there are; a notification may wait for ever. Asserted is what the
// real one wants of its owner: it reserves only while ready, and fills what was promised.
module rma_sender #(
    parameter int BUFFERS = 2
) (
    input  logic         clk,
    input  logic         rst,
    output logic         ready,
    input  logic         reserve,
    input  logic         q_valid,
    input  logic [5:0]   q_index,
    input  logic [63:0]  q_data,
    input  logic         commit,
    input  logic         job_packet,
    input  logic [63:0]  job_header,
    input  logic [63:0]  job_ext,
    input  logic [31:0]  job_stamp,
    input  logic         job_noti,
    input  logic [3:0]   job_vpid,
    input  logic [15:0]  job_life,
    input  logic [127:0] job_words,
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
    output logic         ev_packet,
    output logic         ev_done,
    output logic         idle,
    output logic         active
);
  localparam int W = $clog2(BUFFERS + 1);
  (* anyseq *) logic some_ready;
  logic [W-1:0] promised;  // and not filled: those that are filled and have not left are among what some_ready says
  assign ready = some_ready && promised != W'(BUFFERS);
  always_ff @(posedge clk) promised <= rst ? '0 : promised + W'(reserve) - W'(commit);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb
    if (started && !rst) begin
      assert (!reserve || ready);
      assert (!(commit || q_valid) || promised != '0 || reserve);
    end
endmodule
