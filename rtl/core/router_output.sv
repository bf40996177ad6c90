// router_output: one output port of the router.
//
// Job: per virtual channel, gives the port to one packet at a time (fair round-robin over the inputs, from
//   head to tail), and per cycle to one virtual channel that can move (round-robin). The flit leaves
//   through a register.
// Handshake: req/pop towards the inputs, one bit per input and VC (index v * PORTS + input); flit channel out.
// Back-pressure: without a credit of the receiver for a VC nothing of that VC is popped.
module router_output #(
    parameter int PORTS    = 3,
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [N-1:0]    req,    // this input's VC holds a flit for this output
    input  logic [N-1:0]    head,
    input  logic [N-1:0]    tail,
    input  logic [N*64-1:0] data,
    output logic [N-1:0]    pop,
    output logic            tx_valid,
    output logic [VC_W-1:0] tx_vc,
    output logic            tx_head,
    output logic            tx_tail,
    output logic [63:0]     tx_data,
    input  logic [VCS-1:0]  tx_credit,
    output logic            idle
);
  logic [N-1:0]   choice;  // one-hot per VC: the flit this VC would send
  logic [VCS-1:0] ready, turn;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [PORTS-1:0] owner, fresh, grant;  // owner: zero while no packet holds the port
      logic             credit, spend;

      assign spend = turn[v];
      /* verilator lint_off PINCONNECTEMPTY */
      credit_counter #(.DEPTH(VC_DEPTH)) u_credit (
          .clk, .rst, .spend, .give(tx_credit[v]), .available(credit), .count()
      );
      /* verilator lint_on PINCONNECTEMPTY */
      assign fresh = req[v*PORTS+:PORTS] & head[v*PORTS+:PORTS] & {PORTS{owner == '0}};
      rr_arbiter #(.N(PORTS)) u_packet (.clk, .rst, .req(fresh), .advance(spend), .grant);

      assign choice[v*PORTS+:PORTS] = owner != '0 ? owner & req[v*PORTS+:PORTS] : grant;
      assign ready[v] = credit && choice[v*PORTS+:PORTS] != '0;
      assign pop[v*PORTS+:PORTS] = choice[v*PORTS+:PORTS] & {PORTS{spend}};

      always_ff @(posedge clk) begin
        if (rst) owner <= '0;
        else if (spend) owner <= |(pop[v*PORTS+:PORTS] & tail[v*PORTS+:PORTS]) ? '0 : pop[v*PORTS+:PORTS];
      end
    end
  endgenerate

  rr_arbiter #(.N(VCS)) u_vc (.clk, .rst, .req(ready), .advance(1'b1), .grant(turn));

  logic [VC_W-1:0] sel_vc;
  logic [63:0]     sel_data;
  always_comb begin
    sel_vc   = '0;
    sel_data = '0;
    for (int v = 0; v < VCS; v++) if (turn[v]) sel_vc = sel_vc | VC_W'(v);
    for (int i = 0; i < N; i++) if (pop[i]) sel_data = sel_data | data[i*64+:64];
  end

  assign idle = !tx_valid;

  always_ff @(posedge clk) tx_valid <= !rst && |turn;
  always_ff @(posedge clk) begin
    if (|turn) begin
      tx_vc   <= sel_vc;
      tx_head <= |(pop & head);
      tx_tail <= |(pop & tail);
      tx_data <= sel_data;
    end
  end
endmodule
