package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path/onesided"
	"github.com/nicloop/nicloop/rma"
)

// An Exposed buffer is DMA memory of a rank that others read and write one-sidedly.
type Exposed struct {
	Bytes []byte

	rank   int
	at     uint64
	region *rma.Region
}

// A OneSidedOp is a put or a get between memory of Alloc of this rank and an exposed buffer.
type OneSidedOp struct {
	Put    bool
	Local  []byte
	Target *Exposed
	Offset int // in Target
	// Notify makes a put raise an event with Data at the target, after its bytes.
	Notify bool
	Data   uint64
	// Done is called while this rank makes progress, when the bytes have arrived where they go to.
	Done func(err error)

	op onesided.Op
}

// UseOneSided enables one-sided operations. arrived is called for each put with Notify to this
// rank.
func (r *Rank) UseOneSided(arrived func(from int, data uint64) error) error {
	if r.engine.DMA == nil {
		return fmt.Errorf("%w: one-sided operations without RMA: expected UseRMA before", drivers.ErrConfig)
	}
	r.onesided = onesided.Add(&r.engine)
	r.onesided.Arrived = arrived
	return nil
}

// Expose registers memory of Alloc for operations of other ranks. path.ErrAgain: the tables of the
// node are full.
func (r *Rank) Expose(buf []byte) (*Exposed, error) {
	at, inside := r.engine.DMA.Locate(buf)
	if !inside || len(buf) == 0 {
		return nil, fmt.Errorf("%w: Expose of %d bytes: expected memory of Alloc", drivers.ErrConfig, len(buf))
	}
	region, err := r.engine.DMA.Register(at, uint64(len(buf)), rma.ReadWrite)
	if err != nil {
		return nil, err
	}
	return &Exposed{Bytes: buf, rank: r.id, at: at, region: region}, nil
}

// Withdraw ends what Expose began.
func (r *Rank) Withdraw(x *Exposed) { r.engine.DMA.Port.Release(x.region) }

// StartOneSided begins an operation. Operations to one target are performed in order.
func (r *Rank) StartOneSided(o *OneSidedOp) error {
	t, n := o.Target, len(o.Local)
	at, inside := r.engine.DMA.Locate(o.Local)
	switch {
	case !inside || n < 1 || n > rma.MaxBytes:
		return fmt.Errorf("%w: one-sided operation with %d bytes: expected 1 to %d of Alloc",
			drivers.ErrConfig, n, rma.MaxBytes)
	case o.Offset < 0 || o.Offset > len(t.Bytes)-n:
		return fmt.Errorf("%w: one-sided operation with %d bytes at offset %d of %d",
			drivers.ErrConfig, n, o.Offset, len(t.Bytes))
	}
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	rights := rma.WriteOnly
	if o.Put {
		rights = rma.ReadOnly
	}
	region, err := r.engine.DMA.Register(at, uint64(n), rights)
	if err != nil {
		return err
	}
	o.op = onesided.Op{
		Put: o.Put, Peer: t.rank, Local: region.NLA(at), Remote: t.region.NLA(t.at + uint64(o.Offset)), Bytes: n,
		Notify: o.Notify, Data: o.Data,
		Done: func(err error) {
			r.engine.DMA.Port.Release(region)
			o.Done(err)
		},
	}
	return r.onesided.Start(&o.op)
}

// IsOneSidedMoving tells whether one-sided operations of this rank are in progress.
func (r *Rank) IsOneSidedMoving() bool { return r.onesided != nil && r.onesided.IsMoving() }
