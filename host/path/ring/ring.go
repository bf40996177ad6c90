// Package ring is the path of eager messages by RMA into reused buffers (REUSE, chapter 5 of the
// SPEC dissertation). The sender puts the bytes into an entry of a ring that the receiver keeps for
// it, and announces by VELO which: that header takes the message's position among all others, so
// matching is as ever. The bytes come from an intermediate buffer, into which they are copied, or
// from the buffer of the send itself, if that is used so often that it was registered (package
// reuse). The receiver copies them out and gives the entry back.
//
//	rank 0                                          rank 1
//	Isend: an entry is free
//	  copy, or look up                              (any time) Irecv
//	  put n bytes into entry 3 ───────────────────▶ (hardware writes)
//	  header {tag, n, entry 3} ───────────────────▶ matches a receive, or waits for one
//	done: copied, or the bytes have left            both have come, and the receive: copy out
//	        ◀────────────────────── entry 3 is free, in a header of the other direction or by itself when half of them are
//
// Header and bytes may arrive in either order. Without a free entry a message is left to the other
// paths: no sender waits for an entry, so a receiver that is late holds nobody up.
//
// The intermediate buffers and the table of reused buffers also serve the windows of package host
// ([Path.Put], [Path.Get]).
package ring

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/reuse"
	"github.com/nicloop/nicloop/rma"
)

// Config says how eager messages go by RMA. The zero value: not at all.
type Config struct {
	Mode    Mode `json:"mode"`                      // off, copy or adapt
	From    int  `json:"from_bytes,omitempty"`      // the shortest message that does; 0: DefaultFrom
	Longest int  `json:"longest_bytes,omitempty"`   // the longest; 0: DefaultLongest
	Entries int  `json:"entries,omitempty"`         // of each ring; 0: 8
	Portion int  `json:"portion_percent,omitempty"` // of the uses that pay for a registration, after which it is done; 0: 25
	Endless bool `json:"endless,omitempty"`         // the table of buffers grows whatever comes of it
	Buckets int  `json:"buckets,omitempty"`         // of that table; 0: those of package reuse
}

// A Mode says from where the bytes of such messages are put.
type Mode string

// The modes.
const (
	Off   Mode = "off"
	Copy  Mode = "copy"  // an intermediate buffer, always
	Adapt Mode = "adapt" // the buffer of the send, if it is used often
)

// The lengths are the paper's: section 5.5.1 has no shorter messages, Table 5.2 no longer ones.
const (
	DefaultFrom    = 128
	DefaultLongest = 9 << 10
)

const (
	defaultEntries = 8
	stages         = 16 // intermediate buffers of a rank
	pageBytes      = 4096
	maxBytes       = rma.MaxBytes
)

// On tells whether any message goes by RMA.
func (c Config) On() bool { return c.Mode != "" && c.Mode != Off }

func (c Config) withDefaults() Config {
	for _, v := range []struct {
		value *int
		unset int
	}{{&c.From, DefaultFrom}, {&c.Longest, DefaultLongest}, {&c.Entries, defaultEntries}, {&c.Portion, reuse.DefaultPortion}} {
		if *v.value == 0 {
			*v.value = v.unset
		}
	}
	return c
}

// Check refuses settings that no world can have.
func (c Config) Check() error {
	switch c.Mode {
	case "", Off, Copy, Adapt:
	default:
		return fmt.Errorf("%w: reuse %q: expected %s, %s or %s", drivers.ErrConfig, c.Mode, Off, Copy, Adapt)
	}
	if c = c.withDefaults(); c.From < 1 || c.Longest < c.From || c.Longest > maxBytes || c.Entries < 1 ||
		c.Entries > reuse.MaxEntries || c.Portion < 1 || c.Portion > 100 {
		return fmt.Errorf("%w: reuse from %d to %d bytes, rings of %d entries, registered at %d %%: "+
			"expected 1 to %d bytes, 1 to %d entries and 1 to 100 %%",
			drivers.ErrConfig, c.From, c.Longest, c.Entries, c.Portion, maxBytes, reuse.MaxEntries)
	}
	return nil
}

func (c Config) entryBytes() uint64 { return path.RoundUp(uint64(c.Longest)) }

// Bytes is how much of RMA.HeapBytes it takes in a world of so many ranks: a ring for each other
// rank, and intermediate buffers.
func (c Config) Bytes(ranks int) int {
	if !c.On() {
		return 0
	}
	c = c.withDefaults()
	return int(c.areaBytes(ranks))&^(pageBytes-1) + 2*pageBytes
}

func (c Config) areaBytes(ranks int) uint64 {
	return uint64((ranks-1)*c.Entries+stages) * c.entryBytes()
}

// Stats count eager messages by RMA, and puts and gets of windows.
type Stats struct {
	Table   reuse.Stats
	Buffers int    // in the table
	Copied  uint64 // through an intermediate buffer
	Direct  uint64 // from the buffer itself
	Other   uint64 // messages that found no entry, buffer or descriptor, and were left to other paths
	Frees   uint64 // messages that did nothing but give entries back
	Pins    uint64 // registrations that mapped pages
}

// A Path moves eager messages by RMA.
type Path struct {
	Config
	e       *path.Engine
	table   *reuse.Table[*rma.Region]
	senders []reuse.Sender
	rings   []reuse.Receiver[*path.Message] // by peer
	base    uint64                          // of the rings, and of the intermediate buffers behind them
	area    *rma.Region                     // all of that, once it is registered
	stages  []int                           // free intermediate buffers
	ops     []operation
	freed   []piece // memory that was given back, and may still be mapped
	stats   Stats
}

type piece struct{ at, n uint64 }

// An operation of RMA in progress.
type operation struct {
	handle   rma.Handle
	op       *path.Op // is done with it; nil: none
	transfer *Transfer
	source   source
	into     []byte // into which the bytes of a get are copied from the intermediate buffer
}

// Add adds the path to an engine with DMA memory, at the end of which it keeps its buffers.
func Add(e *path.Engine, c Config) (*Path, error) {
	if err := c.Check(); err != nil || !c.On() {
		return nil, err
	}
	bytes, d := uint64(c.Bytes(e.Size)), e.DMA
	if c = c.withDefaults(); d.HeapBytes < bytes+2*path.ScratchBytes {
		return nil, fmt.Errorf("%w: %d bytes of DMA memory for a rank whose eager messages go by RMA: "+
			"expected at least %d more than those for its buffers, %d",
			drivers.ErrConfig, d.HeapBytes, bytes, bytes+2*path.ScratchBytes)
	}
	p := &Path{Config: c, e: e, senders: make([]reuse.Sender, e.Size), rings: make([]reuse.Receiver[*path.Message], e.Size)}
	costs := costsOf(e.Cost)
	var err error
	p.table, err = reuse.New[*rma.Region](reuse.Config{
		Endless: c.Endless, Buckets: c.Buckets, Threshold: func(n int) int { return costs.Threshold(n, c.Portion) },
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	for i := range stages {
		p.stages = append(p.stages, stages-1-i)
	}
	p.base = d.Reserve(bytes-pageBytes, pageBytes)
	d.Cache = p
	e.Add(p, path.Ring, path.RingControl)
	return p, nil
}

// costsOf takes the costs of the host model. On a machine whose work takes the time that it takes,
// they are those of the default: only their ratios count.
func costsOf(c *path.Cost) reuse.Costs {
	if c.CopyByte == 0 {
		d := path.DefaultCost()
		c = &d
	}
	return reuse.Costs{
		CopyByte: float64(c.CopyByte), Look: float64(c.Look), Register: float64(c.Pin + c.Register), Page: float64(c.PinPage),
	}
}

// Stats gives the path's counters.
func (p *Path) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	s := p.stats
	s.Table, s.Buffers = p.table.Stats(), p.table.Len()
	return s
}

// Name implements path.Path.
func (p *Path) Name() string { return "ring" }

// Explain implements path.Path.
func (p *Path) Explain() string {
	from := "an intermediate buffer"
	if p.Mode == Adapt {
		from = "the buffer of the send if it is used often, else an intermediate buffer"
	}
	return fmt.Sprintf("messages of %d to %d bytes while the receiver's ring has a free entry; from %s", p.From, p.Longest, from)
}

// EagerLimit implements path.Limiter: the lengths of rings are the same at all ranks.
func (p *Path) EagerLimit(int) int { return p.Longest }

// ring is the number of the ring that the rank keeps for a peer.
func (p *Path) ring(peer int) uint64 {
	if peer > p.e.ID {
		peer--
	}
	return uint64(peer)
}

// entryAt is where an entry of a peer's ring lies, stageAt an intermediate buffer.
func (p *Path) entryAt(peer, entry int) uint64 {
	return p.base + (p.ring(peer)*uint64(p.Entries)+uint64(entry))*p.entryBytes()
}

func (p *Path) stageAt(i int) uint64 {
	return p.base + (uint64((p.e.Size-1)*p.Entries)+uint64(i))*p.entryBytes()
}

// openArea registers the rings and the intermediate buffers, for good.
func (p *Path) openArea() (ok bool, err error) {
	if p.area != nil {
		return true, nil
	}
	region, err := p.e.DMA.Register(p.base, p.areaBytes(p.e.Size), rma.ReadWrite)
	if errors.Is(err, path.ErrAgain) {
		return false, nil
	}
	p.area = region
	return err == nil, err
}

// Area is where the rings and the intermediate buffers lie; not ok: they are not registered yet.
func (p *Path) Area() (at rma.NLA, ok bool) {
	if p.area == nil {
		return 0, false
	}
	return p.area.NLA(p.base), true
}

// Granted is how many entries the ring for a peer has.
func (p *Path) Granted(peer int) int { return p.rings[peer].Entries() }

// Unreturned is how many entries of the ring for a peer have been read and not given back.
func (p *Path) Unreturned(peer int) int { return p.rings[peer].Unreturned() }

// Registrations is how many buffers are registered because they are used often.
func (p *Path) Registrations() int { return p.table.InUse() }

// CheckIdle reports what is in use although no operation is in progress.
func (p *Path) CheckIdle() error {
	if len(p.ops) > 0 || len(p.stages) < stages {
		return fmt.Errorf("%d operations are in progress, and %d of %d intermediate buffers are free", len(p.ops), len(p.stages), stages)
	}
	return nil
}

// CheckPair counts the entries of the ring from one rank to another, when nothing is in flight
// between them.
func CheckPair(from, to *Path) error {
	if from == nil || to == nil {
		return nil
	}
	if err := reuse.Check(&from.senders[to.e.ID], &to.rings[from.e.ID]); err != nil {
		return fmt.Errorf("from rank %d to rank %d: %w", from.e.ID, to.e.ID, err)
	}
	return nil
}
