// uart_tx: bytes to a serial line, 8N1.
//
// Job: sends start bit, eight bits from the lowest on, stop bit, each divisor cycles long.
// Handshake: valid/ready; tx is a register and rests at 1.
// Backpressure: ready is low while a byte is on the line.
module uart_tx (
    input  logic        clk,
    input  logic        rst,
    input  logic [15:0] divisor,  // cycles per bit
    input  logic        valid,
    output logic        ready,
    input  logic [7:0]  data,
    output logic        tx
);
  logic [8:0]  shift;  // what follows the bit on the line
  logic [3:0]  bits;   // left, with the one on the line
  logic [15:0] wait_cycles;
  assign ready = bits == 4'd0;

  always_ff @(posedge clk) begin
    if (rst) begin
      bits <= 4'd0;
      tx   <= 1'b1;
    end else if (ready) begin
      wait_cycles <= divisor - 16'd1;
      if (valid) begin
        tx    <= 1'b0;
        shift <= {1'b1, data};
        bits  <= 4'd10;
      end
    end else if (wait_cycles != 16'd0) begin
      wait_cycles <= wait_cycles - 16'd1;
    end else begin
      wait_cycles <= divisor - 16'd1;
      bits        <= bits - 4'd1;
      tx          <= shift[0];
      shift       <= {1'b1, shift[8:1]};
    end
  end
endmodule
