package host

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// Messages with tags of 64 bits over each path, expected and unexpected: the upper half of the tag
// decides, ignored bits do not, and the data of the sender arrive.
func TestTaggedPaths(t *testing.T) {
	for _, x := range []struct {
		name  string
		plan  plan
		peer  int
		bytes int
	}{
		{"eager", plan{nodes: 2, procs: 1}, 1, 2048},
		{"empty", plan{nodes: 2, procs: 1}, 1, 0},
		{"rendezvous", inPairs(RGET), 1, 5000},
		{"chunked", inPairs(Chunked), 1, 50000},
		{"rput", inPairs(RPUT), 1, 5000},
		{"spec", inPairs(Spec), 1, 5000},
		{"local", plan{nodes: 1, procs: 2, local: true}, 1, 5000},
		{"self", plan{nodes: 2, procs: 1}, 0, 5000},
	} {
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s-%v", x.name, early), func(t *testing.T) {
				g := newRig(t, x.plan)
				require.NoError(t, g.run(func(r *Rank) error { return exchangeTagged(r, x.peer, x.bytes, early) }))
			})
		}
	}
}

const high = uint64(0xabcd_0001) << 32

func exchangeTagged(r *Rank, peer, n int, early bool) error {
	q := r.NewTaggedQueue()
	var sends, receives []*TaggedOp
	if r.ID() == 0 {
		for i := range uint64(3) { // they differ in the upper half only
			sends = append(sends, &TaggedOp{
				Space: TaggedSpace, Peer: peer, Tag: high + i<<40 + 7, Data: 1<<63 + i,
				Buf: bytes.Repeat([]byte{byte(i + 1)}, n),
			})
		}
	}
	if r.ID() == peer {
		for _, i := range []uint64{2, 0, 1} { // not in the order in which they are sent
			receives = append(receives, &TaggedOp{
				Space: TaggedSpace, Peer: AnySource, Tag: high + i<<40 + 0xff, Ignore: 0xff, Buf: make([]byte, n), User: i,
			})
		}
	}
	steps := []func() error{
		func() error { return forEach(receives, q.Receive) },
		func() error { r.Compute(50 * drivers.Microsecond); return nil },
		func() error { return forEach(sends, q.Send) },
	}
	if !early && peer != 0 && r.ID() == peer { // unexpected
		steps[0], steps[1] = steps[1], steps[0]
	} else if !early {
		steps[0], steps[2] = steps[2], steps[0]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	want := len(sends) + len(receives)
	if err := r.ProgressUntil(drivers.Second, func() bool { return q.Len() >= want }); err != nil {
		return err
	}
	if q.Len() != want {
		return fmt.Errorf("rank %d: %d of %d operations are done", r.ID(), q.Len(), want)
	}
	return errors.Join(forEach(receives, func(op *TaggedOp) error { return checkTagged(op, n) }))
}

func forEach(list []*TaggedOp, f func(*TaggedOp) error) error {
	for _, op := range list {
		if err := f(op); err != nil {
			return err
		}
	}
	return nil
}

func checkTagged(op *TaggedOp, n int) error {
	i := op.User.(uint64)
	want := TaggedStatus{Source: 0, Tag: high + i<<40 + 7, Data: 1<<63 + i, Bytes: n}
	if got, err := op.Status(); err != nil || got != want {
		return fmt.Errorf("expected %+v, got %+v and error %v", want, got, err)
	}
	if !bytes.Equal(op.Buf, bytes.Repeat([]byte{byte(i + 1)}, n)) {
		return fmt.Errorf("receive %d has the bytes of another message: %d", i, op.Buf[0])
	}
	return nil
}

// A message can be found, claimed and received, and a receive cancelled.
func TestTaggedPeekClaimCancel(t *testing.T) {
	g := newRig(t, inPairs(RGET))
	require.NoError(t, g.run(func(r *Rank) error {
		q := r.NewTaggedQueue()
		if r.ID() == 0 {
			for i, n := range []int{100, 9000} {
				if err := q.Send(&TaggedOp{Space: TaggedSpace, Peer: 1, Tag: high + uint64(i), Data: 5, Buf: make([]byte, n)}); err != nil {
					return err
				}
			}
			return r.ProgressUntil(drivers.Second, func() bool { return q.Len() == 2 })
		}
		never := &TaggedOp{Space: TaggedSpace, Peer: 0, Tag: 9, Buf: make([]byte, 1)}
		require.NoError(t, q.Receive(never))
		require.NoError(t, r.ProgressUntil(drivers.Second, func() bool { return r.UnexpectedCount() == 2 }))
		any := &TaggedOp{Space: UntaggedSpace, Peer: AnySource, Ignore: ^uint64(0)}
		_, found := q.Peek(any)
		require.False(t, found, "another space")
		any.Space = TaggedSpace
		st, found := q.Peek(any)
		require.True(t, found)
		require.Equal(t, TaggedStatus{Source: 0, Tag: high, Data: 5, Bytes: 100}, st)
		any.Tag, any.Ignore = high+1, 0
		c := q.Claim(any)
		require.NotNil(t, c)
		require.Equal(t, 9000, c.Bytes)
		require.Nil(t, q.Claim(any), "it has been claimed")
		into := &TaggedOp{Space: TaggedSpace, Peer: 0, Buf: make([]byte, 9000)}
		require.NoError(t, q.ReceiveClaimed(into, c))
		require.Error(t, q.ReceiveClaimed(into, c))
		require.NoError(t, q.Cancel(never))
		require.Same(t, never, q.Next())
		_, err := never.Status()
		require.ErrorIs(t, err, ErrCancelled)
		rest := &TaggedOp{Space: TaggedSpace, Peer: 0, Tag: high, Buf: make([]byte, 9000)}
		require.NoError(t, q.Receive(rest))
		require.NoError(t, r.ProgressUntil(drivers.Second, func() bool { return into.IsDone() && rest.IsDone() }))
		return nil
	}))
}
