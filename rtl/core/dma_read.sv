// dma_read: reads up to MTU bytes from any byte address and hands them out as quadwords that begin with the
// first byte.
//
// Job: AXI bursts that end with their 64-byte line, one at a time; shifts; bytes behind the last are 0, so
//   that nothing of a neighbour leaks.
// Handshake: start (while !busy) with addr and bytes (1..RMA_MTU); q_valid with q_index and q_data, no ready;
//   done for one cycle, error with it.
// Back-pressure: none towards the memory: the caller has room for everything.
module dma_read (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] addr,
    input  logic [9:0]  bytes,
    output logic        busy,
    output logic        q_valid,
    output logic [5:0]  q_index,
    output logic [63:0] q_data,
    output logic        done,
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
  localparam logic [1:0] IDLE = 2'd0, ASK = 2'd1, TAKE = 2'd2, END = 2'd3;
  logic [1:0]  state;
  logic [60:0] line;       // next quadword in memory
  logic [5:0]  left;       // quadwords still to be read
  logic [5:0]  beat;       // of all bursts
  logic [2:0]  shift, rest;
  logic [5:0]  quads;      // to hand out
  logic [63:0] hold;
  logic        bad;

  logic [3:0] room, burst; // quadwords to the end of the line, and of this burst
  assign room  = 4'd8 - {1'b0, line[2:0]};
  assign burst = left < {2'b0, room} ? left[3:0] : room;

  logic take, last;
  assign take = state == TAKE && m_rvalid;
  assign last = take && m_rlast && left == '0;

  assign busy      = state != IDLE;
  assign m_arvalid = state == ASK;
  assign m_araddr  = {line, 3'h0};
  assign m_arlen   = 8'(burst) - 8'd1;
  assign m_rready  = state == TAKE;

  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (start) state <= ASK;
        ASK: if (m_arready) state <= TAKE;
        TAKE: if (take && m_rlast) state <= left == '0 ? END : ASK;
        default: state <= IDLE;
      endcase
  end
  always_ff @(posedge clk) begin
    if (state == IDLE) begin
      line  <= addr[63:3];
      left  <= 6'((10'(addr[2:0]) + bytes + 10'd7) >> 3);
      quads <= 6'((bytes + 10'd7) >> 3);
      shift <= addr[2:0];
      rest  <= bytes[2:0];
      beat  <= '0;
      bad   <= 1'b0;
    end else if (state == ASK && m_arready) begin
      line <= line + 61'(burst);
      left <= left - 6'(burst);
    end else if (take) begin
      hold <= m_rdata;
      beat <= beat + 1'b1;
      bad  <= bad || m_rresp != 2'b00;
    end
  end

  // Beat k completes quadword k - 1, or k when nothing is shifted; what the last beat leaves over comes at the end.
  logic [63:0] joined, tail_mask;
  assign joined    = shift == '0 ? m_rdata : (hold >> {shift, 3'h0}) | (take ? m_rdata << (7'd64 - {1'b0, shift, 3'h0}) : '0);
  assign tail_mask = rest == '0 ? '1 : ~(64'hffffffff_ffffffff << {rest, 3'h0});
  assign q_index   = shift == '0 ? beat : beat - 1'b1;
  assign q_valid   = shift == '0 ? take : (take && beat != '0) || (state == END && beat == quads);
  assign q_data    = q_index == quads - 1'b1 ? joined & tail_mask : joined;
  assign done      = state == END;
  assign error     = bad;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!(start && !busy) || (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU))) else $error("dma_read %m: %0d bytes", bytes);
      assert (!last || m_rlast) else $error("dma_read %m: burst of the wrong length");
    end
`endif
endmodule
