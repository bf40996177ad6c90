package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Tags of the control messages between the two ranks of a trial.
const (
	tagOrder = tagApp + 1 + iota
	tagReady
	tagTimes
)

// An order sets the simulated time, common to all ranks, at which both ranks begin a trial.
type order struct {
	more             int64 // 0: no more trials
	sender, receiver drivers.Time
	compute          drivers.Time // of the receiver
}

// times of a trial at one rank: its post, the return of the call, and the return of its Wait.
type times struct{ begun, called, ended drivers.Time }

// order sends the receiver an order. Its times begin when both ranks certainly have it, which a
// round trip measures.
func (x *trials) order(o order) (order, error) {
	asked := x.r.Now()
	if err := x.r.Send(x.last, tagReady, nil); err != nil {
		return o, err
	}
	if _, err := x.r.Recv(x.last, tagReady, nil); err != nil {
		return o, err
	}
	from := x.r.Now() + 4*(x.r.Now()-asked)
	o.sender, o.receiver = o.sender+from, o.receiver+from
	return o, x.r.Send(x.last, tagOrder, words(o.more, int64(o.sender), int64(o.receiver), int64(o.compute)))
}

// obey receives the next order.
func (x *trials) obey() (o order, err error) {
	if _, err := x.r.Recv(0, tagReady, nil); err != nil {
		return o, err
	}
	if err := x.r.Send(0, tagReady, nil); err != nil {
		return o, err
	}
	b := make([]byte, 32)
	if _, err := x.r.Recv(0, tagOrder, b); err != nil {
		return o, err
	}
	return order{int64(word(b, 0)), word(b, 1), word(b, 2), word(b, 3)}, nil
}

// until computes until the given time.
func (x *trials) until(when drivers.Time) error {
	now := x.r.Now()
	if now > when {
		return fmt.Errorf("rank %d received its order for %v only at %v (seed %d)", x.r.ID(), when, now, x.t.c.Seed)
	}
	x.r.Compute(when - now)
	return nil
}

// tell sends the receiver's times to the sender.
func (x *trials) tell(t times) error {
	return x.r.Send(0, tagTimes, words(int64(t.begun), int64(t.called), int64(t.ended)))
}

func (x *trials) hear() (times, error) {
	b := make([]byte, 24)
	_, err := x.r.Recv(x.last, tagTimes, b)
	return times{word(b, 0), word(b, 1), word(b, 2)}, err
}

// words and word encode and decode numbers.
func words(list ...int64) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func word(b []byte, i int) drivers.Time { return drivers.Time(binary.LittleEndian.Uint64(b[8*i:])) }
