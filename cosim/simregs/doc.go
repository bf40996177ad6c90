// Package simregs names the registers that a simulation has beside those of the NIC. They are
// accessed like NIC registers, whole, and another device answers them with an error.
//
// The registers AXI… surround a NIC behind AXI (rtl:?bus=axi, rtl/sim/axi_host.sv): the page of the
// board, which rtl/board/nic_axi.sv has too, and a function-level reset. While the core is reset,
// accesses to it are answered with SLVERR, and operations in progress are lost.
//
// The registers Root… belong to the root complex at the other end of a node's PCIe
// (rtl:?bus=pcie, rtl/sim/root_complex.sv): what it has observed, and faults for tests, drawn with
// bus_seed. Writes to a removed NIC are lost without an error, as is everything in progress when it
// is reset.
package simregs
