// link_axis: what a link offers on its AXI-Stream port stays, unchanged, until it is taken, as long
// as there is carrier. The CRC beside it is a function of the word alone.
module link_axis (
    input logic       clk,
    input logic       rst,
    input logic       carrier,
    input logic       up,
    input logic       hello_due,
    input logic       start,
    input logic       in_valid,
    input logic       in_vc,
    input logic [2:0] in_data,
    input logic       peer_valid,
    input logic       peer_nack,
    input logic [2:0] peer_ack,
    input logic [1:0] peer_freed,
    input logic       ack_request,
    input logic       nack_request,
    input logic [2:0] expected,
    input logic [1:0] freed,
    input logic       out_ready
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic        out_valid, held;
  logic [2:0]  out_data;
  logic [14:0] out_ctrl;
  logic [17:0] was;
  link_tx #(.VC_DEPTH(1), .DATA_W(3), .TIMEOUT(16), .TIMEOUT_MAX(16), .DEAD_AFTER(2)) u_dut (
      .clk, .rst, .carrier, .up, .start(start && !up), .hello_due, .hello_flags(2'b00), .hello_accepted('0),
      .hello_data('0), .start_none_accepted(1'b1), .start_accepted('0), .start_freed('0), .free_entries('0), .in_valid,
      .in_vc, .in_head(1'b1), .in_tail(1'b1), .in_data, .peer_valid, .peer_nack, .peer_ack, .peer_freed, .ack_request,
      .nack_request, .expected, .freed, .discarded(2'b00), .out_valid, .out_ready, .out_ctrl, .out_data
  );
  always_ff @(posedge clk) begin
    held <= !rst && carrier && out_valid && !out_ready;
    was  <= {out_ctrl, out_data};
  end
  always_comb if (started && !rst) assert (!held || (out_valid && {out_ctrl, out_data} == was));
  logic stood;
  always_ff @(posedge clk) stood <= held;
  always_ff @(posedge clk) cover (started && stood && out_valid && out_ready && out_ctrl[12]);
endmodule
