// msix_table: table and pending bits of MSI-X, and which vector is sent next.
//
// Job: the table (16 bytes per vector: address, data, mask in bit 0 of its last dword, 1 after
//   reset) and, from PBA on, the pending bits. When the line of a vector rises, or is high when
//   MSI-X is enabled, the vector is pending; a vector that is pending, and not masked, is sent as a
//   write of a dword. A vector whose line falls before it was sent is not pending any more: its
//   cause is gone, and unmasking it must not raise a spurious interrupt (PCIe 6.1.4.5).
// Handshake: line is a level per vector. wr_* and rd_* of the host: a quadword at a time, whole
//   dwords by strobes, at once; an address that is nothing reads 0. send stays with the table's
//   address and data of when the vector was chosen until done, which may come at any time; dropped,
//   with done, says that the write did not leave: the vector is pending again. forget (FLR) resets
//   the table and the pending bits, but a write that is chosen stays until done.
// Backpressure: pending bits wait; nobody else does.
module msix_table #(
    parameter int VECTORS = 17,     // 2 to 64
    parameter int PBA     = 'h800
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               bus_master,  // low: nothing new is chosen
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
    // a dword to be written
    output logic               send,
    output logic [61:0]        to,          // without the two lowest bits of the address
    output logic [31:0]        word,
    input  logic               done,
    input  logic               dropped,
    output logic               idle
);
  localparam int V = $clog2(VECTORS);
  logic [61:0]        address[VECTORS];
  logic [31:0]        data[VECTORS];
  logic [VECTORS-1:0] masked, pending, may, grant;
  logic [VECTORS-1:0] line_was;  // while MSI-X is enabled
  logic [VECTORS-1:0] chosen_q;  // of the write that send offers

  // ---- the host ----
  logic [V-1:0] wr_vector, rd_vector;
  logic         wr_table, wr_upper, rd_table;
  assign wr_vector = wr_addr[4+:V];
  assign rd_vector = rd_addr[4+:V];
  assign wr_table  = wr_valid && 32'(wr_addr[11:4]) < VECTORS;
  assign rd_table  = 32'(rd_addr[11:4]) < VECTORS;
  assign wr_upper  = wr_addr[3];
  always_ff @(posedge clk) begin
    if (wr_table && !wr_upper) begin
      if (&wr_strb[3:0]) address[wr_vector][29:0] <= wr_data[31:2];
      if (&wr_strb[7:4]) address[wr_vector][61:30] <= wr_data[63:32];
    end
    if (wr_table && wr_upper && &wr_strb[3:0]) data[wr_vector] <= wr_data[31:0];
    if (rst || forget) masked <= '1;
    else if (wr_table && wr_upper && &wr_strb[7:4]) masked[wr_vector] <= wr_data[32];
  end
  always_comb begin
    rd_data = '0;
    if (rd_table) rd_data = rd_addr[3] ? {31'h0, masked[rd_vector], data[rd_vector]} : {address[rd_vector], 2'b00};
    else if (rd_addr == 12'(PBA)) rd_data = 64'(pending);
  end

  // ---- one write at a time ----
  logic [V-1:0] chosen;
  assign may = pending & ~masked & {VECTORS{enable && !mask && bus_master && !send}};
  rr_arbiter #(.N(VECTORS)) u_arbiter (.clk, .rst, .req(may), .advance(1'b1), .grant);
  always_comb begin
    chosen = '0;
    for (int v = 0; v < VECTORS; v++) if (grant[v]) chosen = V'(v);
  end
  always_ff @(posedge clk) begin
    line_was <= line & {VECTORS{!rst && !forget && enable}};
    pending  <= ((pending & ~grant) | ~line_was | (chosen_q & {VECTORS{done && dropped}})) & line &
        {VECTORS{!rst && !forget && enable}};
    send     <= !rst && (send ? !done : |may);
    if (rst || forget) chosen_q <= '0;
    else if (!send) chosen_q <= grant;
    if (!send) begin
      to   <= address[chosen];
      word <= data[chosen];
    end
  end
  assign idle = !send && may == '0 && line_was == (line & {VECTORS{enable}}) && (pending & ~line_was) == '0;
endmodule
