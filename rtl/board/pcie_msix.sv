// pcie_msix: interrupts as MSI-X writes.
//
// Job: sends what msix_table chooses as a memory write of a dword. Handshake: line, forget, wr_*
// and rd_* as msix_table. A sender of tlp_tx: a write has its position in the order from
//   its ticket on. One that tlp_tx discards (dropped) is pending again.
// Backpressure: pending bits wait; nobody else does.
module pcie_msix #(
    parameter int VECTORS = 17,     // as msix_table
    parameter int PBA     = 'h800
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [15:0]        id,
    input  logic               bus_master,
    input  logic               enable,      // of the capability
    input  logic               mask,        // its function mask
    input  logic               forget,
    input  logic [VECTORS-1:0] line,
    input  logic               wr_valid,
    input  logic [11:0]        wr_addr,     // of a quadword
    input  logic [63:0]        wr_data,
    input  logic [7:0]         wr_strb,
    input  logic [11:0]        rd_addr,
    output logic [63:0]        rd_data,
    // a sender of tlp_tx
    output logic               ask,
    input  logic               ticket,
    output logic [127:0]       header,
    output logic               four,
    output logic               odd,
    output logic [10:0]        len,
    output logic [63:0]        quad,
    input  logic               done,
    input  logic               dropped,
    output logic               idle
);
  logic        asked, send;
  logic [61:0] to;
  logic [31:0] word;
  msix_table #(.VECTORS(VECTORS), .PBA(PBA)) u_table (
      .clk, .rst, .bus_master, .enable, .mask, .forget, .line, .wr_valid, .wr_addr, .wr_data, .wr_strb, .rd_addr,
      .rd_data, .send, .to, .word, .done, .dropped, .idle
  );
  always_ff @(posedge clk) asked <= !rst && send && (asked || ticket) && !done;
  assign ask    = send && !asked;
  assign four   = to[61:30] != '0;
  assign odd    = to[0];
  assign len    = 11'd1;
  assign quad   = {word, word};
  assign header = {to[29:0], 2'b00, four ? to[61:30] : {to[29:0], 2'b00}, id, 8'h0, 8'h0f, 1'b0, 1'b1, four, 5'b00000,
      14'h0, 10'd1};
endmodule
