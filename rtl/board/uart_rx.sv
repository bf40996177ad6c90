// uart_rx: bytes from a serial line, 8N1.
//
// Job: finds a start bit, looks at every bit in its middle, gives the byte when the stop bit is
//   right. A bit is divisor cycles long; what the line is said to be is what two of its last three
//   samples say, so a spike of a cycle is not seen.
// Handshake: valid for one cycle with a byte, broken for one cycle instead of it when the stop bit
// is wrong. Backpressure: none; a line does not wait.
//
//   line   ‾‾\____/ b0 X b1 X … X b7 /‾‾‾‾
//             |  ^    ^    ^        ^  ^ stop bit: valid
//             start: divisor/2 later it must still be low
module uart_rx (
    input  logic        clk,
    input  logic        rst,
    input  logic [15:0] divisor,  // cycles per bit, 8 or more
    input  logic        rx,
    output logic        valid,
    output logic [7:0]  data,
    output logic        broken
);
  logic [4:0]  samples;  // the newest in bit 0; two of them make what comes from another clock safe
  logic        level;
  logic        busy;
  logic [15:0] wait_cycles;
  logic [3:0]  bits;  // left, with start and stop bit
  assign level = samples[2] && samples[3] || samples[3] && samples[4] || samples[2] && samples[4];

  always_ff @(posedge clk) begin
    samples <= {samples[3:0], rx};
    valid   <= 1'b0;
    broken  <= 1'b0;
    if (rst) begin
      samples <= '1;
      busy    <= 1'b0;
    end else if (!busy) begin
      busy        <= !level;
      bits        <= 4'd9;
      wait_cycles <= {1'b0, divisor[15:1]};
    end else if (wait_cycles != 16'd0) begin
      wait_cycles <= wait_cycles - 16'd1;
    end else begin
      wait_cycles <= divisor - 16'd1;
      bits        <= bits - 4'd1;
      data        <= {level, data[7:1]};
      if (bits == 4'd9 && level) busy <= 1'b0;  // a spike, no start bit
      if (bits == 4'd0) begin
        data   <= data;
        busy   <= 1'b0;
        valid  <= level;
        broken <= !level;
      end
    end
  end
endmodule
