// Package bridge runs a simulator process (built by package build) and communicates with it: posted
// accesses, watches and "run until" over a Unix socket, DMA memory and counters through shared
// memory. Alternatively the model is in this process ([Config].Inside, package inside) and executes
// the same messages as a function call.
//
// # Guarantees
//
//   - Time advances only in [Session.Run] and [Session.ReadReg], and results depend only on the
//     calls. Posted commands are batched and sent in one message with the next Run or ReadReg, or
//     when a message is full.
//   - Run stops in the exact cycle of the event. All events of that cycle are returned together, in
//     order of (node, kind, id). A condition that is met during ReadReg is reported by the next
//     Run, which then takes no time.
//   - Quiet ends a Run without deadline: nothing has moved for 16 cycles, and no posted command can
//     start (a command behind an access that the NIC stalls cannot).
//   - A refused posted access is a *drivers.BusError, a DMA write outside memory a
//     *drivers.DMAError. Both stop Run in their cycle, and the session continues. It ends with the
//     first ErrPeerDied, ErrStarved, ErrProtocol or ErrAssertion, which every later call returns
//     again.
//   - Nothing outlives the session: the socket's directory is removed once both ends are connected;
//     the simulator dies with this process, and frees its resources when the socket closes. After
//     Close no goroutine, descriptor or mapping is left.
//
// Inside, a message takes as long as its execution, so patience does not apply. Close ends a run of
// another goroutine within 4096 cycles, and a cancelled Start ends after the model has been
// created. A crash of the simulator, other than a failure that the model reports, kills this
// process.
//
// # Requirements for the caller
//
//   - Use a Session from one goroutine at a time; Close may be called from any.
//   - Do not use a slice of [Session.Memory] after Close: it is unmapped.
//
// # Waiting
//
// A run often ends after a few dozen cycles, so the cost of an exchange matters. Messages are
// passed through a message buffer in shared memory, one per direction (protocol.h has the rules).
// The receiver registers at the buffer before it sends the request, and sleeps on it as a futex in
// a raw system call. An ordinary system call costs two or three times as much, because the runtime
// retakes the P after 20 µs and looks for another one when the thread wakes up. When the runtime
// needs the P, its signal ends the sleep. Messages that do not fit, those that take more than 20
// ms, and the end of either process use the socket, in blocking reads that release the P.
//
// Polling the buffer before sleeping ([Config].Spin), by one side or both, is chosen by trials
// during the session: see trial.
package bridge
