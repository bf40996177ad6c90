// Package drivers defines the interface between host software and a NIC: Verilated RTL, a Go model,
// a board or a recorded log. Package registry opens a URI, which gives a [System] of one or more
// nodes; a [Device] is one NIC.
//
// Software refers to memory by offset, the NIC by device address ([Address]). The caller controls
// the clock of a [Timed] system: time passes only in Run and ReadReg. Read memory that the NIC
// writes only after a notification (a watch, an interrupt, an atomically read slot header). Use a
// System from one goroutine unless it has [CanFreeRun]; Close may be called from any.
package drivers
