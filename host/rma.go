package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/path/buffered"
	"github.com/nicloop/nicloop/host/path/notready"
	"github.com/nicloop/nicloop/host/path/rendezvous"
	"github.com/nicloop/nicloop/host/path/ring"
	core "github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// RMA configures long messages of a rank.
type RMA struct {
	Port        *rma.Port
	Peers       []rma.Peer // by rank
	Memory      []byte     // the node's DMA memory
	HeapBase    uint64     // offset of the rank's part of Memory
	HeapBytes   uint64
	Protocol    Rendezvous
	Chunk       int // bytes of one get of Chunked
	Outstanding int // gets in progress of Chunked
	// Speculation holds the parameters of Spec; zero selects the defaults.
	Speculation core.Speculation
	// Protocols adds protocols to the four built-in ones. If Choose is set, it selects one of all of
	// them for each message, and Protocol is ignored.
	Protocols []core.Protocol
	Choose    core.Policy
	// Patience limits the time for which an operation is retried that the hardware refuses because it
	// still holds a stale mapping; 0: 10 ms.
	Patience drivers.Time
	// IDs limits the number of transfers in progress; 0: no limit other than the identifiers.
	IDs int
	// Reuse moves eager messages by RMA. All ranks of a world must have the same configuration.
	Reuse Reuse
	// Eager permits eager messages longer than EagerMax; nil: none. All ranks of a world must have
	// the same configuration.
	Eager *Eager
}

// UseRMA enables messages of any size. It adds the paths of long messages.
func (r *Rank) UseRMA(c RMA) error {
	if c.Port == nil || len(c.Peers) != r.size || c.HeapBase > uint64(len(c.Memory)) || c.HeapBytes > uint64(len(c.Memory))-c.HeapBase {
		return fmt.Errorf("%w: RMA with port %p, %d peers and a heap of %d bytes at %d of %d: expected a port, %d peers and a heap inside memory",
			drivers.ErrConfig, c.Port, len(c.Peers), c.HeapBytes, c.HeapBase, len(c.Memory), r.size)
	}
	if c.HeapBytes < 2*path.ScratchBytes {
		return fmt.Errorf("%w: %d bytes of DMA memory for a rank: expected at least %d", drivers.ErrConfig, c.HeapBytes, 2*path.ScratchBytes)
	}
	before := r.engine.DMA
	r.engine.UseDMA(&path.DMA{Port: c.Port, Peers: c.Peers, Memory: c.Memory, HeapBase: c.HeapBase, HeapBytes: c.HeapBytes})
	if err := r.addPaths(&c); err != nil {
		r.engine.DMA = before
		return err
	}
	r.engine.DMA.Clear()
	return nil
}

// addPaths adds the paths of RMA in the order in which a send is offered to them.
func (r *Rank) addPaths(c *RMA) (err error) {
	e := &r.engine
	if r.ring, err = ring.Add(e, c.Reuse); err != nil {
		return err
	}
	switch {
	case c.Eager == nil:
	case c.Eager.Handshake == threshold.NotReady:
		if err := checkNotReady(c); err != nil {
			return err
		}
		r.notready = notready.Add(e, c.Eager.Policy)
	default:
		if r.buffered, err = buffered.Add(e, *c.Eager); err != nil {
			return err
		}
	}
	r.rendezvous, err = rendezvous.Add(e, rendezvous.Config{
		Protocol: c.Protocol, Chunk: c.Chunk, Outstanding: c.Outstanding, Speculation: c.Speculation,
		Protocols: c.Protocols, Choose: c.Choose, Patience: c.Patience, IDs: c.IDs,
	})
	return err
}

// checkNotReady rejects options that cannot be combined with puts to receivers that are not ready.
func checkNotReady(c *RMA) error {
	switch {
	case c.Eager.Threshold != 0:
		return fmt.Errorf("%w: fixed eager threshold with not-ready receivers: they have no buffers; use one of the two", drivers.ErrConfig)
	case c.Reuse.On() || c.Protocol == Spec:
		return fmt.Errorf("%w: not-ready receivers with Reuse or spec: each of them chooses the target buffer of a message; use one of them", drivers.ErrConfig)
	}
	return nil
}

// Alloc allocates n bytes of DMA memory. Long messages are sent from and received into it without a
// copy.
func (r *Rank) Alloc(n int) ([]byte, error) {
	switch {
	case n < 0 || n > MaxBytes:
		return nil, fmt.Errorf("%w: memory of %d bytes: expected 0 to %d", drivers.ErrConfig, n, MaxBytes)
	case n == 0: // nothing to free later
		return []byte{}, nil
	case r.engine.DMA == nil:
		return make([]byte, n), nil
	}
	return r.engine.DMA.Alloc(n)
}

// Free frees one buffer of Alloc, as a whole. No request may use it. A send in progress from it is
// reported as an error if it is detected.
func (r *Rank) Free(buf []byte) error {
	if r.engine.DMA == nil || cap(buf) == 0 {
		return nil
	}
	return r.engine.DMA.Free(buf)
}

// FreeAll frees all buffers of Alloc. No request may be in progress.
func (r *Rank) FreeAll() {
	if r.engine.DMA != nil {
		r.engine.DMA.FreeAll()
	}
}

// Hint sets the hint that RMA.Choose receives with each long message sent from now on.
func (r *Rank) Hint(h uint8) {
	if r.rendezvous != nil {
		r.rendezvous.Hint(h)
	}
}

// LengthenGets makes each get take the given percentage longer than a put of as many bytes. It
// serves experiments with hosts that read more slowly than they write.
func (r *Rank) LengthenGets(percent int) {
	if r.rendezvous != nil {
		r.rendezvous.LengthenGets(percent)
	}
}

// RendezvousStats returns the counters of the rank's long messages.
func (r *Rank) RendezvousStats() (s core.Stats) {
	if r.rendezvous != nil {
		s = r.rendezvous.Stats()
	}
	return s
}

// Reused returns the counters of the rank's eager messages by RMA.
func (r *Rank) Reused() ReuseStats { return r.ring.Stats() }

// CheckRings checks the entries of the ring from one rank to another while no message is in flight
// between them.
func CheckRings(from, to *Rank) error { return ring.CheckPair(from.ring, to.ring) }

// EagerStats counts a rank's eager messages longer than EagerMax. Spent is the core time of
// handshakes, including the allocation and release of buffers; Freeing is the core time of messages
// that return buffers.
type EagerStats struct {
	threshold.Stats
	Streams        threshold.StreamStats // under NotReady
	Spent, Freeing drivers.Time
}

// EagerStats returns the counters of the rank's eager messages longer than EagerMax; false if all
// of these use a rendezvous.
func (r *Rank) EagerStats() (s EagerStats, ok bool) {
	switch {
	case r.notready != nil:
		s.Streams, s.Spent = r.notready.Stats()
	case r.buffered != nil:
		s.Stats, s.Spent, s.Freeing = r.buffered.Stats()
	default:
		return s, false
	}
	return s, true
}
