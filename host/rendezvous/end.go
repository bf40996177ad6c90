package rendezvous

// An End is one end of a transfer. Its methods are what a [Protocol] can do.
type End struct {
	core     *Core
	ref      int32 // its index in core.ends
	live     bool
	protocol Protocol
	index    int // of the protocol, among the core's
	send     bool
	peer     int
	user     any
	id       ID // 0: it waits for one
	other    ID // of the other end; 0: not known
	bytes    int
	local    uint64 // 0: no memory
	remote   uint64 // 0: not known
	verb     Do     // of its operations; 0: it has none
	posted   int    // bytes of the operations posted
	moved    int    // of those that are over
	under    int    // operations under way
	since    Time   // from when on it waits for memory
	memory   memory
	fence    fence
	lined    bool // in the queue of those with operations to post

	announced bool // its RTS is out
	told      bool // a receive: the other end has its CTS
	asked     bool // to cancel it
	parted    bool // the other end has ended, or never knew of it
	err       *Error

	env       Envelope
	number    uint64 // of a send, in its counter
	rtr       rtr    // of a send: where it may be put
	blocks    bool   // of a send: see Message
	offer     bool   // a receive that nothing has matched
	try       bool   // whose RTR is one in a pause
	dissolved bool   // its receive goes on without it
	seen      uint32 // what its RTR counts from
	ahead     uint8  // offers
}

// memory is how far an end is on its way to some.
type memory uint8

const (
	noMemory  memory = iota
	wanted           // in the queue of its class
	requested        // a Register was given out
	held
)

// fence is how far the get behind the puts is.
type fence uint8

const (
	notFenced   fence = iota
	fenceWanted       // in the queue of those with operations to post
	fencing           // under way
	fenced
)

// Sends tells which end this is.
func (e *End) Sends() bool { return e.send }

// Pushes tells whether the sender writes the receiver's memory.
func (e *End) Pushes() bool { return e.protocol.Pushes() }

// Peer is the rank at the other end.
func (e *End) Peer() int { return e.peer }

// User is what was given with Send or Receive.
func (e *End) User() any { return e.user }

// Bytes is how many there are to move, Moved how many this end has moved.
func (e *End) Bytes() int { return e.bytes }
func (e *End) Moved() int { return e.moved }

// Local is where its memory is, for the other end; 0: it has none.
func (e *End) Local() uint64 { return e.local }

// Remote is where the other end's memory is; 0: not known.
func (e *End) Remote() uint64 { return e.remote }

// Announced tells whether the RTS is out.
func (e *End) Announced() bool { return e.announced }

// Waits tells whether this is a receive that nothing has matched yet.
func (e *End) Waits() bool { return e.offer }

// Whole tells whether all bytes have come.
func (e *End) Whole() bool { return e.err == nil && !e.dissolved }

// Failed tells whether the transfer has failed so far.
func (e *End) Failed() bool { return e.err != nil }

// SetRemote says where the other end's memory is.
func (e *End) SetRemote(address uint64) { e.remote = address }

// Shorten says that the other end takes no more than n bytes.
func (e *End) Shorten(n int) { e.bytes = min(e.bytes, n) }

// Announce sends the RTS.
func (e *End) Announce(address uint64) {
	e.announced = true
	e.core.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{
		Kind: RTS, Protocol: e.protocol.Number(), From: e.id, Address: address, Bytes: uint32(e.bytes),
	}})
}

// Tell sends a message to the other end.
func (e *End) Tell(k Kind) {
	e.told = e.told || k == CTS
	e.core.do(Action{Do: Tell, Peer: e.peer, End: e, Control: Control{
		Kind: k, From: e.id, To: e.other, Address: e.local, Bytes: uint32(e.bytes),
	}})
}

// Move begins to post operations.
func (e *End) Move(verb Do) {
	e.verb = verb
	e.core.line(e)
}

// Close ends the transfer here, and there with a FIN.
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

// ended: the other end says that the transfer is over. That all is well only the one says who moves
// the bytes.
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

// fail stops a transfer. The first failure counts. The end is over when nothing of it is
// under way any more.
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

// settle goes on when no operation is under way and none is left to post.
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

// retire gives everything back and ends the request.
func (e *End) retire() {
	c := e.core
	c.giveBack(e)
	var err error
	if e.err != nil {
		err = e.err
	}
	c.do(Action{Do: Complete, Peer: e.peer, End: e, Err: err})
	c.goOn(e)
}

// giveBack ends what an end has of memory and operations.
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

// goOn lets others have an end's name and memory.
func (c *Core) goOn(e *End) {
	receive := !e.send
	c.freeName(e)
	c.giveNames(receive)
	c.askAgain()
}
