package mailbox

import "github.com/nicloop/nicloop/drivers/peererror"

// near is the number of thresholds stored in the sender struct itself: enough for the paper's 5
// credit slots, and filling its cache line. In a large world every packet is from another peer,
// whose state is not cached; the cost per packet is then the number of cache lines touched.
const near = 7

// sender is the state of one peer (FC paper, section 6.2): the receiver role's counters for it as a
// sender, and the sender role's credit counter and flags for it as a receiver.
type sender struct {
	thresholds [near]int32 // FIFO of CreditSlots+1 elements, if it has not more than these
	links

	intended    int32 // intended credit quota
	retrieved   int32 // retrieved packets counter
	piggybacked int32 // piggybacked credits counter
	current     int32 // current credits counter: held by the sender, or in flight in either direction
	credits     int32 // credits for sending to this peer
	head        uint8 // index of its threshold FIFO's head; also the crossings since its last monitoring point
	blocked     bool  // was asked to return credits and has not answered
	request     bool  // compulsory request flag
	response    bool  // compulsory response flag
}

// dynamic is the flow control of FC paper, section 6.
//
// Invariants between any two calls, for every sender (proved in design.md):
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

// NewDynamic returns a Flow in which the peers' shares of the data region follow their activity.
// Each peer keeps at least CreditSlots data slots; the remaining slots are the dynamic region.
func NewDynamic(c Config) (Flow, error) { return NewDynamicFormula(c, Eq1) }

// NewDynamicFormula is NewDynamic with another threshold formula, for experiments that show its
// failure.
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
		// The remainder of an uneven division is distributed, too: the intended quotas must sum
		// to the region.
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
	// A pending control packet needs no test here: its flag is set only while there is no credit,
	// and it consumes the first credit that arrives (section 6.1).
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
// module for the kind of the packet.
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

// allowed validates all fields of a packet before any of them changes the state. The code after it
// relies on the invariants, and the packet may come from another program.
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
// sender, and its slot is now free.
func (d *dynamic) manageSlot(i int) {
	s := &d.senders[i]
	s.current--
	s.retrieved++
	d.available++
}

// receive adds credits and sends deferred control packets, the request first (section 6.5.4).
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

// ask sends a compulsory request, or defers it until there is a credit.
func (d *dynamic) ask(i int) {
	s := &d.senders[i]
	if !d.consume(s) {
		s.request = true
		return
	}
	d.stats.Requests++
	d.push(Control{To: d.cfg.rank(i), Kind: CreditRequest})
}

// respond sends a compulsory response, or defers it until there is a credit. The number of credits
// to return is computed when it is sent: credits that arrive in between are excess as well.
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

// consume takes the credit that a request or response needs, like a data packet (section 6.1).
func (d *dynamic) consume(s *sender) bool {
	if s.credits == 0 {
		return false
	}
	s.credits--
	return true
}

// recover accepts the credits of a compulsory response (section 6.5.4).
func (d *dynamic) recover(i int, r Retrieved) {
	s := &d.senders[i]
	n := int32(r.Credits)
	s.blocked = false
	s.current -= n
	d.available += n
	d.stats.CreditsRecovered += uint64(n)
	d.shrink(i, n)
	// While the sender was blocked, or by shrinking, its current threshold may have been reached.
	d.controlActivity(i)
}

// shrink reduces the thresholds of sender i by n in total. The paper does not specify this, but a
// sender that returned credits could never reach thresholds computed before. Reduction starts at
// the head, which is reached first; design.md shows that this cannot overflow the credit region.
// The thresholds sum to current+1+retrieved, so they can always be reduced by the number of credits
// that allowed accepts in a response.
func (d *dynamic) shrink(i int, n int32) {
	for k := 0; k < d.fifo && n > 0; k++ {
		t := d.threshold(i, k)
		cut := min(*t-1, n)
		*t -= cut
		n -= cut
	}
}

// threshold returns element k of the FIFO of sender i; element 0 is the head, the current
// threshold.
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
