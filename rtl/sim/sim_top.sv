// sim_top: a mesh or torus of NICs with their hosts; the clock comes from outside.
//
// Job: NODES = DIM_X * DIM_Y * DIM_Z nodes, each a nic_core with a host_bus, neighbours joined by wires.
//   With TORUS, wrap wires join the ends of every dimension of more than two nodes: with two, the neighbour
//   up is the neighbour down, and the one wire between them stands for both.
// Handshake: reg_pending/pio_pending say which nodes have commands; the engines fetch them through DPI.
//   irq is level. idle: nothing is buffered and no AXI transaction is open anywhere. active: something moved
//   in this cycle or will move by itself; while it is low and no command is pending, only software can
//   change anything (all is idle, or stalled on full mailboxes).
// Back-pressure: none of its own.
module sim_top #(
    parameter int NODES           = 2,
    parameter int DIM_X           = 2,
    parameter int DIM_Y           = 1,
    parameter int DIM_Z           = 1,
    parameter int VC_DEPTH        = 16,
    parameter int TORUS           = 0,
    parameter int HOST_WR_LATENCY = 4,
    parameter int HOST_RD_LATENCY = 8
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [NODES-1:0] reg_pending,
    input  logic [NODES-1:0] pio_pending,
    input  logic             trace_on,
    output logic [NODES-1:0] irq,
    output logic             idle,
    output logic             active
);
  localparam int PORTS  = DIM_Z > 1 ? 7 : DIM_Y > 1 ? 5 : 3;
  localparam int LINKS  = PORTS - 1;
  localparam int VCS    = TORUS != 0 ? nicloop_pkg::TORUS_VCS : nicloop_pkg::VCS;
  localparam int WORD_W = 64 + (VCS <= 2 && VC_DEPTH < 32 ? 64 : 96);

  if (NODES != DIM_X * DIM_Y * DIM_Z)
    $fatal(1, "sim_top: %0d nodes, but the mesh is %0d x %0d x %0d", NODES, DIM_X, DIM_Y, DIM_Z);

  logic [NODES-1:0] idles, actives;
  assign idle   = &idles;
  assign active = |actives;

  logic [LINKS-1:0]        tx_valid[NODES], down[NODES];
  logic [LINKS*WORD_W-1:0] tx_word[NODES];

  generate
    for (genvar n = 0; n < NODES; n++) begin : g_node
      logic [LINKS-1:0]        link_up, carrier, rx_valid;
      logic [LINKS*WORD_W-1:0] rx_word;
      logic                    node_clk;

      sleep #(.LINKS(LINKS)) u_sleep (
          .clk, .wake(rst || !idles[n] || actives[n] || reg_pending[n] || pio_pending[n] || |rx_valid), .carrier, .node_clk
      );

      // Link l leads to the neighbour in dimension l / 2, up for even l; it arrives there on link l ^ 1.
      for (genvar l = 0; l < LINKS; l++) begin : g_link
        localparam int STEP  = l / 2 == 0 ? 1 : l / 2 == 1 ? DIM_X : DIM_X * DIM_Y;
        localparam int SIZE  = l / 2 == 0 ? DIM_X : l / 2 == 1 ? DIM_Y : DIM_Z;
        localparam int COORD = (n / STEP) % SIZE;
        localparam bit EDGE  = l % 2 == 0 ? COORD == SIZE - 1 : COORD == 0;
        localparam bit UP    = !EDGE || (TORUS != 0 && SIZE > 2);
        localparam int WAY   = EDGE ? 1 - SIZE : 1;  // steps up, for even l
        localparam int PEER  = !UP ? n : l % 2 == 0 ? n + WAY * STEP : n - WAY * STEP;
        localparam int BACK  = l % 2 == 0 ? l + 1 : l - 1;
        assign link_up[l]  = UP;
        assign carrier[l]  = UP && !down[n][l] && !down[PEER][BACK];
        assign rx_valid[l] = carrier[l] && tx_valid[PEER][BACK];
        assign rx_word[l*WORD_W+:WORD_W] = tx_word[PEER][BACK*WORD_W+:WORD_W];
      end

      sim_node #(
          .DIM_X(DIM_X), .DIM_Y(DIM_Y), .DIM_Z(DIM_Z), .PORTS(PORTS), .VC_DEPTH(VC_DEPTH), .TORUS(TORUS),
          .HOST_WR_LATENCY(HOST_WR_LATENCY), .HOST_RD_LATENCY(HOST_RD_LATENCY)
      ) u_node (
          .clk(node_clk), .clk_free(clk), .rst, .node_id(12'(n)), .trace_on, .reg_pending(reg_pending[n]), .pio_pending(pio_pending[n]), .link_up, .carrier,
          .wire_down(down[n]), .tx_valid(tx_valid[n]), .tx_word(tx_word[n]), .rx_valid, .rx_word,
          .irq(irq[n]), .idle(idles[n]), .active(actives[n])
      );
    end
  endgenerate
endmodule
