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

// RMA is what a rank has for long messages.
type RMA struct {
	Port        *rma.Port
	Peers       []rma.Peer // by rank
	Memory      []byte     // the node's DMA memory
	HeapBase    uint64     // the rank's part of it
	HeapBytes   uint64
	Protocol    Rendezvous
	Chunk       int // bytes of one get of Chunked
	Outstanding int // gets in progress of Chunked
	// Speculation is what Spec works by; a zero is the default.
	Speculation core.Speculation
	// Protocols are more than those four; Choose picks among all of them, message by message, instead
	// of Protocol.
	Protocols []core.Protocol
	Choose    core.Policy
	// Patience is how long an operation is repeated that is refused because the hardware has yet to
	// drop a mapping; 0: 10 ms.
	Patience drivers.Time
	// IDs limits the transfers that can be in progress; 0: as many as there are names for.
	IDs int
	// Reuse has eager messages go by RMA; all ranks of a world must have the same.
	Reuse Reuse
	// Eager lets messages beyond EagerMax be eager; nil: none are. All ranks of a world must have the
	// same.
	Eager *Eager
}

// UseRMA lets a rank send and receive messages of any size. It adds the paths of long messages.
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

// addPaths adds the paths of RMA in the order in which they take messages.
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

// checkNotReady refuses what puts to receivers that are not ready cannot be combined with.
func checkNotReady(c *RMA) error {
	switch {
	case c.Eager.Threshold != 0:
		return fmt.Errorf("%w: a fixed eager threshold for receivers that are not ready: they have no buffers", drivers.ErrConfig)
	case c.Reuse.On() || c.Protocol == Spec:
		return fmt.Errorf("%w: receivers that are not ready beside buffers that are used again, or spec: each says by itself where a receive's message goes", drivers.ErrConfig)
	}
	return nil
}

// Alloc gives n bytes of DMA memory, which long messages are sent from and received into without a
// copy.
func (r *Rank) Alloc(n int) ([]byte, error) {
	switch {
	case n < 0 || n > MaxBytes:
		return nil, fmt.Errorf("%w: memory of %d bytes: expected 0 to %d", drivers.ErrConfig, n, MaxBytes)
	case n == 0: // Free has nothing to take back
		return []byte{}, nil
	case r.engine.DMA == nil:
		return make([]byte, n), nil
	}
	return r.engine.DMA.Alloc(n)
}

// Free takes back one buffer that Alloc has given, whole. No request may use it: a send from it
// that is in progress is refused if it is seen.
func (r *Rank) Free(buf []byte) error {
	if r.engine.DMA == nil || cap(buf) == 0 {
		return nil
	}
	return r.engine.DMA.Free(buf)
}

// FreeAll takes back everything that Alloc has given. No request may be in progress.
func (r *Rank) FreeAll() {
	if r.engine.DMA != nil {
		r.engine.DMA.FreeAll()
	}
}

// Hint is given to RMA.Choose with every long message that is sent from now on.
func (r *Rank) Hint(h uint8) {
	if r.rendezvous != nil {
		r.rendezvous.Hint(h)
	}
}

// LengthenGets has every get of a message take so many percent longer than a put of as many bytes.
// It is for experiments that ask how reads which are slower than writes change a rendezvous.
func (r *Rank) LengthenGets(percent int) {
	if r.rendezvous != nil {
		r.rendezvous.LengthenGets(percent)
	}
}

// RendezvousStats are those of the rank's long messages.
func (r *Rank) RendezvousStats() (s core.Stats) {
	if r.rendezvous != nil {
		s = r.rendezvous.Stats()
	}
	return s
}

// Reused counts the rank's eager messages by RMA.
func (r *Rank) Reused() ReuseStats { return r.ring.Stats() }

// CheckRings counts the entries of the ring from one rank to another, when nothing is in flight
// between them.
func CheckRings(from, to *Rank) error { return ring.CheckPair(from.ring, to.ring) }

// EagerStats are those of a rank's eager messages beyond EagerMax. Spent is the time of its core in
// handshakes, buffers that are made and given up included; Freeing is the time spent on messages
// that buffers may be used again.
type EagerStats struct {
	threshold.Stats
	Streams        threshold.StreamStats // under NotReady
	Spent, Freeing drivers.Time
}

// EagerStats gives the counters of the rank's eager messages beyond EagerMax; false: all of them go
// by a rendezvous.
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
