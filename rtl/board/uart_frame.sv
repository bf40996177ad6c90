// uart_frame: a frame onto a serial line.
//
// Job: sends flag, header, words quadwords of data, CRC-32, flag; flags and escapes inside are
// stuffed. Handshake: start for one cycle while idle; header and words stay until idle again.
// rd_index asks for a quadword of
//   data, rd_data gives it in the next cycle and as long as it is asked for. valid/ready of bytes.
// Backpressure: waits for ready.
module uart_frame (
    input  logic        clk,
    input  logic        rst,
    input  logic        start,
    output logic        idle,
    input  logic [63:0] header,
    input  logic [4:0]  words,
    output logic [4:0]  rd_index,  // 1 is the first of data
    input  logic [63:0] rd_data,
    output logic        valid,
    input  logic        ready,
    output logic [7:0]  data
);
  localparam logic [7:0] FLAG = 8'h7e, ESCAPE = 8'h7d, TURNED = 8'h20;

  typedef enum logic [2:0] {IDLE, FIRST, BODY, CHECK, LAST} state_t;
  state_t      state;
  logic [7:0]  at;       // byte of header and data
  logic [31:0] crc, next_crc;
  logic        escaped;  // the escape has been sent, the byte itself has not
  logic [7:0]  value;
  logic [63:0] word;
  logic        stuffed, step;

  assign idle     = state == IDLE;
  assign rd_index = at[7:3];
  assign word     = at[7:3] == 5'd0 ? header : rd_data;
  assign value    = state == CHECK ? ~crc[7:0] : word[{at[2:0], 3'b000}+:8];
  uart_crc u_crc (.crc_in(crc), .data(value), .crc_out(next_crc));
  assign stuffed  = value == FLAG || value == ESCAPE;
  // The first byte of a quadword waits for a cycle: rd_data is that of the one before.
  logic fresh;
  assign valid = state == FIRST || state == LAST || state == CHECK || state == BODY && fresh;
  always_comb begin
    data = FLAG;
    if (state == BODY || state == CHECK) data = !stuffed ? value : escaped ? value ^ TURNED : ESCAPE;
  end
  assign step = valid && ready && (!stuffed || escaped);

  always_ff @(posedge clk) begin
    fresh <= !(state == BODY && step && at[2:0] == 3'd7);
    if (rst) begin
      state <= IDLE;
    end else begin
      case (state)
        IDLE: begin
          at      <= 8'd0;
          crc     <= '1;
          escaped <= 1'b0;
          if (start) state <= FIRST;
        end
        FIRST: if (ready) state <= BODY;
        BODY: begin
          if (valid && ready) escaped <= stuffed && !escaped;
          if (step) begin
            crc <= next_crc;
            at  <= at + 8'd1;
            if (at == {words, 3'd7}) begin
              state <= CHECK;
              at    <= 8'd0;
            end
          end
        end
        CHECK: begin
          if (ready) escaped <= stuffed && !escaped;
          if (step) begin
            crc <= crc >> 8;
            at  <= at + 8'd1;
            if (at[1:0] == 2'd3) state <= LAST;
          end
        end
        default: if (ready) state <= IDLE;
      endcase
    end
  end
endmodule
