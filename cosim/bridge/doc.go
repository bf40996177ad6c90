// Package bridge runs a simulator process (package build makes it) and speaks with it: posted
// accesses, watches and "run until" over a Unix socket, DMA memory and counters through memory
// shared by both. Or the model is in this process ([Config].Inside, package inside) and executes
// the same messages by a call.
//
// # What it promises
//
//   - Time passes in [Session.Run] and [Session.ReadReg] only, and what happens
//     depends on the calls alone. Posted commands gather here and cross the socket
//     in one message with the next Run or ReadReg, or when a message is full.
//   - Run stops at the very cycle of what stopped it. Everything that happened at
//     that cycle comes together, in order of (node, kind, id). A condition that is
//     met during ReadReg is told by the next Run, which then takes no time.
//   - Quiet ends a Run without deadline: 16 cycles in a row nothing has moved, and no
//     posted command can start (one behind an access that the NIC holds cannot).
//   - A refused posted access is a *drivers.BusError, a DMA write outside the memory a
//     *drivers.DMAError; both stop Run at their cycle, and the session goes on. It ends
//     with the first ErrPeerDied, ErrStarved, ErrProtocol or ErrAssertion, which every
//     later call repeats.
//   - Nothing outlives the session: the socket's directory is gone once both ends
//     have met; the simulator dies with this process, and frees everything itself
//     when the socket closes. No goroutine, descriptor or mapping is left by Close.
//
// Inside, a message takes as long as what it asks for: patience does not apply. Close ends a run of
// another goroutine within 4096 cycles, and a cancelled Start ends when the model has been made.
// What kills the simulator, other than a failure that the model reports, kills this process.
//
// # What the caller must do
//
//   - Use a Session from one goroutine at a time; Close may be called from any.
//   - Keep no slice of [Session.Memory] beyond Close: the mapping is gone then.
//
// # Waiting
//
// A run is often over after a few dozen cycles, so what an exchange costs beside them matters.
// Messages go by a message buffer in the shared memory, one each way (protocol.h has the rules).
// Its receiver says that it waits there before it sends what asks for the message, and sleeps on it
// as a futex, in a raw system call: an ordinary one costs two or three times as much, since the
// runtime takes the P away after 20 µs and looks for another when the thread wakes up. When the
// runtime wants the P, its signal ends the sleep. What does not fit a buffer, what comes after 20
// ms, and the end of either process come by the socket, in plain blocking reads that let go of the
// P.
//
// Whether one side, or both, should look at the buffer for a while before it sleeps
// ([Config].Spin) is found out by trial as the session goes on: see trial.
package bridge
