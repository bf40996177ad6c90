package path

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/rma"
)

// ErrAgain: memory or a descriptor is not available now; it will be without anything happening
// here.
var ErrAgain = errors.New("path: no room now, try again")

// ScratchBytes is the end of a rank's heap, into which fences read.
const ScratchBytes = HeapAlign

// A Class says for whom memory stands in for a buffer that the hardware does not reach. What is
// kept for Late and Received must not be given to Early, nor what is kept for one of them to the
// other: so neither can keep the other from its end.
type Class uint8

// The classes.
const (
	EarlySend Class = iota // a send that no receive has asked for: it can go on without memory
	LateSend               // a send whose receiver waits for it
	Receive                // a receive
	classes
)

// A RegistrationCache keeps registrations that only save copies. The DMA memory asks it for room.
type RegistrationCache interface {
	// Held tells whether an operation reads the memory of a piece.
	Held(at, n uint64) bool
	// Freed drops what is known of a piece that has been given back.
	Freed(at, n uint64)
	// UnmapFreed has the hardware drop the mappings of pieces that were freed.
	UnmapFreed() error
	// Evict gives up a registration, if there is one to spare.
	Evict()
}

// DMA is the memory of a node that a rank's hardware reaches, and the port through which it moves
// bytes.
type DMA struct {
	Port      *rma.Port
	Peers     []rma.Peer // by rank
	Memory    []byte     // of the node
	HeapBase  uint64     // the rank's part of it
	HeapBytes uint64
	Cache     RegistrationCache // nil: none

	engine   *Engine
	heap     heap
	reserved uint64            // bytes at the end of the heap, in front of the scratch
	given    map[uint64]uint64 // what Alloc has given, and Free has not taken back
	held     [classes]int      // pieces that stand in for buffers
	bounced  uint64            // their bytes
	scratch  *rma.Region
	event    rma.Event
}

// UseDMA gives the engine DMA memory. Reserve must be called before Clear makes the heap.
func (e *Engine) UseDMA(d *DMA) {
	d.engine = e
	e.DMA = d
}

// Reserve takes n bytes, aligned to align, from the end of the heap for good, and gives their
// address.
func (d *DMA) Reserve(n, align uint64) uint64 {
	end := d.HeapBase + d.HeapBytes - ScratchBytes
	at := (end - d.reserved - n) &^ (align - 1)
	d.reserved = end - at
	return at
}

// Reserved is how many bytes of the heap are not for Alloc.
func (d *DMA) Reserved() uint64 { return d.reserved + ScratchBytes }

// Clear makes the heap anew.
func (d *DMA) Clear() {
	d.heap = newHeap(d.HeapBase, d.HeapBytes-d.Reserved())
	d.given = map[uint64]uint64{}
}

// Alloc gives n bytes, from which long messages are sent and into which they are received without a
// copy.
func (d *DMA) Alloc(n int) ([]byte, error) {
	at, err := d.heap.alloc(uint64(n))
	if err != nil {
		return nil, err
	}
	d.given[at] = uint64(n)
	return d.Memory[at : at+uint64(n) : at+uint64(n)], nil
}

// Free takes back one buffer that Alloc has given, whole.
func (d *DMA) Free(buf []byte) error {
	at, inside := d.Locate(buf[:min(1, cap(buf))])
	n, given := d.given[at]
	switch {
	case !inside || !given || n != uint64(len(buf)):
		return fmt.Errorf("%w: %d bytes are given back: expected all of what Alloc gave, once", drivers.ErrConfig, len(buf))
	case d.Cache != nil && d.Cache.Held(at, n):
		return fmt.Errorf("%w: %d bytes are given back that a send is reading: wait for it first", drivers.ErrConfig, len(buf))
	}
	delete(d.given, at)
	d.heap.free(at, n)
	if d.Cache == nil {
		return nil
	}
	d.Cache.Freed(at, n)
	return d.Cache.UnmapFreed()
}

// FreeAll takes back everything that Alloc has given.
func (d *DMA) FreeAll() {
	d.Clear()
	if d.Cache != nil {
		d.Cache.Freed(d.HeapBase, d.HeapBytes-d.Reserved())
	}
}

// Locate tells where in DMA memory buf lies, if it does.
func (d *DMA) Locate(buf []byte) (at uint64, inside bool) { return locate(d.Memory, buf) }

// Borrow takes a piece of the heap that stands in for a buffer. Those of EarlySend leave half of
// what Alloc has left, and room for a receive and a late send of their size; the others leave room
// for one of the other kind unless they are the first of their own.
func (d *DMA) Borrow(class Class, n uint64) (at uint64, ok bool) {
	leave := RoundUp(n)
	switch {
	case class == EarlySend:
		leave = max(2*leave, (d.heap.left()+d.bounced)/2)
	case d.held[class] == 0:
		leave = 0
	}
	at, err := d.heap.alloc(n)
	if err != nil {
		return 0, false
	}
	if d.heap.largest() < leave {
		d.heap.free(at, n)
		return 0, false
	}
	d.held[class]++
	d.bounced += RoundUp(n)
	return at, true
}

// Return gives back what Borrow took.
func (d *DMA) Return(class Class, at, n uint64) {
	d.heap.free(at, n)
	d.held[class]--
	d.bounced -= RoundUp(n)
}

// Register maps memory. The tables belong to all ranks of the node: if they are full, ErrAgain asks
// to try again later.
func (d *DMA) Register(at, n uint64, rights rma.Rights) (*rma.Region, error) {
	d.engine.Proc.Spend(d.engine.Cost.Register)
	if d.Cache != nil {
		if err := d.Cache.UnmapFreed(); err != nil {
			return nil, err
		}
	}
	region, err := d.Port.Register(at, n, rights)
	if errors.Is(err, drivers.ErrTablesFull) && d.Cache != nil {
		d.Cache.Evict()
	}
	if errors.Is(err, rma.ErrTryAgain) || errors.Is(err, drivers.ErrTablesFull) {
		return nil, ErrAgain
	}
	return region, err
}

// Scratch is where fences read to; rma.ErrTryAgain: it cannot be registered now.
func (d *DMA) Scratch() (rma.NLA, error) {
	at := d.HeapBase + d.HeapBytes - ScratchBytes
	if d.scratch == nil {
		region, err := d.Register(at, ScratchBytes, rma.WriteOnly)
		if errors.Is(err, ErrAgain) {
			err = rma.ErrTryAgain
		}
		if err != nil {
			return 0, err
		}
		d.scratch = region
	}
	return d.scratch.NLA(at), nil
}

// A Bounce is memory for the bytes of a message: those of its buffer itself if the hardware reaches
// it, or a piece of the heap that stands in for it.
type Bounce struct {
	At     uint64
	Region *rma.Region
	bytes  uint64 // of the piece; 0: the buffer itself
	class  Class
}

// Copied tells whether a piece of the heap stands in for the buffer.
func (b Bounce) Copied() bool { return b.bytes > 0 }

// Prepare finds memory for buf and registers it. ok: there is some; ErrAgain: it cannot be
// registered now. What cannot be registered is not kept.
func (d *DMA) Prepare(class Class, buf []byte, rights rma.Rights) (b Bounce, ok bool, err error) {
	n := uint64(len(buf))
	at, inside := d.Locate(buf)
	if !inside {
		if at, ok = d.Borrow(class, n); !ok {
			return b, false, nil
		}
		b.bytes, b.class = n, class
	}
	b.At = at
	if b.Region, err = d.Register(at, n, rights); err != nil {
		d.Release(b)
		return Bounce{}, false, err
	}
	return b, true, nil
}

// PrepareEager prepares the bytes of a send that is put before a receive has asked for it. Not ok:
// there is no memory for them, or it cannot be registered now.
func (d *DMA) PrepareEager(buf []byte) (b Bounce, ok bool, err error) {
	b, ok, err = d.Prepare(EarlySend, buf, rma.ReadOnly)
	if errors.Is(err, ErrAgain) {
		return b, false, nil
	}
	if ok {
		d.CopyIn(b, buf)
	}
	return b, ok, err
}

// CopyIn copies the bytes of a send into the piece that stands in for its buffer, if one does.
func (d *DMA) CopyIn(b Bounce, buf []byte) {
	if !b.Copied() {
		return
	}
	d.engine.Proc.Spend(d.engine.Cost.CopyByte * drivers.Time(len(buf)))
	copy(d.Memory[b.At:], buf)
}

// Release gives memory back that Prepare found.
func (d *DMA) Release(b Bounce) {
	if b.Copied() {
		d.Return(b.class, b.At, b.bytes)
	}
	if b.Region != nil {
		d.Port.Release(b.Region)
	}
}

// Left is how many bytes of the heap are free.
func (d *DMA) Left() uint64 { return d.heap.left() }

// CheckWhole reports pieces of the heap that were not given back.
func (d *DMA) CheckWhole() error {
	if p := d.heap.pieces; len(p) != 1 || p[0].n != d.heap.total {
		return fmt.Errorf("the heap has %d pieces and %d bytes free of %d", len(p), d.heap.left(), d.heap.total)
	}
	return nil
}
