// Package pcie reaches the registers and send windows of a board in a PCIe slot through the files that Linux has for its BARs: no driver, no
// module, nothing to install. It is for bring-up: the NIC finds no memory of a program this way.
//
//	pcie:0000:03:00.0
//	pcie:0000:03:00.0,0000:04:00.0      two boards, nodes 0 and 1
//
// # What it promises
//
//   - A board that a driver has is left alone, and nothing is used before MAGIC and DESC_HASH are ours. A device that is off is switched on, and off again
//     by Close.
//   - Registers are read and written whole. Writes are posted: nobody hears of one that was refused, but BAD_ACCESS counts it. Outside the map, and where
//     all bits read as one although nothing is there, the error is a drivers.BusError; a board that reads as ones everywhere has died (drivers.ErrPeerDied).
//   - There is no memory, and so no DMA, no waits, no interrupts: Capabilities say so.
//
// # What the caller must do
//
// Be root, or own the files resource0, resource2 and enable of the device. Device numbers: package scan.
package pcie
