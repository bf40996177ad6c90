package mailbox

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Kind is the kind of a packet; the values are those of the wire format.
type Kind = regs.Kind

// Kinds of packets. All except Data are control packets.
const (
	Data           = regs.KindData
	Credit         = regs.KindCredit
	CreditRequest  = regs.KindCreditRequest  // compulsory credit return request
	CreditResponse = regs.KindCreditResponse // compulsory credit return response
)

// MaxCredits is the maximum number of credits in one packet, whose credit field has two bytes.
const MaxCredits = 1<<16 - 1

// Grant is the result of Send.
type Grant struct {
	OK        bool   // a credit was consumed: send the packet
	Piggyback bool   // append Credits to the payload
	Credits   uint16 // 1..MaxCredits if Piggyback, otherwise 0
}

// Retrieved describes a packet that was taken out of the mailbox.
type Retrieved struct {
	From      int // rank of the sender
	Kind      Kind
	Piggyback bool
	Credits   uint16 // of a credit packet, a response or a piggyback; otherwise 0
}

// creditsOf returns the name of a packet's credit field for errors.
func creditsOf(r Retrieved) string {
	if r.Piggyback {
		return "piggybacked credits"
	}
	return "credits of a " + r.Kind.String() + " packet"
}

// Control is a control packet to be sent. The payload of Credit and CreditResponse is Credits, two
// bytes in little-endian order; CreditRequest has no payload.
type Control struct {
	To      int // rank of the receiver
	Kind    Kind
	Credits uint16
}

// Flow is the flow control of one process, as a sender to all peers and as a receiver from all
// peers. The package comment lists the obligations of the caller.
type Flow interface {
	// Send requests permission to send one data packet. room: the payload leaves two bytes
	// free.
	Send(peer int, room bool) Grant
	// Retrieve reports that a packet of any kind was taken out of the mailbox and its slot freed. A
	// packet that violates the protocol changes nothing and gives a *drivers.PeerError, because it
	// came from another process. A From that is not a peer is a bug of the caller and panics.
	Retrieve(r Retrieved) error
	// Next returns the next control packet to send, if any.
	Next() (Control, bool)

	// Credits returns the number of data packets that can be sent to peer immediately.
	Credits(peer int) int
	// Granted returns the receiver's view: the credits that peer holds, plus its packets and our
	// credits in flight. The sum over all peers never exceeds the data region.
	Granted(peer int) int
	// Exchange returns the state of the compulsory credit returns with peer, in both directions.
	Exchange(peer int) Exchange
	// Stats returns the event counters.
	Stats() Stats
	// Check verifies the local invariants; an error is a bug of this package.
	Check() error
	// Describe formats the state of one peer on one line.
	Describe(peer int) string
	// AppendState appends a canonical encoding of the state: equal bytes imply equal behaviour.
	AppendState(b []byte) []byte
	// LoadState is the inverse of AppendState for a Flow of the same Config. It returns the
	// remaining bytes.
	LoadState(b []byte) []byte
}

// Exchange is the state of the compulsory credit returns with one peer. A static Flow has none.
type Exchange struct {
	Blocked  bool // we have requested credits from the peer and have not retrieved its response
	Request  bool // our request is waiting for a credit
	Response bool // our response is waiting for a credit
}

// Stats counts events since construction.
type Stats struct {
	Sent    uint64 // data packets permitted by Send
	Delayed uint64 // calls of Send refused for lack of credits, retries included

	CreditPackets      uint64 // explicit credit packets
	CreditsReturned    uint64 // credits in them
	PiggybackedPackets uint64 // data packets that carried credits
	PiggybackedCredits uint64 // credits in them

	// Dynamic only, all zero in a static Flow.
	MonitoringPoints   uint64 // FC paper, section 6.4
	ListShifts         uint64 // times the high list became the medium list
	Steals             uint64 // exchanges of intended quota
	StolenCredits      uint64 // quota moved by them
	Requests           uint64 // compulsory requests sent
	Responses          uint64 // compulsory responses sent
	CreditsRecovered   uint64 // credits in responses received
	BlockedReturns     uint64 // single credits returned to blocked peers
	Deficits, Excesses uint64 // adjustments of piggybacked credits (FC paper, section 6.6.2)
}

// MaxPending is the maximum number of control packets that one call can produce: one credit packet
// and one request of the activity control, twice if a response completes with a reached threshold;
// or one of each plus a deferred request and a deferred response.
const MaxPending = 4

// pending queues the control packets of the last call until the caller takes them.
type pending struct {
	queue       [MaxPending]Control
	first, last uint8
}

func (p *pending) push(c Control) {
	p.queue[p.last] = c // an index out of range means that MaxPending is wrong
	p.last++
}

func (p *pending) Next() (Control, bool) {
	if p.first == p.last {
		p.first, p.last = 0, 0
		return Control{}, false
	}
	p.first++
	return p.queue[p.first-1], true
}

// mustBeEmpty enforces that control packets precede the next data packet. A caller that omits Next
// would reorder packets and silently break the protocol.
func (p *pending) mustBeEmpty() {
	if p.first != p.last {
		panic(fmt.Sprintf("mailbox: %d control packets not taken; call Next until it returns false after every Send and Retrieve", p.last-p.first))
	}
}
