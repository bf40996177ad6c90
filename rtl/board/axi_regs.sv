// axi_regs: an AXI4-Lite port of 32 bits in front of registers of 64.
//
// Job: an access at a time. Below 1 MB are the core's registers, of which each half has an address,
//   the lower one first; above it is the board's own page (brd_*), in dwords. A register of the
//   core stays whole:
//     write  the lower half is kept and answered; the upper half of the same register writes both.
//            An upper half
//     without its lower one before it: SLVERR, nothing is written.
//     read   the lower half reads both and keeps the upper one, which the next read of the upper
//            half of the same
//     register gets. Any other read of an upper half reads the register itself.
//   So whoever reads or writes both halves, the lower one first, has a value that the register had, as long as nobody
//   else uses the port in between. A write of less than a dword: SLVERR.
// Handshake: AXI4-Lite; accesses to the core as pairs of request and answer, in order. open low:
//   accesses to the core are refused with SLVERR. cut: the one that is with the core is, too, and
//   halves are forgotten. lost, a pulse: the core has not answered for PATIENCE cycles. refused, a
//   pulse: an answer in the core's stead.
// Backpressure: the port waits for the answer before, in the end for lost and the cut that follows
//   it. Writes and reads go by turns.
module axi_regs #(
    parameter int PATIENCE = 4096
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [20:0] s_awaddr,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [31:0] s_wdata,
    input  logic [3:0]  s_wstrb,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    input  logic        s_arvalid,
    output logic        s_arready,
    input  logic [20:0] s_araddr,
    output logic        s_rvalid,
    input  logic        s_rready,
    output logic [31:0] s_rdata,
    output logic [1:0]  s_rresp,
    // the core
    input  logic        open,
    input  logic        cut,
    output logic        req_valid,
    input  logic        req_ready,
    output logic        req_write,
    output logic [16:0] req_addr,   // of a quadword
    output logic [63:0] req_data,
    input  logic        rsp_valid,
    output logic        rsp_ready,
    input  logic [1:0]  rsp_resp,
    input  logic [63:0] rsp_data,
    // the board's page
    output logic        brd_write,  // for a cycle
    output logic [17:0] brd_addr,   // of a dword
    output logic [31:0] brd_data,
    input  logic [31:0] brd_value,
    output logic        busy,       // an access is with the core
    output logic        lost,
    output logic        refused
);
  localparam logic [1:0] OKAY = hw_pkg::RESP_OKAY, SLVERR = hw_pkg::RESP_SLVERR;
  typedef enum logic [2:0] {FREE, DECODE, REQUEST, AWAIT, ANSWER} step_t;
  step_t       step;
  logic        writes, wrote, is_board, upper, whole;
  logic [20:2] addr;
  logic [31:0] value, low, high, data;
  logic [1:0]  resp;
  logic        low_here, high_here;
  logic [16:0] low_addr, high_addr;

  // The other kind than last time goes first.
  logic take_write, take_read;
  assign take_write = step == FREE && s_awvalid && s_wvalid && (!wrote || !s_arvalid);
  assign take_read  = step == FREE && s_arvalid && !take_write;
  assign s_awready  = take_write;
  assign s_wready   = take_write;
  assign s_arready  = take_read;
  assign is_board   = addr[20];
  assign upper      = addr[2];
  assign brd_addr   = addr[19:2];
  assign brd_data   = value;
  assign brd_write  = step == DECODE && is_board && writes && whole;

  // What a half needs of the core.
  logic goes, kept, has_high;
  assign has_high = !writes && upper && high_here && high_addr == addr[19:3];
  assign kept     = writes && !upper && !is_board;
  assign goes     = open && !cut && !is_board && !kept && !has_high &&
      (!writes || (whole && low_here && low_addr == addr[19:3]));
  assign req_valid = step == REQUEST && !cut;
  assign req_write = writes;
  assign req_addr  = addr[19:3];
  assign req_data  = {value, low};
  assign rsp_ready = step == AWAIT && !cut;
  assign busy      = step == REQUEST || step == AWAIT;

  assign s_bvalid = step == ANSWER && writes;
  assign s_rvalid = step == ANSWER && !writes;
  assign s_bresp  = resp;
  assign s_rresp  = resp;
  assign s_rdata  = data;
  always_ff @(posedge clk) begin
    refused <= !rst && ((step == DECODE && !is_board && !open) || (busy && cut));
    if (rst) begin
      step  <= FREE;
      wrote <= 1'b0;
    end else begin
      case (step)
        FREE:    if (take_write || take_read) step <= DECODE;
        DECODE:  step <= goes ? REQUEST : ANSWER;
        REQUEST: if (cut) step <= ANSWER; else if (req_ready) step <= AWAIT;
        AWAIT:   if (cut || rsp_valid) step <= ANSWER;
        default: if (writes ? s_bready : s_rready) step <= FREE;
      endcase
      if (take_write || take_read) wrote <= take_write;
    end
    if (step == FREE) begin
      writes <= take_write;
      addr   <= take_write ? s_awaddr[20:2] : s_araddr[20:2];
      value  <= s_wdata;
      whole  <= s_wstrb == 4'hf;
    end
    if (step == DECODE) begin
      data <= is_board ? brd_value : has_high && open ? high : 32'h0;
      resp <= (writes && !whole) || (!is_board && (!open || !(kept || has_high))) ? SLVERR : OKAY;
    end else if (step == REQUEST || step == AWAIT) begin
      data <= cut ? 32'h0 : upper ? rsp_data[63:32] : rsp_data[31:0];
      resp <= cut ? SLVERR : rsp_resp;
    end
  end

  // ---- halves ----
  always_ff @(posedge clk) begin
    if (rst || cut) {low_here, high_here} <= '0;
    else if (step == DECODE && !is_board) begin
      if (writes) low_here <= kept && whole && open;
      else high_here <= 1'b0;
    end else if (step == AWAIT && rsp_valid && !writes && !upper) high_here <= rsp_resp == OKAY;
    if (step == DECODE && kept) begin
      low      <= value;
      low_addr <= addr[19:3];
    end
    if (step == AWAIT && !writes && !upper) begin
      high      <= rsp_data[63:32];
      high_addr <= addr[19:3];
    end
  end

  localparam int T_W = $clog2(PATIENCE + 1);
  logic [T_W-1:0] waited;
  always_ff @(posedge clk) waited <= rst || !busy ? '0 : waited == T_W'(PATIENCE) ? waited : waited + 1'b1;
  assign lost = waited == T_W'(PATIENCE - 1);
endmodule
