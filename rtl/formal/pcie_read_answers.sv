// pcie_read_answers: pcie_read answers every read since the last reset of the core or the function
// with as many beats as were asked for, in order, none twice, whatever completions come or do not;
// and when its requests leave and its answers are taken, a beat comes at most BOUND cycles behind
// the one before, or behind the address.
module pcie_read_answers #(
    parameter int BOUND = 40,
    parameter int HOLD  = 1   // see pcie_read; 0: no burst joins another one's request
) (
    input logic        clk,
    input logic        rst,
    input logic        core_rst,
    input logic        flr,
    input logic        np_dropped,
    input logic        bus_master,
    input logic        arvalid,
    input logic [63:0] araddr,
    input logic [1:0]  arlen,
    input logic        c_valid,
    input logic        c_data,
    input logic        c_poisoned,
    input logic [2:0]  c_status,
    input logic [11:0] c_count,
    input logic [6:0]  c_lower,
    input logic [10:0] c_len,
    input logic [15:0] c_requester,
    input logic [7:0]  c_tag,
    input logic        q_valid,
    input logic        q_ok,
    input logic        q_last
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  logic       arready, rvalid, rlast, np_valid, pending, idle;
  logic [1:0] rresp;
  logic [5:0] awaited;
  pcie_read #(.TAGS(2), .SLOT(64), .TICK(2), .HOLD(HOLD), .LONG(2)) u_dut (
      .clk, .rst, .core_rst, .flr, .bus_master, .hold(1'b0), .ext_tag_enable(1'b0), .mrrs(3'd0), .id(16'h0),
      .s_arvalid(arvalid), .s_arready(arready), .s_araddr(araddr),
      .s_arlen({6'h0, arlen}), .s_rvalid(rvalid), .s_rready(1'b1), .s_rresp(rresp), .s_rlast(rlast), .np_valid,
      .np_done(np_valid), .np_dropped(np_dropped && np_valid), .c_valid, .c_data, .c_poisoned, .c_status, .c_count,
      .c_lower, .c_len, .c_requester, .c_tag,
      .q_valid, .q_data(64'h0), .q_ok, .q_last, .pending, .idle
  );
  logic core;
  assign core = rst || core_rst || flr;
  axi_read_check #(.MASTER(0), .BURSTS(2)) u_check (
      .clk, .rst(core), .arvalid, .arready, .araddr, .arlen({6'h0, arlen}), .rvalid, .rready(1'b1), .rdata('0), .rresp,
      .rlast, .idle, .awaited
  );
  logic [7:0] stood;
  logic       good;
  always_ff @(posedge clk) begin
    stood <= core || awaited == '0 || rvalid ? '0 : stood + 1'b1;
    good  <= !core && (good || (rvalid && rresp == 2'b00));
  end
  always_comb if (started && !core) assert (32'(stood) <= BOUND);
  always_ff @(posedge clk) cover (started && good && rvalid && rlast && rresp == 2'b10 && stood >= 8'd8);
endmodule
