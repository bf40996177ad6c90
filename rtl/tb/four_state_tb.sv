// four_state: two nodes, linked both ways, in a simulator in which every register starts as X
// (scripts/four-state).
// - both links come up after a reset of 4 cycles, and after a second one;
// - a VELO packet of 8 bytes reaches the other node's mailbox, each way, and the slot has what was
//   sent;
// - the registers of one page of each kind are read: no answer has an X.
// Addresses are those of rtl/desc/nicloop.md.
`timescale 1ns / 1ns
module four_state_tb;
  logic         clk = 0, rst = 1;
  logic [1:0]   valid0, valid1;
  logic [127:0] data0, data1;
  logic [191:0] user0, user1;
  integer       failures0, failures1, errors = 0, j;
  always #5 clk = !clk;
  initial begin  // nothing may take longer
    #40000 $display("four_state: FAIL: no end after 4000 cycles");
    $finish;
  end

  // Up of one is down of the other.
  four_state_node u_a (.clk(clk), .rst(rst), .node_id(12'd0), .tx_valid(valid0), .tx_data(data0), .tx_user(user0),
      .rx_valid({valid1[0], valid1[1]}), .rx_data({data1[63:0], data1[127:64]}), .rx_user({user1[95:0], user1[191:96]}),
      .failures(failures0));
  four_state_node u_b (.clk(clk), .rst(rst), .node_id(12'd1), .tx_valid(valid1), .tx_data(data1), .tx_user(user1),
      .rx_valid({valid0[0], valid0[1]}), .rx_data({data0[63:0], data0[127:64]}), .rx_user({user0[95:0], user0[191:96]}),
      .failures(failures1));

  localparam [31:0] LINK_STATUS = nicloop_pkg::PAGE_LINK_BASE + nicloop_pkg::REG_LINK_STATUS,
      PDID = nicloop_pkg::PAGE_VPID_BASE + nicloop_pkg::REG_PDID,
      MBOX_BASE = nicloop_pkg::PAGE_VPID_BASE + nicloop_pkg::REG_MBOX_BASE,
      MBOX_SLOTS = nicloop_pkg::PAGE_VPID_BASE + nicloop_pkg::REG_MBOX_SLOTS,
      MBOX_CTRL = nicloop_pkg::PAGE_VPID_BASE + nicloop_pkg::REG_MBOX_CTRL;
  logic [63:0] value;
  logic [1:0]  resp;

  task check(input ok, input [8*40-1:0] what);
    if (ok !== 1'b1) begin
      $display("four_state: FAIL: %0s", what);
      errors = errors + 1;
    end
  endtask

  task link_is_up;
    begin
      u_a.read_register(LINK_STATUS, value, resp);
      check(value[nicloop_pkg::LINK_STATUS_AGREED_LSB], "link 0 of node 0 has not come up");
      u_b.read_register(LINK_STATUS + nicloop_pkg::PAGE_LINK_STRIDE, value, resp);
      check(value[nicloop_pkg::LINK_STATUS_AGREED_LSB], "link 1 of node 1 has not come up");
    end
  endtask

  task configure;
    begin
      u_a.write_register(PDID, 64'd1);
      u_a.write_register(MBOX_BASE, 64'h1000);
      u_a.write_register(MBOX_SLOTS, 64'd4);
      u_a.write_register(MBOX_CTRL, 64'd3);
      u_b.write_register(PDID, 64'd1);
      u_b.write_register(MBOX_BASE, 64'h2000);
      u_b.write_register(MBOX_SLOTS, 64'd4);
      u_b.write_register(MBOX_CTRL, 64'd3);
    end
  endtask

  function [28:0] to(input [5:0] node);
    to = (8 << nicloop_pkg::PIO_LENGTH_LSB) | (node << nicloop_pkg::PIO_DST_NODE_LSB);
  endfunction

  task packets;
    begin
      u_a.put_line(to(6'd1), 1, 512'h0123456789abcdef);
      u_b.put_line(to(6'd0), 1, 512'hfedcba9876543210);
      repeat (200) @(posedge clk);
      check(u_b.memory[16'h2000/8] === 64'h0123456789abcdef, "node 1 has not got the packet");
      check(u_a.memory[16'h1000/8] === 64'hfedcba9876543210, "node 0 has not got the packet");
      check(u_b.memory[16'h2000/8+7][63:32] === 32'd1, "the slot of node 1 has another number");
      u_a.memory[16'h1000/8] = 64'hx;
      u_b.memory[16'h2000/8] = 64'hx;
    end
  endtask

  // Base and page size of a translation table are not reset, since nothing uses them while the
  // table has no pages.
  task every_register;
    begin
      u_a.write_register(nicloop_pkg::PAGE_ATU_BASE + nicloop_pkg::REG_ATU_BASE, 64'h8000);
      u_a.write_register(nicloop_pkg::PAGE_ATU_BASE + nicloop_pkg::REG_ATU_PAGES, 64'd0);
      read_page(nicloop_pkg::PAGE_GLOBAL_BASE, 'h200);
      read_page(nicloop_pkg::PAGE_RMA_BASE, 'h140);
      read_page(nicloop_pkg::PAGE_VPID_BASE, 'h60);
      read_page(nicloop_pkg::PAGE_VPID_BASE + 'h100, 'h60);
      read_page(nicloop_pkg::PAGE_VPID_BASE + 'h200, 'h20);
      read_page(nicloop_pkg::PAGE_USER_BASE, 'h20);
      read_page(nicloop_pkg::PAGE_ATU_BASE, 'h10);
      read_page(nicloop_pkg::PAGE_NVM_BASE, 'h40);
      read_page(nicloop_pkg::PAGE_ROUTE_BASE, 'h10);
      read_page(nicloop_pkg::PAGE_LINK_BASE, 'h80);
    end
  endtask

  task read_page(input [31:0] base, input integer size);
    for (j = 0; j < size; j = j + 8) u_a.read_register(base + j, value, resp);
  endtask

  initial begin
    repeat (4) @(posedge clk);
    rst <= 0;
    repeat (300) @(posedge clk);
    link_is_up;
    configure;
    packets;
    every_register;
    rst <= 1;
    repeat (4) @(posedge clk);
    rst <= 0;
    repeat (300) @(posedge clk);
    link_is_up;
    configure;
    packets;
    errors = errors + failures0 + failures1;
    if (errors == 0) $display("four_state: ok, %0d cycles", $time / 10);
    else $display("four_state: FAIL: %0d errors", errors);
    $finish;
  end
endmodule
