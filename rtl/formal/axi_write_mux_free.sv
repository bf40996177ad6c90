// axi_write_mux as others see it, for proofs of what is around it: any unit may have its turn at
// any time, or none, ever; memory answers when it likes, but no burst that it was not given, and
// one unit in a cycle. axi_write_mux_axi proves that the real one does no more. No unit awaits more
// than DMA_WRITES answers, which velo_completer and rma_notifier_axi prove of those two (with
// smaller queues), and one that has been told and not counted yet.
module axi_write_mux #(
    parameter int N     = 2,
    parameter int DEPTH = 16
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [N-1:0]    s_awvalid,
    output logic [N-1:0]    s_awready,
    input  logic [N*64-1:0] s_awaddr,
    input  logic [N*8-1:0]  s_awlen,
    input  logic [N-1:0]    s_wvalid,
    output logic [N-1:0]    s_wready,
    input  logic [N*64-1:0] s_wdata,
    input  logic [N*8-1:0]  s_wstrb,
    input  logic [N-1:0]    s_wlast,
    output logic [N-1:0]    s_bvalid,
    input  logic [N-1:0]    s_bready,
    output logic            m_awvalid,
    input  logic            m_awready,
    output logic [63:0]     m_awaddr,
    output logic [7:0]      m_awlen,
    output logic            m_wvalid,
    input  logic            m_wready,
    output logic [63:0]     m_wdata,
    output logic [7:0]      m_wstrb,
    output logic            m_wlast,
    input  logic            m_bvalid,
    output logic            m_bready
);
  (* anyseq *) logic [N-1:0] some_aw, some_w, some_b;
  logic [N-1:0] aw_gone, owing;
  assign s_awready = some_aw & ~aw_gone;
  assign s_wready  = some_w & (aw_gone | (s_awvalid & s_awready));
  assign s_bvalid  = some_b & owing;
  always_comb assume ((some_b & (some_b - 1'b1)) == '0);
  generate
    for (genvar i = 0; i < N; i++) begin : g_unit
      logic [5:0] count;  // bursts without an answer
      logic       done;
      assign owing[i] = count != '0;
      always_comb assume (count <= 6'(nicloop_pkg::DMA_WRITES + 1));
      assign done     = s_wvalid[i] && s_wready[i] && s_wlast[i];
      always_ff @(posedge clk) begin
        if (rst) begin
          aw_gone[i] <= 1'b0;
          count      <= '0;
        end else begin
          aw_gone[i] <= !done && (aw_gone[i] || (s_awvalid[i] && s_awready[i]));
          count      <= count + 6'(done) - 6'(s_bvalid[i] && s_bready[i]);
        end
      end
    end
  endgenerate
endmodule
