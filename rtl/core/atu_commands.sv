// atu_commands: flush and fence, done in order, each told by a write to host memory.
//
// Job: a flush makes the TLB forget in one cycle; a fence waits until every access that was translated or wanted a
//   translation when it began has ended. Then the command's number, from 1, goes to the address that was set.
// Handshake: start while ready; AXI4 write master, one quadword.
// Back-pressure: one command at a time. An access ends within its DMA, so a fence does too.
module atu_commands #(
    parameter int N = 4
) (
    input  logic         clk,
    input  logic         rst,
    output logic         ready,
    input  logic         start,
    input  logic [63:0]  command,    // as register ATU_COMMAND
    input  logic [63:0]  done_addr,
    input  logic [N-1:0] hold,       // clients of the ATU that use an address
    output logic         flush_page,
    output logic         flush_vpid,
    output logic         flush_all,
    output logic [3:0]   flush_table,
    output logic [23:0]  flush_number,
    output logic [3:0]   flush_owner,
    output logic         m_awvalid,
    input  logic         m_awready,
    output logic [63:0]  m_awaddr,
    output logic [7:0]   m_awlen,
    output logic         m_wvalid,
    input  logic         m_wready,
    output logic [63:0]  m_wdata,
    output logic [7:0]   m_wstrb,
    output logic         m_wlast,
    input  logic         m_bvalid,
    output logic         m_bready,
    output logic [31:0]  count,      // commands done
    output logic         active
);
  localparam logic [1:0] IDLE = 2'd0, WAIT = 2'd1, WRITE = 2'd2, ANSWER = 2'd3;
  logic [1:0]   state;
  logic [N-1:0] waits;     // still to end before the fence is done
  logic [60:0]  to;
  logic         aw_sent, w_sent, aw_done, w_done;
  logic [3:0]   op;
  assign op           = command[nicloop_pkg::ATU_COMMAND_COMMAND_LSB+:4];
  assign ready        = state == IDLE;
  assign flush_page   = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_PAGE);
  assign flush_vpid   = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_VPID);
  assign flush_all    = start && op == 4'(nicloop_pkg::ATU_OP_FLUSH_ALL);
  assign flush_table  = command[nicloop_pkg::ATU_COMMAND_TABLE_LSB+:4];
  assign flush_number = command[nicloop_pkg::ATU_COMMAND_PAGE_LSB+:24];
  assign flush_owner  = command[nicloop_pkg::ATU_COMMAND_VPID_LSB+:4];

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
      count <= '0;
    end else
      case (state)
        IDLE: if (start) state <= WAIT;
        WAIT: if (waits == '0) state <= WRITE;
        WRITE: if (aw_done && w_done) state <= ANSWER;
        default:
          if (m_bvalid) begin
            state <= IDLE;
            count <= count + 1'b1;
          end
      endcase
  end
  always_ff @(posedge clk) begin
    if (state == IDLE) begin
      waits <= op == 4'(nicloop_pkg::ATU_OP_FENCE) ? hold : '0;
      to    <= done_addr[63:3];
    end else begin
      waits <= waits & hold;
    end
    aw_sent <= state == WRITE && aw_done;
    w_sent  <= state == WRITE && w_done;
  end
  assign m_awvalid = state == WRITE && !aw_sent;
  assign m_awaddr  = {to, 3'h0};
  assign m_awlen   = 8'd0;
  assign m_wvalid  = state == WRITE && !w_sent;
  assign m_wdata   = 64'(count) + 64'd1;
  assign m_wstrb   = 8'hff;
  assign m_wlast   = 1'b1;
  assign m_bready  = state == ANSWER;
  assign aw_done   = aw_sent || m_awready;
  assign w_done    = w_sent || m_wready;
  assign active    = state != IDLE || start;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!start || ready) else $error("atu_commands %m: a command while another is under way");
`endif
endmodule
