// router: crossbar with virtual output queues, virtual channels, dimension-order routing and a
// route table.
//
// Job: moves packets between PORTS flit channels: 0 local, 1 +X, 2 -X, 3 +Y, 4 -Y, 5 +Z, 6 -Z.
//   Packets of one source and destination stay in order. An illegal route discards the packet and
//   affects no other.
// Handshake: flit channels, packed by port; a sender starts with VC_DEPTH credits per VC. A torus
//   has twice as many VCs as classes (see router_output); the local channel uses those of layer 0,
//   one per class. The route table's registers use regfile's protocol.
// Backpressure: credits per VC. A packet whose output is blocked keeps its entries; packets to
//   other outputs pass it while their VC has free entries, those of other VCs always.
module router #(
    parameter int PORTS    = 3,
    parameter int VC_DEPTH = 16,
    parameter int DIM_X    = 2,
    parameter int DIM_Y    = 1,
    parameter int DIM_Z    = 1,
    parameter int TORUS    = 0,
    parameter int SHAPE_INPUT = 0,  // 1: dimensions and position come from shape (see nic_core)
    localparam int LAYERS  = TORUS != 0 ? 2 : 1,
    localparam int VCS     = nicloop_pkg::VCS * LAYERS,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1,
    localparam int NODE_W  = nicloop_pkg::HEADER_DST_NODE_W
) (
    input  logic                  clk,
    input  logic [PORTS-1:0]      clk_port /* verilator split_var */,  // of a port's queues and output: see nic_core
    output logic [PORTS-1:0]      port_rests,  // nothing is in a port's queues or moves through it
    input  logic                  rst,
    input  nicloop_pkg::shape_t shape,
    input  logic [NODE_W-1:0]     here,
    input  logic [PORTS-1:0]      port_up,     // something is connected
    input  logic [PORTS-1:0]      closed,      // its link has no session
    input  logic [PORTS-1:0]      drain,       // what is for this port is discarded
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
    // registers of the route table
    input  logic [31:0]           wr_addr,
    input  logic [63:0]           wr_data,
    input  logic                  wr_do,
    output logic                  wr_known,
    input  logic [31:0]           rd_addr,
    output logic                  rd_known,
    output logic [63:0]           rd_value,
    output logic [7:0]            route_errors,  // packets discarded this cycle, by input port
    output logic [PORTS-1:0]      drained,       // by a port that drains: a packet
    output logic [PORTS-1:0]      ended,         // the rest of one
    output logic                  idle,          // nothing buffered
    output logic                  active         // something moves
);
  localparam int NODES = SHAPE_INPUT != 0 ? nicloop_pkg::NODE_MAX : DIM_X * DIM_Y * DIM_Z;
  localparam int IDX_W = NODES > 1 ? $clog2(NODES) : 1;
  localparam int N     = VCS * PORTS;  // index v * PORTS + port

  // ---- wrap wires: the last node of a dimension up, the first down ----
  logic [PORTS-1:0] wrap;
  generate
    if (SHAPE_INPUT != 0) begin : g_shape
      function automatic logic [1:0] edges_at(input logic [7:0] c, input logic [7:0] size);
        edges_at = TORUS != 0 && size > 8'd2 ? {c == 8'd0, c == size - 8'd1} : 2'b00;
      endfunction
      assign wrap = PORTS'({edges_at(shape.z, shape.dim_z), edges_at(shape.y, shape.dim_y),
          edges_at(shape.x, shape.dim_x), 1'b0});
    end else begin : g_table
      logic [(1<<IDX_W)*7-1:0] wraps;
      function automatic logic [1:0] edges(input int c, input int size);
        edges = TORUS != 0 && size > 2 ? {c == 0, c == size - 1} : 2'b00;
      endfunction
      for (genvar n = 0; n < (1 << IDX_W); n++) begin : g_node
        assign wraps[n*7+:7] = {edges(n / (DIM_X * DIM_Y), DIM_Z), edges(n / DIM_X % DIM_Y, DIM_Y),
            edges(n % DIM_X, DIM_X), 1'b0};
      end
      assign wrap = wraps[here[IDX_W-1:0]*7+:PORTS];
    end
  endgenerate

  // ---- routes by software ----
  logic [PORTS*IDX_W-1:0] dst;
  logic [PORTS-1:0]       override;
  logic [PORTS*3-1:0]     table_port;
  route_table #(.NODES(NODES), .READS(PORTS)) u_table (
      .clk, .rst, .nodes(SHAPE_INPUT != 0 ? shape.nodes : 12'(NODES)), .dst, .override, .port(table_port), .wr_addr,
      .wr_data, .wr_do, .wr_known, .rd_addr, .rd_known, .rd_value
  );

  // ---- crossbar ----
  logic [PORTS*N-1:0]        q_valid, q_tail, q_pop;  // by input, then VC, then output
  logic [PORTS*PORTS*64-1:0] q_data;                  // by input, then output
  logic [PORTS-1:0]          in_idle, out_idle, out_moves, errors;

  generate
    for (genvar p = 0; p < PORTS; p++) begin : g_in
      assign dst[p*IDX_W+:IDX_W] = rx_data[p*64+nicloop_pkg::HEADER_DST_NODE_LSB+:IDX_W];
      router_input #(
          .PORT(p), .PORTS(PORTS), .VCS(VCS), .VC_DEPTH(VC_DEPTH), .DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z),
          .TORUS(TORUS), .SHAPE_INPUT(SHAPE_INPUT)
      ) u_input (
          .clk(clk_port[p]), .rst, .shape, .here, .port_up, .override(override[p]), .table_port(table_port[p*3+:3]),
          .rx_valid(rx_valid[p]), .rx_vc(rx_vc[p*VC_W+:VC_W]), .rx_head(rx_head[p]), .rx_tail(rx_tail[p]),
          .rx_data(rx_data[p*64+:64]), .rx_credit(rx_credit[p*VCS+:VCS]),
          .out_valid(q_valid[p*N+:N]), .out_pop(q_pop[p*N+:N]), .out_tail(q_tail[p*N+:N]),
          .out_data(q_data[p*PORTS*64+:PORTS*64]), .route_error(errors[p]), .idle(in_idle[p])
      );
    end

    for (genvar o = 0; o < PORTS; o++) begin : g_out
      logic [N-1:0]        req, tail, pop;
      logic [PORTS*64-1:0] data;
      for (genvar p = 0; p < PORTS; p++) begin : g_from
        assign data[p*64+:64] = q_data[(p*PORTS+o)*64+:64];
        for (genvar v = 0; v < VCS; v++) begin : g_vc
          assign req[v*PORTS+p]           = q_valid[p*N+v*PORTS+o];
          assign tail[v*PORTS+p]          = q_tail[p*N+v*PORTS+o];
          assign q_pop[p*N+v*PORTS+o]     = pop[v*PORTS+p];
        end
      end
      router_output #(.PORT(o), .PORTS(PORTS), .LAYERS(LAYERS), .VC_DEPTH(VC_DEPTH)) u_output (
          .clk(clk_port[o]), .rst, .wrap(wrap[o]), .drain(drain[o]), .closed(closed[o]), .req, .pop, .tail, .data,
          .tx_valid(tx_valid[o]), .tx_vc(tx_vc[o*VC_W+:VC_W]), .tx_head(tx_head[o]), .tx_tail(tx_tail[o]),
          .tx_data(tx_data[o*64+:64]), .tx_credit(tx_credit[o*VCS+:VCS]), .ev_drained(drained[o]),
          .ev_ended(ended[o]), .moves(out_moves[o]), .idle(out_idle[o])
      );
    end
  endgenerate

  assign route_errors = 8'(errors);

  generate
    for (genvar p = 0; p < PORTS; p++) begin : g_rest
      assign port_rests[p] = in_idle[p] && out_idle[p] && !rx_valid[p] && !tx_valid[p] && g_out[p].req == '0 &&
          rx_credit[p*VCS+:VCS] == '0 && tx_credit[p*VCS+:VCS] == '0;
    end
  endgenerate
  assign idle   = &in_idle && &out_idle;
  assign active = |rx_valid || |tx_valid || |out_moves || |rx_credit || |tx_credit;

`ifndef SYNTHESIS
  if (PORTS < 3 || PORTS > 7 || (SHAPE_INPUT == 0 && ((DIM_Y > 1 && PORTS < 5) || (DIM_Z > 1 && PORTS < 7))))
    $fatal(1, "router: %0d ports for %0d x %0d x %0d nodes", PORTS, DIM_X, DIM_Y, DIM_Z);
`endif
endmodule
