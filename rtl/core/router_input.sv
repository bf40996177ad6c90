// router_input: one input port of the router.
//
// Job: one FIFO per virtual channel; every flit is stored with the output port of its packet, so what
//   stands behind needs no state. A packet that cannot be routed (no such node, port not connected, back
//   where it came from) is discarded here and hinders nobody.
// Handshake: flit channel in (credit-based, see README); per VC valid/pop out.
// Back-pressure: a credit returns when a flit leaves its FIFO; a flit that stays keeps its credit.
module router_input #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DIM_X    = 2,
    parameter int DIM_Y    = 1,
    parameter int DIM_Z    = 1,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1
) (
    input  logic                clk,
    input  logic                rst,
    input  logic [nicloop_pkg::HEADER_DST_NODE_W-1:0] here,
    input  logic [PORTS-1:0]    port_up,
    input  logic                rx_valid,
    input  logic [VC_W-1:0]     rx_vc,
    input  logic                rx_head,
    input  logic                rx_tail,
    input  logic [63:0]         rx_data,
    output logic [VCS-1:0]      rx_credit,
    output logic [VCS-1:0]      out_valid,
    output logic [VCS-1:0]      out_head,
    output logic [VCS-1:0]      out_tail,
    output logic [VCS*3-1:0]    out_port,
    output logic [VCS*64-1:0]   out_data,
    input  logic [VCS-1:0]      out_pop,
    output logic [VCS-1:0]      route_error,  // pulse per discarded packet
    output logic                idle
);
  localparam int W = 64 + 1 + 1 + 1 + 3;  // data, head, tail, drop, port

  logic [2:0] head_port;
  logic       head_legal;
  route_xyz #(.DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z)) u_route (
      .here, .dst(rx_data[nicloop_pkg::HEADER_DST_NODE_LSB+:nicloop_pkg::HEADER_DST_NODE_W]),
      .port(head_port), .legal(head_legal)
  );

  logic [7:0] reachable;  // by port number: connected and not the way back; local to local is a send to oneself
  assign reachable = 8'(port_up) & ~(PORT == 0 ? 8'h0 : 8'h1 << PORT);

  logic       head_drop;
  assign head_drop = !head_legal || !reachable[head_port];

  logic [VCS-1:0]     empty_n;
  logic [VCS*3-1:0]   cur_port;  // of the packet that arrives on this VC
  logic [VCS-1:0]     cur_drop;
  assign idle = empty_n == '0 && rx_credit == '0;

  generate
    for (genvar v = 0; v < VCS; v++) begin : g_vc
      logic         mine, drop, in_drop, pop;
      logic [2:0]   in_port;
      logic [W-1:0] word;

      assign mine    = rx_valid && rx_vc == VC_W'(v);
      assign in_port = rx_head ? head_port : cur_port[v*3+:3];
      assign in_drop = rx_head ? head_drop : cur_drop[v];

      always_ff @(posedge clk) begin
        if (rst) begin
          cur_port[v*3+:3] <= '0;
          cur_drop[v]      <= 1'b1;  // flits before any head belong to no packet
        end else if (mine) begin
          cur_port[v*3+:3] <= in_port;
          cur_drop[v]      <= in_drop || rx_tail;
        end
      end

      logic ready;
      fifo #(.W(W), .DEPTH(VC_DEPTH)) u_fifo (
          .clk, .rst,
          .wr_valid(mine), .wr_ready(ready), .wr_data({in_port, in_drop, rx_tail, rx_head, rx_data}),
          .rd_valid(empty_n[v]), .rd_ready(pop), .rd_data(word),
          /* verilator lint_off PINCONNECTEMPTY */ .level() /* verilator lint_on PINCONNECTEMPTY */
      );
      assign out_data[v*64+:64] = word[63:0];
      assign out_head[v]        = word[64];
      assign out_tail[v]        = word[65];
      assign drop               = word[66];
      assign out_port[v*3+:3]   = word[69:67];
      assign out_valid[v]       = empty_n[v] && !drop;
      assign pop                = drop || out_pop[v];
      assign route_error[v]     = empty_n[v] && drop && out_head[v];

      always_ff @(posedge clk) rx_credit[v] <= !rst && empty_n[v] && pop;

`ifndef SYNTHESIS
      always_ff @(posedge clk)
        if (!rst && mine)
          assert (ready) else $error("router %m: node %0d: flit on VC %0d without a free place: credits are wrong", here, v);
`endif
    end
  endgenerate
endmodule
