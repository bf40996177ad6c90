// pcie_read_order: returns the data of pcie_read in the order of the addresses.
//
// Job: queues the pieces of bursts; has a slot of SLOT bytes per tag for data that arrives in any
//   order of tags; returns the beats of a piece when all data of its request has arrived.
// Handshake: asks appends a piece while order_room; none: nothing was requested for it. wr_*: a
//   quadword for a slot. AXI4 read data channel; beats of a failed request are zeros with SLVERR.
//   read_out, a pulse: the last beat of read_tag leaves.
// Backpressure: order_room is low when TAGS pieces are queued; data waits for s_rready.
module pcie_read_order #(
    parameter int TAGS = 32,
    parameter int SLOT = 256,
    parameter int HOLD = 3,  // 0: each piece is a request
    parameter int T = 5,
    parameter int S = 5
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            core,         // the core is in reset
    // pieces
    output logic            order_room,
    input  logic            asks,
    input  logic            piece_none,
    input  logic            piece_last,   // of its burst
    input  logic [T-1:0]    piece_tag,
    input  logic [S:0]      piece_quads,
    // tags
    input  logic [TAGS-1:0] waiting,
    input  logic [TAGS-1:0] resting,
    input  logic            st_valid,     // requests that have not been sent
    input  logic [T-1:0]    st_tag,
    input  logic            np_valid,
    input  logic [T-1:0]    np_tag,
    output logic            read_out,
    output logic [T-1:0]    read_tag,     // of the oldest piece
    input  logic [S:0]      read_size,    // of the request of read_tag
    // completions
    input  logic            wr_valid,
    input  logic [T-1:0]    wr_tag,
    input  logic [S-1:0]    wr_at,
    input  logic [63:0]     wr_data,
    // data
    output logic            s_rvalid,
    input  logic            s_rready,
    output logic [63:0]     s_rdata,
    output logic [1:0]      s_rresp,
    output logic            s_rlast,
    output logic            queued        // a piece is queued
);
  typedef struct packed {
    logic         none;   // nothing was requested for it
    logic         last;   // of its burst
    logic [T-1:0] tag;
    logic [S:0]   quads;
  } piece_t;
  piece_t      now;
  logic        arrived, pop, piece_ends;
  logic [S:0]  at, of_tag;  // the next beat: in its piece, and in its request
  logic [63:0] mem[TAGS*(SLOT/8)];
  logic [63:0] read;
  logic        bad;
  /* verilator lint_off PINCONNECTEMPTY */
  fifo #(.W(T + S + 3), .DEPTH(TAGS)) u_order (
      .clk, .rst(rst || core), .wr_valid(asks), .wr_ready(order_room),
      .wr_data({piece_none, piece_last, piece_tag, piece_quads}), .rd_valid(queued), .rd_ready(piece_ends),
      .rd_data(now), .level()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign arrived    = queued && (now.none || (!waiting[now.tag] && !(st_valid && st_tag == now.tag) &&
      !(np_valid && np_tag == now.tag)));
  assign pop        = arrived && (!s_rvalid || s_rready);
  assign piece_ends = pop && at == now.quads - 1'b1;
  assign read_tag   = now.tag;
  assign read_out   = !now.none && (HOLD == 0 ? piece_ends : pop && of_tag == read_size - 1'b1);
  always_ff @(posedge clk) begin
    // What ends is known last: by and/or, not by an enable or a reset.
    at     <= (at + (S + 1)'(pop)) & {S + 1{!rst && !core && !piece_ends}};
    of_tag <= (of_tag + (S + 1)'(pop && !now.none)) & {S + 1{!rst && !core && !read_out}};
    if (rst || core) s_rvalid <= 1'b0;
    else if (pop) s_rvalid <= 1'b1;
    else if (s_rready) s_rvalid <= 1'b0;
    if (pop) begin
      bad     <= now.none || resting[now.tag];
      s_rlast <= piece_ends && now.last;
    end
  end
  always_ff @(posedge clk) begin
    if (wr_valid) mem[{wr_tag, wr_at}] <= wr_data;
    if (pop) read <= mem[{now.tag, of_tag[S-1:0]}];
  end
  assign s_rdata = bad ? '0 : read;
  assign s_rresp = {bad, 1'b0};
endmodule
