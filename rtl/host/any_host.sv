// any_host: the memory of one node behind an AXI4 port of any width.
//
// Job: maps bursts of any width, size and alignment, INCR, FIXED or WRAP, with IDs, to aligned
//   lines of 64 bytes with strobes, the form of nl_dma_read and nl_dma_write. Writes reach the
//   memory line by line; the beats of a line are merged. Reads see the memory as it is when their
//   beat is sent. Bursts of each direction are answered in order, so IDs need no further rule.
// Handshake: AXI4. The response of a write follows wr_latency cycles after its last beat, the first
//   beat of a read rd_latency cycles after its address.
// Backpressure: QUEUE bursts each way. With +stall=N every READY, and every VALID that is not yet
//   asserted, is withheld in N of 256 cycles, at random by +stall_seed=S.
// Violations are reported by $error at the first beat that shows them, with address and port.
`include "nicloop_dpi.svh"

module any_host #(
    parameter int DATA_W = 64,  // 8 to 512
    parameter int ID_W   = 1,
    parameter int PORT   = 0,   // number of the port, for messages and the random numbers
    parameter bit LAST   = 1,   // the design drives WLAST
    localparam int BYTES = DATA_W / 8
) (
    input  logic              clk,
    input  logic              rst,
    input  logic [11:0]       node_id,
    input  logic              trace_on,
    input  logic [15:0]       wr_latency,
    input  logic [15:0]       rd_latency,
    input  logic              awvalid,
    output logic              awready,
    input  logic [ID_W-1:0]   awid,
    input  logic [63:0]       awaddr,
    input  logic [7:0]        awlen,
    input  logic [2:0]        awsize,
    input  logic [1:0]        awburst,
    input  logic              wvalid,
    output logic              wready,
    input  logic [DATA_W-1:0] wdata,
    input  logic [BYTES-1:0]  wstrb,
    input  logic              wlast,
    output logic              bvalid,
    input  logic              bready,
    output logic [ID_W-1:0]   bid,
    output logic [1:0]        bresp,
    input  logic              arvalid,
    output logic              arready,
    input  logic [ID_W-1:0]   arid,
    input  logic [63:0]       araddr,
    input  logic [7:0]        arlen,
    input  logic [2:0]        arsize,
    input  logic [1:0]        arburst,
    output logic              rvalid,
    input  logic              rready,
    output logic [ID_W-1:0]   rid,
    output logic [DATA_W-1:0] rdata,
    output logic [1:0]        rresp,
    output logic              rlast,
    output logic              idle      // no burst is outstanding or offered, and none is stalled at random
);
  localparam int QUEUE = 16;  // a power of two
  typedef struct packed {
    logic [ID_W-1:0] id;
    logic [63:0]     addr;
    logic [7:0]      len;
    logic [2:0]      size;
    logic [1:0]      burst;
    logic [31:0]     due;
  } burst_t;

  int          node;
  int unsigned cycle;
  assign node = 32'(node_id);

  // The address of the beat that follows the one at addr.
  function automatic logic [63:0] next_addr(burst_t b, logic [63:0] addr);
    logic [63:0] step, whole;
    step      = 64'd1 << b.size;
    whole     = step * (64'(b.len) + 64'd1);
    next_addr = (addr & ~(step - 64'd1)) + step;
    if (b.burst == 2'b00) next_addr = addr;
    else if (b.burst == 2'b10 && (next_addr & (whole - 64'd1)) == '0) next_addr = next_addr - whole;
  endfunction

  // Byte lanes that a beat may use.
  function automatic logic [BYTES-1:0] lanes_of(burst_t b, logic [63:0] addr);
    int unsigned first, past;
    first    = 32'(addr) % BYTES;
    past     = first / (1 << b.size) * (1 << b.size) + (1 << b.size);
    lanes_of = '0;
    for (int unsigned i = 0; i < BYTES; i++) lanes_of[i] = i >= first && i < past;
  endfunction

  // "" if a burst is one that AXI4 allows here, otherwise the rule that it breaks.
  function automatic string broken_rule(burst_t b);
    int unsigned beats, step;
    beats = 32'(b.len) + 1;
    step  = 1 << b.size;
    broken_rule = "";
    if (step > BYTES) broken_rule = "a beat is wider than the bus";
    else if (b.burst == 2'b11) broken_rule = "burst type 3 is reserved";
    else if (b.burst == 2'b10 && beats != 2 && beats != 4 && beats != 8 && beats != 16)
      broken_rule = "a WRAP burst has 2, 4, 8 or 16 beats";
    else if (b.burst == 2'b10 && b.addr % 64'(step) != 0) broken_rule = "the address of a WRAP burst is not aligned";
    else if (b.burst == 2'b00 && beats > 16) broken_rule = "a FIXED burst has at most 16 beats";
    else if (b.burst == 2'b01 && 32'(b.addr[11:0]) / step * step + beats * step > 4096)
      broken_rule = "a burst crosses a boundary of 4096 bytes";
  endfunction

  // ---- random stalls ----
  int unsigned stall, seed;
  logic [31:0] noise;
  logic [3:0]  hold;  // of AW, W, AR, and of B and R
  always @(posedge clk) begin
    cycle <= rst ? 0 : cycle + 1;
    if (rst) begin
      if ($value$plusargs("stall=%d", stall) == 0) stall = 0;
      if ($value$plusargs("stall_seed=%d", seed) == 0) seed = 1;
      noise <= (32'(seed) + 32'(node) * 32'h9e3779b9 + 32'(PORT) * 32'h85ebca6b) | 32'h1;
    end else if (stall != 0) begin
      noise <= noise * 32'd1664525 + 32'd1013904223;
    end
  end
  always_comb
    for (int i = 0; i < 4; i++) hold[i] = stall != 0 && 32'(noise[31-5*i-:8]) < stall;

  // The random numbers advance in every cycle, so with them the node must not sleep: a run with
  // waves, in which no node sleeps, would differ from one without.
  assign idle = stall == 0 && aw_in == aw_out && b_in == b_out && ar_in == ar_out && !bvalid && !rvalid
      && !awvalid && !wvalid && !arvalid;

  // Writes the merged beats to memory, and shows them as trace points.
  function automatic logic [1:0] store();
    logic [63:0] quadword;
    if (trace_on) begin
      nl_trace(node, 32, 0, PORT, line_addr);
      nl_trace(node, 33, 0, PORT, line_strobes);
      for (int q = 0; q < 8; q++) begin
        for (int i = 0; i < 8; i++) quadword[8*i+:8] = line_strobes[8*q+i] ? line[64*q+8*i+:8] : 8'h0;
        if (line_strobes[8*q+:8] != '0) nl_trace(node, 34, 0, q, quadword);
      end
    end
    store = 2'(nl_dma_write(node, line_addr, 8, line, line_strobes));
    line_strobes = '0;
  endfunction

  // ---- writes ----
  burst_t          w_queue[QUEUE], b_queue[QUEUE];
  int unsigned     aw_in, aw_out, b_in, b_out;
  logic [1:0]      b_resp[QUEUE];
  logic            w_open;     // a burst has begun
  logic [63:0]     w_addr;     // of the coming beat
  logic [7:0]      w_beat;
  logic [1:0]      w_resp;
  logic [511:0]    line;       // merged beats that have not reached the memory
  logic [63:0]     line_strobes, line_addr;
  assign awready = aw_in - aw_out < QUEUE && b_in - b_out < QUEUE / 2 && !hold[0];
  assign wready  = aw_in != aw_out && b_in - b_out < QUEUE && !hold[1];

  always @(posedge clk) begin : writes
    burst_t           now, b;
    logic [63:0]      at;
    logic [BYTES-1:0] lanes;
    logic             last;
    logic [1:0]       resp;
    string            rule;
    if (rst) begin
      aw_in  <= 0;
      aw_out <= 0;
      b_in   <= 0;
      b_out  <= 0;
      w_open <= 1'b0;
      bvalid <= 1'b0;
      line_strobes = '0;
    end else begin
      if (awvalid && awready) begin
        b    = '{awid, awaddr, awlen, awsize, awburst, 32'h0};
        rule = broken_rule(b);
        if (rule != "")
          $error("any_host: node %0d, port %0d: write of %0d beats at 0x%h: %s",
                 node, PORT, 32'(awlen) + 1, awaddr, rule);
        w_queue[aw_in%QUEUE] <= b;
        aw_in <= aw_in + 1;
      end
      if (wvalid && wready) begin
        now   = w_queue[aw_out%QUEUE];
        at    = w_open ? w_addr : now.addr;
        last  = (w_open ? w_beat : 8'd0) == now.len;
        resp  = w_open ? w_resp : 2'b00;
        lanes = lanes_of(now, at);
        if ((wstrb & ~lanes) != '0)
          $error("any_host: node %0d, port %0d: write at 0x%h: strobes %h outside the lanes %h of its beat",
                 node, PORT, at, wstrb, lanes);
        if (LAST && wlast != last)
          $error("any_host: node %0d, port %0d: write at 0x%h of %0d beats: WLAST is %0d in beat %0d",
                 node, PORT, now.addr, 32'(now.len) + 1, wlast, 32'(w_open ? w_beat : 8'd0) + 1);
        if (line_strobes != '0 && line_addr[63:6] != at[63:6]) begin
          resp = resp | store();
        end
        line_addr = {at[63:6], 6'h0};
        for (int i = 0; i < BYTES; i++)
          if (wstrb[i]) begin
            line[(32'(at[5:0])/BYTES*BYTES+i)*8+:8]       = wdata[i*8+:8];
            line_strobes[32'(at[5:0])/BYTES*BYTES+i] = 1'b1;
          end
        if (last && line_strobes != '0) begin
          resp = resp | store();
        end
        w_open <= !last;
        w_beat <= w_open ? w_beat + 1'b1 : 8'd1;
        w_addr <= next_addr(now, at);
        w_resp <= resp;
        if (last) begin
          now.due = cycle + 32'(wr_latency);
          b_queue[b_in%QUEUE] <= now;
          b_resp[b_in%QUEUE]  <= resp;
          b_in   <= b_in + 1;
          aw_out <= aw_out + 1;
        end
      end
      if (!bvalid || bready) begin
        bvalid <= 1'b0;
        if (b_in != b_out && int'(cycle - b_queue[b_out%QUEUE].due) >= 0 && !hold[3]) begin
          bvalid <= 1'b1;
          bid    <= b_queue[b_out%QUEUE].id;
          bresp  <= b_resp[b_out%QUEUE];
          b_out  <= b_out + 1;
        end
      end
    end
  end

  // ---- reads ----
  burst_t       r_queue[QUEUE];
  int unsigned  ar_in, ar_out;
  logic         r_open;
  logic [63:0]  r_addr;
  logic [7:0]   r_beat;
  logic [511:0] r_line;
  logic [1:0]   r_resp;
  assign arready = ar_in - ar_out < QUEUE && !hold[2];

  always @(posedge clk) begin : reads
    burst_t      now, b;
    logic [63:0] at;
    logic        last;
    bit [511:0]  fetched;
    string       rule;
    if (rst) begin
      ar_in  <= 0;
      ar_out <= 0;
      r_open <= 1'b0;
      rvalid <= 1'b0;
    end else begin
      if (arvalid && arready) begin
        b    = '{arid, araddr, arlen, arsize, arburst, cycle + 32'(rd_latency)};
        rule = broken_rule(b);
        if (rule != "")
          $error("any_host: node %0d, port %0d: read of %0d beats at 0x%h: %s",
                 node, PORT, 32'(arlen) + 1, araddr, rule);
        r_queue[ar_in%QUEUE] <= b;
        ar_in <= ar_in + 1;
      end
      if (!rvalid || rready) begin
        rvalid <= 1'b0;
        if (ar_in != ar_out && !hold[3] && (r_open || int'(cycle - r_queue[ar_out%QUEUE].due) >= 0)) begin
          now  = r_queue[ar_out%QUEUE];
          at   = r_open ? r_addr : now.addr;
          last = (r_open ? r_beat : 8'd0) == now.len;
          if (!r_open || r_line_addr != at[63:6]) begin
            r_resp = 2'(nl_dma_read(node, {at[63:6], 6'h0}, 8, fetched));
            r_line = fetched;
            r_line_addr = at[63:6];
          end
          rvalid <= 1'b1;
          rid    <= now.id;
          rdata  <= r_line[32'(at[5:0])/BYTES*DATA_W+:DATA_W];
          rresp  <= r_resp;
          rlast  <= last;
          r_open <= !last;
          r_beat <= r_open ? r_beat + 1'b1 : 8'd1;
          r_addr <= next_addr(now, at);
          if (last) ar_out <= ar_out + 1;
        end
      end
    end
  end
  logic [57:0] r_line_addr;
endmodule
