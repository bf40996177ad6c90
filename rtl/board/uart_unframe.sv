// uart_unframe: frames out of the bytes of a serial line.
//
// Job: takes away flags and escapes (7e, 7d, as in RFC 1662), checks the CRC-32 at the end, and
//   puts what stood before it into a buffer of quadwords that its user reads: quadword 0 is the
//   header, the others are data. What is longer than the buffer, broken, no whole quadwords or
//   damaged is dropped; the next flag begins anew.
// Handshake: got rises when a frame stands in the buffer and stays until release_frame; words says
//   how many quadwords of data it has. rd_data is the quadword rd_index of the cycle before.
// Backpressure: none towards the line: what comes while got is high is dropped, up to the first
// flag after it.
module uart_unframe #(
    parameter int WORDS = 16  // of data
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        valid,
    input  logic [7:0]  data,
    input  logic        broken,
    output logic        got,
    output logic [4:0]  words,
    input  logic        release_frame,
    input  logic [4:0]  rd_index,
    output logic [63:0] rd_data
);
  localparam logic [7:0]  FLAG = 8'h7e, ESCAPE = 8'h7d, TURNED = 8'h20;
  localparam logic [31:0] RESIDUE = 32'hdebb20e3;  // of the CRC over a body with its own CRC behind it
  localparam int          LONGEST = 8 + 8 * WORDS + 4;

  // read when a frame is there; the CRC of the longest frame needs half a quadword
  (* no_rw_check *) logic [63:0] buffer[WORDS+2];
  logic [55:0] part;             // of the quadword that comes
  logic [7:0]  count;            // bytes since the flag
  logic [31:0] crc, next_crc;
  logic        escaped, bad;

  logic        body;
  logic [7:0]  value;
  assign body  = valid && data != FLAG && data != ESCAPE && !got;
  assign value = escaped ? data ^ TURNED : data;
  uart_crc u_crc (.crc_in(crc), .data(value), .crc_out(next_crc));

  always_ff @(posedge clk) begin
    rd_data <= buffer[rd_index];
    if (body && count[2:0] == 3'd7 && count < 8'(LONGEST)) buffer[count[7:3]] <= {value, part};
    if (body) part <= {value, part[55:8]};
  end

  always_ff @(posedge clk) begin
    if (rst || got && !release_frame) begin
      bad     <= 1'b1;  // in the middle of something, or of nothing: a flag comes first
      escaped <= 1'b0;
      if (rst) got <= 1'b0;
    end else begin
      got <= 1'b0;
      if (broken) bad <= 1'b1;
      if (body) begin
        crc     <= next_crc;
        count   <= count + 8'd1;
        escaped <= 1'b0;
        if (count >= 8'(LONGEST)) begin
          count <= count;
          bad   <= 1'b1;
        end
      end
      if (valid && data == ESCAPE) escaped <= 1'b1;
      if (valid && data == FLAG) begin
        got     <= !bad && !escaped && count >= 8'd12 && count[2:0] == 3'd4 && crc == RESIDUE;
        words   <= 5'(count[7:3] - 5'd1);
        bad     <= 1'b0;
        escaped <= 1'b0;
        count   <= 8'd0;
        crc     <= '1;
      end
    end
  end
endmodule
