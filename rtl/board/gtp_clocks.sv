// gtp_clocks: the user clocks of one direction of a GTP with four characters per cycle.
//
// Job: from the transceiver's 250 MHz output clock makes usr of the same rate and usr2 of half of
//   it, with aligned edges, as UG482 asks for when the fabric takes twice the characters of the
//   transceiver's inner data path.
// Handshake: clocks; they mean nothing until locked.
// Backpressure: none.
module gtp_clocks (
    input  logic in,
    output logic usr,
    output logic usr2,
    output logic locked
);
  logic in_buffered, feedback, fast, slow;
  BUFG u_in (.I(in), .O(in_buffered));
  /* verilator lint_off PINMISSING */
  MMCME2_BASE #(
      .CLKIN1_PERIOD(4.0), .CLKFBOUT_MULT_F(4.0), .DIVCLK_DIVIDE(1), .CLKOUT0_DIVIDE_F(4.0), .CLKOUT1_DIVIDE(8)
  ) u_mmcm (
      .CLKIN1(in_buffered), .CLKFBIN(feedback), .CLKFBOUT(feedback), .RST(1'b0), .PWRDWN(1'b0), .CLKOUT0(fast),
      .CLKOUT1(slow), .LOCKED(locked)
  );
  /* verilator lint_on PINMISSING */
  BUFG u_usr (.I(fast), .O(usr));
  BUFG u_usr2 (.I(slow), .O(usr2));
endmodule
