package mailbox

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Kind is what a packet is; the values are those on the wire.
type Kind = regs.Kind

// The kinds of packets. All but Data are control packets.
const (
	Data           = regs.KindData
	Credit         = regs.KindCredit
	CreditRequest  = regs.KindCreditRequest  // compulsory credit return request
	CreditResponse = regs.KindCreditResponse // compulsory credit return response
)

// MaxCredits is the most credits that one packet can carry in its two bytes.
const MaxCredits = 1<<16 - 1

// Grant is the answer to Send.
type Grant struct {
	OK        bool   // a credit was consumed: send the packet
	Piggyback bool   // append Credits to the payload
	Credits   uint16 // 1..MaxCredits if Piggyback, else 0
}

// Retrieved is a packet that was taken off the mailbox.
type Retrieved struct {
	From      int // rank of the sender
	Kind      Kind
	Piggyback bool
	Credits   uint16 // of a credit packet, a response or a piggyback; else 0
}

// creditsOf names the credits of a packet in an error.
func creditsOf(r Retrieved) string {
	if r.Piggyback {
		return "piggybacked credits"
	}
	return "credits of a " + r.Kind.String() + " packet"
}

// Control is a control packet to send. Credit and CreditResponse carry Credits as their payload,
// two bytes little endian; CreditRequest has an empty payload.
type Control struct {
	To      int // rank of the receiver
	Kind    Kind
	Credits uint16
}

// Flow is the flow control of one process: its sender role towards all peers and its receiver role
// for all peers. See the package comment for the duties of the caller.
type Flow interface {
	// Send asks for leave to send one data packet. room: the payload leaves two bytes free.
	Send(peer int, room bool) Grant
	// Retrieve says that a packet of any kind was taken off the mailbox and its slot freed. A packet
	// that the protocol does not allow changes nothing and is a *drivers.PeerError: it came from outside
	// this process. A From that is no peer is the caller's mistake.
	Retrieve(r Retrieved) error
	// Next is the next control packet to send, if any.
	Next() (Control, bool)

	// Credits is the credit counter towards peer: data packets that may be sent now.
	Credits(peer int) int
	// Granted is the receiver's view: credits that peer holds, plus its packets and our credits
	// that are under way. The sum over the peers never exceeds the data region.
	Granted(peer int) int
	// Exchange is the state of the compulsory return of credits with peer, both ways.
	Exchange(peer int) Exchange
	// Stats returns the event counters.
	Stats() Stats
	// Check tests the local invariants; nil unless the package has a bug.
	Check() error
	// Describe prints everything known about one peer on one line.
	Describe(peer int) string
	// AppendState appends a canonical encoding of the state: equal bytes, equal future.
	AppendState(b []byte) []byte
	// LoadState is the inverse of AppendState for a Flow of the same Config. It returns the bytes
	// after the encoding.
	LoadState(b []byte) []byte
}

// Exchange says how far the compulsory returns of credits with one peer are. A static Flow has none.
type Exchange struct {
	Blocked  bool // the peer is asked to return credits and its response has not been retrieved
	Request  bool // our request waits for a credit
	Response bool // our response waits for a credit
}

// Stats counts events since construction.
type Stats struct {
	Sent    uint64 // data packets that got leave
	Delayed uint64 // refusals of Send for lack of credits; asking again counts again

	CreditPackets      uint64 // explicit credit packets
	CreditsReturned    uint64 // credits in them
	PiggybackedPackets uint64 // data packets that carried credits
	PiggybackedCredits uint64 // credits in them

	// Dynamic only, all zero in a static Flow.
	MonitoringPoints   uint64 // FC paper, section 6.4
	ListShifts         uint64 // times the high list became the medium one
	Steals             uint64 // exchanges of intended quota
	StolenCredits      uint64 // quota moved by them
	Requests           uint64 // compulsory requests sent
	Responses          uint64 // compulsory responses sent
	CreditsRecovered   uint64 // credits in responses received
	BlockedReturns     uint64 // single credits given to blocked peers
	Deficits, Excesses uint64 // adjustments of piggybacked credits (FC paper, section 6.6.2)
}

// MaxPending bounds the control packets of one call: at most one credit packet and one request of
// the activity control, twice when a response ends with a reached threshold, or one of each plus a
// flushed request and a flushed response.
const MaxPending = 4

// pending holds the control packets of the last call until the caller takes them.
type pending struct {
	queue       [MaxPending]Control
	first, last uint8
}

func (p *pending) push(c Control) {
	p.queue[p.last] = c // out of range: the bound above is wrong
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

// mustBeEmpty enforces the order of control before data: a caller that forgets Next would
// reorder packets and break the protocol silently.
func (p *pending) mustBeEmpty() {
	if p.first != p.last {
		panic(fmt.Sprintf("mailbox: %d control packets not taken; call Next until it returns false after every Send and Retrieve", p.last-p.first))
	}
}
