// rma_requester_turns: a process that has descriptors waits for one fragment of each other process
// at most, whatever the processes post and whenever: the requester serves them round-robin. Looks
// at one process, any.
module rma_requester_turns #(
    localparam int VPIDS = nicloop_pkg::VPIDS
) (
    input logic             clk,
    input logic             rst,
    input logic [VPIDS-1:0] waiting
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic [3:0] head_vpid;
  rma_requester u_dut (.clk, .rst, .waiting, .head_vpid);
  (* hierconn *) wire [VPIDS-1:0] \u_dut.after ;
  (* hierconn *) wire             \u_dut.begin_one ;
  (* hierconn *) wire [2:0]       \u_dut.state ;
  localparam logic [2:0] LOAD = 3'd1;

  (* anyconst *) logic [3:0] someone;
  logic       begun, asked;  // a fragment was begun in the cycle before; someone was waiting then
  logic [4:0] ones, passed;  // passed: fragments of others since someone has been waiting
  logic [VPIDS-1:0] before_after;  // the process that was served last, and those below it
  logic [3:0] last, to_head, to_someone;
  always_comb begin
    ones = '0;
    for (int i = 0; i < VPIDS; i++) ones = ones + 5'(\u_dut.after [i]);
    before_after = ~\u_dut.after ;
    last         = 4'd15 - ones[3:0];  // the process that was served last
    to_head      = head_vpid - last - 4'd1;
    to_someone   = someone - last - 4'd1;
  end
  always_ff @(posedge clk) begin
    begun <= !rst && \u_dut.begin_one ;
    asked <= waiting[someone];
    if (rst || !waiting[someone] || (begun && head_vpid == someone)) passed <= '0;
    else if (begun && asked) passed <= passed + 1'b1;
  end
  always_comb
    if (started && !rst) begin
      assert (32'(passed) < VPIDS);
      // What makes it inductive: each service brings the turn nearer.
      assert (begun == (\u_dut.state == LOAD));
      assert ((before_after & (before_after + 1'b1)) == '0);
      assert (ones < 5'd16);
      assert (asked || passed == '0);
      assert (!begun || !asked || to_head <= to_someone);
      assert (passed + 5'(to_someone) < 5'd16);
    end
  always_ff @(posedge clk) cover (started && passed == 5'd2);
endmodule
