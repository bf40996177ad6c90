// route_table_entries: an entry of the route table is what was written last, for every lookup and
// every read, in particular beside a write; nodes that do not exist have no entry, and a reset
// removes all.
module route_table_entries #(
    parameter int NODES  = 5,
    parameter int READS  = 2,
    localparam int IDX_W = $clog2(NODES)
) (
    input logic                   clk,
    input logic                   rst,
    input logic [READS*IDX_W-1:0] dst,
    input logic [31:0]            wr_addr,
    input logic [63:0]            wr_data,
    input logic                   wr_do,
    input logic [31:0]            rd_addr
);
  (* anyconst *) logic [IDX_W-1:0] node;   // the entry that is looked at
  (* anyconst *) logic [11:0]      nodes;  // that exist
  logic [1:0] age = '0;                    // cycles since the start, at most 3
  always_ff @(posedge clk) if (age != 2'd3) age <= age + 1'b1;
  always_comb begin
    if (age == '0) assume (rst);
    assume (nodes <= 12'(NODES));
  end

  logic               wr_known, rd_known;
  logic [63:0]        rd_value;
  logic [READS-1:0]   override;
  logic [READS*3-1:0] port;
  route_table #(.NODES(NODES), .READS(READS)) u_dut (
      .clk, .rst, .nodes, .dst, .override, .port, .wr_addr, .wr_data, .wr_do, .wr_known, .rd_addr, .rd_known, .rd_value
  );

  // As regfile does: an address stays until its access is done.
  logic [31:0] wr_was, rd_was, rd_before;
  always_ff @(posedge clk) begin
    wr_was    <= wr_addr;
    rd_was    <= rd_addr;
    rd_before <= rd_was;
  end
  always_comb if (wr_do) assume (age != '0 && wr_addr == wr_was);

  function automatic logic in_page(input logic [31:0] addr);
    in_page = addr >= 32'(nicloop_pkg::PAGE_ROUTE_BASE) && addr[2:0] == '0 &&
        addr < 32'(nicloop_pkg::PAGE_ROUTE_BASE) + 32'(nicloop_pkg::PAGE_ROUTE_COUNT * nicloop_pkg::PAGE_ROUTE_STRIDE);
  endfunction
  logic [31:0] address;
  logic        exists, entry_valid, entry_was;
  logic [2:0]  entry_port, port_was;
  assign address = 32'(nicloop_pkg::PAGE_ROUTE_BASE) + 32'(node) * 32'(nicloop_pkg::PAGE_ROUTE_STRIDE);
  assign exists  = 12'(node) < nodes;
  always_ff @(posedge clk) begin
    if (rst) entry_valid <= 1'b0;
    else if (wr_do && exists && wr_addr == address) entry_valid <= wr_data[nicloop_pkg::ROUTE_OVERRIDE_LSB];
    if (wr_do && exists && wr_addr == address) entry_port <= wr_data[nicloop_pkg::ROUTE_PORT_LSB+:3];
    entry_was <= entry_valid;
    port_was  <= entry_port;
  end

  always_comb
    if (age != '0) begin
      assert (wr_known == in_page(wr_was));
      assert (rd_known == in_page(rd_was));
      for (int r = 0; r < READS; r++)
        if (dst[r*IDX_W+:IDX_W] == node) begin
          assert (override[r] == entry_valid);
          if (entry_valid) assert (port[r*3+:3] == entry_port);
        end
      if (!exists) assert (!entry_valid);
    end
  // The value is that of the cycle behind the address.
  logic expected;
  assign expected = entry_was && rd_before == address;
  always_comb
    if (age > 2'd1 && rd_was == rd_before && (rd_before == address || !in_page(rd_before))) begin
      assert (rd_value[nicloop_pkg::ROUTE_OVERRIDE_LSB] == expected);
      assert (rd_value[nicloop_pkg::ROUTE_PORT_LSB+:3] == (expected ? port_was : 3'd0));
      assert (rd_value[63:4] == '0);
    end

  always_ff @(posedge clk) begin
    cover (age == 2'd3 && expected && port_was == 3'd5 && rd_was == rd_before && !entry_valid && !rst);
    cover (age == 2'd3 && !exists && wr_do && wr_addr == address);
  end
endmodule
