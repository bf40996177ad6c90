package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// The computing side of a message.
const (
	SendSide    = "send"
	ReceiveSide = "receive"
)

// When the sender posts.
const (
	SameTime    = "same" // together with the receiver
	EarlySender = "early"
	LateSender  = "late"
)

var (
	sides   = []string{SendSide, ReceiveSide}
	senders = []string{SameTime, EarlySender, LateSender}
)

// An OverlapCase is the measurement of one side that computes during a message (SPEC, section 3.6).
type OverlapCase struct {
	Side   string `json:"side"`   // the computing side: send or receive
	Sender string `json:"sender"` // same: both sides post at the same time; early: the receiver posts an offset later; late: earlier
	// Latency is the latency without computation. Overlap: on the computing side, from its post until
	// its Wait returns; progress: from that post until the receiver has the message.
	Latency drivers.Time `json:"latency_ps"`
	// Call is the part of Latency spent in the nonblocking call, which occupies the core (t1 of the
	// paper's model).
	Call drivers.Time `json:"call_ps"`
	// Share of Latency. Overlap: the longest computation before the latency is a tenth longer, minus
	// that extension (equation 3.4). Progress: the share that is over when the longest computation
	// ends.
	Share   float64         `json:"share"`
	Samples []OverlapSample `json:"samples"`
}

// An OverlapSample is the latency with a computation between post and Wait.
type OverlapSample struct {
	Computation drivers.Time `json:"computation_ps"`
	Latency     drivers.Time `json:"latency_ps"`
}

// A sampler measures the latency with a computation.
type sampler func(compute drivers.Time) (drivers.Time, error)

// DefaultOffset exceeds the time in which an eager message or an RTS arrives.
const DefaultOffset = 5 * drivers.Microsecond

var overlap = Workload{
	Name:  "overlap",
	Doc:   "computation that overlaps with a message, on either side, without delaying it (SPEC, section 3.6.1)",
	Sizes: []int{1, 64, 512, host.EagerMax, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, Iterations: 20, Warmup: 1, posts: true, paired: true,
	messages: func(*Config) int { return 2 },
	body:     func(t *task, r *host.Rank, n int) error { return t.pair(r, n, false, grow) },
}

var progress = Workload{
	Name:  "progress",
	Doc:   "progress of a message while one side computes without library calls (SPEC, section 3.6.2)",
	Sizes: []int{host.EagerMax, 256 << 10}, Iterations: 20, Warmup: 1, posts: true, paired: true,
	messages: func(*Config) int { return 2 },
	body:     func(t *task, r *host.Rank, n int) error { return t.pair(r, n, true, delay) },
}

// Overlap increases the computation by tenths of the latency until the latency is a tenth longer.
// In the model of section 3.6.1 the step size does not affect the result, because the extension of
// the latency is subtracted.
const tenth = 10

// LongestDelay is the longest computation of progress in multiples of the latency.
const LongestDelay = 8

var delays = []drivers.Time{1, 2, 4, LongestDelay}

// grow measures the overlap.
func grow(c *OverlapCase, sample sampler) error {
	step := max(c.Latency/tenth, 1)
	for compute := step; ; compute += step {
		l, err := sample(compute)
		if err != nil {
			return err
		}
		c.Samples = append(c.Samples, OverlapSample{compute, l})
		if l >= c.Latency+step {
			return nil
		}
		c.Share = float64(compute-(l-c.Latency)) / float64(c.Latency)
	}
}

// delay measures the rest of a message after a computation that is longer than the message.
func delay(c *OverlapCase, sample sampler) error {
	for _, times := range delays {
		compute := times * c.Latency
		l, err := sample(compute)
		if err != nil {
			return err
		}
		c.Samples = append(c.Samples, OverlapSample{compute, l})
		left := float64(max(l-compute, 0)) / float64(c.Latency)
		c.Share = max(1-left, 0)
	}
	return nil
}

// pair measures every case: rank 0 sends to the last rank and coordinates.
func (t *task) pair(r *host.Rank, n int, arrival bool, find func(*OverlapCase, sampler) error) error {
	last := r.Size() - 1
	if r.ID() != 0 && r.ID() != last {
		return nil
	}
	if t.c.Helper {
		r.UseHelper()
	}
	buf, err := r.Alloc(n)
	if err != nil {
		return err
	}
	t.timed[r.ID()].from = r.Now()
	x := &trials{t: t, r: r, buf: buf, last: last, arrival: arrival}
	if r.ID() == last {
		err = x.follow()
	} else {
		err = x.lead(find)
	}
	t.timed[r.ID()].to = r.Now()
	return err
}

// trials are the messages of one size between two ranks.
type trials struct {
	t       *task
	r       *host.Rank
	buf     []byte
	last    int
	k       int  // number of messages so far
	arrival bool // latency ends at the receiver, on whichever side computes
}

// lead is rank 0's part: it measures each case and signals the end to the other rank.
func (x *trials) lead(find func(*OverlapCase, sampler) error) error {
	for _, side := range sides {
		for _, sender := range senders {
			c := OverlapCase{Side: side, Sender: sender}
			if err := x.find(&c, find); err != nil {
				return err
			}
			x.t.overlap = append(x.t.overlap, c)
		}
	}
	x.t.sent = x.k
	_, err := x.order(order{})
	return err
}

func (x *trials) find(c *OverlapCase, find func(*OverlapCase, sampler) error) error {
	for range x.t.c.Warmup {
		if _, err := x.trial(c, 0); err != nil {
			return err
		}
	}
	base, err := x.mean(c, 0)
	if err != nil {
		return err
	}
	c.Latency, c.Call = base.ended-base.begun, base.called-base.begun
	if c.Latency <= 0 {
		return fmt.Errorf("%w: messages take no time on %s, so overlap is undefined", drivers.ErrNotSupported, x.t.c.Device)
	}
	c.Samples = []OverlapSample{{0, c.Latency}}
	return find(c, func(compute drivers.Time) (drivers.Time, error) {
		m, err := x.mean(c, compute)
		return m.ended - m.begun, err
	})
}

// mean averages a trial with a computation over all iterations.
func (x *trials) mean(c *OverlapCase, compute drivers.Time) (sum times, err error) {
	n := drivers.Time(x.t.c.Iterations)
	for range n {
		l, err := x.trial(c, compute)
		if err != nil {
			return sum, err
		}
		sum.called += l.called - l.begun
		sum.ended += l.ended - l.begun
	}
	return times{0, sum.called / n, sum.ended / n}, nil
}

// trial sends one message and returns the times of the computing side.
func (x *trials) trial(c *OverlapCase, compute drivers.Time) (times, error) {
	o := order{more: 1}
	if c.Side == ReceiveSide {
		o.compute, compute = compute, 0
	}
	switch c.Sender {
	case EarlySender:
		o.receiver = x.t.c.offset()
	case LateSender:
		o.sender = x.t.c.offset()
	}
	o, err := x.order(o)
	if err != nil {
		return times{}, err
	}
	fill(x.buf, x.t.c.Seed, 0, x.last, x.k)
	x.k++
	sent, _, err := x.post(o.sender, compute, func() (*host.Request, error) { return x.r.Isend(x.last, tagApp, x.buf) })
	if err != nil {
		return times{}, err
	}
	got, err := x.hear()
	switch {
	case c.Side == ReceiveSide:
		return got, err
	case x.arrival:
		sent.ended = got.ended
	}
	return sent, err
}

// post begins an operation at a given time, computes without a call, and waits.
func (x *trials) post(when, compute drivers.Time, call func() (*host.Request, error)) (times, host.Status, error) {
	if err := x.until(when); err != nil {
		return times{}, host.Status{}, err
	}
	q, err := call()
	if err != nil {
		return times{}, host.Status{}, err
	}
	called := x.r.Now()
	x.r.Compute(compute)
	st, err := x.r.Wait(q)
	return times{when, called, x.r.Now()}, st, err
}

// follow is the receiver's part.
func (x *trials) follow() error {
	for {
		o, err := x.obey()
		if err != nil || o.more == 0 {
			return err
		}
		got, st, err := x.post(o.receiver, o.compute, func() (*host.Request, error) { return x.r.Irecv(0, tagApp, x.buf) })
		if err != nil {
			return err
		}
		if st.Bytes != len(x.buf) {
			return fmt.Errorf("message %d from rank 0 to rank %d has %d bytes, expected %d (seed %d)", x.k, x.last, st.Bytes, len(x.buf), x.t.c.Seed)
		}
		if err := verify(x.buf, x.t.c.Seed, 0, x.last, x.k); err != nil {
			return err
		}
		x.t.bytes[x.last] += uint64(st.Bytes)
		x.k++
		if err := x.tell(got); err != nil {
			return err
		}
	}
}

// offset returns the delay of the later side.
func (c *Config) offset() drivers.Time {
	if c.Offset == 0 {
		return DefaultOffset
	}
	return c.Offset
}
