package rendezvous

// A Protocol defines how a message travels after its RTS: how its two ends react to each event. All
// state is in the [End]s, so one value serves all ranks.
type Protocol interface {
	Name() string
	Number() uint8 // identifies the protocol in an RTS
	// Pushes reports whether the sender moves the bytes and writes to the receiver's memory.
	Pushes() bool
	// Start is called when a send begins, or a receive has matched an RTS.
	Start(e *End)
	// Registered is called when e has memory, or is an early send for which there is none.
	Registered(e *End)
	// Hear processes a CTS, a Ready or a message of the protocol's own kinds. It returns false for
	// an unexpected one.
	Hear(e *End, c Control) bool
	// Step is the length of the next operation, given the bytes left and the operations of the
	// protocol in flight at this rank, not counting puts; 0: none may be posted.
	Step(left, underWay int) int
	// Moved is called when all bytes have been transferred.
	Moved(e *End)
}

// MaxStep is the maximum length of an operation.
const MaxStep = 8 << 20

// Numbers of the protocols in this package.
const (
	numberRGET = iota + 1
	numberRPUT
	numberChunked
	numberSpec
)

// pull: the receiver gets the bytes. The RTS carries the sender's address; then come gets and a
// FIN. A sender without memory omits the address, and the receiver asks for it with a CTS when it
// is ready itself.
type pull struct {
	name   string
	number uint8
	chunk  int
	window int // operations in flight; 0: unlimited
}

// RGET gets a message in one operation (FC paper, section 3).
var RGET Protocol = &pull{"rget", numberRGET, MaxStep, 0}

// NewChunked gets a message in chunks, with at most window in flight over all messages that a rank
// receives; messages alternate. The receiver thereby limits the rate at which peers send (RDRP
// paper).
func NewChunked(chunk, window int) Protocol {
	return &pull{"chunked", numberChunked, chunk, window}
}

func (p *pull) Name() string  { return p.name }
func (p *pull) Number() uint8 { return p.number }
func (p *pull) Pushes() bool  { return false }

func (p *pull) Start(e *End) {
	if e.Sends() {
		e.RegisterIfRoom()
	} else {
		e.Register()
	}
}

func (p *pull) Registered(e *End) {
	switch {
	case e.Sends() && !e.Announced():
		e.Announce(e.Local())
	case e.Sends():
		e.Tell(Ready)
	case e.Remote() == 0:
		e.Tell(CTS)
	default:
		e.Move(Get)
	}
}

func (p *pull) Hear(e *End, c Control) bool {
	switch {
	case e.Sends() && c.Kind == CTS && e.memory == noMemory:
		e.Register()
	case !e.Sends() && c.Kind == Ready && e.ctsSent && e.Remote() == 0:
		e.SetRemote(c.Address)
		e.Move(Get)
	default:
		return false
	}
	return true
}

func (p *pull) Step(left, underWay int) int {
	if p.window > 0 && underWay >= p.window {
		return 0
	}
	return min(left, p.chunk)
}

func (p *pull) Moved(e *End) { e.Close() }

// push: the receiver answers the RTS with a CTS that carries its address; the sender puts. Faults
// of a put at its target are reported late, so a get of one byte follows the puts as a fence, and
// FIN is sent after that.
type push struct{}

// RPUT is the push protocol.
var RPUT Protocol = push{}

func (push) Name() string  { return "rput" }
func (push) Number() uint8 { return numberRPUT }
func (push) Pushes() bool  { return true }

func (push) Start(e *End) {
	if e.Sends() {
		e.RegisterIfRoom()
	} else {
		e.Register()
	}
}

func (push) Registered(e *End) {
	switch {
	case !e.Sends():
		e.Tell(CTS)
	case !e.Announced():
		e.Announce(0)
	default:
		e.Move(Put)
	}
}

func (push) Hear(e *End, c Control) bool {
	if !e.Sends() || c.Kind != CTS || e.Remote() != 0 || c.Address == 0 || c.Bytes == 0 {
		return false
	}
	e.SetRemote(c.Address)
	e.Shorten(int(c.Bytes))
	if e.Local() == 0 {
		e.Register()
	} else {
		e.Move(Put)
	}
	return true
}

func (push) Step(left, _ int) int { return min(left, MaxStep) }
func (push) Moved(e *End)         { e.Close() }

// A Message is the input of a [Policy].
type Message struct {
	Peer  int
	Bytes int
	// Reachable reports whether the buffer is in DMA memory; otherwise it is copied.
	Reachable bool
	Hint      uint8 // set by the application; 0: none
	Blocks    bool  // the sender does nothing else until the send completes
	Envelope  Envelope
}

// A Policy chooses the protocol of a message. Only the sender calls it: the RTS carries the choice.
type Policy func(Message) Protocol

// Always returns a Policy that chooses one protocol.
func Always(p Protocol) Policy { return func(Message) Protocol { return p } }
