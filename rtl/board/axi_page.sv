// axi_page: the board's own page behind nic_axi: MSI-X table, reset, counters.
//
//   0x0000  table of MSI-X, 16 bytes per vector; pending bits at 0x800 (msix_table)
//   0x1000  CONTROL   write 1: reset the core, with its links; reads 1 until that is over and no answer of its DMA is
//   awaited
//   0x1004  STATUS    bit 0: accesses go to the core; bit 1: no answer of cut DMA is awaited; bit 2: the core has not
//   answered once
//   0x1008  RESETS    of the core since the first
//   0x100c  REFUSED   accesses answered in the core's stead
//   0x1010  STRAYS    answers of the bus to nothing
//
// Job: keeps these; all else reads 0 and keeps nothing. They survive a reset of the core; forget
//   (FLR) resets the table.
// Handshake: wr with addr (of a dword) and data; value is of addr, at once. asked stays until a
//   reset starts. send, to, word and done as msix_table.
// Backpressure: none.
module axi_page #(
    parameter int VECTORS = 17
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               wr,
    input  logic [17:0]        addr,
    input  logic [31:0]        data,
    output logic [31:0]        value,
    input  logic               enable,
    input  logic               mask,
    input  logic               forget,
    input  logic [VECTORS-1:0] line,
    output logic               send,
    output logic [61:0]        to,
    output logic [31:0]        word,
    input  logic               done,
    output logic               asked,
    input  logic               starts,
    input  logic               open,
    input  logic               settled,
    input  logic               ev_lost,
    input  logic [1:0]         ev_refused,
    input  logic [1:0]         ev_stray
);
  localparam logic [17:0] CONTROL = 18'h400, STATUS = 18'h401, RESETS = 18'h402, REFUSED = 18'h403, STRAYS = 18'h404;
  logic [63:0] table_value;
  logic        in_table;
  assign in_table = addr[17:10] == '0;
  /* verilator lint_off PINCONNECTEMPTY */
  msix_table #(.VECTORS(VECTORS)) u_msix (
      .clk, .rst(rst || forget), .bus_master(1'b1), .enable, .mask, .forget(1'b0), .line, .wr_valid(wr && in_table),
      .wr_addr({addr[9:1], 3'b000}), .wr_data({2{data}}), .wr_strb({{4{addr[0]}}, {4{!addr[0]}}}),
      .rd_addr({addr[9:1], 3'b000}), .rd_data(table_value), .send, .to, .word, .done, .dropped(1'b0), .idle()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic        was_lost;
  logic [31:0] resets, refused, strays;
  always_ff @(posedge clk)
    if (rst) begin
      asked     <= 1'b0;
      was_lost <= 1'b0;
      resets   <= '0;
      refused  <= '0;
      strays   <= '0;
    end else begin
      asked     <= (wr && addr == CONTROL && data[0]) || (asked && !starts);
      was_lost <= was_lost || ev_lost;
      resets   <= resets + 32'(starts);
      refused  <= refused + 32'(ev_refused[0]) + 32'(ev_refused[1]);
      strays   <= strays + 32'(ev_stray[0]) + 32'(ev_stray[1]);
    end
  always_comb begin
    case (addr)
      CONTROL: value = 32'(asked || !open || !settled);
      STATUS:  value = 32'({was_lost, settled, open});
      RESETS:  value = resets;
      REFUSED: value = refused;
      STRAYS:  value = strays;
      default: value = !in_table ? '0 : addr[0] ? table_value[63:32] : table_value[31:0];
    endcase
  end
endmodule
