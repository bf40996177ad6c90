// Package axihost names the registers around a NIC behind AXI in a simulation (rtl:?bus=axi,
// rtl/sim/axi_host.sv): the board's own page, which a board with rtl/board/nic_axi.sv has too, and
// what stands for its function-level reset.
//
// They are reached as those of the NIC are, and are no part of its description: another device
// answers them with an error. They are read and written whole, two registers of 32 bits at a time.
//
// The caller must expect what a host must: while the core is reset its registers, and pieces of
// lines, are refused with SLVERR, and what was under way is lost.
package axihost
