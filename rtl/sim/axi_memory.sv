// axi_memory: the memory behind a node's AXI master, in a simulation with BUS 2.
//
// Job: takes bursts and answers them with their IDs. A write happens on its last beat, a read when
//   its address is taken; a write of a dword to MSI_ADDR is an interrupt. Memory belongs to the
//   program, through DPI. It holds the NIC to AXI: whole bursts, of 8 beats at most, within 64
//   bytes.
// Handshake: a response follows its burst by wr_latency or rd_latency cycles, in order. With wild
//   every channel stalls and responses are late at random, those to writes of different IDs are
//   reordered, and behind every write the memory picks one of the orders that AXI allows a slave
//   (A3.3.1), until the next:
//     READY_FIRST   AWREADY before AWVALID, WREADY after the address has been taken (also without
//                   wild)
//     DATA_SEEN     AWREADY after WVALID; data is taken before or behind its address
//     DATA_TAKEN    AWREADY after all data of the burst has been taken
//     BOTH_SEEN     AWREADY and WREADY after AWVALID and WVALID; ARREADY after ARVALID
//   message is a pulse per vector: its interrupt has arrived.
// Backpressure: without wild none, up to QUEUE bursts each way.
`include "nicloop_dpi.svh"
module axi_memory #(
    parameter int          ID_W     = 4,
    parameter logic [63:0] MSI_ADDR = 64'hfee0_0000
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [11:0]     node_id,
    input  logic [15:0]     wr_latency,
    input  logic [15:0]     rd_latency,
    input  logic            wild,
    input  logic [63:0]     seed,
    input  logic            awvalid,
    output logic            awready,
    input  logic [ID_W-1:0] awid,
    input  logic [63:0]     awaddr,
    input  logic [7:0]      awlen,
    input  logic            wvalid,
    output logic            wready,
    input  logic [63:0]     wdata,
    input  logic [7:0]      wstrb,
    input  logic            wlast,
    output logic            bvalid,
    input  logic            bready,
    output logic [ID_W-1:0] bid,
    output logic [1:0]      bresp,
    input  logic            arvalid,
    output logic            arready,
    input  logic [ID_W-1:0] arid,
    input  logic [63:0]     araddr,
    input  logic [7:0]      arlen,
    output logic            rvalid,
    input  logic            rready,
    output logic [ID_W-1:0] rid,
    output logic [63:0]     rdata,
    output logic [1:0]      rresp,
    output logic            rlast,
    output logic [nicloop_pkg::VPIDS:0] message,  // by vector
    output logic            idle
);
  localparam int QUEUE = 128, CLASSES = 4;  // a class of IDs keeps its order
  int node;
  assign node = 32'(node_id);

  // xorshift64; what is drawn is its upper half.
  logic [63:0] random;
  function automatic int unsigned below(input int unsigned n);
    random = random ^ (random << 13);
    random = random ^ (random >> 7);
    random = random ^ (random << 17);
    below  = random[63:32] % n;
  endfunction
  // Drawn only while something is offered, so that it does not matter for how long a node sleeps.
  // By statements: of an expression Verilator draws all that is named in it.
  function automatic logic goes(input logic offered);
    goes = 1'b1;
    if (wild && offered) goes = below(5) != 0;
  endfunction
  function automatic int unsigned later();
    int unsigned most;
    later = 0;
    if (wild) begin
      most = 8;
      if (below(6) == 0) most = 150;
      later = below(most);
    end
  endfunction

  int unsigned     now;
  typedef enum int unsigned {READY_FIRST, DATA_SEEN, DATA_TAKEN, BOTH_SEEN, ORDERS} order_t;
  int unsigned     order;
  // ---- writes ----
  logic [63:0]     aw_addr[QUEUE];
  logic [7:0]      aw_len[QUEUE];
  logic [ID_W-1:0] aw_id[QUEUE];
  int unsigned     aw_wp, aw_rp;
  int unsigned     beat;
  logic            w_whole;  // all data of a burst has been taken, not its address; beat is its last
  bit [511:0]      data;
  bit [63:0]       strobes;
  logic [1:0]      b_resp[CLASSES*QUEUE];
  logic [ID_W-1:0] b_id[CLASSES*QUEUE];
  int unsigned     b_due[CLASSES*QUEUE], b_number[CLASSES*QUEUE];
  int unsigned     b_wp[CLASSES], b_rp[CLASSES], b_numbers, b_owed;
  // ---- reads ----
  bit [511:0]      rd_data[QUEUE];
  logic [1:0]      rd_resp[QUEUE];
  logic [7:0]      rd_len[QUEUE];
  logic [ID_W-1:0] rd_id[QUEUE];
  int unsigned     rd_due[QUEUE], rd_wp, rd_rp, rd_beat;

  function automatic void check(input string what, input logic [63:0] addr, input logic [7:0] len);
    assert (addr[2:0] == '0 && 32'(addr[5:3]) + 32'(len) < 8)
        else $error("axi_memory: node %0d: a %s of %0d quadwords at %x", node, what, 32'(len) + 1, addr);
  endfunction

  function automatic void written();
    logic [63:0] addr;
    int unsigned class_of, at;
    addr     = aw_addr[aw_rp%QUEUE];
    class_of = 32'(aw_id[aw_rp%QUEUE]) % CLASSES;
    at       = class_of * QUEUE + b_wp[class_of] % QUEUE;
    if ({addr[63:3], 3'b000} == MSI_ADDR) begin
      assert (beat == 0 && strobes[7:0] == 8'h0f && data[31:16] == 16'(node) &&
              32'(data[15:0]) <= nicloop_pkg::VPIDS)
          else $error("axi_memory: node %0d: an interrupt of %0d quadwords, %x", node, beat + 1, data[31:0]);
      b_resp[at] = '0;
      message[data[4:0]] <= 1'b1;
    end else begin
      check("write", addr, 8'(beat));
      b_resp[at] = strobes == '0 ? 2'b00 : 2'(nl_dma_write(node, addr, beat + 1, data, strobes));
    end
    b_id[at]       = aw_id[aw_rp%QUEUE];
    b_due[at]      = now + 32'(wr_latency) + later();
    b_number[at]   = b_numbers;
    b_numbers      = b_numbers + 1;
    b_owed         = b_owed + 1;
    b_wp[class_of] = b_wp[class_of] + 1;
    aw_rp          = aw_rp + 1;
    beat           = 0;
    strobes        = '0;
    w_whole        = 1'b0;
    if (wild) order = below(ORDERS);
  endfunction

  // Whether an address, or data, may be taken in the next cycle; seen: AWVALID and WVALID in this
  // one.
  function automatic logic takes_address(input logic aw_seen, input logic w_seen);
    takes_address = order == READY_FIRST;
    if (order == DATA_SEEN || order == BOTH_SEEN) takes_address = aw_seen && (w_seen || w_whole || beat != 0);
    if (order == DATA_TAKEN) takes_address = aw_seen && w_whole;
  endfunction
  function automatic logic takes_data(input logic aw_seen, input logic w_seen);
    takes_data = aw_wp != aw_rp;
    if (aw_wp == aw_rp && order != READY_FIRST)
        takes_data = w_seen && !w_whole && (order != BOTH_SEEN || aw_seen || beat != 0);
  endfunction

  // The class whose answer is next: of the oldest, or with wild of any that is due; CLASSES: none
  // is.
  function automatic int unsigned next_answer();
    int unsigned first, at;
    first = CLASSES;
    for (int unsigned c = 0; c < CLASSES; c++) begin
      at = c * QUEUE + b_rp[c] % QUEUE;
      if (b_wp[c] != b_rp[c] && (!wild || int'(now - b_due[at]) >= 0)) begin
        if (first == CLASSES) first = c;
        else if (!wild) begin
          if (int'(b_number[at] - b_number[first*QUEUE+b_rp[first]%QUEUE]) < 0) first = c;
        end else if (below(2) == 0) first = c;
      end
    end
    next_answer = first == CLASSES || int'(now - b_due[first*QUEUE+b_rp[first]%QUEUE]) < 0 ? CLASSES : first;
  endfunction

  always @(posedge clk) begin : all
    int unsigned c, at;
    bit [511:0]  burst;
    if (rst) begin
      {awready, wready, arready, bvalid, rvalid, message} <= '0;
      now     = 0;
      aw_wp   = 0;
      aw_rp   = 0;
      beat    = 0;
      strobes = '0;
      w_whole = 1'b0;
      order   = READY_FIRST;
      b_wp    = '{default: 0};
      b_rp    = '{default: 0};
      b_owed  = 0;
      rd_wp   = 0;
      rd_rp   = 0;
      rd_beat = 0;
      random  = seed;
    end else begin
      now = now + 1;
      message <= '0;
      // What has come.
      if (awvalid && awready) begin
        aw_addr[aw_wp%QUEUE] = awaddr;
        aw_len[aw_wp%QUEUE]  = awlen;
        aw_id[aw_wp%QUEUE]   = awid;
        aw_wp                = aw_wp + 1;
        assert (!w_whole || beat == 32'(awlen))
            else $error("axi_memory: node %0d: AWLEN is %0d, its data had %0d beats", node, awlen, beat + 1);
        if (w_whole) written();
      end
      if (wvalid && wready) begin
        assert (aw_wp == aw_rp || wlast == (beat == 32'(aw_len[aw_rp%QUEUE])))
            else $error("axi_memory: node %0d: beat %0d of %0d, last %0d", node, beat + 1, 32'(aw_len[aw_rp%QUEUE]) + 1,
            wlast);
        data[beat%8*64+:64]  = wdata;
        strobes[beat%8*8+:8] = wstrb;
        if (wlast && aw_wp != aw_rp) written();
        else if (wlast) w_whole = 1'b1;
        else beat = beat + 1;
      end
      if (arvalid && arready) begin
        check("read", araddr, arlen);
        rd_resp[rd_wp%QUEUE] = 2'(nl_dma_read(node, araddr, 32'(arlen) + 1, burst));
        rd_data[rd_wp%QUEUE] = burst;
        rd_len[rd_wp%QUEUE]  = arlen;
        rd_id[rd_wp%QUEUE]   = arid;
        rd_due[rd_wp%QUEUE]  = now + 32'(rd_latency) + later();
        rd_wp                = rd_wp + 1;
      end
      // What is answered.
      if (!bvalid || bready) begin
        c = CLASSES;
        if (b_owed != 0) c = next_answer();
        bvalid <= c != CLASSES;
        if (c != CLASSES) begin
          at      = c * QUEUE + b_rp[c] % QUEUE;
          bid     <= b_id[at];
          bresp   <= b_resp[at];
          b_rp[c] = b_rp[c] + 1;
          b_owed  = b_owed - 1;
        end
      end
      if (!rvalid || rready) begin
        if (goes(rd_wp != rd_rp && int'(now - rd_due[rd_rp%QUEUE]) >= 0) && rd_wp != rd_rp &&
            int'(now - rd_due[rd_rp%QUEUE]) >= 0) begin
          rvalid  <= 1'b1;
          rid     <= rd_id[rd_rp%QUEUE];
          rdata   <= rd_data[rd_rp%QUEUE][rd_beat*64+:64];
          rresp   <= rd_resp[rd_rp%QUEUE];
          rlast   <= rd_beat == 32'(rd_len[rd_rp%QUEUE]);
          rd_beat = rd_beat + 1;
          if (rd_beat > 32'(rd_len[rd_rp%QUEUE])) begin
            rd_beat = 0;
            rd_rp   = rd_rp + 1;
          end
        end else rvalid <= 1'b0;
      end
      awready <= goes(awvalid) && takes_address(awvalid, wvalid) && aw_wp - aw_rp + b_owed < QUEUE - 2;
      wready  <= goes(wvalid) && takes_data(awvalid, wvalid);
      arready <= goes(arvalid) && (order != BOTH_SEEN || arvalid) && rd_wp - rd_rp < QUEUE - 2;
    end
  end
  assign idle = aw_wp == aw_rp && beat == 0 && b_owed == 0 && !bvalid && rd_wp == rd_rp && !rvalid && message == '0 &&
      awready == (order == READY_FIRST) && arready == (order != BOTH_SEEN) && !wready && !w_whole;
endmodule
