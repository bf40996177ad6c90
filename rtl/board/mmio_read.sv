// mmio_read: the host's reads of registers and of the MSI-X table, and the completions of all it
// may not ask for.
//
// Job: keeps non-posted requests, does them one at a time, a quadword an access, and answers each:
//   with data in completions that end at multiples of 128 bytes, or with one that says UR (what
//   tlp_rx marks, the send windows, DECERR) or CA (SLVERR). Of an answer in parts what was read
//   before an error is sent. A read of no byte reads nothing and is answered with a dword of zeros.
// Handshake: requests from tlp_rx; AXI4-Lite read master, one access at a time; rd_* of pcie_msix.
//   A sender of tlp_tx. core_rst: the registers are in reset; reads that have no answer by then,
//   and those that follow until it ends, are answered with UR. A request is begun when every write
//   that came before it has been answered: settled says that all that came up to now have.
// Backpressure: a full queue holds n_ready, and with it all behind; n_ok falls while there is room
//   for SPARE more, so that the hard block keeps non-posted requests back by itself. Writes and
//   completions of the NIC's own reads then still come. A completion waits for its place among what
//   is sent.
module mmio_read #(
    parameter int DEPTH    = 16,
    parameter int SPARE    = 4,
    parameter int WIN_BAR  = 2,
    parameter int MSIX_BAR = 4,
    parameter int REG_W    = 20
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         core_rst,
    input  logic [15:0]  id,
    input  logic         n_valid,
    output logic         n_ready,
    output logic         n_ok,
    input  logic         n_ur,
    input  logic         n_locked,
    input  logic [1:0]   n_size,
    input  logic [2:0]   bar,
    input  logic [31:0]  addr,
    input  logic [10:0]  len_in,
    input  logic [3:0]   first_be,
    input  logic [3:0]   last_be,
    input  logic [15:0]  requester,
    input  logic [7:0]   tag,
    input  logic [2:0]   tc,
    input  logic [2:0]   attr,
    input  logic         settled,
    // registers
    output logic         m_axil_arvalid,
    input  logic         m_axil_arready,
    output logic [31:0]  m_axil_araddr,
    input  logic         m_axil_rvalid,
    output logic         m_axil_rready,
    input  logic [63:0]  m_axil_rdata,
    input  logic [1:0]   m_axil_rresp,
    // MSI-X table
    output logic [11:0]  msix_addr,
    input  logic [63:0]  msix_data,
    // a sender of tlp_tx
    output logic         ask,
    input  logic         ticket,
    output logic [127:0] header,
    output logic         four,
    output logic         odd,
    output logic [10:0]  len,
    output logic [63:0]  quad,
    input  logic [7:0]   index,
    input  logic         done,
    output logic         idle
);
  localparam int LEVEL_W = $clog2(DEPTH + 2);
  typedef struct packed {
    logic        ur, locked;
    logic [1:0]  size;  // as tlp_rx
    logic [2:0]  bar;
    logic [29:0] addr;  // dword
    logic [10:0] len;
    logic [3:0]  first_be, last_be;
    logic [15:0] requester;
    logic [7:0]  tag;
    logic [2:0]  tc, attr;
  } request_t;
  request_t           now;
  logic               have, begins;
  logic [LEVEL_W-1:0] level, ripe;  // ripe: of those kept, how many have no write before them that is under way
  fifo #(.W(86), .DEPTH(DEPTH)) u_requests (
      .clk, .rst, .wr_valid(n_valid), .wr_ready(n_ready),
      .wr_data({n_ur, n_locked, n_size, bar, addr[31:2], len_in, first_be, last_be, requester, tag, tc, attr}),
      .rd_valid(have),
      .rd_ready(begins), .rd_data(now), .level
  );
  assign n_ok = 32'(level) + SPARE <= DEPTH;
  always_ff @(posedge clk) begin
    if (rst) ripe <= '0;
    else if (settled) ripe <= level + LEVEL_W'(n_valid && n_ready) - LEVEL_W'(begins);
    else ripe <= ripe - LEVEL_W'(begins);
  end

  // ---- the request that is done ----
  typedef enum logic [2:0] {IDLE, JUDGE, ASK, WAIT, ACCESS, TICKET, SENDING} state_t;
  state_t      state;
  request_t    r;
  logic [29:0] at;           // dword: first of the completion
  logic [10:0] left;         // dwords from there on
  logic [12:0] bytes;        // and bytes that are asked for
  logic [2:0]  status;
  logic        nothing;      // a read of no byte
  logic [1:0]  skipped, cut; // bytes in front of the first, behind the last
  logic [3:0]  be_end;
  logic [4:0]  reach;        // dwords to the next multiple of 128 bytes, less one
  logic [5:0]  dwords;       // of the completion
  logic [4:0]  quads, got;   // and quadwords
  logic [63:0] data[16];
  assign begins  = state == IDLE && have && ripe != '0;
  assign be_end  = r.len == 11'd1 ? r.first_be : r.last_be;
  assign skipped = r.first_be[0] ? 2'd0 : r.first_be[1] ? 2'd1 : r.first_be[2] ? 2'd2 : r.first_be[3] ? 2'd3 : 2'd0;
  assign cut     = be_end[3] ? 2'd0 : be_end[2] ? 2'd1 : be_end[1] ? 2'd2 : 2'd3;
  assign nothing = r.len == 11'd1 && r.first_be == '0;
  assign reach   = ~at[4:0];
  assign dwords  = left <= 11'(reach) ? left[5:0] : 6'(reach) + 6'd1;
  assign quads   = 5'((7'(at[0]) + 7'(dwords) + 7'd1) >> 1);

  logic refused, table_access, error;
  assign refused      = r.ur || r.bar == 3'(WIN_BAR);
  assign table_access = r.bar == 3'(MSIX_BAR);
  logic away;  // the access was begun in the last cycle of core_rst: nobody has taken it
  always_ff @(posedge clk) away <= !rst && (core_rst || (away && state == WAIT));
  assign m_axil_arvalid = state == ASK && !core_rst;
  assign m_axil_rready  = state == WAIT;
  assign m_axil_araddr  = 32'({at[REG_W-3:1] + (REG_W - 3)'(got), 3'h0});
  assign msix_addr      = {9'(at[29:1]) + 9'(got), 3'h0};
  logic answered;
  assign answered       = m_axil_rvalid || core_rst || away;
  assign error          = core_rst || away || m_axil_rresp != '0;
  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (begins) state <= JUDGE;
        JUDGE: state <= refused || nothing ? TICKET : table_access ? ACCESS : ASK;
        ASK: if (m_axil_arready || core_rst) state <= WAIT;
        WAIT: if (answered) state <= error || got + 1'b1 == quads ? TICKET : ASK;
        ACCESS: if (got + 1'b1 == quads) state <= TICKET;
        TICKET: if (ticket) state <= SENDING;
        default: if (done) state <= status != '0 || left == 11'(dwords) ? IDLE : JUDGE;
      endcase
  end
  logic first_part;
  always_ff @(posedge clk) begin
    if (begins) begin
      r          <= now;
      at         <= now.addr;
      left       <= now.len;
      status     <= '0;
      got        <= '0;
      first_part <= 1'b1;
    end else if (state == SENDING && done) begin
      at         <= at + 30'(dwords);
      left       <= left - 11'(dwords);
      bytes      <= bytes - {5'h0, dwords, 2'b00} + (first_part ? 13'(skipped) : 13'd0);
      got        <= '0;
      first_part <= 1'b0;
    end else if (state == ACCESS || (state == WAIT && answered)) got <= got + 1'b1;
    if (state == JUDGE && first_part)
      case (r.size)
        2'd0:    bytes <= nothing ? 13'd1 : {r.len, 2'b00} - 13'(skipped) - 13'(cut);
        2'd1:    bytes <= 13'd4;
        2'd2:    bytes <= {r.len, 2'b00};
        default: bytes <= {1'b0, r.len, 1'b0};
      endcase
    if (state == JUDGE && refused) status <= 3'b001;
    else if (state == WAIT && answered && error) status <= core_rst || away || m_axil_rresp == 2'b11 ? 3'b001 : 3'b100;
    if (state == ACCESS || state == WAIT) data[got[3:0]] <= table_access ? msix_data : m_axil_rdata;
    else if (state == JUDGE) data[0] <= '0;
  end

  // ---- the completion ----
  logic       good;
  logic [1:0] first_byte;
  assign good       = status == '0;
  assign first_byte = first_part ? skipped : 2'd0;
  assign ask        = state == TICKET;
  assign four       = 1'b0;
  assign odd        = at[0];
  assign len        = good ? 11'(dwords) : 11'd0;
  assign quad       = data[index[3:0]];
  assign header     = {32'h0,
                       r.requester, r.tag, 1'b0, good ? {at[4:0], first_byte} : 7'h0,
                       id, status, 1'b0, bytes[11:0],
                       1'b0, good, 1'b0, good || !r.locked ? 5'b01010 : 5'b01011, 1'b0, r.tc, 1'b0, r.attr[2], 4'h0,
                       r.attr[1:0], 2'b00, good ? 10'(dwords) : 10'h0};
  assign idle       = state == IDLE && !have;
endmodule
