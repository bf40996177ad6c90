package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Tags of what the two ranks of a trial say to each other before and after it.
const (
	tagOrder = tagApp + 1 + iota
	tagReady
	tagTimes
)

// An order says when both ranks begin a trial, by simulated time, which all ranks share.
type order struct {
	more             int64 // 0: there are no more trials
	sender, receiver drivers.Time
	compute          drivers.Time // of the receiver
}

// times are those of a trial at the receiver.
type times struct{ begun, ended drivers.Time }

// order gives the receiver an order whose times count from when both are sure to have it: a round trip tells how long that is.
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
	b := make([]byte, 32)
	for i, v := range []int64{o.more, int64(o.sender), int64(o.receiver), int64(o.compute)} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	return o, x.r.Send(x.last, tagOrder, b)
}

// obey takes the next order.
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
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return order{word(0), drivers.Time(word(1)), drivers.Time(word(2)), drivers.Time(word(3))}, nil
}

// at computes until a time, and gives it.
func (x *trials) at(when drivers.Time) (drivers.Time, error) {
	now := x.r.Now()
	if now > when {
		return 0, fmt.Errorf("rank %d has its order for %v at %v (seed %d)", x.r.ID(), when, now, x.t.c.Seed)
	}
	x.r.Compute(when - now)
	return when, nil
}

// tell gives the sender the times of a trial.
func (x *trials) tell(begun, ended drivers.Time) error {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint64(b, uint64(begun))
	binary.LittleEndian.PutUint64(b[8:], uint64(ended))
	return x.r.Send(0, tagTimes, b)
}

func (x *trials) hear() (times, error) {
	b := make([]byte, 16)
	_, err := x.r.Recv(x.last, tagTimes, b)
	return times{drivers.Time(binary.LittleEndian.Uint64(b)), drivers.Time(binary.LittleEndian.Uint64(b[8:]))}, err
}
