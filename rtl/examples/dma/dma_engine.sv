// dma_engine: copies memory to memory by a list of descriptors; see docs/your-own-rtl.md.
//
// Job: START reads the descriptor at HEAD: four quadwords, source, destination, length in bytes
//   (all multiples of 8) and the address of the next descriptor, 0 for none. It copies in bursts of
//   at most 64 bytes that do not cross a line of 64, and sets DONE, or ERROR on a bus error.
// Handshake: AXI4-Lite of 32 bits for registers, AXI4 of 64 bits for memory. irq is level: DONE or
//   ERROR, with IE.
// Backpressure: one burst at a time.
module dma_engine (
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
    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0]  m_axi_awlen,
    output logic        m_axi_wvalid,
    input  logic        m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic        m_axi_wlast,
    input  logic        m_axi_bvalid,
    output logic        m_axi_bready,
    input  logic [1:0]  m_axi_bresp,
    output logic        m_axi_arvalid,
    input  logic        m_axi_arready,
    output logic [63:0] m_axi_araddr,
    output logic [7:0]  m_axi_arlen,
    input  logic        m_axi_rvalid,
    output logic        m_axi_rready,
    input  logic [63:0] m_axi_rdata,
    input  logic        m_axi_rlast,
    input  logic [1:0]  m_axi_rresp,
    output logic        irq
);
  localparam logic [7:0] ID = 8'h00, CTRL = 8'h04, STATUS = 8'h08, BYTES = 8'h0c, HEAD_LO = 8'h10, HEAD_HI = 8'h14;
  typedef enum logic [2:0] {IDLE, FETCH, PLAN, READ, WRITE, RESPONSE} state_t;
  state_t      state;
  logic        irq_enable, done, failed;
  logic [31:0] copied;
  logic [63:0] head, source, dest, remaining, next;
  logic [2:0]  beat;
  logic [63:0] data[8];
  logic [3:0]  quads, to_source_line, to_dest_line, burst;  // of the coming burst
  assign to_source_line = 4'd8 - {1'b0, source[5:3]};
  assign to_dest_line   = 4'd8 - {1'b0, dest[5:3]};
  always_comb begin
    burst = to_source_line < to_dest_line ? to_source_line : to_dest_line;
    if (remaining[63:3] < 61'(burst)) burst = remaining[6:3];
  end

  // ---- registers ----
  logic write, start;
  assign write          = s_axil_awvalid && s_axil_wvalid && !s_axil_bvalid;
  assign s_axil_awready = write;
  assign s_axil_wready  = write;
  assign s_axil_arready = !s_axil_rvalid;
  assign s_axil_bresp   = 2'b00;
  assign s_axil_rresp   = 2'b00;
  assign start          = write && s_axil_awaddr == CTRL && s_axil_wdata[0] && state == IDLE;
  assign irq            = irq_enable && (done || failed);
  always_ff @(posedge clk) begin
    if (rst) begin
      s_axil_bvalid <= 1'b0;
      s_axil_rvalid <= 1'b0;
      irq_enable    <= 1'b0;
      head          <= '0;
    end else begin
      if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (write) begin
        s_axil_bvalid <= 1'b1;
        if (s_axil_awaddr == CTRL) irq_enable <= s_axil_wdata[1];
        if (s_axil_awaddr == HEAD_LO) head[31:0] <= s_axil_wdata;
        if (s_axil_awaddr == HEAD_HI) head[63:32] <= s_axil_wdata;
      end
      if (s_axil_arvalid && s_axil_arready) begin
        s_axil_rvalid <= 1'b1;
        case (s_axil_araddr)
          ID:      s_axil_rdata <= 32'h444d4131;  // "DMA1"
          CTRL:    s_axil_rdata <= {30'h0, irq_enable, 1'b0};
          STATUS:  s_axil_rdata <= {29'h0, failed, done, state != IDLE};
          BYTES:   s_axil_rdata <= copied;
          HEAD_LO: s_axil_rdata <= head[31:0];
          HEAD_HI: s_axil_rdata <= head[63:32];
          default: s_axil_rdata <= '0;
        endcase
      end
    end
  end

  // ---- the engine ----
  assign m_axi_rready = 1'b1;
  assign m_axi_bready = 1'b1;
  assign m_axi_wdata  = data[beat];
  assign m_axi_wlast  = {1'b0, beat} == quads - 4'd1;
  always_ff @(posedge clk) begin
    if (rst) begin
      state         <= IDLE;
      done          <= 1'b0;
      failed        <= 1'b0;
      m_axi_arvalid <= 1'b0;
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid  <= 1'b0;
      copied        <= '0;
    end else begin
      if (write && s_axil_awaddr == STATUS) begin
        if (s_axil_wdata[1]) done <= 1'b0;
        if (s_axil_wdata[2]) failed <= 1'b0;
      end
      if (m_axi_arready) m_axi_arvalid <= 1'b0;
      if (m_axi_awready) m_axi_awvalid <= 1'b0;
      case (state)
        IDLE: if (start) begin
          state         <= FETCH;
          copied        <= '0;
          m_axi_arvalid <= 1'b1;
          m_axi_araddr  <= head;
          m_axi_arlen   <= 8'd3;
          beat          <= '0;
        end
        FETCH: if (m_axi_rvalid) begin
          beat <= beat + 1'b1;
          case (beat)
            3'd0:    source <= m_axi_rdata;
            3'd1:    dest <= m_axi_rdata;
            3'd2:    remaining <= m_axi_rdata;
            default: next <= m_axi_rdata;
          endcase
          if (m_axi_rresp[1]) begin
            state  <= IDLE;
            failed <= 1'b1;
          end else if (m_axi_rlast) state <= PLAN;
        end
        PLAN: begin
          beat <= '0;
          if (remaining != '0) begin
            state         <= READ;
            quads         <= burst;
            m_axi_arvalid <= 1'b1;
            m_axi_araddr  <= source;
            m_axi_arlen   <= 8'(burst) - 8'd1;
          end else if (next != '0) begin
            state         <= FETCH;
            m_axi_arvalid <= 1'b1;
            m_axi_araddr  <= next;
            m_axi_arlen   <= 8'd3;
          end else begin
            state <= IDLE;
            done  <= 1'b1;
          end
        end
        READ: if (m_axi_rvalid) begin
          data[beat] <= m_axi_rdata;
          beat       <= m_axi_rlast ? 3'd0 : beat + 1'b1;
          if (m_axi_rlast) begin
            state         <= WRITE;
            m_axi_awvalid <= 1'b1;
            m_axi_awaddr  <= dest;
            m_axi_awlen   <= 8'(quads) - 8'd1;
            m_axi_wvalid  <= 1'b1;
          end
        end
        WRITE: if (m_axi_wready) begin
          beat <= beat + 1'b1;
          if (m_axi_wlast) begin
            m_axi_wvalid <= 1'b0;
            state        <= RESPONSE;
          end
        end
        default: if (m_axi_bvalid) begin
          source    <= source + {57'h0, quads, 3'h0};
          dest      <= dest + {57'h0, quads, 3'h0};
          remaining <= remaining - {57'h0, quads, 3'h0};
          copied    <= copied + {25'h0, quads, 3'h0};
          state     <= m_axi_bresp[1] ? IDLE : PLAN;
          failed    <= failed || m_axi_bresp[1];
        end
      endcase
    end
  end
endmodule
