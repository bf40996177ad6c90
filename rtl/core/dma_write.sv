// dma_write: writes up to MTU bytes to any byte address.
//
// Job: AXI bursts that end with their 64-byte line, one at a time; shifts; strobes cover exactly the bytes.
// Handshake: start (while !busy) with addr and bytes (1..RMA_MTU); the caller shows quadword src_index on
//   src_data at once; done for one cycle with the last answer, error with it.
// Back-pressure: the memory's, through ready.
module dma_write (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    input  logic [63:0] addr,
    input  logic [9:0]  bytes,
    output logic        busy,
    output logic [5:0]  src_index,
    input  logic [63:0] src_data,
    output logic        done,
    output logic        error,
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
  localparam logic [1:0] IDLE = 2'd0, SEND = 2'd1, WAIT = 2'd2;
  logic [1:0]  state;
  logic [60:0] line;             // next burst's first quadword
  logic [5:0]  left, beat;       // quadwords behind this one; beats sent of all bursts
  logic [2:0]  shift, end_at;    // byte in its quadword where data starts, and after which it ends (0: whole)
  logic [63:0] hold;
  logic        aw_sent, w_sent, bad, aw_done, w_done;
  logic [3:0]  room, burst, in_burst;

  assign room  = 4'd8 - {1'b0, line[2:0]};
  assign burst = left < {2'b0, room} ? left[3:0] : room;

  logic w_take;
  assign busy      = state != IDLE;
  assign m_awvalid = state == SEND && !aw_sent;
  assign m_awaddr  = {line, 3'h0};
  assign m_awlen   = 8'(burst) - 8'd1;
  assign m_wvalid  = state == SEND && !w_sent;
  assign m_wlast   = in_burst == burst - 1'b1;
  assign m_bready  = state == WAIT;
  assign w_take    = m_wvalid && m_wready;
  assign aw_done   = aw_sent || (m_awvalid && m_awready);
  assign w_done    = w_sent || (w_take && m_wlast);
  assign done      = state == WAIT && m_bvalid && left == '0;
  assign error     = bad || m_bresp != 2'b00;

  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (start) state <= SEND;
        SEND: if (aw_done && w_done) state <= WAIT;
        default: if (m_bvalid) state <= left == '0 ? IDLE : SEND;
      endcase
  end
  always_ff @(posedge clk) begin
    if (state == IDLE) begin
      line     <= addr[63:3];
      left     <= 6'((10'(addr[2:0]) + bytes + 10'd7) >> 3);
      shift    <= addr[2:0];
      end_at   <= addr[2:0] + bytes[2:0];
      beat     <= '0;
      bad      <= 1'b0;
      hold     <= '0;
      in_burst <= '0;
      aw_sent  <= 1'b0;
      w_sent   <= 1'b0;
    end else if (state == SEND) begin
      aw_sent <= aw_done;
      w_sent  <= w_done;
      if (w_take) begin
        beat     <= beat + 1'b1;
        in_burst <= in_burst + 1'b1;
        hold     <= src_data;
      end
      if (aw_done && w_done) begin
        line     <= line + 61'(burst);
        left     <= left - 6'(burst);
        in_burst <= '0;
        aw_sent  <= 1'b0;
        w_sent   <= 1'b0;
      end
    end else if (m_bvalid) begin
      bad <= error;
    end
  end

  logic       first, last;
  logic [7:0] strb_first, strb_last;
  assign src_index  = beat;
  assign first      = beat == '0;
  assign last       = left == 6'(burst) && m_wlast;
  assign strb_first = first ? 8'hff << shift : 8'hff;
  assign strb_last  = last && end_at != '0 ? ~(8'hff << end_at) : 8'hff;
  assign m_wstrb    = strb_first & strb_last;
  assign m_wdata    = shift == '0 ? src_data : (src_data << {shift, 3'h0}) | (hold >> (7'd64 - {1'b0, shift, 3'h0}));

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!(start && !busy) || (bytes != '0 && bytes <= 10'(nicloop_pkg::RMA_MTU))) else $error("dma_write %m: %0d bytes", bytes);
`endif
endmodule
