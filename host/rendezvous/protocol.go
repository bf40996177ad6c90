package rendezvous

// A Protocol is a way for a message to travel after its RTS: what its two ends do when something
// happens. It has no state but that of its [End]s, so one value serves all ranks.
type Protocol interface {
	Name() string
	Number() uint8 // in the RTS: which protocol the receiver has to follow
	// Pushes: the sender moves the bytes, and writes the receiver's memory.
	Pushes() bool
	// Start: a send begins, or a receive has matched an RTS.
	Start(e *End)
	// Registered: e has memory, or is an early send for which there is none.
	Registered(e *End)
	// Hear: the other end has sent a message of kind CTS, Ready or the protocol's own. It
	// tells whether that makes sense.
	Hear(e *End, c Control) bool
	// Step is the length of the next operation with so many bytes left and so many operations
	// of the protocol under way at this rank, puts not counted; 0: not now.
	Step(left, underWay int) int
	// Moved: all bytes are where they belong.
	Moved(e *End)
}

// MaxStep is the longest single operation.
const MaxStep = 8 << 20

// The numbers of the protocols here. New ones take others.
const (
	numberRGET = iota + 1
	numberRPUT
	numberChunked
	numberSpec
)

// pull: the receiver gets the bytes. RTS with the sender's address, gets, FIN. A sender without
// memory leaves the address out; then the receiver asks for it with CTS when it is ready itself.
type pull struct {
	name   string
	number uint8
	chunk  int
	window int // operations under way; 0: any number
}

// RGET gets a message in one operation (FC paper, section 3).
var RGET Protocol = &pull{"rget", numberRGET, MaxStep, 0}

// NewChunked gets chunks, at most window at a time over all messages that a rank receives, which
// alternate: nobody can send faster than that rank takes (RDRP paper).
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
	case !e.Sends() && c.Kind == Ready && e.told && e.Remote() == 0:
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

// push: the receiver answers the RTS with a CTS that has its address, the sender puts. What a put
// meets at its target is told late, so a get of one byte goes behind them; only then is FIN sent.
type push struct{}

// RPUT is that protocol.
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

// A Message is what a [Policy] chooses by.
type Message struct {
	Peer  int
	Bytes int
	// Reachable: its buffer lies in memory that the hardware reaches; otherwise it is copied.
	Reachable bool
	Hint      uint8 // the application's; 0: none
	Blocks    bool  // its sender does nothing until it is over
	Envelope  Envelope
}

// A Policy chooses how a message travels. Only its sender asks: the RTS says what was chosen.
type Policy func(Message) Protocol

// Always chooses one protocol.
func Always(p Protocol) Policy { return func(Message) Protocol { return p } }
