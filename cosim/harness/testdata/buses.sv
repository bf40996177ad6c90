// Four registers behind Wishbone (pipelined, the address counts words, with byte lanes), for tests
// of wishbone_host. The upper half of the addresses answers with ERR, after some cycles.
module wishbone_registers (
    input  logic        clk,
    input  logic        rst,
    input  logic        wb_cyc_i,
    input  logic        wb_stb_i,
    input  logic        wb_we_i,
    input  logic [7:0]  wb_adr_i,
    input  logic [3:0]  wb_sel_i,
    input  logic [31:0] wb_dat_i,
    output logic [31:0] wb_dat_o,
    output logic        wb_ack_o,
    output logic        wb_err_o,
    output logic        wb_stall_o
);
  logic [31:0] regs[4];
  logic [2:0]  busy;
  logic        accepted;
  assign wb_stall_o = busy != 0 || !wb_cyc_i;
  assign accepted   = wb_cyc_i && wb_stb_i && !wb_stall_o;
  always_ff @(posedge clk) begin
    wb_ack_o <= 1'b0;
    wb_err_o <= 1'b0;
    busy     <= busy == 0 ? 3'd0 : busy - 3'd1;
    if (busy == 1) {wb_err_o, wb_ack_o} <= wb_adr_i[7] ? 2'b10 : 2'b01;
    if (accepted) begin
      busy     <= 3'd5;
      wb_dat_o <= regs[wb_adr_i[1:0]];
      if (wb_we_i && !wb_adr_i[7])
        for (int i = 0; i < 4; i++) if (wb_sel_i[i]) regs[wb_adr_i[1:0]][8*i+:8] <= wb_dat_i[8*i+:8];
    end
    if (rst) busy <= 3'd0;
  end
endmodule

// The same behind APB, with PREADY after two cycles and PSLVERR.
module apb_registers (
    input  logic        pclk,
    input  logic        presetn,
    input  logic        psel,
    input  logic        penable,
    input  logic        pwrite,
    input  logic [9:0]  paddr,
    input  logic [31:0] pwdata,
    output logic [31:0] prdata,
    output logic        pready,
    output logic        pslverr
);
  logic [31:0] regs[4];
  logic [1:0]  waited;
  assign pready  = psel && penable && waited == 2;
  assign pslverr = pready && paddr[9];
  assign prdata  = regs[paddr[3:2]];
  always_ff @(posedge pclk) begin
    waited <= !presetn || !(psel && penable) || pready ? 2'd0 : waited + 2'd1;
    if (pready && pwrite && !pslverr) regs[paddr[3:2]] <= pwdata;
  end
endmodule
