package mailbox

import "fmt"

// Division selects the treatment of data slots that cannot be divided evenly among the peers (FC
// paper, footnote 7).
type Division uint8

const (
	GrantExcess Division = iota // option a: the first peers by rank get one more slot
	RoundDown                   // option b: omit the remainder, for a smaller mailbox
	RoundUp                     // option b: fill up the remainder, for a larger mailbox
)

func (d Division) String() string {
	switch d {
	case GrantExcess:
		return "grant-excess"
	case RoundDown:
		return "round-down"
	case RoundUp:
		return "round-up"
	}
	return fmt.Sprintf("Division(%d)", uint8(d))
}

// MarshalText implements encoding.TextMarshaler.
func (d Division) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the result of String.
func (d *Division) UnmarshalText(text []byte) error {
	for _, known := range []Division{GrantExcess, RoundDown, RoundUp} {
		if known.String() == string(text) {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("mailbox: division %q: expected %v, %v or %v", text, GrantExcess, RoundDown, RoundUp)
}

// MaxSlots is the largest ring that the hardware supports (register MBOX_SLOTS).
const MaxSlots = 1<<24 - 1

// MaxProcs is the number of processes that a slot header can address: 4096 nodes with 16 VPIDs.
const MaxProcs = 1 << 16

// MaxCreditSlots bounds the list of thresholds; the paper never uses more than 5.
const MaxCreditSlots = 255

// Config describes the mailboxes of all processes of a world and which of them is this one.
type Config struct {
	Procs     int // processes in the world, this one included
	Self      int // rank of this process; all other ranks 0..Procs-1 are its peers
	DataSlots int // size of the data region in slots
	// CreditSlots is the share of one peer in the credit region. Because it is the share and not
	// the size of the region, the credit region always divides evenly (FC paper, footnote 8).
	CreditSlots int
	Piggyback   bool
	Division    Division
}

// Validate checks the configuration; its errors say what is expected.
func (c Config) Validate() error {
	peers := c.Procs - 1
	switch {
	case c.Procs < 2:
		return fmt.Errorf("mailbox: procs is %d, expected at least 2: a process alone needs no flow control", c.Procs)
	case c.Procs > MaxProcs:
		return fmt.Errorf("mailbox: %d procs, expected at most %d: the slot header has no room for more", c.Procs, MaxProcs)
	case c.Self < 0 || c.Self >= c.Procs:
		return fmt.Errorf("mailbox: self is rank %d, expected 0..%d", c.Self, c.Procs-1)
	case c.CreditSlots < 1 || c.CreditSlots > MaxCreditSlots:
		return fmt.Errorf("mailbox: %d credit slots per peer, expected 1..%d (2 is a good choice)", c.CreditSlots, MaxCreditSlots)
	case c.Division > RoundUp:
		return fmt.Errorf("mailbox: unknown division option %d, expected GrantExcess, RoundDown or RoundUp", c.Division)
	case c.DataSlots < c.CreditSlots*peers:
		return fmt.Errorf("mailbox: %d data slots for %d peers with %d credit slots each, expected at least %d (Eq. 2: data region >= credit region): enlarge the data region or use fewer credit slots",
			c.DataSlots, peers, c.CreditSlots, c.CreditSlots*peers)
	case c.MailboxSlots() > MaxSlots:
		return fmt.Errorf("mailbox: the ring needs %d slots, expected at most %d: use fewer data slots", c.MailboxSlots(), MaxSlots)
	}
	return nil
}

// MailboxSlots returns the size of the ring in slots, after the division option.
func (c Config) MailboxSlots() int {
	return c.DataRegion() + c.CreditSlots*(c.Procs-1)
}

// DataRegion returns the number of data slots, after the division option.
func (c Config) DataRegion() int {
	peers := c.Procs - 1
	switch rest := c.DataSlots % peers; {
	case rest == 0 || c.Division == GrantExcess:
		return c.DataSlots
	case c.Division == RoundDown:
		return c.DataSlots - rest
	default:
		return c.DataSlots - rest + peers
	}
}

// Quota returns the static share of sender in the data region of receiver's mailbox. Both ends
// compute the same value.
func (c Config) Quota(receiver, sender int) int {
	c.Self = receiver
	base, excess := c.share()
	if c.index(sender) < excess {
		return base + 1
	}
	return base
}

// share divides the data region: every peer gets base slots, the first excess peers get one more.
func (c Config) share() (base, excess int) {
	return c.DataRegion() / (c.Procs - 1), c.DataRegion() % (c.Procs - 1)
}

// index maps the peers to 0..Procs-2 in order of rank, omitting Self.
func (c *Config) index(peer int) int {
	if uint(peer) >= uint(c.Procs) || peer == c.Self {
		panic(fmt.Sprintf("mailbox: rank %d is no peer of rank %d, expected another rank in 0..%d", peer, c.Self, c.Procs-1))
	}
	if peer > c.Self {
		return peer - 1
	}
	return peer
}

// rank is the inverse of index.
func (c *Config) rank(index int) int {
	if index >= c.Self {
		return index + 1
	}
	return index
}
