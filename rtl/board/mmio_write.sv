// mmio_write: the host's writes to registers, send windows and the MSI-X table.
//
// Job: takes a memory write of any length, cuts it into what the target takes, and makes strobes of
//   its byte enables: for registers an access per quadword, for the send windows bursts that end
//   with their 64-byte line. What has no byte to write is not written to registers; nor is what did
//   not come (q_ok 0).
// Handshake: a request and its quadwords from tlp_rx; AXI4-Lite master, AXI4 write master, and the
//   port of pcie_msix. Address and data are offered side by side; one access at a time. settled:
//   all that was taken has been answered. core_rst: the targets are in reset. Accesses that they
//   have not answered by then, and those that follow until it ends, are answered here, as errors;
//   an access that was begun before is ended here too.
// Backpressure: the next request waits for the answers of the one before. A write has no answer of
//   its own: errors of the targets are counted.
module mmio_write #(
    parameter int REG_BAR  = 0,
    parameter int MSIX_BAR = 4,
    parameter int REG_W    = 20,  // bits of an address that count: what the BAR has
    parameter int WIN_W    = 29   // of the send windows' BAR: 29 for 16 processes, 1 less for half as many
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        core_rst,
    input  logic        w_valid,
    output logic        w_ready,
    input  logic [2:0]  bar,
    input  logic [31:0] addr,
    input  logic [10:0] len,
    input  logic [3:0]  first_be,
    input  logic [3:0]  last_be,
    input  logic        q_valid,
    output logic        q_ready,
    input  logic [63:0] q_data,
    input  logic        q_ok,
    input  logic        q_last,
    // registers
    output logic        m_axil_awvalid,
    input  logic        m_axil_awready,
    output logic [31:0] m_axil_awaddr,
    output logic        m_axil_wvalid,
    input  logic        m_axil_wready,
    output logic [63:0] m_axil_wdata,
    output logic [7:0]  m_axil_wstrb,
    input  logic        m_axil_bvalid,
    output logic        m_axil_bready,
    input  logic [1:0]  m_axil_bresp,
    // send windows
    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [28:0] m_axi_awaddr,
    output logic [7:0]  m_axi_awlen,
    output logic        m_axi_wvalid,
    input  logic        m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic [7:0]  m_axi_wstrb,
    output logic        m_axi_wlast,
    input  logic        m_axi_bvalid,
    output logic        m_axi_bready,
    input  logic [1:0]  m_axi_bresp,
    // MSI-X table
    output logic        msix_valid,
    output logic [11:0] msix_addr,
    output logic [63:0] msix_data,
    output logic [7:0]  msix_strb,
    output logic        settled,
    output logic        ev_error
);
  typedef enum logic [2:0] {IDLE, REG, REG_B, WINDOW_A, WINDOW, WINDOW_B, TABLE} state_t;
  state_t      state;
  logic [28:0] line;        // of the quadword that is next
  logic        first, odd, odd_end, all;
  logic [3:0]  be_first, be_last, low, high;
  logic [10:0] left;        // quadwords
  logic [7:0]  strobes;
  // Fields hold until the next request, but this block looks at them once.
  assign low     = first ? (odd ? 4'h0 : be_first) : q_last && odd_end ? be_last : 4'hf;
  assign high    = q_last ? (odd_end ? 4'h0 : first && odd ? be_first : be_last) : first && odd ? be_first : 4'hf;
  assign strobes = q_ok ? {high, low} : '0;
  assign settled = state == IDLE;
  assign w_ready = state == IDLE;

  // ---- sides of an access: an address and a beat that were taken ----
  logic aw_done, w_done, aw_take, w_take, w_all, next;
  logic [3:0] to_end, burst;
  logic [2:0] beat;
  assign to_end = 4'd8 - {1'b0, line[2:0]};
  assign burst  = left < 11'(to_end) ? left[3:0] : to_end;

  // away: nobody is there to take an access. Ends with an access, so that the core sees whole ones.
  logic away, away_q, reg_asks;
  assign away     = core_rst || away_q;
  assign reg_asks = state == REG && q_valid && strobes != '0;
  always_ff @(posedge clk)
    away_q <= !rst && (core_rst || (away_q && (aw_done || w_done || reg_asks || state == WINDOW)));
  assign m_axil_awvalid = reg_asks && !aw_done && !away;
  assign m_axil_wvalid  = reg_asks && !w_done && !away;
  assign m_axil_awaddr  = 32'({line[REG_W-4:0], 3'h0});
  assign m_axil_wdata   = q_data;
  assign m_axil_wstrb   = strobes;
  assign m_axil_bready  = state == REG_B;
  // The address stays in front of its line: the quadwords move on below it.
  logic [28:0] window_addr;
  logic [3:0]  window_beats;
  assign m_axi_awvalid = state == WINDOW && !aw_done && !away;
  assign m_axi_awaddr  = window_addr;
  assign m_axi_awlen   = 8'(window_beats) - 8'd1;
  assign m_axi_wvalid  = state == WINDOW && q_valid && !w_done && !away;
  assign m_axi_wdata   = q_data;
  assign m_axi_wstrb   = strobes;
  assign m_axi_wlast   = 4'(beat) + 4'd1 == window_beats;
  assign m_axi_bready  = state == WINDOW_B;
  assign msix_valid    = state == TABLE && q_valid;
  assign msix_addr     = {line[8:0], 3'h0};
  assign msix_data     = q_data;
  assign msix_strb     = strobes;

  assign aw_take = (m_axil_awvalid && m_axil_awready) || (m_axi_awvalid && m_axi_awready) ||
      (away && !aw_done && (reg_asks || state == WINDOW));
  assign w_take  = (m_axil_wvalid && m_axil_wready) || (m_axi_wvalid && m_axi_wready) ||
      (away && !w_done && (reg_asks || (state == WINDOW && q_valid)));
  assign w_all   = w_take && (state == REG || m_axi_wlast);
  assign next    = (aw_done || aw_take) && (w_done || w_all);  // both sides are through
  // A quadword for registers goes when both sides are: until then it is offered.
  assign q_ready = state == REG ? next || strobes == '0 : state == WINDOW ? w_take : state == TABLE;

  logic q_take;
  assign q_take = q_valid && q_ready;
  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (w_valid) state <= bar == 3'(REG_BAR) ? REG : bar == 3'(MSIX_BAR) ? TABLE : WINDOW_A;
        REG:
        if (q_take && strobes != '0) state <= REG_B;
        else if (q_take && q_last) state <= IDLE;
        REG_B: if (m_axil_bvalid || away) state <= all ? IDLE : REG;
        WINDOW_A: state <= WINDOW;
        WINDOW: if (next) state <= WINDOW_B;
        WINDOW_B: if (m_axi_bvalid || away) state <= all ? IDLE : WINDOW_A;
        default: if (q_take && q_last) state <= IDLE;
      endcase
    if (rst || next || state == IDLE) begin
      aw_done <= 1'b0;
      w_done  <= 1'b0;
    end else begin
      aw_done <= aw_done || aw_take;
      w_done  <= w_done || w_all;
    end
    ev_error <= !rst && ((state == REG_B && (away || (m_axil_bvalid && m_axil_bresp != '0))) ||
        (state == WINDOW_B && (away || (m_axi_bvalid && m_axi_bresp != '0))));
  end
  always_ff @(posedge clk) begin
    if (state == IDLE) begin
      line     <= addr[31:3];
      first    <= 1'b1;
      odd      <= addr[2];
      odd_end  <= addr[2] != len[0];
      be_first <= first_be;
      be_last  <= last_be;
      left     <= 11'((12'(addr[2]) + 12'(len) + 12'd1) >> 1);
      all      <= 1'b0;
    end else if (q_take) begin
      line  <= line + 1'b1;
      first <= 1'b0;
      left  <= left - 1'b1;
      all   <= q_last;
    end
    if (state == WINDOW_A) begin
      window_addr  <= 29'({line[WIN_W-4:0], 3'h0});
      window_beats <= burst;
    end
    if (state != WINDOW) beat <= '0;
    else if (w_take) beat <= beat + 1'b1;
  end
endmodule
