// dma_read: reads up to MTU bytes from any byte address and delivers them as quadwords that start
// with the first byte.
//
// Job: AXI bursts that end with their 64-byte line. The addresses of a read are sent while the data
//   of up to DEPTH earlier reads is outstanding, so that data streams whatever the memory's
//   latency. Shifts; bytes after the last are 0, so that no neighbouring data leaks.
// Handshake: start while ready, with addr, bytes (1..RMA_MTU) and a tag. Reads end in order:
//   q_valid with q_index and q_data, no ready; then done for one cycle, with the read's tag and
//   whether a beat had an error.
// Backpressure: data is accepted only while take is set, which must not depend on other units:
//   their data may be blocked behind it.
module dma_read #(
    parameter int DEPTH = 4  // 2 or more
) (
    input  logic        clk,
    input  logic        rst,
    output logic        ready,
    input  logic        start,
    input  logic [63:0] addr,
    input  logic [9:0]  bytes,
    input  logic        tag,
    input  logic        take,
    output logic        q_valid,
    output logic [5:0]  q_index,
    output logic [63:0] q_data,
    output logic        done,
    output logic        done_tag,
    output logic        error,
    output logic        m_arvalid,
    input  logic        m_arready,
    output logic [63:0] m_araddr,
    output logic [7:0]  m_arlen,
    input  logic        m_rvalid,
    output logic        m_rready,
    input  logic [63:0] m_rdata,
    input  logic [1:0]  m_rresp,
    input  logic        m_rlast
);
  // ---- addresses ----
  logic        asking, room;
  logic [60:0] line;       // next quadword in memory
  logic [5:0]  more;       // quadwords still to be asked for behind that one
  logic [5:0]  last_one;   // quadword of the read that starts, counted from its first
  logic        only;       // burst that is left: it ends before its line
  assign ready     = !asking && room;
  assign last_one  = 6'((10'(addr[2:0]) + bytes - 10'd1) >> 3);
  assign only      = more[5:3] == '0 && !hw_pkg::sum_above_7(more[2:0], line[2:0]);
  assign m_arvalid = asking;
  assign m_araddr  = {line, 3'h0};
  assign m_arlen   = {5'h0, only ? more[2:0] : ~line[2:0]};
  always_ff @(posedge clk) begin
    if (rst) asking <= 1'b0;
    else if (start) asking <= 1'b1;
    else if (asking && m_arready && only) asking <= 1'b0;
  end
  always_ff @(posedge clk) begin
    if (start) begin
      line <= addr[63:3];
      more <= last_one;
    end else if (m_arready) begin
      line <= {line[60:3] + 1'b1, 3'h0};  // only the last burst ends before its line
      more <= more - 6'd8 + {3'h0, line[2:0]};
    end
  end

  // ---- the oldest read whose data has not all come ----
  logic        have, now_tag;
  logic [2:0]  shift, rest;
  logic [5:0]  all_last;              // yosys 0.23 does not cut a cast within a concatenation
  assign all_last = 6'((bytes - 10'd1) >> 3);
  // their numbers; a quadword is behind the last beat when they are the same and it is shifted
  logic [5:0]  last_quad, last_beat;
  logic        equal;
  /* verilator lint_off PINCONNECTEMPTY */
  // The oldest is in a register, a cycle later: no data arrives before.
  fifo #(.W(20), .DEPTH(DEPTH - 1), .FALL_THROUGH(0)) u_reads (
      .clk, .rst, .wr_valid(start), .wr_ready(room),
      .wr_data({tag, addr[2:0], bytes[2:0], all_last, !hw_pkg::sum_above_7(addr[2:0], bytes[2:0] - 3'd1), last_one}),
      .rd_valid(have),
      .rd_ready(done), .rd_data({now_tag, shift, rest, last_quad, equal, last_beat}), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic        got, ending, bad;  // ending: all beats are here
  logic [5:0]  beat, beat_before;
  logic [63:0] hold;
  assign m_rready = have && take && !ending;
  assign got      = m_rvalid && m_rready;
  always_ff @(posedge clk) begin
    if (rst || ending) begin
      ending <= 1'b0;
      bad    <= 1'b0;
      beat   <= '0;
      beat_before <= '1;
    end else if (got) begin
      ending <= beat == last_beat;
      bad    <= bad || m_rresp != 2'b00;
      beat   <= beat + 1'b1;
      beat_before <= beat;
    end
  end
  always_ff @(posedge clk) if (got) hold <= m_rdata;

  // Beat k completes quadword k - 1, or k when nothing is shifted; what the last beat leaves over
  // comes at the end. Of a beat that is not there nothing is left by the mask.
  logic [63:0] joined, tail_mask;
  assign joined    = shift == '0 ? m_rdata : 64'({m_rdata, hold} >> {shift, 3'h0});
  assign tail_mask = rest == '0 ? '1 : ~(64'hffffffff_ffffffff << {rest, 3'h0});
  assign q_index   = shift == '0 ? beat : beat_before;
  assign q_valid   = shift == '0 ? got : (got && beat != '0) || (ending && equal);
  assign q_data    = q_index == last_quad ? joined & tail_mask : joined;
  assign done      = ending;
  assign done_tag  = now_tag;
  assign error     = bad;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!start || ready) else $error("dma_read %m: started while it is not ready");
      assert (!start || (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU)))
          else $error("dma_read %m: %0d bytes", bytes);
      assert (!(got && beat == last_beat) || m_rlast) else $error("dma_read %m: burst of the wrong length");
      assert (!ending || have) else $error("dma_read %m: nothing ends");
    end
`endif
endmodule
