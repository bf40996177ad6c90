// board_memory: block RAM that a NIC has for its DMA, and somebody else looks into.
//
// Job: BYTES of memory from address 0, an AXI4 slave of incrementing bursts of quadwords. What lies
//   outside is answered with DECERR, as is a burst of which a part does. Beside it a port for
//   single quadwords (look), which waits for nobody.
// Handshake: AXI4, one burst each way at a time: a beat per cycle into memory, one every other out
//   of it. An answer to a write comes when all of it can be read. look is a pulse; told comes in
//   the cycle behind it, and there is no other look until then. A quadword is read and written
//   whole.
// Backpressure: a look takes the cycle of a beat from the NIC, and a read of the NIC waits for a
//   write of the same quadword. The NIC's beats wait for that, and for whoever does not take their
//   answers; a look waits for neither.
module board_memory #(
    parameter int BYTES = 65536  // a power of two
) (
    input  logic        clk,
    input  logic        rst,
    // the NIC: AXI4 slave
    input  logic        s_awvalid,
    output logic        s_awready,
    input  logic [63:0] s_awaddr,
    input  logic        s_wvalid,
    output logic        s_wready,
    input  logic [63:0] s_wdata,
    input  logic [7:0]  s_wstrb,
    input  logic        s_wlast,
    output logic        s_bvalid,
    input  logic        s_bready,
    output logic [1:0]  s_bresp,
    input  logic        s_arvalid,
    output logic        s_arready,
    input  logic [63:0] s_araddr,
    input  logic [7:0]  s_arlen,
    output logic        s_rvalid,
    input  logic        s_rready,
    output logic [63:0] s_rdata,
    output logic [1:0]  s_rresp,
    output logic        s_rlast,
    // who looks
    input  logic        look,
    input  logic        look_write,
    input  logic [39:0] look_addr,
    input  logic [63:0] look_value,
    output logic        told,
    output logic        told_known,  // the address is one of ours
    output logic [63:0] told_value,
    output logic        idle
);
  localparam int AT_W = $clog2(BYTES / 8);
  localparam logic [1:0] OKAY = hw_pkg::RESP_OKAY, DECERR = hw_pkg::RESP_DECERR;

  // ---- who has the memory in this cycle ----
  logic            writes, look_known, look_reads, look_writes;
  logic [7:0]      strobes;
  logic [AT_W-1:0] write_at, read_at;
  logic [63:0]     value, read_value;
  assign look_known  = look_addr[39:AT_W+3] == '0 && look_addr[2:0] == '0;
  assign look_writes = look && look_write;
  assign look_reads  = look && !look_write;

  (* no_rw_check *) logic [63:0] memory[BYTES/8];  // a quadword is not read while it is written
  always_ff @(posedge clk) begin
    for (int i = 0; i < 8; i++) if (writes && strobes[i]) memory[write_at][8*i+:8] <= value[8*i+:8];
    read_value <= memory[read_at];
  end

  // ---- writes of the NIC ----
  logic        filling, fill;
  logic [AT_W-1:0] fill_at;
  logic            fill_out;  // it lies outside
  assign s_awready = !filling;
  assign s_wready  = filling && !look && (!s_wlast || !s_bvalid || s_bready);
  assign fill      = s_wvalid && s_wready;
  assign writes    = look_writes ? look_known : fill && !fill_out;
  assign write_at  = look_writes ? look_addr[AT_W+2:3] : fill_at;
  assign value     = look_writes ? look_value : s_wdata;
  assign strobes   = look_writes ? 8'hff : s_wstrb;
  always_ff @(posedge clk) begin
    if (rst) begin
      filling  <= 1'b0;
      s_bvalid <= 1'b0;
    end else begin
      filling  <= filling ? !(fill && s_wlast) : s_awvalid;
      s_bvalid <= fill && s_wlast || s_bvalid && !s_bready;
    end
    if (!filling) {fill_out, fill_at} <= {s_awaddr[63:AT_W+3] != '0, s_awaddr[AT_W+2:3]};
    else if (fill) {fill_out, fill_at} <= {fill_out || fill_at == '1, fill_at + 1'b1};
    // A burst that leaves memory, or never was there, ends outside.
    if (fill && s_wlast) s_bresp <= fill_out ? DECERR : OKAY;
  end

  // ---- reads of the NIC: asked for, out of the memory, held ----
  logic        draining, drain, coming, coming_bad, coming_last;
  logic [60:0] drain_at;
  logic [7:0]  drain_left;  // beats after this one
  assign s_arready = !draining;
  assign drain     = draining && !look_reads && !coming && (!s_rvalid || s_rready) &&
      !(writes && write_at == drain_at[AT_W-1:0]);
  assign read_at   = look_reads ? look_addr[AT_W+2:3] : drain_at[AT_W-1:0];
  always_ff @(posedge clk) begin
    if (rst) begin
      draining <= 1'b0;
      coming   <= 1'b0;
      s_rvalid <= 1'b0;
    end else begin
      draining <= draining ? !(drain && drain_left == '0) : s_arvalid;
      coming   <= drain;
      s_rvalid <= coming || s_rvalid && !s_rready;
    end
    if (!draining) begin
      drain_at   <= s_araddr[63:3];
      drain_left <= s_arlen;
    end else if (drain) begin
      drain_at   <= drain_at + 1'b1;
      drain_left <= drain_left - 1'b1;
    end
    coming_bad  <= drain_at[60:AT_W] != '0;
    coming_last <= drain_left == '0;
    if (coming) begin
      s_rdata <= coming_bad ? 64'h0 : read_value;
      s_rresp <= coming_bad ? DECERR : OKAY;
      s_rlast <= coming_last;
    end
  end

  // ---- who looks ----
  logic looked, looked_known;
  always_ff @(posedge clk) begin
    looked       <= !rst && look;
    looked_known <= look_known;
  end
  assign told       = looked;
  assign told_known = looked_known;
  assign told_value = looked_known ? read_value : 64'h0;

  assign idle = !filling && !s_bvalid && !draining && !coming && !s_rvalid && !looked;

`ifndef SYNTHESIS
  if (BYTES < 16 || (BYTES & (BYTES - 1)) != 0) $fatal(1, "board_memory: %0d bytes, expected a power of two", BYTES);
  always_ff @(posedge clk)
    if (!rst) assert (!look || !looked) else $error("board_memory %m: a look before the last was answered");
`endif
endmodule
