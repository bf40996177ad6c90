package host

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/reuse"
	"github.com/nicloop/nicloop/rma"
)

// Eager messages by RMA (REUSE, chapter 5 of the SPEC dissertation). The sender puts the bytes into an entry of a ring that the receiver keeps for it,
// and says by VELO which: that header takes the message's position among all others, so matching is as ever. The bytes come from
// an intermediate buffer, into which they are copied, or from the buffer of the send itself, if that is used so often that it was
// registered (package reuse). The receiver copies them out and gives the entry back.
//
//	rank 0                                          rank 1
//	Isend: an entry is free
//	  copy, or look up                              (any time) Irecv
//	  put n bytes into entry 3 ───────────────────▶ (hardware writes)
//	  header {tag, n, entry 3} ───────────────────▶ matches a receive, or waits for one
//	done: copied, or the bytes have left            both have come, and the receive: copy out
//	        ◀────────────────────── entry 3 is free, in a header of the other direction or by itself when half of them are
//
// Header and bytes may come in either order. Without a free entry a message goes as it would without all this: nobody waits for
// an entry, so a receiver that is late holds nobody up.

// Reuse says how eager messages go by RMA. The zero value: not at all.
type Reuse struct {
	Mode    ReuseMode `json:"mode"`                      // off, copy or adapt
	From    int       `json:"from_bytes,omitempty"`      // the shortest message that does; 0: ReuseFrom
	Longest int       `json:"longest_bytes,omitempty"`   // the longest; 0: ReuseLongest
	Entries int       `json:"entries,omitempty"`         // of each ring; 0: 8
	Portion int       `json:"portion_percent,omitempty"` // of the uses that pay for a registration, after which it is done; 0: 25
	Endless bool      `json:"endless,omitempty"`         // the table of buffers grows whatever comes of it
	Buckets int       `json:"buckets,omitempty"`         // of that table; 0: those of package reuse
}

// ReuseMode is where the bytes of such messages come from.
type ReuseMode string

// The modes.
const (
	ReuseOff   ReuseMode = "off"
	ReuseCopy  ReuseMode = "copy"  // an intermediate buffer, always
	ReuseAdapt ReuseMode = "adapt" // the buffer of the send, if it is used often
)

// ReuseModes are all of them.
func ReuseModes() []ReuseMode { return []ReuseMode{ReuseOff, ReuseCopy, ReuseAdapt} }

// The lengths are the paper's: section 5.5.1 has no shorter messages, Table 5.2 no longer ones.
const (
	ReuseFrom    = 128
	ReuseLongest = 9 << 10
)

const (
	reuseEntries = 8
	reuseStages  = 16 // intermediate buffers of a rank
	reusePage    = 4096
)

// On tells whether there is anything to do.
func (c Reuse) On() bool { return c.Mode != "" && c.Mode != ReuseOff }

func (c Reuse) complete() Reuse {
	for _, v := range []struct{ have, want *int }{
		{&c.From, new(ReuseFrom)}, {&c.Longest, new(ReuseLongest)}, {&c.Entries, new(reuseEntries)}, {&c.Portion, new(reuse.DefaultPortion)},
	} {
		if *v.have == 0 {
			*v.have = *v.want
		}
	}
	return c
}

// Check refuses what cannot be.
func (c Reuse) Check() error {
	switch c.Mode {
	case "", ReuseOff, ReuseCopy, ReuseAdapt:
	default:
		return fmt.Errorf("%w: reuse %q: expected %s, %s or %s", drivers.ErrConfig, c.Mode, ReuseOff, ReuseCopy, ReuseAdapt)
	}
	if c = c.complete(); c.From < 1 || c.Longest < c.From || c.Longest > rendezvous.MaxStep || c.Entries < 1 || c.Entries > reuse.MaxEntries || c.Portion < 1 || c.Portion > 100 {
		return fmt.Errorf("%w: reuse from %d to %d bytes, rings of %d entries, registered at %d %%: expected 1 to %d bytes, 1 to %d entries and 1 to 100 %%",
			drivers.ErrConfig, c.From, c.Longest, c.Entries, c.Portion, rendezvous.MaxStep, reuse.MaxEntries)
	}
	return nil
}

func (c Reuse) entryBytes() uint64 { return roundUp(uint64(c.Longest)) }

// Bytes is what of RMA.HeapBytes it takes in a world of so many ranks: a ring for each other rank, and intermediate buffers.
func (c Reuse) Bytes(ranks int) int {
	if !c.On() {
		return 0
	}
	c = c.complete()
	return int(uint64((ranks-1)*c.Entries+reuseStages)*c.entryBytes())&^(reusePage-1) + 2*reusePage
}

// ReuseStats count eager messages by RMA, and puts and gets of windows.
type ReuseStats struct {
	Table   reuse.Stats
	Buffers int    // in the table
	Copied  uint64 // through an intermediate buffer
	Direct  uint64 // from the buffer itself
	Other   uint64 // messages that found no entry, buffer or descriptor, and went otherwise
	Frees   uint64 // messages that did nothing but give entries back
	Pins    uint64 // registrations that mapped pages
}

// reuser is what a rank has for it.
type reuser struct {
	Reuse
	table   *reuse.Table[*rma.Region]
	senders []reuse.Sender
	rings   []reuse.Receiver[*message] // by peer
	at      uint64                     // of the rings, and of the intermediate buffers behind them
	area    *rma.Region                // all of that, once it is registered
	stages  []int                      // free
	ops     []reuseOp
	stale   []piece // memory that was given back, and may still be mapped
	stats   ReuseStats
}

// A reuseOp is an operation under way.
type reuseOp struct {
	handle rma.Handle
	q      *Request // is done with it
	source source
	window *Window
	into   []byte // gets what lies in the intermediate buffer
}

// A source is where the bytes of an operation lie.
type source struct {
	nla   rma.NLA
	stage int // intermediate buffer, or -1
	held  bool
	ref   reuse.Ref // if held
}

// openReuse takes the end of the heap, whose scratch lies behind it.
func (r *Rank) openReuse(c Reuse, b *bulk) error {
	if err := c.Check(); err != nil || !c.On() {
		return err
	}
	bytes := uint64(c.Bytes(r.size))
	if c = c.complete(); b.HeapBytes < bytes+2*scratchBytes {
		return fmt.Errorf("%w: %d bytes of DMA memory for a rank whose eager messages go by RMA: expected at least %d more than those for its buffers, %d",
			drivers.ErrConfig, b.HeapBytes, bytes, bytes+2*scratchBytes)
	}
	u := &reuser{Reuse: c, senders: make([]reuse.Sender, r.size), rings: make([]reuse.Receiver[*message], r.size)}
	costs := reuse.Costs{
		CopyByte: float64(r.cost.CopyByte), Look: float64(r.cost.Look), Register: float64(r.cost.Pin + r.cost.Register), Page: float64(r.cost.PinPage),
	}
	if costs.CopyByte == 0 { // work takes the time it takes: by the ratios of the default
		d := DefaultCost()
		costs = reuse.Costs{CopyByte: float64(d.CopyByte), Look: float64(d.Look), Register: float64(d.Pin + d.Register), Page: float64(d.PinPage)}
	}
	var err error
	u.table, err = reuse.New[*rma.Region](reuse.Config{
		Endless: c.Endless, Buckets: c.Buckets, Threshold: func(n int) int { return costs.Threshold(n, c.Portion) },
	})
	if err != nil {
		return fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	u.at = (b.HeapBase + b.HeapBytes - scratchBytes - bytes + reusePage) &^ (reusePage - 1)
	for i := range reuseStages {
		u.stages = append(u.stages, reuseStages-1-i)
	}
	r.reuse, b.reserved = u, b.HeapBase+b.HeapBytes-scratchBytes-u.at
	return nil
}

// Reused tells what has become of eager messages by RMA.
func (r *Rank) Reused() (s ReuseStats) {
	if u := r.reuse; u != nil {
		s = u.stats
		s.Table, s.Buffers = u.table.Stats(), u.table.Len()
	}
	return s
}

// ring is the number of the ring that a rank keeps for a peer.
func (r *Rank) ring(peer int) uint64 {
	if peer > r.id {
		peer--
	}
	return uint64(peer)
}

// entryAt is where an entry of a peer's ring lies, stageAt an intermediate buffer.
func (r *Rank) entryAt(peer, entry int) uint64 {
	u := r.reuse
	return u.at + (r.ring(peer)*uint64(u.Entries)+uint64(entry))*u.entryBytes()
}

func (r *Rank) stageAt(i int) uint64 {
	u := r.reuse
	return u.at + (uint64((r.size-1)*u.Entries)+uint64(i))*u.entryBytes()
}

// openArea registers the rings and the intermediate buffers, for good.
func (r *Rank) openArea() (ok bool, err error) {
	u := r.reuse
	if u.area != nil {
		return true, nil
	}
	region, err := r.register(u.at, uint64((r.size-1)*u.Entries+reuseStages)*u.entryBytes(), rma.ReadWrite)
	if errors.Is(err, rendezvous.ErrAgain) {
		return false, nil
	}
	u.area = region
	return err == nil, err
}

// ---- where bytes come from ----

// source finds out from where a buffer is sent, or to where it is received. It copies nothing. ok: there is something.
func (r *Rank) source(buf []byte) (s source, ok bool, err error) {
	u := r.reuse
	if at, inside := locate(r.bulk.Memory, buf); inside && u.Mode == ReuseAdapt {
		use := u.table.Use(at, len(buf))
		r.proc.Spend(r.cost.Look * drivers.Time(use.Looked))
		region := use.Region
		if use.Verdict == reuse.Register {
			if use.Verdict, region, err = r.pin(use.Ref, at, len(buf)); err != nil {
				return s, false, err
			}
		}
		r.releaseReused()
		if use.Verdict == reuse.Direct {
			u.table.Hold(use.Ref)
			return source{nla: region.NLA(at), stage: -1, held: true, ref: use.Ref}, true, nil
		}
	}
	if ready, err := r.openArea(); err != nil || !ready || len(u.stages) == 0 || len(buf) > u.Longest {
		return s, false, err
	}
	i := u.stages[len(u.stages)-1]
	u.stages = u.stages[:len(u.stages)-1]
	return source{nla: u.area.NLA(r.stageAt(i)), stage: i}, true, nil
}

// pin registers a buffer that is used often. Only pages that were not mapped are pinned.
func (r *Rank) pin(ref reuse.Ref, at uint64, n int) (reuse.Verdict, *rma.Region, error) {
	u := r.reuse
	before := r.bulk.Port.Stats().Misses
	region, err := r.register(at, uint64(n), rma.ReadWrite)
	switch {
	case errors.Is(err, rendezvous.ErrAgain):
		u.table.Refused(ref)
		return reuse.Copy, nil, nil
	case err != nil:
		return reuse.Copy, nil, err
	}
	if r.bulk.Port.Stats().Misses > before {
		u.stats.Pins++
		pages := (at+uint64(n)+reusePage-1)/reusePage - at/reusePage
		r.proc.Spend(r.cost.Pin + r.cost.PinPage*drivers.Time(pages))
	}
	return u.table.Registered(ref, n, region), region, nil
}

// count counts an operation that was posted.
func (u *reuser) count(s source) {
	if s.held {
		u.stats.Direct++
	} else {
		u.stats.Copied++
	}
}

// giveBack ends the use of a source.
func (u *reuser) giveBack(s source) {
	if s.held {
		u.table.Drop(s.ref)
	} else {
		u.stages = append(u.stages, s.stage)
	}
}

// releaseReused ends registrations that the table has no use for any more.
func (r *Rank) releaseReused() {
	for {
		region, ok := r.reuse.table.Released()
		if !ok {
			return
		}
		r.bulk.Port.Release(region)
	}
}

// yieldReused gives up a registration that only saves copies, when the tables have no entry for who needs one.
func (r *Rank) yieldReused() {
	if r.reuse != nil && r.reuse.table.Evict() {
		r.releaseReused()
	}
}

// fill copies bytes into an intermediate buffer, if that is where they go from.
func (r *Rank) fill(s source, b []byte) {
	if s.held {
		return
	}
	r.proc.Spend(r.cost.CopyByte * drivers.Time(len(b)))
	copy(r.bulk.Memory[r.stageAt(s.stage):], b)
}

// ---- memory that is given back ----

// forgetMemory is what the heap calls when memory is given back: what was counted and registered of it is of no use.
func (r *Rank) forgetMemory(at, n uint64) {
	if u := r.reuse; u != nil {
		u.table.Invalidate(at, n)
		u.stale = append(u.stale, piece{at, n})
		r.releaseReused()
	}
}

// unmapStale has the hardware forget memory that was given back.
func (r *Rank) unmapStale() error {
	u := r.reuse
	if u == nil || len(u.stale) == 0 {
		return nil
	}
	for _, p := range u.stale {
		if err := r.bulk.Port.Forget(p.at, p.n); err != nil {
			return err
		}
	}
	u.stale = u.stale[:0]
	return nil
}
