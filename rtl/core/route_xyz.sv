// route_xyz: dimension-order routing on a mesh DIM_X x DIM_Y x DIM_Z.
//
// Job: names the output port for a destination: X first, then Y, then Z, then 0 (local). Node numbers
//   are x + DIM_X * (y + DIM_Y * z). Coordinates come from a constant table, which stays small logic
//   also where a dimension is not a power of two.
// Handshake: none, combinational. legal falls when the destination does not exist.
module route_xyz #(
    parameter int DIM_X  = 2,
    parameter int DIM_Y  = 1,
    parameter int DIM_Z  = 1,
    parameter int NODE_W = nicloop_pkg::HEADER_DST_NODE_W
) (
    input  logic [NODE_W-1:0] here,
    input  logic [NODE_W-1:0] dst,
    output logic [2:0]        port,
    output logic              legal
);
  localparam int NODES = DIM_X * DIM_Y * DIM_Z;
  localparam int IDX_W = NODES > 1 ? $clog2(NODES) : 1;
  localparam int C_W   = 8;

  logic [(1 << IDX_W) * 3 * C_W - 1:0] where;  // z, y, x of every node; 0 beyond the last
  generate
    for (genvar n = 0; n < (1 << IDX_W); n++) begin : g_node
      assign where[n*3*C_W+:3*C_W] = n >= NODES ? '0 :
          {C_W'(n / (DIM_X * DIM_Y)), C_W'((n / DIM_X) % DIM_Y), C_W'(n % DIM_X)};
    end
  endgenerate

  logic [C_W-1:0] hx, hy, hz, dx, dy, dz;
  assign {hz, hy, hx} = where[here[IDX_W-1:0]*3*C_W+:3*C_W];
  assign {dz, dy, dx} = where[dst[IDX_W-1:0]*3*C_W+:3*C_W];

  assign legal = dst < NODE_W'(NODES);

  always_comb begin
    if (dx != hx) port = dx > hx ? 3'd1 : 3'd2;
    else if (dy != hy) port = dy > hy ? 3'd3 : 3'd4;
    else if (dz != hz) port = dz > hz ? 3'd5 : 3'd6;
    else port = 3'd0;
  end
endmodule
