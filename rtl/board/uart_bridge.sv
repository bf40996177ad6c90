// uart_bridge: registers, send windows and memory of a board over a serial line.
//
// Job: does what the frames of drivers/uart ask for, one at a time, and answers each. An access
//   that comes again with the sequence number of the one before was answered in vain: it is
//   answered as then and not done again, whether it reads or writes, since a read may count, and a
//   register may change between two. Any other request forgets that number. Quadwords of memory are
//   read from the last to the first and sent so: who sees the last word of a slot, which the NIC
//   writes last, sees all of it.
// Handshake: an AXI4-Lite master of 64 bits, one access at a time; the upper two bits of an address
//   are the space: 0 registers, 1 send windows, 2 memory. Address and data stand until the next
//   access begins, which is behind the answer. An access that has no answer after PATIENCE cycles
//   is told as status 6, and so is all that follows until the answer has come.
// Backpressure: a frame that comes before the answer to the last has left is dropped; its sender
// tries again.
module uart_bridge #(
    parameter int WORDS    = 16,
    parameter int PATIENCE = 65536
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [15:0] divisor,  // cycles per bit, 8 or more
    input  logic        rx,
    output logic        tx,
    output logic        m_awvalid,
    input  logic        m_awready,
    output logic [41:0] m_awaddr,
    output logic        m_wvalid,
    input  logic        m_wready,
    output logic [63:0] m_wdata,
    input  logic        m_bvalid,
    output logic        m_bready,
    input  logic [1:0]  m_bresp,
    output logic        m_arvalid,
    input  logic        m_arready,
    output logic [41:0] m_araddr,
    input  logic        m_rvalid,
    output logic        m_rready,
    input  logic [63:0] m_rdata,
    input  logic [1:0]  m_rresp
);
  localparam logic [63:0] GREETING = {8'(WORDS), 8'd1, "t", "r", "a", "u", "l", "n"};
  localparam logic [7:0]  HELLO = 8'h01;
  localparam logic [7:0]  OK = 8'd0, UNKNOWN = 8'd4, LENGTH = 8'd5, STUCK = 8'd6;

  logic        in_valid, in_broken, out_valid, out_ready;
  logic [7:0]  in_data, out_data;
  uart_rx u_rx (.clk, .rst, .divisor, .rx, .valid(in_valid), .data(in_data), .broken(in_broken));
  uart_tx u_tx (.clk, .rst, .divisor, .valid(out_valid), .ready(out_ready), .data(out_data), .tx);

  logic        got, answered;
  logic [4:0]  got_words, rd_index, at, tx_index;
  logic [63:0] rd_data;
  uart_unframe #(.WORDS(WORDS)) u_unframe (
      .clk, .rst, .valid(in_valid), .data(in_data), .broken(in_broken), .got, .words(got_words),
      .release_frame(answered), .rd_index, .rd_data
  );

  // ---- what is asked for ----
  typedef enum logic [2:0] {LISTEN, HEADER, JUDGE, ASK, BUS, ANSWER, SEND} state_t;
  state_t      state;
  logic [63:0] header;
  logic [7:0]  seq, op, count, status;
  logic [39:0] addr;
  logic        is_read, is_write;
  assign {addr, count, op, seq} = header;
  assign is_read  = op == 8'h10 || op == 8'h12;
  assign is_write = op[7:4] == 4'h2 && op[3:0] <= 4'd2;

  logic        last_valid;
  logic [23:0] last;  // count, op and seq
  logic [7:0]  last_status;
  logic        again;
  assign again = last_valid && last == header[23:0];

  // ---- one access ---- A channel's valid falls when it was taken; owed: an access has begun and
  // its answer has not come.
  logic                        owed, begin_read, begin_write, came, patient;
  logic [1:0]                  resp;
  logic [39:0]                 access_addr;
  logic [$clog2(PATIENCE)-1:0] waited;
  assign access_addr = addr + {32'h0, 5'(op == 8'h12 ? 5'(count) - 5'd1 - at : at), 3'b000};
  assign begin_read  = state == ASK && is_read;
  assign begin_write = state == ASK && is_write;
  assign came        = m_bvalid && m_bready || m_rvalid && m_rready;
  assign resp        = m_bvalid ? m_bresp : m_rresp;
  assign m_araddr    = m_awaddr;  // one access at a time
  assign m_bready    = 1'b1;
  assign m_rready    = 1'b1;
  assign patient     = waited != $clog2(PATIENCE)'(PATIENCE - 1);
  always_ff @(posedge clk) begin
    if (rst) begin
      m_awvalid <= 1'b0;
      m_wvalid  <= 1'b0;
      m_arvalid <= 1'b0;
      owed      <= 1'b0;
    end else begin
      if (begin_write || m_awready) m_awvalid <= begin_write;
      if (begin_write || m_wready) m_wvalid <= begin_write;
      if (begin_read || m_arready) m_arvalid <= begin_read;
      owed <= begin_read || begin_write || owed && !came;
    end
    if (begin_write) m_wdata <= rd_data;
    if (begin_read || begin_write) m_awaddr <= {op[1:0], access_addr};
    waited <= state == BUS ? waited + 1'b1 : '0;
  end

  // ---- answers ----
  (* no_rw_check *) logic [63:0] data[WORDS+1];  // 1 is the first; sent when all are there
  logic [63:0] tx_data;
  logic [4:0]  tx_words;
  logic        start, tx_idle;
  always_ff @(posedge clk) begin
    if (state == BUS && m_rvalid) data[at + 5'd1] <= m_rdata;
    else if (state == JUDGE && op == HELLO) data[1] <= GREETING;
    tx_data <= data[tx_index];
  end
  assign start    = state == ANSWER;
  assign tx_words = status != OK ? 5'd0 : op == HELLO ? 5'd1 : is_read ? 5'(count) : 5'd0;
  uart_frame u_frame (
      .clk, .rst, .start, .idle(tx_idle), .header({addr, status, op | 8'h80, seq}), .words(tx_words),
      .rd_index(tx_index), .rd_data(tx_data), .valid(out_valid), .ready(out_ready), .data(out_data)
  );
  assign answered = state == SEND && tx_idle;
  assign rd_index = state == LISTEN ? 5'd0 : at + 5'd1 + 5'(state == BUS);

  always_ff @(posedge clk) begin
    if (rst) begin
      state      <= LISTEN;
      last_valid <= 1'b0;
    end else begin
      case (state)
        LISTEN: if (got) state <= HEADER;
        HEADER: begin
          header <= rd_data;
          at     <= 5'd0;
          status <= OK;
          state  <= JUDGE;
        end
        JUDGE: begin
          state <= ANSWER;
          if (op == HELLO) state <= ANSWER;
          else if (!is_read && !is_write) status <= UNKNOWN;
          else if (count == 8'd0 || count > 8'(WORDS) || got_words != (is_write ? 5'(count) : 5'd0)) status <= LENGTH;
          else if (again) status <= last_status;
          else if (owed) status <= STUCK;
          else state <= ASK;
        end
        ASK: state <= BUS;
        BUS:
        if (came) begin
          at    <= at + 5'd1;
          state <= resp == 2'b00 && 8'(at) + 8'd1 != count ? ASK : ANSWER;
          if (resp != 2'b00) status <= {6'd0, resp};
        end else if (!patient) begin
          status <= STUCK;
          state  <= ANSWER;
        end
        ANSWER: begin
          state <= SEND;
          // Who asks for something else has had the answer to the access before it, and may use
          // that's number again.
          last_valid  <= (is_read || is_write) && status != LENGTH;
          last        <= header[23:0];
          last_status <= status;
        end
        default: if (tx_idle) state <= LISTEN;
      endcase
    end
  end
endmodule
