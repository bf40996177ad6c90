package rendezvous

// An End is one end of a transfer. Its methods are the operations available to a [Protocol].
type End struct {
	core     *Core
	ref      int32 // index in core.ends
	live     bool
	protocol Protocol
	index    int // of the protocol in the core's list
	send     bool
	peer     int
	user     any
	id       ID // 0: waiting for one
	other    ID // of the other end; 0: not known
	bytes    int
	local    uint64 // 0: no memory
	remote   uint64 // 0: not known
	verb     Do     // Get or Put; 0: this end moves no bytes
	posted   int    // bytes of posted operations
	moved    int    // bytes of completed operations
	under    int    // operations in flight
	since    Time   // start of the wait for memory
	memory   memory
	fence    fence
	lined    bool // in the queue of ends with operations to post

	announced bool // the RTS was sent
	ctsSent   bool // a receive: the CTS was sent
	asked     bool // a cancellation was requested
	parted    bool // the other end has ended, or never knew of this one
	err       *Error

	env       Envelope
	number    uint64 // of a send: number in its counter
	rtr       rtr    // of a send: address to put it to
	blocks    bool   // of a send: see Message
	offer     bool   // an unmatched receive
	try       bool   // its RTR is a probe during a pause
	dissolved bool   // its receive continues without it
	seen      uint32 // base of the message number in its RTR
	ahead     uint8  // offers before it
}

// memory is the state of an end's registration.
type memory uint8

const (
	noMemory  memory = iota
	wanted           // in the queue of its class
	requested        // a Register was issued
	held
)

// fence is the state of the get that follows the puts.
type fence uint8

const (
	notFenced   fence = iota
	fenceWanted       // in the queue of ends with operations to post
	fencing           // in flight
	fenced
)

// Sends reports whether this is the sending end.
func (e *End) Sends() bool { return e.send }

// Pushes reports whether the sender writes to the receiver's memory.
func (e *End) Pushes() bool { return e.protocol.Pushes() }

// Peer is the rank at the other end.
func (e *End) Peer() int { return e.peer }

// User is the value passed to Send or Receive.
func (e *End) User() any { return e.user }

// Bytes is the length to move, Moved the length that this end has moved so far.
func (e *End) Bytes() int { return e.bytes }
func (e *End) Moved() int { return e.moved }

// Local is the address of this end's memory for the other end; 0: none.
func (e *End) Local() uint64 { return e.local }

// Remote is the address of the other end's memory; 0: not known.
func (e *End) Remote() uint64 { return e.remote }

// Announced reports whether the RTS was sent.
func (e *End) Announced() bool { return e.announced }

// Waits reports whether this is an unmatched receive.
func (e *End) Waits() bool { return e.offer }

// Whole reports whether all bytes have arrived.
func (e *End) Whole() bool { return e.err == nil && !e.dissolved }

// Failed reports whether the transfer has failed so far.
func (e *End) Failed() bool { return e.err != nil }

// SetRemote sets the address of the other end's memory.
func (e *End) SetRemote(address uint64) { e.remote = address }

// Shorten limits the transfer to n bytes, the room at the other end.
func (e *End) Shorten(n int) { e.bytes = min(e.bytes, n) }

// Announce sends the RTS.
func (e *End) Announce(address uint64) {
	e.announced = true
	e.core.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{
		Kind: RTS, Protocol: e.protocol.Number(), From: e.id, Address: address, Bytes: uint32(e.bytes),
	}})
}

// Tell sends a control message to the other end.
func (e *End) Tell(k Kind) {
	e.ctsSent = e.ctsSent || k == CTS
	e.core.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{
		Kind: k, From: e.id, To: e.other, Address: e.local, Bytes: uint32(e.bytes),
	}})
}

// Move starts to post operations.
func (e *End) Move(verb Do) {
	e.verb = verb
	e.core.line(e)
}

// Close ends the transfer at this end and sends a FIN to the other.
func (e *End) Close() {
	fin := Control{Kind: FIN, From: e.id, To: e.other}
	if e.err != nil {
		fin.Code, fin.Detail = e.err.Code, e.err.Detail
	}
	if !e.parted && e.other != 0 {
		e.core.do(Action{Do: Tell, Peer: e.peer, Control: fin})
	}
	e.retire()
}

// ended processes a FIN. Only the end that moves the bytes may report success.
func (e *End) ended(fin Control) {
	if fin.Code == Good && e.verb != 0 {
		e.core.stats.Stale++
		return
	}
	e.parted = true
	if fin.Code == Good {
		e.retire()
		return
	}
	e.fail(&Error{Code: fin.Code, Detail: fin.Detail})
}

// fail aborts a transfer. The first failure determines the error. The end closes when none of its
// operations are in flight.
func (e *End) fail(err *Error) {
	if e.err == nil {
		err.Peer = e.peer
		e.err = err
	}
	if e.fence != fenceWanted {
		e.core.stop(e)
	}
	e.settle()
}

// settle continues when no operation is in flight and none is left to post.
func (e *End) settle() {
	switch {
	case e.under > 0 || e.core.posting == e || e.err == nil && e.posted < e.bytes:
	case e.verb == Put && e.posted > 0 && e.fence != fenced:
		if e.fence == notFenced {
			e.fence = fenceWanted
			e.core.line(e)
		}
	case e.err != nil:
		e.Close()
	default:
		e.protocol.Moved(e)
	}
}

// retire releases everything and completes the request.
func (e *End) retire() {
	c := e.core
	c.giveBack(e)
	var err error
	if e.err != nil {
		err = e.err
	}
	c.do(Action{Do: Complete, Peer: e.peer, End: e, Err: err})
	c.serveWaiting(e)
}

// giveBack releases an end's memory and its place in the queues.
func (c *Core) giveBack(e *End) {
	c.stop(e)
	e.live = false
	if e.memory == held {
		c.do(Action{Do: Release, End: e})
		c.registered--
	}
	if e.memory == wanted {
		c.leaveQueue(e)
	}
}

// serveWaiting gives an end's name and memory to those that wait for them.
func (c *Core) serveWaiting(e *End) {
	receive := !e.send
	c.freeName(e)
	c.giveNames(receive)
	c.askAgain()
}
