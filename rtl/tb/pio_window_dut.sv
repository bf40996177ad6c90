// pio_window_dut: the send windows with both memories where lines are kept, as nic_core joins them.
module pio_window_dut (
    input  logic         clk,
    input  logic         rst,
    input  logic [11:0]  here,
    input  logic [11:0]  nodes,
    input  logic         s_awvalid,
    output logic         s_awready,
    input  logic [28:0]  s_awaddr,
    input  logic [7:0]   s_awlen,
    input  logic [2:0]   s_awsize,
    input  logic [1:0]   s_awburst,
    input  logic         s_wvalid,
    output logic         s_wready,
    input  logic [63:0]  s_wdata,
    input  logic [7:0]   s_wstrb,
    input  logic         s_wlast,
    output logic         s_bvalid,
    input  logic         s_bready,
    output logic [1:0]   s_bresp,
    input  logic [31:0]  on_next,
    output logic [31:0]  on,
    input  logic [511:0] stamps,
    input  logic [31:0]  wr_addr,
    input  logic         wr_do,
    output logic         wr_known,
    input  logic [31:0]  rd_addr,
    output logic         rd_known,
    output logic [63:0]  rd_value,
    output logic [1:0]   take,
    output logic [1:0]   ev_error,
    output logic [28:0]  line_addr,
    output logic [6:0]   error_reason,
    output logic         tx_valid,
    input  logic         tx_ready,
    output logic         tx_head,
    output logic         tx_tail,
    output logic [63:0]  tx_data,
    output logic         ev_packet,
    output logic [3:0]   packet_vpid,
    output logic         ev_stall,
    output logic [15:0]  lines,
    output logic [15:0]  descriptors,
    output logic [15:0]  waiting,
    input  logic [3:0]   head_vpid,
    output logic [191:0] head,
    output logic         head_dead,
    input  logic         pop,
    output logic         idle
);
  logic [1:0]  put, put_words;
  logic [3:0]  put_vpid, level_velo;
  logic [2:0]  put_quad, level_rma;
  logic [63:0] put_data;
  logic [31:0] line_stamp;
  logic [15:0] velo_full, rma_full;
  logic        win_idle, req_idle, rma_idle;
  always_ff @(posedge clk) on <= on_next;
  pio_window u_window (
      .clk_regs(clk), .full({rma_full, velo_full}), .waiting_velo(level_velo), .waiting_rma(level_rma), .idle(win_idle),
      .active(), .*
  );
  velo_requester u_velo (
      .put(put[0]), .take(take[0]), .full(velo_full), .level_vpid(rd_addr[15:12]), .level_of(level_velo),
      .idle(req_idle), .active(), .*
  );
  rma_window u_rma (
      .put(put[1]), .take(take[1]), .take_vpid(line_addr[28:25]), .full(rma_full), .window_on(on[31:16]),
      .level(descriptors), .level_vpid(rd_addr[15:12]), .level_of(level_rma), .idle(rma_idle), .active(), .*
  );
  assign idle = win_idle && req_idle && rma_idle;
endmodule
