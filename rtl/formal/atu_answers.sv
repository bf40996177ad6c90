// atu_answers: no request waits for good. Whichever of N clients asks, atu answers within CYCLES
// cycles in which memory does what is asked of it, whatever the other clients, the tables, flushes
// and registers do. With fence_ends, in whose cycles translations are answered, and fence_told this
// is the time of a fence.
module atu_answers #(
    parameter int N      = 4,
    parameter int CYCLES = 19
) (
    input logic            clk,
    input logic            rst,
    input logic [N-1:0]    want,
    input logic [N*48-1:0] nla,
    input logic [N*4-1:0]  vpid,
    input logic [N*2-1:0]  need,
    input logic            flush_page,
    input logic            flush_vpid,
    input logic            flush_all,
    input logic [3:0]      flush_table,
    input logic [23:0]     flush_number,
    input logic [3:0]      flush_owner,
    input logic [3:0]      wr_table,
    input logic [63:0]     wr_data,
    input logic            wr_base,
    input logic            wr_pages,
    input logic            arready,
    input logic            rvalid,
    input logic [63:0]     rdata,
    input logic [1:0]      rresp
);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb if (!started) assume (rst);

  // A request stays until it is done.
  logic [N-1:0] valid, kept, done;
  assign valid = want | kept;
  always_ff @(posedge clk) kept <= rst ? '0 : valid & ~done;

  logic arvalid, rready;
  atu #(.N(N), .ENTRIES(2)) u_dut (
      .clk, .rst, .valid, .nla, .vpid, .need, .done, .m_arvalid(arvalid), .m_arready(arready), .m_rvalid(rvalid),
      .m_rready(rready), .m_rdata(rdata), .m_rresp(rresp), .flush_page, .flush_vpid, .flush_all, .flush_table,
      .flush_number, .flush_owner, .wr_table, .wr_data, .wr_base, .wr_pages
  );

  // Memory: the quadword that it owes, and whether it does all that is asked in this cycle.
  logic owes, serves;
  always_ff @(posedge clk) owes <= !rst && ((arvalid && arready) || (owes && !(rvalid && rready)));
  always_comb if (started && !rst) assume (!rvalid || owes);
  assign serves = (!arvalid || arready) && (!owes || rvalid);

  (* anyconst *) logic [N-1:0] who;  // one of them, which the solver chooses
  always_comb assume (who != '0 && (who & (who - 1'b1)) == '0);
  logic [5:0] served;
  logic       waits;
  assign waits = (valid & who) != '0;
  always_ff @(posedge clk) served <= rst || !waits || (done & who) != '0 ? '0 : served + 6'(serves);
  always_comb if (started && !rst && waits) assert (served <= 6'(CYCLES));
  always_ff @(posedge clk) cover (started && !rst && served == 6'(CYCLES));
endmodule
