// route_xyz_shortest: dimension-order routing takes the shorter way, X before Y before Z, for every
// pair of nodes; and the two branches of route_xyz, the constant table and the shape from inputs,
// always agree.
module route_xyz_shortest #(
    parameter int DIM_X   = 3,
    parameter int DIM_Y   = 3,
    parameter int DIM_Z   = 3,
    parameter int TORUS   = 1,
    localparam int NODE_W = 7,  // fewer bits than a header has: dividers grow with them
    localparam int NODES  = DIM_X * DIM_Y * DIM_Z
) (
    input logic        clk,
    input logic [23:0] from,    // coordinates, dimension 0 in the lowest bits
    input logic [23:0] to,
    input logic        beyond,  // to no node: number has none of the mesh
    input logic [NODE_W-1:0] number
);
  localparam logic [23:0] SIZES = {8'(DIM_Z), 8'(DIM_Y), 8'(DIM_X)};
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb begin
    for (int d = 0; d < 3; d++) assume (from[8*d+:8] < SIZES[8*d+:8] && to[8*d+:8] < SIZES[8*d+:8]);
    assume (number >= NODE_W'(NODES));
  end

  function automatic logic [NODE_W-1:0] node_at(input logic [23:0] c);
    node_at = NODE_W'(32'(c[7:0]) + 32'(DIM_X) * (32'(c[15:8]) + 32'(DIM_Y) * 32'(c[23:16])));
  endfunction
  logic [NODE_W-1:0] here, dst;
  assign here = node_at(from);
  assign dst  = beyond ? number : node_at(to);

  nicloop_pkg::shape_t shape;
  assign shape.nodes = 12'(NODES);
  assign {shape.z, shape.y, shape.x} = from;
  assign {shape.dim_z, shape.dim_y, shape.dim_x} = {8'(DIM_Z), 8'(DIM_Y), 8'(DIM_X)};

  logic [2:0] port, shape_port;
  logic       legal, shape_legal;
  route_xyz #(.DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .TORUS(TORUS), .NODE_W(NODE_W)) u_table (
      .shape('0), .enable(1'b1), .here, .dst, .port, .legal
  );
  route_xyz #(.TORUS(TORUS), .SHAPE_INPUT(1), .NODE_W(NODE_W)) u_shape (
      .shape, .enable(1'b1), .here('0), .dst, .port(shape_port), .legal(shape_legal)
  );

  // Per dimension: whether this is the one to correct, and the steps to the destination in either
  // direction.
  logic [2:0] differs;
  generate
    for (genvar d = 0; d < 3; d++) begin : g_dimension
      localparam int SIZE = 32'(SIZES[8*d+:8]);
      localparam bit RING = TORUS != 0 && SIZE > 2;
      logic [7:0] h, t, steps_up, steps_down;
      logic       first;
      assign h          = from[8*d+:8];
      assign t          = to[8*d+:8];
      assign differs[d] = h != t;
      assign first      = differs[d] && (differs & 3'((1 << d) - 1)) == '0;
      assign steps_up   = t > h ? t - h : RING ? t + 8'(SIZE) - h : 8'hff;  // ff: no way
      assign steps_down = t < h ? h - t : RING ? h + 8'(SIZE) - t : 8'hff;
      always_comb
        if (started && legal && first) assert (port == (steps_up <= steps_down ? 3'(2 * d + 1) : 3'(2 * d + 2)));
      if (SIZE > 1) begin : g_covers
        always_ff @(posedge clk) begin
          cover (started && legal && port == 3'(2 * d + 1));
          cover (started && legal && port == 3'(2 * d + 2));
        end
      end
    end
  endgenerate
  always_comb
    if (started) begin
      assert (legal == !beyond);
      assert (shape_legal == legal);
      assert (!legal || shape_port == port);
      assert (!legal || (port == 3'd0) == (from == to));
    end
  always_ff @(posedge clk) cover (started && !legal);
endmodule
