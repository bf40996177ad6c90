package mailbox

import "github.com/nicloop/nicloop/drivers/peererror"

// near is how many thresholds lie in the sender itself: enough for the paper's 5 credit slots, and
// what fills a cache line. In a large world every packet is of another peer, whose state is in no
// cache: then what counts is how many lines it has.
const near = 7

// sender is what a process keeps for one peer (FC paper, section 6.2): the receiver role's
// counters for it as a sender, and the sender role's counter and flags towards it.
type sender struct {
	thresholds [near]int32 // FIFO of CreditSlots+1 elements, if it has not more than these
	links

	intended    int32 // intended credit quota
	retrieved   int32 // retrieved packets counter
	piggybacked int32 // piggybacked credits counter
	current     int32 // current credits counter: held by the sender, or under way to us
	credits     int32 // credit counter towards it
	head        uint8 // of its threshold FIFO; also the crossings since its last monitoring point
	blocked     bool  // asked to return credits, has not answered
	request     bool  // compulsory request flag
	response    bool  // compulsory response flag
}

// dynamic is the flow control of FC paper, section 6.
//
// Invariants between any two calls, for every sender (design.md proves them and says what follows):
//
//	sum(thresholds) - retrieved == current + 1
//	every threshold >= 1, current >= static slots
//	sum over senders of current + available == data region
type dynamic struct {
	lists
	far       []int32 // the senders' FIFOs, if they have more than near elements
	available int32   // available slots counter
	region    int32   // data region
	static    int32   // static slots per sender: the minimum quota, equal to the credit slots
	fifo      int     // elements of a threshold FIFO

	cfg     Config
	formula Formula
	stats   Stats
	pending
}

// NewDynamic lets the peers' shares of the data region follow their activity. Each keeps at least
// CreditSlots data slots; slots beyond that are the dynamic region.
func NewDynamic(c Config) (Flow, error) { return NewDynamicFormula(c, Eq1) }

// NewDynamicFormula is NewDynamic with another threshold, for experiments that show why it does not work.
func NewDynamicFormula(c Config, f Formula) (Flow, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := c.Procs - 1
	d := &dynamic{
		lists:   newLists(n),
		region:  int32(c.DataRegion()),
		static:  int32(c.CreditSlots),
		fifo:    c.CreditSlots + 1,
		cfg:     c,
		formula: f,
	}
	if d.fifo > near {
		d.far = make([]int32, n*d.fifo)
	}
	d.available = d.region - int32(n)*d.static
	for i := range d.senders {
		s := &d.senders[i]
		// The uneven rest is granted even to round: the intended quotas must sum to the region.
		s.intended = int32(c.Quota(c.Self, c.rank(i)))
		s.current, s.credits = d.static, d.static
		for k := range d.fifo {
			*d.threshold(i, k) = 1
		}
	}
	return d, nil
}

func (d *dynamic) Send(peer int, room bool) Grant {
	d.mustBeEmpty()
	i := d.cfg.index(peer)
	s := &d.senders[i]
	// A waiting control packet needs no test here: its flag is set only while there is no credit,
	// and the first credit to arrive goes to it (section 6.1).
	if s.credits == 0 {
		d.stats.Delayed++
		return Grant{}
	}
	s.credits--
	d.stats.Sent++
	g := Grant{OK: true}
	if room && d.cfg.Piggyback {
		if n := d.piggyback(i); n > 0 {
			g.Piggyback, g.Credits = true, uint16(n)
			d.stats.PiggybackedPackets++
			d.stats.PiggybackedCredits += uint64(n)
		}
	}
	return g
}

// Retrieve follows the flow diagram of Figure 11: slot management, activity control, then the
// module of the packet's kind.
func (d *dynamic) Retrieve(r Retrieved) error {
	d.mustBeEmpty()
	i := d.cfg.index(r.From)
	if err := d.allowed(i, r); err != nil {
		return err
	}
	if r.Kind != Credit {
		d.manageSlot(i)
		d.controlActivity(i)
	}
	switch r.Kind {
	case Data:
		if r.Piggyback {
			d.receive(i, r)
		}
	case Credit:
		d.receive(i, r)
	case CreditRequest:
		d.respond(i)
	case CreditResponse:
		d.recover(i, r)
	}
	return nil
}

// allowed checks everything that a packet claims before any of it changes the state: what follows
// relies on the invariants, and a packet may come from another program.
func (d *dynamic) allowed(i int, r Retrieved) error {
	s := &d.senders[i]
	n := int32(r.Credits)
	carries := r.Kind == Credit || r.Kind == Data && r.Piggyback
	switch {
	case r.Kind > CreditResponse:
		return d.illegal(r, "kind", r.Kind, "kind 0..3")
	case r.Piggyback && r.Kind != Data:
		return d.illegal(r, "piggyback mark of a "+r.Kind.String()+" packet", true, "piggybacked credits on data packets only")
	case r.Kind != Credit && s.current == 0:
		return d.illegal(r, "kind", r.Kind, "no packet that needs a credit: the sender has none")
	case carries && (n == 0 || n > d.region-s.credits):
		return d.illegal(r, creditsOf(r), n, "1..%d", d.region-s.credits)
	case r.Kind == CreditRequest && s.response:
		return d.illegal(r, "kind", r.Kind, "no second request before the response to the first")
	case r.Kind == CreditResponse && !s.blocked:
		return d.illegal(r, creditsOf(r), n, "the answer to a request, and none was sent")
	case r.Kind == CreditResponse && n > max(s.current-d.static, 0):
		return d.illegal(r, creditsOf(r), n, "at most %d: the sender keeps its static slots", max(s.current-d.static, 0))
	}
	return nil
}

// manageSlot is the slot management module (section 6.5.1): the packet consumed a credit of its
// sender, its slot is free now.
func (d *dynamic) manageSlot(i int) {
	s := &d.senders[i]
	s.current--
	s.retrieved++
	d.available++
}

// receive adds credits and sends the control packets that waited for one, the request first
// (section 6.5.4).
func (d *dynamic) receive(i int, r Retrieved) {
	s := &d.senders[i]
	s.credits += int32(r.Credits)
	if s.request {
		s.request = false
		d.ask(i)
	}
	if s.response {
		d.respond(i)
	}
}

// ask sends a compulsory request, or keeps it until there is a credit.
func (d *dynamic) ask(i int) {
	s := &d.senders[i]
	if !d.consume(s) {
		s.request = true
		return
	}
	d.stats.Requests++
	d.push(Control{To: d.cfg.rank(i), Kind: CreditRequest})
}

// respond sends a compulsory response, or keeps it until there is a credit. What it returns is
// decided when it leaves: credits that arrived in between are excess as well.
func (d *dynamic) respond(i int) {
	s := &d.senders[i]
	excess := min(max(s.credits-d.static, 0), MaxCredits)
	if !d.consume(s) {
		s.response = true
		return
	}
	s.response = false
	s.credits -= excess
	d.stats.Responses++
	d.push(Control{To: d.cfg.rank(i), Kind: CreditResponse, Credits: uint16(excess)})
}

// consume takes the credit that a request or response needs like a data packet (section 6.1).
func (d *dynamic) consume(s *sender) bool {
	if s.credits == 0 {
		return false
	}
	s.credits--
	return true
}

// recover takes the credits of a compulsory response back (section 6.5.4).
func (d *dynamic) recover(i int, r Retrieved) {
	s := &d.senders[i]
	n := int32(r.Credits)
	s.blocked = false
	s.current -= n
	d.available += n
	d.stats.CreditsRecovered += uint64(n)
	d.shrink(i, n)
	// Both the blocked time and the shrinking may have left the current threshold reached.
	d.controlActivity(i)
}

// shrink takes n credits out of the thresholds of sender i. The paper is silent here, but a sender
// that gave its credits away could never reach thresholds computed while it had them. It begins at
// the head, which lowers what must be reached first the most; design.md shows that this cannot
// overflow the credit region. The thresholds sum to current+1+retrieved, so they can always give up
// what allowed lets a response return.
func (d *dynamic) shrink(i int, n int32) {
	for k := 0; k < d.fifo && n > 0; k++ {
		t := d.threshold(i, k)
		cut := min(*t-1, n)
		*t -= cut
		n -= cut
	}
}

// threshold is element k of the FIFO of sender i, 0 being its head: the current threshold.
func (d *dynamic) threshold(i, k int) *int32 {
	s := &d.senders[i]
	if k += int(s.head); k >= d.fifo {
		k -= d.fifo
	}
	if d.far != nil {
		return &d.far[i*d.fifo+k]
	}
	return &s.thresholds[k]
}

func (d *dynamic) illegal(r Retrieved, field string, value any, expected string, args ...any) error {
	err := peererror.BadField(r.From, field, value, expected, args...)
	err.State = d.Describe(r.From)
	return err
}

func (d *dynamic) Credits(peer int) int { return int(d.senders[d.cfg.index(peer)].credits) }
func (d *dynamic) Granted(peer int) int { return int(d.senders[d.cfg.index(peer)].current) }
func (d *dynamic) Stats() Stats         { return d.stats }

func (d *dynamic) Exchange(peer int) Exchange {
	s := &d.senders[d.cfg.index(peer)]
	return Exchange{Blocked: s.blocked, Request: s.request, Response: s.response}
}
