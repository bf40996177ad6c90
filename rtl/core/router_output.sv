// router_output: one output port of the router.
//
// Job: per virtual channel, gives the port to one packet at a time (fair round-robin over the queues that may
//   leave on it, from head to tail), and per cycle to one virtual channel that can move (round-robin). The
//   flit leaves through a register.
// Handshake: req/pop towards the queues, one bit per input and VC (index v * PORTS + input); tail and data show
//   what is popped, zero from all others; flit channel out.
// Back-pressure: without a credit of the receiver for a VC nothing of that VC is popped.
//
// A mesh has one layer of VCs, a torus two: VC = layer * CLASSES + class. Going on in a dimension keeps the
// layer, a turn starts in layer 0, and leaving over a wrap wire goes to layer 1, so that no ring of one layer
// closes. Delivery is in layer 0.
module router_output #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int LAYERS   = 1,
    parameter int VC_DEPTH = 16,
    localparam int CLASSES = nicloop_pkg::VCS,
    localparam int VCS     = CLASSES * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int N       = VCS * PORTS,
    localparam int K       = LAYERS * PORTS  // queues of a class: index layer * PORTS + input
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                wrap,   // this port leads over a wrap wire
    input  logic [N-1:0]        req,    // this queue holds a flit for this output
    output logic [N-1:0]        pop,
    input  logic [PORTS-1:0]    tail,   // by input
    input  logic [PORTS*64-1:0] data,
    output logic                tx_valid,
    output logic [VC_W-1:0]     tx_vc,
    output logic                tx_head,
    output logic                tx_tail,
    output logic [63:0]         tx_data,
    input  logic [VCS-1:0]      tx_credit,
    output logic                idle
);
  // Queues of a class that leave in a layer.
  function automatic logic [K-1:0] leaving(input int layer, input logic over_wrap);
    for (int k = 0; k < K; k++) begin
      if (PORT == 0) leaving[k] = layer == 0;
      else if (k % PORTS != 0 && (k % PORTS - 1) / 2 == (PORT - 1) / 2) leaving[k] = (layer == 1) == (k / PORTS == 1 || over_wrap);
      else leaving[k] = (layer == 1) == over_wrap;
    end
  endfunction

  logic [VCS*K-1:0] pops;  // by VC out, then queue of the class
  logic [VCS-1:0]   ready, turn, fresh;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic [K-1:0] want, owner, grant, choice;  // owner: zero while no packet holds the VC
      logic         credit;

      for (genvar l = 0; l < LAYERS; l++) begin : g_layer
        assign want[l*PORTS+:PORTS] = req[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] &
                                      (LAYERS == 1 ? {PORTS{1'b1}} : PORTS'(leaving(v / CLASSES, wrap) >> l * PORTS));
      end
      /* verilator lint_off PINCONNECTEMPTY */
      credit_counter #(.DEPTH(VC_DEPTH)) u_credit (
          .clk, .rst, .spend(turn[v]), .give(tx_credit[v]), .available(credit), .count()
      );
      /* verilator lint_on PINCONNECTEMPTY */
      assign fresh[v] = owner == '0;
      rr_arbiter #(.N(K)) u_packet (.clk, .rst, .req(want), .advance(turn[v] && fresh[v]), .grant);

      assign choice   = fresh[v] ? grant : owner & want;
      assign ready[v] = credit && choice != '0;
      assign pops[v*K+:K] = turn[v] ? choice : '0;

      always_ff @(posedge clk) begin
        if (rst) owner <= '0;
        else if (turn[v]) owner <= |tail ? '0 : choice;
      end
    end
  endgenerate

  rr_arbiter #(.N(VCS)) u_vc (.clk, .rst, .req(ready), .advance(1'b1), .grant(turn));

  logic [VC_W-1:0] sel_vc;
  logic [63:0]     sel_data;
  always_comb begin
    pop      = '0;
    sel_vc   = '0;
    sel_data = '0;
    for (int v = 0; v < VCS; v++) begin
      if (turn[v]) sel_vc = sel_vc | VC_W'(v);
      for (int l = 0; l < LAYERS; l++)
        pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] = pop[(l*CLASSES+v%CLASSES)*PORTS+:PORTS] | pops[v*K+l*PORTS+:PORTS];
    end
    if (|turn)
      for (int i = 0; i < PORTS; i++) sel_data = sel_data | data[i*64+:64];
  end

  assign idle = !tx_valid;

  always_ff @(posedge clk) tx_valid <= !rst && |turn;
  always_ff @(posedge clk) begin
    if (|turn) begin
      tx_vc   <= sel_vc;
      tx_head <= |(turn & fresh);
      tx_tail <= |tail;
      tx_data <= sel_data;
    end
  end
endmodule
