// route_xyz: dimension-order routing on a mesh or torus DIM_X x DIM_Y x DIM_Z.
//
// Job: selects the output port for a destination: X first, then Y, then Z, then 0 (local). Node
//   numbers are x + DIM_X * (y + DIM_Y * z). Coordinates are from a constant table, which remains
//   small logic even if a dimension is not a power of two; with SHAPE_INPUT they are computed by
//   division, which only a simulator should do. On a torus the shorter way round, upwards if both
//   are equally long; a dimension of two nodes has no wrap-around wires.
// Handshake: none, combinational. legal falls when the destination does not exist. port is valid
//   while enable: the gate spares a simulation the evaluation while no header is present. shape:
//   see nic_core.
module route_xyz #(
    parameter int DIM_X  = 2,
    parameter int DIM_Y  = 1,
    parameter int DIM_Z  = 1,
    parameter int TORUS  = 0,
    parameter int SHAPE_INPUT = 0,
    parameter int NODE_W = nicloop_pkg::HEADER_DST_NODE_W
) (
    input  nicloop_pkg::shape_t shape,
    input  logic              enable,
    input  logic [NODE_W-1:0] here,
    input  logic [NODE_W-1:0] dst,
    output logic [2:0]        port,
    output logic              legal
);
  localparam int NODES = DIM_X * DIM_Y * DIM_Z;
  localparam int IDX_W = NODES > 1 ? $clog2(NODES) : 1;
  localparam int C_W   = 8;

  logic [C_W-1:0] hx, hy, hz, dx, dy, dz, size_x, size_y, size_z;
  generate
    if (SHAPE_INPUT != 0) begin : g_shape
      assign {hz, hy, hx} = {shape.z, shape.y, shape.x};
      assign {size_z, size_y, size_x} = {shape.dim_z, shape.dim_y, shape.dim_x};
      always_comb begin
        {dz, dy, dx} = '0;
        if (enable) begin
          dx = C_W'(dst % NODE_W'(size_x));
          dy = C_W'(dst / NODE_W'(size_x) % NODE_W'(size_y));
          dz = C_W'(dst / NODE_W'(size_x) / NODE_W'(size_y));
        end
      end
      assign legal = dst < shape.nodes;
    end else begin : g_table
      logic [(1 << IDX_W) * 3 * C_W - 1:0] where;  // z, y, x of every node; 0 beyond the last
      for (genvar n = 0; n < (1 << IDX_W); n++) begin : g_node
        assign where[n*3*C_W+:3*C_W] = n >= NODES ? '0 :
            {C_W'(n / (DIM_X * DIM_Y)), C_W'((n / DIM_X) % DIM_Y), C_W'(n % DIM_X)};
      end
      assign {size_z, size_y, size_x} = {C_W'(DIM_Z), C_W'(DIM_Y), C_W'(DIM_X)};
      assign {hz, hy, hx} = where[here[IDX_W-1:0]*3*C_W+:3*C_W];
      assign {dz, dy, dx} = enable ? where[dst[IDX_W-1:0]*3*C_W+:3*C_W] : '0;
      assign legal = dst < NODE_W'(NODES);
    end
  endgenerate

  // Whether the way from h to d leads up; d differs from h.
  function automatic logic up(input logic [C_W-1:0] h, input logic [C_W-1:0] d, input logic [C_W-1:0] size);
    logic [C_W-1:0] ahead;
    ahead = d > h ? d - h : d + size - h;
    up    = TORUS != 0 && size > 2 ? {ahead, 1'b0} <= {1'b0, size} : d > h;
  endfunction

  always_comb begin
    port = 3'd0;
    if (enable) begin
      if (dx != hx) port = up(hx, dx, size_x) ? 3'd1 : 3'd2;
      else if (dy != hy) port = up(hy, dy, size_y) ? 3'd3 : 3'd4;
      else if (dz != hz) port = up(hz, dz, size_z) ? 3'd5 : 3'd6;
    end
  end
endmodule
