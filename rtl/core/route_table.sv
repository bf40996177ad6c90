// route_table: routes written by software, one entry per destination node.
//
// Job: tells every input of the router whether a destination has an entry, and its port. After
//   reset the table is empty, and the router uses dimension order. An entry takes effect for the
//   headers that arrive after its write.
// Handshake: lookups are combinational. Registers by regfile's protocol (page route, one register
//   per node): decoded in the cycle after the address, the value in the second. Entries of nodes
//   that do not exist read 0 and store nothing.
module route_table #(
    parameter int NODES = 2,
    parameter int READS = 3,
    localparam int IDX_W = NODES > 1 ? $clog2(NODES) : 1
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [11:0]             nodes,     // that exist, at most NODES
    input  logic [READS*IDX_W-1:0]  dst,
    output logic [READS-1:0]        override,
    output logic [READS*3-1:0]      port,
    // registers
    input  logic [31:0]             wr_addr,
    input  logic [63:0]             wr_data,
    input  logic                    wr_do,     // a write that is known here, or elsewhere
    output logic                    wr_known,
    input  logic [31:0]             rd_addr,
    output logic                    rd_known,
    output logic [63:0]             rd_value
);
  localparam int ADDR_W = $clog2(nicloop_pkg::PAGE_ROUTE_STRIDE);
  localparam int SIZE_W = ADDR_W + $clog2(nicloop_pkg::PAGE_ROUTE_COUNT);

  logic [(1<<IDX_W)-1:0] valid;
  logic [2:0]            ports[1<<IDX_W];

  localparam logic [31-SIZE_W:0] PAGE = (32 - SIZE_W)'(nicloop_pkg::PAGE_ROUTE_BASE[18:SIZE_W]);
  logic [SIZE_W-ADDR_W-1:0] wr_node, rd_node;
  logic wr_exists, rd_exists;
  always_ff @(posedge clk) begin
    wr_known  <= wr_addr[31:SIZE_W] == PAGE && wr_addr[ADDR_W-1:0] == '0;
    rd_known  <= rd_addr[31:SIZE_W] == PAGE && rd_addr[ADDR_W-1:0] == '0;
    wr_exists <= 12'(wr_node) < nodes;
    rd_exists <= 12'(rd_node) < nodes;
  end
  assign wr_node  = wr_addr[SIZE_W-1:ADDR_W];
  assign rd_node  = rd_addr[SIZE_W-1:ADDR_W];

  logic write;
  assign write = wr_do && wr_known && wr_exists;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (write) valid[wr_node[IDX_W-1:0]] <= wr_data[nicloop_pkg::ROUTE_OVERRIDE_LSB];
  end
  always_ff @(posedge clk) if (write) ports[wr_node[IDX_W-1:0]] <= wr_data[nicloop_pkg::ROUTE_PORT_LSB+:3];

  always_ff @(posedge clk) begin
    rd_value <= '0;
    if (rd_known && rd_exists && valid[rd_node[IDX_W-1:0]]) begin
      rd_value[nicloop_pkg::ROUTE_OVERRIDE_LSB]  <= 1'b1;
      rd_value[nicloop_pkg::ROUTE_PORT_LSB+:3]   <= ports[rd_node[IDX_W-1:0]];
    end
  end

  generate
    for (genvar r = 0; r < READS; r++) begin : g_read
      logic [IDX_W-1:0] at;
      assign at          = dst[r*IDX_W+:IDX_W];
      assign override[r] = valid[at];
      assign port[r*3+:3] = ports[at];  // means nothing without override
    end
  endgenerate
endmodule
