// ice40_lut: a look-up table of an iCE40, for the simulation of a netlist.
//
// Job: the function of yosys' model of SB_LUT4, as one indexed constant. Verilator turns that
//   model, a tree of selections, into branches that a processor cannot predict; with this one the
//   netlist of the small board runs 12 times as fast. TestLUTModel proves that both are equal.
module ice40_lut #(
    parameter logic [15:0] LUT_INIT = '0
) (
    input  logic I0,
    input  logic I1,
    input  logic I2,
    input  logic I3,
    output logic O
);
  assign O = LUT_INIT[{I3, I2, I1, I0}];
endmodule
