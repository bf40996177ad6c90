// pcie7x_rx: receive stream of a Xilinx 7-series integrated block (m_axis_rx_*, PG054) → 64-bit
// words of TLPs.
//
// Job: finds where TLPs begin and end. With W 64 a TLP begins with a beat and tlast and tkeep mark
//   its end. With W 128 tlast and tkeep mean nothing: tuser marks the first and the last byte, and
//   a TLP may begin in the upper half of the beat in whose lower half the one before it ends
//   (straddling). A half never holds dwords of two TLPs, so the beat leaves as two words. nic_pcie
//   takes 64 bits per cycle inside, so 128-bit beats lose no rate that it could use.
// Handshake: AXI-Stream on both sides. bar: number of the BAR that the TLP hit, valid with its
// first word. Backpressure: s_ready follows m_ready; nothing is stored but which half is next.
//
//   tuser (PG054): 9:2 BAR hit, one-hot. With W 128 also 14 a TLP begins, at byte 13:10 (0 or 8); 21 a TLP ends, with
//   byte 20:17 (3, 7, 11 or 15)
module pcie7x_rx #(
    parameter int W = 128
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           s_valid,
    output logic           s_ready,
    input  logic [W-1:0]   s_data,
    input  logic [W/8-1:0] s_keep,
    input  logic           s_last,
    input  logic [21:0]    s_user,
    output logic           m_valid,
    input  logic           m_ready,
    output logic [63:0]    m_data,
    output logic           m_both,  // the upper dword is part of the TLP
    output logic           m_last,
    output logic [2:0]     m_bar
);
  // No BAR is 7, which nic_pcie answers as an unsupported request. The expansion ROM (bit 6) is not
  // implemented.
  always_comb begin
    m_bar = 3'd7;
    for (int i = 5; i >= 0; i--) if (s_user[2+i]) m_bar = 3'(i);
  end
  generate
    if (W == 128) begin : g_straddled
      logic upper_q, open_q;  // the upper half is next; the TLP of the beat before continues in this one
      logic begins, begins_upper, ends, ends_upper, lower_used, lower_last, upper_used, upper_last;
      assign begins       = s_user[14];
      assign begins_upper = s_user[14] && s_user[13];
      assign ends         = s_user[21];
      assign ends_upper   = s_user[21] && s_user[20];
      assign lower_used   = open_q || (begins && !begins_upper);
      assign lower_last   = ends && !ends_upper;
      assign upper_used   = begins_upper || (lower_used && !lower_last);
      assign upper_last   = ends_upper && !begins_upper;
      logic is_upper, last_half;
      assign is_upper  = upper_q || !lower_used;
      assign last_half = is_upper || !upper_used;
      assign m_valid   = s_valid && (is_upper ? upper_used : lower_used);
      assign m_data    = is_upper ? s_data[127:64] : s_data[63:0];
      assign m_last    = is_upper ? upper_last : lower_last;
      assign m_both    = !m_last || s_user[19];
      // A beat without any part of a TLP is taken and ignored.
      assign s_ready   = last_half && (m_ready || !m_valid);
      always_ff @(posedge clk) begin
        if (rst) begin
          upper_q <= 1'b0;
          open_q  <= 1'b0;
        end else if (s_valid && (m_ready || !m_valid)) begin
          upper_q <= !last_half;
          if (last_half) open_q <= upper_used && !upper_last;
        end
      end
      /* verilator lint_off UNUSEDSIGNAL */
      logic unused;
      assign unused = ^{s_keep, s_last};
      /* verilator lint_on UNUSEDSIGNAL */
    end else begin : g_whole
      assign m_valid = s_valid;
      assign m_data  = s_data;
      assign m_both  = s_keep[4];
      assign m_last  = s_last;
      assign s_ready = m_ready;
      /* verilator lint_off UNUSEDSIGNAL */
      logic unused;
      assign unused = ^{clk, rst, s_keep};
      /* verilator lint_on UNUSEDSIGNAL */
    end
  endgenerate
`ifndef SYNTHESIS
  if (W != 64 && W != 128) $fatal(1, "pcie7x_rx: W %0d, expected 64 or 128", W);
`endif
endmodule
