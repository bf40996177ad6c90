// Package drivers is the line between host software and whatever stands in for
// the NIC: Verilated RTL, a model, a board, or a recorded log.
//
// # What it promises
//
//   - A [Device] is one NIC as the software of its node sees it: registers, the
//     VELO send window, DMA memory. Nothing above this package can tell which
//     body is behind it. What it can do is asked once ([Options].Needs), not found out in the middle.
//   - Software finds memory by offset, the NIC by address: [Address] is the way from one to the other.
//   - [Device].Await waits for a write of the NIC or an interrupt, and misses none.
//   - A [System] is what a URI opens: one device (a board) or all the nodes of a
//     simulated machine. [Timed] systems hand the clock to their caller: time
//     passes in Run and ReadReg only, so results depend on the calls alone and
//     never on how fast anybody ran.
//   - Every failure is typed (see errors.go) and works with errors.Is and errors.As.
//
// # What the caller must do
//
//   - Use a System from one goroutine at a time, unless it can CanRunAlone; Close may be called from any.
//   - Read DMA memory that the NIC writes only after it was told to (a watch, an
//     interrupt, a slot header read atomically): the simulator is another process.
//   - Close the System. After Close every call returns [ErrClosed].
//
// Backends register a URI scheme with [Register]; the command imports those it
// ships. Unknown schemes and unknown URI keys are errors that name the nearest
// valid one.
package drivers
