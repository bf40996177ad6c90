// Proves of pcie_msix, for any one vector, whatever the host writes and the sender does: a vector
// is pending from the rise of its line, or of enable under a line that is high, until its write is
// chosen, its line falls or MSI-X is disabled, and again when its write was discarded; nothing else
// makes it pending. A write is chosen for a pending vector alone, one at a time, and not while it
// is masked, by vector or function, or MSI-X is disabled; each asks for one ticket, and has the
// table's address and data of then until it is done, also through a function-level reset; each of
// the others is sent at most once before a vector that may be sent.
module pcie_msix_writes #(
    parameter int VECTORS = 3
) (
    input logic               clk,
    input logic               rst,
    input logic               bus_master,
    input logic               enable,
    input logic               mask,
    input logic               forget,
    input logic               dropped,
    input logic [VECTORS-1:0] line,
    input logic               wr_valid,
    input logic [8:0]         wr_quad,
    input logic [1:0]         wr_low,
    input logic [1:0]         wr_high,
    input logic [1:0]         wr_dwords,
    input logic               ticket,
    input logic               done,
    input logic [1:0]         vector
);
  // Two bits per dword, to keep the proof small.
  logic         ask, four, odd, idle;
  logic [10:0]  len;
  logic [63:0]  quad, rd_data;
  logic [127:0] header;
  logic [11:0]  wr_addr;
  logic [63:0]  wr_data;
  logic [7:0]   wr_strb;
  assign wr_addr = {wr_quad, 3'b000};
  assign wr_data = {30'h0, wr_high, 28'h0, wr_low, 2'b00} | {62'h0, wr_low};
  assign wr_strb = {{4{wr_dwords[1]}}, {4{wr_dwords[0]}}};
  pcie_msix #(.VECTORS(VECTORS)) u_dut (
      .clk, .rst, .id(16'h0), .bus_master, .enable, .mask, .forget, .line, .wr_valid, .wr_addr, .wr_data, .wr_strb,
      .rd_addr(12'h800), .rd_data, .ask, .ticket, .header, .four, .odd, .len, .quad, .done,
      .dropped(dropped && done), .idle
  );
  logic       started = 1'b0, sending, asked;
  logic [1:0] vector_was;
  always_ff @(posedge clk) begin
    started    <= 1'b1;
    vector_was <= vector;
  end
  // The sender: a ticket for who asks, done behind it.
  always_comb begin
    if (!started) assume (rst);
    if (started) assume (!rst && vector == vector_was);
    assume (32'(vector) < VECTORS);
    assume (!ticket || ask);
    assume (!done || (sending && (asked || ticket)));
  end

  (* hierconn *) wire [VECTORS-1:0] \u_dut.u_table.grant ;
  logic [VECTORS-1:0] grant;
  assign grant = \u_dut.u_table.grant ;

  // ---- the vector's entry, as the host has written it ----
  logic [2:0]  known, sent_known;  // parts of it that the host has written since power-on
  logic        here, masked, waits, chosen, mine;
  logic        line_was, forgotten;  // since its write was chosen
  logic [63:0] entry_addr, sent_addr;
  logic [31:0] entry_data, sent_data;
  assign here   = wr_valid && wr_addr[11:4] == 8'(vector);
  assign chosen = grant[vector];
  always_ff @(posedge clk) begin
    if (!started) known <= '0;
    else if (here) known <= known | (wr_addr[3] ? {wr_dwords[0], 2'b00} : {1'b0, wr_dwords});
    if (here && !wr_addr[3] && wr_dwords[0]) entry_addr[31:0] <= {wr_data[31:2], 2'b00};
    if (here && !wr_addr[3] && wr_dwords[1]) entry_addr[63:32] <= wr_data[63:32];
    if (here && wr_addr[3] && wr_dwords[0]) entry_data <= wr_data[31:0];
    if (rst || forget) masked <= 1'b1;
    else if (here && wr_addr[3] && wr_dwords[1]) masked <= wr_data[32];
    line_was <= !rst && !forget && enable && line[vector];
    waits <= !rst && !forget && enable && line[vector] && (!line_was || (waits && !chosen) ||
        (done && dropped && mine && !forgotten));
    forgotten <= !rst && grant == '0 && (forgotten || forget);
    if (rst) sending <= 1'b0;
    else sending <= grant != '0 || (sending && !done);
    asked <= !rst && sending && (asked || ticket) && !done;
    if (grant != '0) begin
      mine       <= chosen;
      sent_known <= known;
      sent_addr  <= entry_addr;
      sent_data  <= entry_data;
    end
  end
  logic [2:0] passed;
  always_ff @(posedge clk)
    if (rst || !waits || masked || mask || !enable || !bus_master || chosen) passed <= '0;
    else if (grant != '0) passed <= passed + 1'b1;
  logic [63:0] to;
  assign to = four ? {header[95:64], header[127:96]} : {32'h0, header[95:64]};
  always_comb
    if (started && !rst) begin
      assert (rd_data[vector] == waits);
      assert (!chosen || (waits && !masked && enable && !mask && bus_master && !sending));
      assert ((grant & (grant - 1'b1)) == '0);
      assert (!(waits && !masked && enable && !mask && bus_master && !sending) || grant != '0);
      assert (ask == (sending && !asked));
      if (sending && mine && &sent_known) begin
        assert (to == sent_addr && quad == {2{sent_data}} && odd == sent_addr[2] && four == (sent_addr[63:32] != '0));
        assert (len == 11'd1 && header[9:0] == 10'd1 && header[30] && header[29] == four);
      end
      assert (32'(passed) < VECTORS);
      assert (!idle || !(sending || (waits && !masked && enable && !mask && bus_master)));
    end
  always_ff @(posedge clk) begin
    cover (started && sending && mine && four && done && waits);
    cover (started && chosen && 32'(passed) == VECTORS - 1);
    cover (started && waits && masked && $past(waits && masked, 3));
  end
endmodule
