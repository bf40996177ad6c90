// router_dut: a router whose ports' clocks stop as often as they may (nic_core.sv), so that
// whatever its bench checks holds then, too.
module router_dut #(
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
    input  logic                  rst,
    input  logic [59:0]           shape,
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
    output logic [7:0]            route_errors,  // packets discarded this cycle, by the port they came from
    output logic [PORTS-1:0]      drained,       // by a port that drains: a packet
    output logic [PORTS-1:0]      ended,         // the rest of one
    output logic                  idle,          // nothing buffered
    output logic                  active         // something moves
);
  logic [PORTS-1:0] clk_port /* verilator split_var */;
  logic [PORTS-1:0] port_rests, runs;
  logic [PORTS*4-1:0] ran;  // the last four edges at which a port had a reason to run
  generate
    for (genvar p = 0; p < PORTS; p++) begin : g_port
      // Settled before the edge, while clk is low.
      always_latch if (!clk) runs[p] = rst || !port_rests[p] || ran[p*4+:4] != '0;
      assign clk_port[p] = clk && runs[p];
      always_ff @(posedge clk) ran[p*4+:4] <= {ran[p*4+:3], rst || !port_rests[p]};
    end
  endgenerate
  router #(.PORTS(PORTS), .VC_DEPTH(VC_DEPTH), .DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .TORUS(TORUS),
      .SHAPE_INPUT(SHAPE_INPUT)) u_router (.*);
endmodule
