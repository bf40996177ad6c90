// uart_crc: CRC-32 (IEEE 802.3, reflected) of one byte of a frame.
//
// Job: crc_out = the CRC register after the byte, least significant bit first. Who uses it starts
//   with all ones; what is sent is the register inverted, from its lowest byte on.
// Handshake: none, combinational.
module uart_crc (
    input  logic [31:0] crc_in,
    input  logic [7:0]  data,
    output logic [31:0] crc_out
);
  always_comb begin
    crc_out = crc_in ^ {24'h0, data};
    for (int i = 0; i < 8; i++) crc_out = crc_out[0] ? (crc_out >> 1) ^ 32'hedb88320 : crc_out >> 1;
  end
endmodule
