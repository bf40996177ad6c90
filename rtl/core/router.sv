// router: wormhole router with virtual channels and dimension-order routing.
//
// Job: moves packets between PORTS flit channels: 0 local, 1 +X, 2 -X, 3 +Y, 4 -Y, 5 +Z, 6 -Z. Packets of
//   one source and destination stay in order. An illegal route costs the packet, nothing else.
// Handshake: flit channels, packed by port; a sender starts with VC_DEPTH credits per VC.
// Back-pressure: credits per VC. A packet whose way is blocked keeps the flits it has and the output it
//   was given on its VC; the other VC passes.
module router #(
    parameter int PORTS    = 3,
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DIM_X    = 2,
    parameter int DIM_Y    = 1,
    parameter int DIM_Z    = 1,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic [nicloop_pkg::HEADER_DST_NODE_W-1:0] here,
    input  logic [PORTS-1:0]      port_up,     // something is connected
    input  logic [PORTS-1:0]      rx_valid,
    input  logic [PORTS*VC_W-1:0] rx_vc,
    input  logic [PORTS-1:0]      rx_head,
    input  logic [PORTS-1:0]      rx_tail,
    input  logic [PORTS*64-1:0]   rx_data,
    output logic [PORTS*VCS-1:0]  rx_credit,
    output logic [PORTS-1:0]      tx_valid,
    output logic [PORTS*VC_W-1:0] tx_vc,
    output logic [PORTS-1:0]      tx_head,
    output logic [PORTS-1:0]      tx_tail,
    output logic [PORTS*64-1:0]   tx_data,
    input  logic [PORTS*VCS-1:0]  tx_credit,
    output logic [7:0]            route_errors,  // packets discarded this cycle
    output logic                  idle,          // nothing buffered
    output logic                  active         // something moves
);
  localparam int N = VCS * PORTS;  // index v * PORTS + input

  logic [N-1:0]     q_valid, q_head, q_tail, q_pop, q_error;
  logic [N*3-1:0]   q_port;
  logic [N*64-1:0]  q_data;
  logic [PORTS*N-1:0] pops;
  logic [PORTS-1:0] in_idle, out_idle;

  generate
    for (genvar p = 0; p < PORTS; p++) begin : g_in
      logic [VCS-1:0]    valid, head, tail, pop, error;
      logic [VCS*3-1:0]  dest;
      logic [VCS*64-1:0] data;
      router_input #(
          .PORT(p), .PORTS(PORTS), .VCS(VCS), .VC_DEPTH(VC_DEPTH), .DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z)
      ) u_input (
          .clk, .rst, .here, .port_up,
          .rx_valid(rx_valid[p]), .rx_vc(rx_vc[p*VC_W+:VC_W]), .rx_head(rx_head[p]), .rx_tail(rx_tail[p]),
          .rx_data(rx_data[p*64+:64]), .rx_credit(rx_credit[p*VCS+:VCS]),
          .out_valid(valid), .out_head(head), .out_tail(tail), .out_port(dest), .out_data(data),
          .out_pop(pop), .route_error(error), .idle(in_idle[p])
      );
      for (genvar v = 0; v < VCS; v++) begin : g_vc
        assign q_valid[v*PORTS+p]       = valid[v];
        assign q_head[v*PORTS+p]        = head[v];
        assign q_tail[v*PORTS+p]        = tail[v];
        assign q_error[v*PORTS+p]       = error[v];
        assign q_port[(v*PORTS+p)*3+:3] = dest[v*3+:3];
        assign q_data[(v*PORTS+p)*64+:64] = data[v*64+:64];
        assign pop[v]                   = q_pop[v*PORTS+p];
      end
    end

    for (genvar o = 0; o < PORTS; o++) begin : g_out
      logic [N-1:0] req;
      for (genvar i = 0; i < N; i++) begin : g_req
        assign req[i] = q_valid[i] && q_port[i*3+:3] == 3'(o);
      end
      router_output #(.PORTS(PORTS), .VCS(VCS), .VC_DEPTH(VC_DEPTH)) u_output (
          .clk, .rst, .req, .head(q_head), .tail(q_tail), .data(q_data), .pop(pops[o*N+:N]),
          .tx_valid(tx_valid[o]), .tx_vc(tx_vc[o*VC_W+:VC_W]), .tx_head(tx_head[o]), .tx_tail(tx_tail[o]),
          .tx_data(tx_data[o*64+:64]), .tx_credit(tx_credit[o*VCS+:VCS]), .idle(out_idle[o])
      );
    end
  endgenerate

  always_comb begin
    q_pop = '0;
    for (int o = 0; o < PORTS; o++) q_pop = q_pop | pops[o*N+:N];
    route_errors = '0;
    for (int i = 0; i < N; i++) route_errors = route_errors + 8'(q_error[i]);
  end

  assign idle   = &in_idle && &out_idle;
  assign active = |rx_valid || |tx_valid || |q_pop || |q_error || |rx_credit || |tx_credit;

`ifndef SYNTHESIS
  if (PORTS < 3 || PORTS > 7 || (DIM_Y > 1 && PORTS < 5) || (DIM_Z > 1 && PORTS < 7))
    $fatal(1, "router: %0d ports for a mesh of %0d x %0d x %0d", PORTS, DIM_X, DIM_Y, DIM_Z);
`endif
endmodule
