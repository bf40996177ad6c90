// link_crc_serial: the CRC of a link word is that of the shift register in IEEE 802.3, one bit at a
// time, and no error of one or two bits in a word or its CRC goes unnoticed.
//
// link_crc multiplies by a matrix; the shift register here is written without it. Both halves of a
// link use the same block, so a bit that both leave out is invisible to a link bench unless that
// very bit is corrupted.
module link_crc_serial #(
    parameter int CTRL_W = 64,
    localparam int N     = 64 + CTRL_W,
    localparam int BIT_W = $clog2(N + 32)
) (
    input logic              clk,
    input logic [63:0]       data,
    input logic [CTRL_W-1:0] ctrl,
    input logic [BIT_W-1:0]  first,
    input logic [BIT_W-1:0]  second
);
  logic [31:0] crc, crc_of_error;
  logic [N-1:0] word, word_error;
  logic [31:0]  crc_error, register;
  link_crc #(.CTRL_W(CTRL_W)) u_word (.enable(1'b1), .data, .ctrl, .crc);
  assign word = {ctrl, data};

  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;

  // Bits enter from data[0] to ctrl[CTRL_W-1]. The register starts with ones and leaves inverted.
  always_comb begin
    register = '1;
    for (int i = 0; i < N; i++) register = {1'b0, register[31:1]} ^ (register[0] ^ word[i] ? 32'hedb88320 : 32'h0);
  end
  always_comb if (started) assert (crc == ~register);

  // One wrong bit (both positions are the same) or two, in the word, in its CRC, or in both.
  assign {crc_error, word_error} = (N + 32)'(1) << first | (N + 32)'(1) << second;
  link_crc #(.CTRL_W(CTRL_W)) u_error (.enable(1'b1), .data(data ^ word_error[63:0]), .ctrl(ctrl ^ word_error[N-1:64]),
      .crc(crc_of_error));
  always_comb
    if (started && first < BIT_W'(N + 32) && second < BIT_W'(N + 32)) assert (crc_of_error != (crc ^ crc_error));

  always_ff @(posedge clk) begin
    cover (started && crc[0] && !crc[31]);
    cover (started && first < BIT_W'(N) && second >= BIT_W'(N) && second < BIT_W'(N + 32));
  end
endmodule
