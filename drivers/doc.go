// Package drivers defines the interface between host software and a NIC. Every implementation of
// the NIC is a backend behind it: Verilated RTL, a Go model, a board, or a recorded log.
//
// # Guarantees
//
//   - A [Device] is one NIC as the software of its node sees it: registers, the VELO send window
//     and DMA memory. Software above this package does not depend on the backend. It states the
//     capabilities that it needs once, when it opens a device ([Options].Needs).
//   - Software refers to memory by offset, the NIC by device address; [Address] converts.
//   - [Device].Await waits for a DMA write or an interrupt and never misses one.
//   - A [System] is what [Open] returns for a URI: one device (a board) or all nodes of a simulated
//     machine. The caller of a [Timed] system controls its clock: time passes only in Run and
//     ReadReg, so results depend on the sequence of calls and not on wall-clock speed.
//   - Every error has a type or a sentinel (errors.go) and works with errors.Is and errors.As.
//
// # Obligations of the caller
//
//   - Use a System from one goroutine at a time unless it has CanFreeRun. Close may be called from
//     any goroutine.
//   - Read DMA memory that the NIC writes only after a notification (a watch, an interrupt, or a
//     slot header that is read atomically): the simulator is another process.
//   - Close the System. After Close, every call returns [ErrClosed].
//
// Backends register a URI scheme with [Register]; a program imports the backends that it ships.
// An unknown scheme or URI key is an error that suggests the nearest valid one.
package drivers
