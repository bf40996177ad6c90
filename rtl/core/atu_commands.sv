// atu_commands: flush and fence, executed in order, each reported by a write to host memory.
//
// Job: a flush clears the TLB in one cycle; a fence waits until every access that was translated or
//   had requested a translation when it began has ended. Then the numbers of completed and refused
//   commands are written to the address that was set when the command arrived; if none was set,
//   nothing is written.
// Handshake: put at any time queues a command, or refuses and counts it when the queue is full;
//   AXI4 write master, one quadword. fence is a pulse: hold refers to the accesses before it.
// Backpressure: none towards registers. A command waits only for outstanding accesses and for the
//   memory: an access starts only when its end depends on nothing but the memory.
module atu_commands #(
    parameter int N = 4,
    parameter int DEPTH = nicloop_pkg::ATU_COMMANDS,
    localparam int LEVEL_W = $clog2(DEPTH + 2)
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               put,
    input  logic [63:0]        command,    // as register ATU_COMMAND
    input  logic               done_set,   // done_addr was written
    input  logic [63:0]        done_addr,
    input  logic [N-1:0]       hold,       // clients of the ATU that use an address
    output logic               fence,
    output logic               flush_page,
    output logic               flush_vpid,
    output logic               flush_all,
    output logic [3:0]         flush_table,
    output logic [23:0]        flush_number,
    output logic [3:0]         flush_owner,
    output logic               m_awvalid,
    input  logic               m_awready,
    output logic [63:0]        m_awaddr,
    output logic [7:0]         m_awlen,
    output logic               m_wvalid,
    input  logic               m_wready,
    output logic [63:0]        m_wdata,
    output logic [7:0]         m_wstrb,
    output logic               m_wlast,
    input  logic               m_bvalid,
    output logic               m_bready,
    input  logic [1:0]         m_bresp,
    output logic [31:0]        count,      // commands done
    output logic [31:0]        refused,    // commands refused
    output logic [31:0]        errors,     // writes that the memory refused
    output logic [LEVEL_W-1:0] queued,
    output logic               active
);
  localparam int W = 4 + 4 + 4 + 24;
  localparam logic [1:0] IDLE = 2'd0, WAIT = 2'd1, WRITE = 2'd2, ANSWER = 2'd3;
  logic [1:0]   state;
  logic [N-1:0] waits;     // still to end before the fence is done
  logic [60:0]  to, head_to;
  logic [31:0]  told;      // of refused, as the write shows it
  logic [3:0]   op;
  logic         room, have, start, tells, head_tells, ended, aw_sent, w_sent, aw_done, w_done;

  fifo #(.W(W + 62), .DEPTH(DEPTH)) u_queue (
      .clk, .rst, .wr_valid(put), .wr_ready(room),
      .wr_data({done_set, done_addr[63:3], command[nicloop_pkg::ATU_COMMAND_PAGE_LSB+:24],
                command[nicloop_pkg::ATU_COMMAND_VPID_LSB+:4],
                command[nicloop_pkg::ATU_COMMAND_TABLE_LSB+:4], command[nicloop_pkg::ATU_COMMAND_COMMAND_LSB+:4]}),
      .rd_valid(have), .rd_ready(state == IDLE),
      .rd_data({head_tells, head_to, flush_number, flush_owner, flush_table, op}), .level(queued)
  );
  assign start      = have && state == IDLE;
  assign flush_page = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_PAGE);
  assign flush_vpid = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_VPID);
  assign flush_all  = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_ALL);
  assign fence      = start && op == 4'(nicloop_pkg::ATU_OP_FENCE);
  assign ended      = (state == WAIT && waits == '0 && !tells) || (state == ANSWER && m_bvalid);

  always_ff @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: if (start) state <= WAIT;
        WAIT: if (waits == '0) state <= tells ? WRITE : IDLE;
        WRITE: if (aw_done && w_done) state <= ANSWER;
        default: if (m_bvalid) state <= IDLE;
      endcase
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      count   <= '0;
      refused <= '0;
      errors  <= '0;
    end else begin
      if (ended) count <= count + 1'b1;
      if (put && !room) refused <= refused + 1'b1;
      if (m_bready && m_bvalid && m_bresp != 2'b00) errors <= errors + 1'b1;
    end
  end
  always_ff @(posedge clk) begin
    if (state == IDLE) begin
      waits <= fence ? hold : '0;
      to    <= head_to;
      tells <= head_tells;
    end else begin
      waits <= waits & hold;
    end
    if (state == WAIT) told <= refused;
    aw_sent <= state == WRITE && aw_done;
    w_sent  <= state == WRITE && w_done;
  end
  assign m_awvalid = state == WRITE && !aw_sent;
  assign m_awaddr  = {to, 3'h0};
  assign m_awlen   = 8'd0;
  assign m_wvalid  = state == WRITE && !w_sent;
  assign m_wdata   = {told, count + 32'd1};
  assign m_wstrb   = 8'hff;
  assign m_wlast   = 1'b1;
  assign m_bready  = state == ANSWER;
  assign aw_done   = aw_sent || m_awready;
  assign w_done    = w_sent || m_wready;
  assign active    = state != IDLE || have || put;

`ifndef SYNTHESIS
  if (nicloop_pkg::ATU_COMPLETION_DONE_LSB != 0 || nicloop_pkg::ATU_COMPLETION_REFUSED_LSB != 32)
    $fatal(1, "atu_commands: format atu_completion has changed");
`endif
endmodule
