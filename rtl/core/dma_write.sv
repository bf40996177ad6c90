// dma_write: writes up to MTU bytes to any byte address.
//
// Job: AXI bursts that end with their 64-byte line, one beat a cycle when the memory accepts them.
//   The next write is sent while the responses of up to DEPTH earlier ones are pending. Shifts;
//   strobes cover exactly the bytes.
// Handshake: start while ready, with addr, bytes (1..RMA_MTU) and a tag; from the next cycle the
//   caller drives quadword src_index on src_data combinationally, until sent, a pulse with the last
//   beat. done for one cycle with a write's last response, in order, with its tag and whether any
//   response was an error.
// Backpressure: the memory's, through ready. Responses are always accepted.
module dma_write #(
    parameter int DEPTH = 4
) (
    input  logic        clk,
    input  logic        rst,
    output logic        ready,
    input  logic        start,
    input  logic [63:0] addr,
    input  logic [9:0]  bytes,
    input  logic        tag,
    output logic [5:0]  src_index,
    input  logic [63:0] src_data,
    output logic        sent,
    output logic        done,
    output logic        done_tag,
    output logic        error,
    output logic        busy,      // something is sent or awaited
    output logic        m_awvalid,
    input  logic        m_awready,
    output logic [63:0] m_awaddr,
    output logic [7:0]  m_awlen,
    output logic        m_wvalid,
    input  logic        m_wready,
    output logic [63:0] m_wdata,
    output logic [7:0]  m_wstrb,
    output logic        m_wlast,
    input  logic        m_bvalid,
    output logic        m_bready,
    input  logic [1:0]  m_bresp
);
  // ---- sending: address and data of a burst go out side by side ----
  logic        sending, room;
  logic [60:0] line;             // next burst's first quadword
  logic [5:0]  more, beat;       // quadwords behind the burst's first; beats sent of all bursts
  logic [5:0]  to_go;            // quadwords behind this beat
  logic [5:0]  last_one;         // quadword of the write that starts, counted from its first
  logic [2:0]  at;               // of this beat in its line
  logic [2:0]  shift, end_at;    // byte in its quadword where data starts, and after which it ends (0: whole)
  logic [63:0] hold;
  logic        aw_sent, w_sent, aw_done, w_done, w_take, next;
  logic        only;             // burst that is left
  assign ready     = !sending && room;
  assign last_one  = 6'((10'(addr[2:0]) + bytes - 10'd1) >> 3);
  assign only      = more[5:3] == '0 && !hw_pkg::sum_above_7(more[2:0], line[2:0]);
  assign m_awvalid = sending && !aw_sent;
  assign m_awaddr  = {line, 3'h0};
  assign m_awlen   = {5'h0, only ? more[2:0] : ~line[2:0]};
  assign m_wvalid  = sending && !w_sent;
  assign m_wlast   = at == '1 || to_go == '0;
  assign w_take    = m_wvalid && m_wready;
  assign aw_done   = aw_sent || (m_awvalid && m_awready);
  assign w_done    = w_sent || (w_take && m_wlast);
  assign next      = aw_done && w_done;
  assign sent      = next && only;

  always_ff @(posedge clk) begin
    if (rst) sending <= 1'b0;
    else if (start) sending <= 1'b1;
    else if (sent) sending <= 1'b0;
  end
  always_ff @(posedge clk) begin
    if (!sending || next) begin
      aw_sent  <= 1'b0;
      w_sent   <= 1'b0;
    end else begin
      aw_sent <= aw_done;
      w_sent  <= w_done;
    end
    if (!sending) begin
      line   <= addr[63:3];
      more   <= last_one;
      shift  <= addr[2:0];
      end_at <= addr[2:0] + bytes[2:0];
    end else if (next) begin
      line <= {line[60:3] + 1'b1, 3'h0};  // only the last burst ends before its line
      more <= more - 6'd8 + {3'h0, line[2:0]};
    end
    if (!sending) begin
      beat  <= '0;
      hold  <= '0;
      to_go <= last_one;
      at    <= addr[5:3];
    end else if (w_take) begin
      beat  <= beat + 1'b1;
      hold  <= src_data;
      to_go <= to_go - 1'b1;
      at    <= at + 1'b1;
    end
  end

  logic       first, last;
  logic [7:0] strb_first, strb_last;
  assign src_index  = beat;
  assign first      = beat == '0;
  assign last       = to_go == '0;
  assign strb_first = first ? 8'hff << shift : 8'hff;
  assign strb_last  = last && end_at != '0 ? ~(8'hff << end_at) : 8'hff;
  assign m_wstrb    = strb_first & strb_last;
  assign m_wdata    = 64'({src_data, hold} << {shift, 3'h0} >> 64);

  // ---- answers: one per burst, so one per line that the write touches ----
  logic       have, now_tag, bad, answer;
  // of this write, the one that starts; yosys 0.23 does not cut a cast within a concatenation
  logic [2:0] last_answer, answered, last_line;
  assign last_line = 3'((10'(addr[5:0]) + bytes - 10'd1) >> 6);
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(4), .DEPTH(DEPTH)) u_writes (
      .clk, .rst, .wr_valid(start), .wr_ready(room), .wr_data({tag, last_line}),
      .rd_valid(have), .rd_ready(done), .rd_data({now_tag, last_answer}), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign m_bready = have;
  assign answer   = m_bvalid && m_bready;
  assign done     = answer && answered == last_answer;
  assign done_tag = now_tag;
  assign error    = bad || m_bresp != 2'b00;
  assign busy     = have;
  always_ff @(posedge clk) begin
    if (rst || done) begin
      answered <= '0;
      bad      <= 1'b0;
    end else if (answer) begin
      answered <= answered + 1'b1;
      bad      <= error;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!start || ready) else $error("dma_write %m: started while it is not ready");
      assert (!start || (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU)))
          else $error("dma_write %m: %0d bytes", bytes);
      assert (!m_bvalid || have) else $error("dma_write %m: an answer to nothing");
    end
`endif
endmodule
