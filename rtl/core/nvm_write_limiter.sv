// nvm_write_limiter: limits the write rate of memory ranges to that of their device.
//
// Job: each range has a write buffer of DEPTH bytes that drains at its rate; a burst to the range
//   enters only when it fits. The buffer is the memory's own: data in it can be read, so the burst
//   itself passes at once and only the level is tracked here (in 1/65536 byte). An empty buffer
//   accepts any burst. While any range is in use, the ranges of a burst are determined in the first
//   cycle of its address, and it passes in the second at the earliest. The free space is that of
//   the cycle before, too; so a burst to a range waits until two cycles after the previous one.
// Handshake: AXI4 write address and data pass through, each at the pace of its own READY: WVALID
//   does not wait for AWREADY, since a slave may assert AWREADY only after WVALID (AXI4 A3.3.1).
//   The master presents the data of a burst with or after its address, and no next address or data
//   before both have been accepted. Responses pass unchanged. All beats of a burst belong to the
//   range of its address.
// Backpressure: an address that does not fit waits, its data with it, and the unit behind it, and
//   the network. The wait is bounded: no range has rate 0 (0 is taken as 1), so a level falls in
//   every cycle. Otherwise one range would block the writes and fences of all processes.
module nvm_write_limiter #(
    localparam int RANGES = nicloop_pkg::NVM_RANGES
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [63:0] s_awaddr,
    input  logic [7:0]  s_awlen,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic        s_wlast,
    output logic        m_awvalid,
    input  logic        m_awready,
    output logic        m_wvalid,
    input  logic        m_wready,
    // registers: which is the number of the register divided by 8
    input  logic [1:0]  rd_range,
    input  logic [2:0]  rd_which,
    output logic [63:0] rd_value,
    input  logic        wr_valid,
    input  logic [1:0]  wr_range,
    input  logic [1:0]  wr_which,
    input  logic [63:0] wr_data,
    output logic        active
);
  logic              open;      // the address has been taken, not all of its data
  logic              w_gone;    // all data has been taken, the address has not
  logic              shown;     // an address stands at the master: it stays
  logic              stood;     // in the cycle before, the same address
  logic [RANGES-1:0] hits_now, hits, fits, used;  // hits: of the address that stood
  logic [9:0]        bytes;
  logic [3:0]        len;       // of the address that stood
  logic              pass, w_pass, aw_take, w_take, w_done;
  logic [RANGES*512-1:0] values;  // of eight registers per range
  assign bytes     = {(7)'(s_awlen[6:0]) + 7'd1, 3'h0};
  assign pass      = (used == '0 || (stood && (hits & ~fits) == '0) || shown) && !open;
  assign m_awvalid = s_awvalid && pass;
  assign s_awready = m_awready && pass;
  assign aw_take   = m_awvalid && m_awready;
  assign w_pass    = open || (m_awvalid && !w_gone);
  assign m_wvalid  = s_wvalid && w_pass;
  assign s_wready  = m_wready && w_pass;
  assign w_take    = m_wvalid && m_wready;
  assign w_done    = w_gone || (w_take && s_wlast);
  always_ff @(posedge clk) begin
    shown <= !rst && m_awvalid && !m_awready;
    stood <= !rst && s_awvalid && !s_awready;
    hits  <= hits_now;
    len   <= s_awlen[3:0];
  end
  // What is taken is known late: no enable and no reset behind it.
  always_ff @(posedge clk) begin
    open   <= !rst && !w_done && (open || aw_take);
    w_gone <= !rst && w_done && !open && !aw_take;
  end

  logic [9:0]        entered_bytes;
  logic [RANGES-1:0] entered, counted, draining;  // a burst to the range passed one, and two cycles ago
  logic              passed;
  logic [RANGES-1:0] passed_hits;
  always_ff @(posedge clk) begin
    passed        <= !rst && aw_take;
    passed_hits   <= stood ? hits : '0;
    entered_bytes <= bytes;
  end
  assign entered = passed_hits & {RANGES{passed}};
  generate
    for (genvar r = 0; r < RANGES; r++) begin : g_range
      logic [63:0] first, behind, written, waited;
      logic [16:0] rate;
      logic [23:0] depth;
      logic [40:0] level;       // 25.16 bytes
      logic [40:0] drained;
      logic        wr;
      assign wr        = wr_valid && wr_range == 2'(r);
      logic [24:0] whole;       // bytes of the level a cycle ago, the last one perhaps a part
      logic [23:0] ample;       // the depth, less the most that a burst has
      logic        deep;        // it is as much
      logic [2:0]  room_next;   // beats, of that level, where they are less than the most; and whether they are not
      logic        roomy;
      logic [3:0]  room;        // the same, no more than the most that a burst has
      logic        empty;
      assign hits_now[r] = s_awaddr >= first && s_awaddr < behind;
      // The part of a byte is a bit more of the sum, so that it is one. Each answer has a sum of
      // its own.
      assign room_next   = 3'(({depth[5:0], 1'b1} + {~level[21:16], level[15:0] == '0}) >> 4);
      assign roomy       = deep && level[40] == 1'b0 &&
          1'((26'({ample, 1'b1}) + 26'({~level[39:16], level[15:0] == '0})) >> 25);
      assign fits[r]     = (room > len || empty) && !entered[r] && !counted[r];
      assign drained     = level > {21'h0, rate, 3'h0} ? level - {21'h0, rate, 3'h0} : '0;
      assign draining[r] = level != '0 || !empty || entered[r] || counted[r];
      always_ff @(posedge clk) begin
        if (rst) begin
          first      <= '0;
          behind     <= '0;
          rate       <= 17'h10000;
          depth      <= '0;
          ample      <= '0;
          deep       <= 1'b0;
          level      <= '0;
          whole      <= '0;
          room       <= '0;
          empty      <= 1'b1;
          used[r]    <= 1'b0;
          counted[r] <= 1'b0;
          written    <= '0;
          waited     <= '0;
        end else begin
          if (wr && wr_which == 2'd0) first <= wr_data;
          if (wr && wr_which == 2'd1) behind <= wr_data;
          if (wr && wr_which == 2'd2)
              rate <= wr_data[16] ? 17'h10000 : {wr_data[16:1], wr_data[0] || wr_data[15:1] == '0};
          if (wr && wr_which == 2'd3) begin
            depth <= wr_data[23:0];
            ample <= wr_data[23:0] - 24'd64;
            deep  <= wr_data[23:6] != '0;
          end
          whole      <= level[40:16] + 25'(level[15:0] != '0);
          room       <= level[40:16] >= 25'(depth) ? '0 : roomy ? 4'd8 : {1'b0, room_next};
          empty      <= level == '0;
          used[r]    <= first < behind;
          counted[r] <= entered[r];
          // No rate is above the smallest burst a cycle, so with a burst nothing can fall below 0.
          level <= entered[r] ? level + {15'h0, entered_bytes, 16'h0} - {21'h0, rate, 3'h0} : drained;
          if (entered[r]) written <= written + 64'(entered_bytes);
          if (stood && hits[r] && !fits[r]) waited <= waited + 1'b1;
        end
      end
      assign values[r*512+0*64+:64] = first;
      assign values[r*512+1*64+:64] = behind;
      assign values[r*512+2*64+:64] = 64'(rate);
      assign values[r*512+3*64+:64] = 64'(depth);
      assign values[r*512+4*64+:64] = 64'(whole);
      assign values[r*512+5*64+:64] = written;
      assign values[r*512+6*64+:64] = waited;
      assign values[r*512+7*64+:64] = '0;
    end
  endgenerate
  always_comb begin
    rd_value = '0;
    for (int r = 0; r < RANGES; r++) if (rd_range == 2'(r)) rd_value = values[r*512+32'(rd_which)*64+:64];
  end
  logic [1:0] changed;  // a register, whose effect is not yet in room
  always_ff @(posedge clk) changed <= rst ? '0 : {changed[0], wr_valid};
  assign active = aw_take || w_take || draining != '0 || changed != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!aw_take || s_awlen < 8'd8)
        else $error("nvm_write_limiter %m: a burst of %0d beats", 32'(s_awlen) + 1);
`endif
endmodule
