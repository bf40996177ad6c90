// ring_eth: a small Ethernet NIC with descriptor rings; see README.md.
//
// Job: sends the frames of the TX ring on m_axis and stores those of s_axis into the buffers of the
//   RX ring. A ring has 64 descriptors of two quadwords: the address of a buffer of 2048 bytes,
//   aligned to 64, and the length of the frame in bytes, which software writes for TX and this
//   module for RX. Software queues frames by advancing TX_TAIL and gives buffers by advancing
//   RX_TAIL; this module advances the HEADs. All four are free-running counters of 16 bits.
// Handshake: AXI4-Lite of 32 bits for registers; AXI4 of 64 bits: m_tx reads for TX, m_rx serves
//   RX. irq is level: a bit of STATUS is set and IE. STATUS.RX is set when the frame is in memory.
// Backpressure: a frame that arrives without a buffer is dropped and counted. A frame longer than a
//   buffer is truncated to 2048 bytes.
module ring_eth (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [7:0]  s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [1:0]  s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [7:0]  s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0]  s_axil_rresp,
    output logic        m_tx_arvalid,
    input  logic        m_tx_arready,
    output logic [63:0] m_tx_araddr,
    output logic [7:0]  m_tx_arlen,
    input  logic        m_tx_rvalid,
    output logic        m_tx_rready,
    input  logic [63:0] m_tx_rdata,
    input  logic        m_tx_rlast,
    output logic        m_rx_arvalid,
    input  logic        m_rx_arready,
    output logic [63:0] m_rx_araddr,
    output logic [7:0]  m_rx_arlen,
    input  logic        m_rx_rvalid,
    output logic        m_rx_rready,
    input  logic [63:0] m_rx_rdata,
    output logic        m_rx_awvalid,
    input  logic        m_rx_awready,
    output logic [63:0] m_rx_awaddr,
    output logic [7:0]  m_rx_awlen,
    output logic        m_rx_wvalid,
    input  logic        m_rx_wready,
    output logic [63:0] m_rx_wdata,
    output logic        m_rx_wlast,
    input  logic        m_rx_bvalid,
    output logic        m_rx_bready,
    output logic        m_axis_tvalid,
    input  logic        m_axis_tready,
    output logic [63:0] m_axis_tdata,
    output logic [7:0]  m_axis_tkeep,
    output logic        m_axis_tlast,
    input  logic        s_axis_tvalid,
    output logic        s_axis_tready,
    input  logic [63:0] s_axis_tdata,
    input  logic [7:0]  s_axis_tkeep,
    input  logic        s_axis_tlast,
    output logic        irq,
    output logic        idle
);
  localparam logic [7:0] ID = 8'h00, CTRL = 8'h04, STATUS = 8'h08, TX_BASE = 8'h0c, RX_BASE = 8'h10,
      TX_TAIL = 8'h14, TX_HEAD = 8'h18, RX_TAIL = 8'h1c, RX_HEAD = 8'h20, DROPPED = 8'h24;

  logic        enable, irq_enable, sent, received;  // CTRL, STATUS
  logic        frame_sent, frame_stored, frame_dropped;
  logic [31:0] tx_base, rx_base, dropped;
  logic [15:0] tx_head, tx_tail, rx_head, rx_tail;

  // ---- registers ----
  logic write;
  assign write          = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  assign s_axil_awready = write;
  assign s_axil_wready  = write;
  assign s_axil_arready = !s_axil_rvalid;
  assign s_axil_bresp   = 2'b00;
  assign s_axil_rresp   = 2'b00;
  assign irq            = irq_enable && (sent || received);
  always_ff @(posedge clk)
    if (rst) begin
      s_axil_bvalid <= 1'b0;
      s_axil_rvalid <= 1'b0;
      enable        <= 1'b0;
      irq_enable    <= 1'b0;
      sent          <= 1'b0;
      received      <= 1'b0;
      tx_tail       <= '0;
      rx_tail       <= '0;
    end else begin
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (write) begin
        s_axil_bvalid <= 1'b1;
        case (s_axil_awaddr)
          CTRL:    {irq_enable, enable} <= s_axil_wdata[1:0];
          STATUS:  {received, sent} <= {received, sent} & ~s_axil_wdata[1:0];
          TX_BASE: tx_base <= s_axil_wdata;
          RX_BASE: rx_base <= s_axil_wdata;
          TX_TAIL: tx_tail <= s_axil_wdata[15:0];
          RX_TAIL: rx_tail <= s_axil_wdata[15:0];
          default: ;
        endcase
        if (s_axil_awaddr == CTRL && !s_axil_wdata[0]) begin  // disabled: the rings start anew
          tx_tail <= '0;
          rx_tail <= '0;
        end
      end
      if (frame_sent) sent <= 1'b1;
      if (frame_stored) received <= 1'b1;
      if (s_axil_arvalid && s_axil_arready) begin
        s_axil_rvalid <= 1'b1;
        case (s_axil_araddr)
          ID:      s_axil_rdata <= 32'h45544831;
          CTRL:    s_axil_rdata <= {30'd0, irq_enable, enable};
          STATUS:  s_axil_rdata <= {30'd0, received, sent};
          TX_BASE: s_axil_rdata <= tx_base;
          RX_BASE: s_axil_rdata <= rx_base;
          TX_TAIL: s_axil_rdata <= 32'(tx_tail);
          TX_HEAD: s_axil_rdata <= 32'(tx_head);
          RX_TAIL: s_axil_rdata <= 32'(rx_tail);
          RX_HEAD: s_axil_rdata <= 32'(rx_head);
          DROPPED: s_axil_rdata <= dropped;
          default: s_axil_rdata <= '0;
        endcase
      end
    end

  // ---- transmit: descriptor, then bursts of at most 64 bytes straight to the stream ----
  typedef enum logic [2:0] {T_IDLE, T_DESC, T_FIRST, T_LENGTH, T_ADDR, T_DATA} tx_state_t;
  tx_state_t   tx_state;
  logic [63:0] tx_addr;
  logic [11:0] tx_left;  // bytes
  logic        tx_beat;
  assign m_tx_arvalid  = tx_state == T_DESC || tx_state == T_ADDR;
  assign m_tx_araddr   = tx_state == T_DESC ? 64'(tx_base) + {54'd0, tx_head[5:0], 4'd0} : tx_addr;
  assign m_tx_arlen    = tx_state == T_DESC ? 8'd1 : tx_left > 12'd64 ? 8'd7 : 8'((tx_left - 12'd1) >> 3);
  assign m_tx_rready   = tx_state == T_FIRST || tx_state == T_LENGTH || (tx_state == T_DATA && m_axis_tready);
  assign m_axis_tvalid = tx_state == T_DATA && m_tx_rvalid;
  assign m_axis_tdata  = m_tx_rdata;
  assign m_axis_tlast  = tx_left <= 12'd8;
  assign m_axis_tkeep  = m_axis_tlast ? 8'hff >> (4'd8 - tx_left[3:0]) : 8'hff;
  assign tx_beat       = m_axis_tvalid && m_axis_tready;
  assign frame_sent    = tx_beat && m_axis_tlast;
  always_ff @(posedge clk)
    if (rst) begin
      tx_state <= T_IDLE;
      tx_head  <= '0;
    end else
      case (tx_state)
        T_IDLE:
        if (!enable) tx_head <= '0;
        else if (tx_head != tx_tail) tx_state <= T_DESC;
        T_DESC: if (m_tx_arready) tx_state <= T_FIRST;
        T_FIRST:
        if (m_tx_rvalid) begin
          tx_addr  <= m_tx_rdata;
          tx_state <= T_LENGTH;
        end
        T_LENGTH:
        if (m_tx_rvalid) begin
          tx_left  <= m_tx_rdata[11:0];
          tx_state <= T_ADDR;
        end
        T_ADDR: if (m_tx_arready) tx_state <= T_DATA;
        default:
        if (tx_beat) begin
          tx_left <= tx_left - 12'd8;
          if (m_axis_tlast) begin
            tx_head  <= tx_head + 1'b1;
            tx_state <= T_IDLE;
          end else if (m_tx_rlast) begin
            tx_addr  <= tx_addr + 64'd64;
            tx_state <= T_ADDR;
          end
        end
      endcase

  // ---- receive: descriptor, bursts of at most 64 bytes, then the length ----
  typedef enum logic [3:0] {R_IDLE, R_DROP, R_DESC, R_FIRST, R_LENGTH, R_FILL, R_ADDR, R_DATA, R_RESP,
                            R_DONE_ADDR, R_DONE_DATA, R_DONE_RESP} rx_state_t;
  rx_state_t   rx_state;
  logic [63:0] rx_addr, rx_desc;
  logic [11:0] rx_bytes;
  logic [63:0] line[8];
  logic [3:0]  filled, written;
  logic        rx_last, finishing;
  assign rx_desc       = 64'(rx_base) + {54'd0, rx_head[5:0], 4'd0};
  assign finishing     = rx_state == R_DONE_ADDR || rx_state == R_DONE_DATA;
  assign m_rx_arvalid  = rx_state == R_DESC;
  assign m_rx_araddr   = rx_desc;
  assign m_rx_arlen    = 8'd1;
  assign m_rx_rready   = rx_state == R_FIRST || rx_state == R_LENGTH;
  assign m_rx_awvalid  = rx_state == R_ADDR || rx_state == R_DONE_ADDR;
  assign m_rx_awaddr   = finishing ? rx_desc + 64'd8 : rx_addr;
  assign m_rx_awlen    = finishing ? 8'd0 : 8'(filled) - 8'd1;
  assign m_rx_wvalid   = rx_state == R_DATA || rx_state == R_DONE_DATA;
  assign m_rx_wdata    = finishing ? 64'(rx_bytes) : line[written[2:0]];
  assign m_rx_wlast    = finishing || written + 4'd1 == filled;
  assign m_rx_bready   = 1'b1;
  assign s_axis_tready = rx_state == R_FILL || rx_state == R_DROP;
  assign frame_stored  = rx_state == R_DONE_RESP && m_rx_bvalid;
  assign frame_dropped = rx_state == R_DROP && s_axis_tvalid && s_axis_tlast;
  always_ff @(posedge clk)
    if (rst) begin
      rx_state <= R_IDLE;
      rx_head  <= '0;
      dropped  <= '0;
    end else begin
      if (frame_dropped) dropped <= dropped + 1'b1;
      case (rx_state)
        R_IDLE: begin
          rx_bytes <= '0;
          filled   <= '0;
          written  <= '0;
          if (!enable) rx_head <= '0;
          if (s_axis_tvalid) rx_state <= enable && rx_head != rx_tail ? R_DESC : R_DROP;
        end
        R_DROP: if (frame_dropped) rx_state <= R_IDLE;
        R_DESC: if (m_rx_arready) rx_state <= R_FIRST;
        R_FIRST:
        if (m_rx_rvalid) begin
          rx_addr  <= m_rx_rdata;
          rx_state <= R_LENGTH;
        end
        R_LENGTH: if (m_rx_rvalid) rx_state <= R_FILL;
        R_FILL:
        if (s_axis_tvalid) begin
          if (rx_bytes < 12'd2048) begin
            line[filled[2:0]] <= s_axis_tdata;
            filled            <= filled + 1'b1;
            rx_bytes          <= rx_bytes + 12'($countones(s_axis_tkeep));
          end
          rx_last <= s_axis_tlast;
          if (s_axis_tlast || filled == 4'd7) rx_state <= filled == '0 && rx_bytes >= 12'd2048 ? R_DONE_ADDR : R_ADDR;
        end
        R_ADDR: if (m_rx_awready) rx_state <= R_DATA;
        R_DATA:
        if (m_rx_wready) begin
          written <= written + 1'b1;
          if (m_rx_wlast) rx_state <= R_RESP;
        end
        R_RESP:
        if (m_rx_bvalid) begin
          rx_addr  <= rx_addr + 64'd64;
          filled   <= '0;
          written  <= '0;
          rx_state <= rx_last ? R_DONE_ADDR : R_FILL;
        end
        R_DONE_ADDR: if (m_rx_awready) rx_state <= R_DONE_DATA;
        R_DONE_DATA: if (m_rx_wready) rx_state <= R_DONE_RESP;
        default:
        if (m_rx_bvalid) begin
          rx_head  <= rx_head + 1'b1;
          rx_state <= R_IDLE;
        end
      endcase
    end

  assign idle = tx_state == T_IDLE && rx_state == R_IDLE && !s_axis_tvalid && !s_axil_bvalid && !s_axil_rvalid
      && (enable ? tx_head == tx_tail : tx_head == '0 && rx_head == '0);
endmodule
