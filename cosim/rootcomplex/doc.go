// Package rootcomplex names the registers of the root complex that stands at the other end of a
// node's PCIe in a simulation (rtl:?bus=pcie, rtl/sim/root_complex.sv): what it has seen, and
// faults that a test asks for.
//
// They are reached as those of the NIC are, but no TLP leaves for them, and they are no part of its
// description: a board has none, and a device without PCIe answers them with an error. They are
// read and written whole. Faults are drawn with bus_seed.
//
// The caller must expect what a host must: writes to a NIC that is gone are lost without a word,
// and what is under way when it is reset is lost too.
package rootcomplex
