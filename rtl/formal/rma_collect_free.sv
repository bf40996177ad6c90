// rma_collect as its owner sees it, for proofs: packets of any content and verdict come at any
// time, and each stays until it is passed.
module rma_collect #(
    parameter int BUFFERS = 2,
    parameter int QUADS   = 2
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [11:0] here,
    input  logic        in_valid,
    output logic        in_ready,
    input  nicloop_pkg::flit_t in_flit,
    output logic        waits,
    output logic        have,
    output logic [6:0]  reason,
    output logic [63:0] header,
    output logic [3:0]  vpid,
    output logic [3:0]  kind,
    output logic [63:0] ext,
    output logic [31:0] stamp,
    output logic [3:0]  vpid_next,
    output logic [31:0] stamp_next,
    input  logic [5:0]  index,
    output logic [63:0] quad,
    input  logic        look_next,
    input  logic        drain_next,
    output logic        idle,
    output logic        active
);
  assign vpid = header[nicloop_pkg::HEADER_DST_VPID_LSB+:4];
  assign kind = header[nicloop_pkg::HEADER_TYPE_LSB+:4];
  (* anyseq *) logic         comes, more;
  assign waits = have || more;
  (* anyseq *) logic [6:0]   some_reason;
  (* anyseq *) logic [63:0]  some_header, some_ext, some_quad;
  (* anyseq *) logic [31:0]  some_stamp;
  assign vpid_next  = !have || look_next ? some_header[nicloop_pkg::HEADER_DST_VPID_LSB+:4] : vpid;
  assign stamp_next = !have || look_next ? some_stamp : stamp;
  always_ff @(posedge clk) begin
    stamp <= stamp_next;
    if (rst) have <= 1'b0;
    else if (!have || look_next) have <= comes;
    if (!have || look_next) begin
      reason <= some_reason;
      header <= some_header;
      ext    <= some_ext;
      quad   <= some_quad;
    end
  end
endmodule
