// Package rportals is a reliability layer over package portals, after Raffenetti, Peña and Balaji,
// "Toward Implementing Robust Support for Portals 4 Networks in MPICH" (2015), which calls it
// Rportals. A portal table entry with flow control disables itself when it runs out of entries,
// headers or events, and refuses messages from then on. This layer repeats the refused operations,
// in order. Like the layer below it is a pure state machine: no I/O, no goroutine, no clock, and no
// allocation per message.
//
// # Recovery
//
//	target                                   every process that may send to it (also itself)
//	active
//	  | PT_DISABLED is read
//	awaiting  -- PAUSE ------------------->  stops issuing; waits until all of its attempts on that
//	  |                                      entry are answered; refused ones are queued again
//	  |       <------------------ PAUSE_ACK
//	  | all PAUSE_ACKs have arrived
//	draining: the program reads events and
//	  | posts buffers ([Layer.SetShort])
//	  | PTEnable
//	active    -- UNPAUSE ----------------->  issues the queued operations again, in order
//
// The wait for all PAUSE_ACKs keeps the order. If the target enabled its entry earlier, an
// operation issued later could be accepted while the refusal of an earlier one is still in flight.
//
// # Credits of the origin event queue
//
// Events of operations have a queue of their own. A put raises two events in it (SEND and ACK), a
// get one (REPLY). An operation is issued only if the queue has room for all of its events, so a
// process cannot overflow its own queue; others wait in the layer. The paper counts one credit per
// operation; a put needs two.
//
// # What the program observes
//
// Every operation asks for an acknowledgement, also if the program did not. The program gets SEND
// when the target has accepted the message, because until then the data may be sent again, and ACK
// only if it asked for it. Failures other than PT_DISABLED are passed on.
//
// # Obligations of the program
//
//   - Call [Layer.Progress] and read events regularly: a process that does neither never
//     acknowledges a PAUSE, and the target waits for all.
//   - Leave the data of an operation unchanged until SEND.
//   - Use the layer for all puts and gets to protected entries, and [Layer.EQGet] for their events.
//   - Stop only when [Layer.Idle] holds in all processes: an idle process may still have to
//     acknowledge the PAUSE of another.
//
// # Choices
//
// Control messages are puts of length 0 to a portal table entry of their own, without flow control,
// whose event queue has room for the largest number that can be waiting: per peer and protected
// entry one PAUSE_ACK, one UNPAUSE and the PAUSE of the next recovery. Each carries a kind, a
// portal table index, a 16-bit epoch and a rank in its header data. Data are pinned, not copied.
//
// Package explore runs every interleaving of small worlds: nicloop check rportals.
package rportals
