// router_input: one input port of the router.
//
// Job: routes every arriving packet by its header (the route table's entry if there is one, else
//   dimension order) and stores its flits in virtual output queues (voq). A packet that cannot be
//   routed (no such node, port not connected, back to where it came from) is discarded here and
//   blocks no other, and so is one that has already passed HOP_MAX routers: it is in a loop. The
//   hop count is in the header.
// Handshake: flit channel in (credit-based, see README); voq's reading side out.
// Backpressure: a credit is returned when a flit leaves its queue or is discarded.
module router_input #(
    parameter int PORT     = 0,
    parameter int PORTS    = 3,
    parameter int VCS      = nicloop_pkg::VCS,
    parameter int VC_DEPTH = 16,
    parameter int DIM_X    = 2,
    parameter int DIM_Y    = 1,
    parameter int DIM_Z    = 1,
    parameter int TORUS    = 0,
    parameter int SHAPE_INPUT = 0,
    localparam int VC_W    = VCS > 1 ? $clog2(VCS) : 1
) (
    input  logic                 clk,
    input  logic                 rst,
    input  nicloop_pkg::shape_t shape,
    input  logic [nicloop_pkg::HEADER_DST_NODE_W-1:0] here,
    input  logic [PORTS-1:0]     port_up,
    input  logic                 override,   // the table's answer for the header on rx_data
    input  logic [2:0]           table_port,
    input  logic                 rx_valid,
    input  logic [VC_W-1:0]      rx_vc,
    input  logic                 rx_head,
    input  logic                 rx_tail,
    input  logic [63:0]          rx_data,
    output logic [VCS-1:0]       rx_credit,
    output logic [VCS*PORTS-1:0] out_valid,
    input  logic [VCS*PORTS-1:0] out_pop,
    output logic [VCS*PORTS-1:0] out_tail,
    output logic [PORTS*64-1:0]  out_data,
    output logic                 route_error,  // pulse per discarded packet
    output logic                 idle
);
  logic       head;
  logic [2:0] own_port;
  logic       exists;
  logic [nicloop_pkg::HOPS_W-1:0] hops;
  logic [63:0] counted;
  assign hops = rx_data[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W];
  always_comb begin
    counted = rx_data;
    if (rx_head) counted[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W] = hops + 1'b1;
  end
  assign head = rx_valid && rx_head;
  route_xyz #(.DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .TORUS(TORUS), .SHAPE_INPUT(SHAPE_INPUT)) u_route (
      .shape, .enable(head), .here, .dst(rx_data[nicloop_pkg::HEADER_DST_NODE_LSB+:nicloop_pkg::HEADER_DST_NODE_W]),
      .port(own_port), .legal(exists)
  );
  // By port number: connected and not the way back; local to local is a send to oneself.
  // Whether the table has an entry is known last.
  logic [PORTS-1:0] reachable, own_way, table_way, head_way, way, open;
  logic             goes;  // there is such a node, and the packet may go on
  assign reachable = port_up & ~(PORT == 0 ? '0 : PORTS'(1 << PORT));
  assign goes      = exists && hops < nicloop_pkg::HOPS_W'(nicloop_pkg::HOP_MAX);
  assign own_way   = goes ? PORTS'(8'h1 << own_port) & reachable : '0;
  assign table_way = goes ? PORTS'(8'h1 << table_port) & reachable : '0;
  assign head_way  = (own_way & {PORTS{!override}}) | (table_way & {PORTS{override}});

  // The route of the packet that arrives on each VC; none while it is discarded, and behind its
  // tail.
  logic [VCS*PORTS-1:0] routes;
  always_comb begin
    open = '0;
    for (int v = 0; v < VCS; v++) if (rx_vc == VC_W'(v)) open = open | routes[v*PORTS+:PORTS];
  end
  assign way         = rx_head ? head_way : open;
  assign route_error = head && (override ? table_way == '0 : own_way == '0);
  always_ff @(posedge clk) begin
    if (rst) routes <=  '0;
    else if (rx_valid)
      for (int v = 0; v < VCS; v++) if (rx_vc == VC_W'(v)) routes[v*PORTS+:PORTS] <= rx_tail ? '0 : way;
  end

  voq #(.PORTS(PORTS), .VCS(VCS), .VC_DEPTH(VC_DEPTH)) u_voq (
      .clk, .rst, .wr_valid(rx_valid), .wr_vc(rx_vc), .wr_port(way), .wr_tail(rx_tail), .wr_data(counted),
      .rd_valid(out_valid), .rd_pop(out_pop), .rd_tail(out_tail), .rd_data(out_data), .credit(rx_credit), .idle
  );

`ifdef FORMAL
  logic formal_started = 1'b0;
  always_ff @(posedge clk) formal_started <= 1'b1;
  always_comb if (!formal_started) assume (rst);

  // The sender: whole packets, one after the other on each VC.
  logic [VCS-1:0] inside;  // the next flit of the VC continues a packet
  logic           continues;
  always_comb begin
    continues = 1'b0;
    for (int v = 0; v < VCS; v++) if (rx_vc == VC_W'(v)) continues = continues | inside[v];
    assume (32'(rx_vc) < VCS);
    assume (!rx_valid || rx_head == !continues);
    assume (32'(here) < DIM_X * DIM_Y * DIM_Z);
  end

  // The route of a header, without masks; route_xyz_shortest proves own_port.
  logic [2:0] named;
  logic       allowed;
  assign named = override ? table_port : own_port;
  always_comb begin
    allowed = 32'(rx_data[nicloop_pkg::HEADER_DST_NODE_LSB+:nicloop_pkg::HEADER_DST_NODE_W]) < DIM_X * DIM_Y * DIM_Z &&
        32'(rx_data[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W]) < nicloop_pkg::HOP_MAX;
    if (32'(named) >= PORTS || (PORT != 0 && 32'(named) == PORT)) allowed = 1'b0;
    for (int p = 0; p < PORTS; p++) if (32'(named) == p && !port_up[p]) allowed = 1'b0;
  end
  logic [VCS-1:0]   accepted;  // of the packet that a VC is inside
  logic [VCS*3-1:0] towards;
  logic             goes_on;
  logic [2:0]       goes_to;
  always_comb begin
    {goes_on, goes_to} = '0;
    for (int v = 0; v < VCS; v++) if (rx_vc == VC_W'(v)) {goes_on, goes_to} = {accepted[v], towards[v*3+:3]};
    if (rx_head) {goes_on, goes_to} = {allowed, named};
  end
  always_ff @(posedge clk) begin
    for (int v = 0; v < VCS; v++) begin
      if (rst) inside[v] <= 1'b0;
      else if (rx_valid && rx_vc == VC_W'(v)) inside[v] <= !rx_tail;
      if (rx_valid && rx_vc == VC_W'(v)) {accepted[v], towards[v*3+:3]} <= {goes_on, goes_to};
    end
  end

  localparam logic [63:0] HOPS_MASK = ((64'd1 << nicloop_pkg::HOPS_W) - 64'd1) << nicloop_pkg::HEADER_MARK_LSB;
  always_comb
    if (formal_started && !rst) begin
      assert (route_error == (rx_valid && rx_head && !allowed));
      if (rx_valid) begin
        for (int p = 0; p < PORTS; p++) assert (way[p] == (goes_on && 32'(goes_to) == p));
        assert (((counted ^ rx_data) & ~HOPS_MASK) == '0);
        assert (counted[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W] ==
            rx_data[nicloop_pkg::HEADER_MARK_LSB+:nicloop_pkg::HOPS_W] + nicloop_pkg::HOPS_W'(rx_head));
      end
    end
  always_ff @(posedge clk) begin
    // the end of a discarded packet inside an accepted one
    cover (formal_started && rx_valid && !rx_head && rx_tail && way == '0 && (inside & accepted) != '0);
    cover (formal_started && rx_valid && rx_head && override && way != '0 && own_port != table_port);
    cover (formal_started && route_error && allowed == 1'b0 && !override && own_port != 3'd0 && port_up == '1);
  end
`endif
endmodule
