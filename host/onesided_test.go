package host

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/stretchr/testify/require"
)

// exposed is an exposed buffer of rank 1 and what its rank heard.
type exposed struct {
	target *Exposed
	heard  []uint64
}

func (x *exposed) expose(r *Rank, n int) error {
	if err := r.UseOneSided(func(from int, data uint64) error {
		x.heard = append(x.heard, data)
		return nil
	}); err != nil {
		return err
	}
	if r.ID() != 1 {
		return r.Barrier()
	}
	buf, err := r.Alloc(n)
	if err != nil {
		return err
	}
	for {
		x.target, err = r.Expose(buf)
		if err != path.ErrAgain {
			break
		}
	}
	if err != nil {
		return err
	}
	return r.Barrier()
}

// Puts and gets of several lengths, more of them than the hardware has descriptors for, all with a
// notification: bytes and data arrive in order.
func TestOneSided(t *testing.T) {
	for _, x := range []struct{ bytes, count int }{{1, 3}, {8, 300}, {5000, 40}, {100000, 3}} {
		t.Run(fmt.Sprintf("%d-%d", x.bytes, x.count), func(t *testing.T) {
			var e exposed
			g := newRig(t, inPairs(RGET))
			require.NoError(t, g.run(func(r *Rank) error {
				if err := e.expose(r, x.bytes*2); err != nil {
					return err
				}
				switch r.ID() {
				case 0:
					if err := putAndGet(r, &e, x.bytes, x.count); err != nil {
						return err
					}
				case 1:
					err := r.ProgressUntil(drivers.Never, func() bool { return len(e.heard) == x.count })
					if err != nil {
						return err
					}
					want := bytes.Repeat([]byte{byte(x.count)}, x.bytes)
					if !bytes.Equal(want, e.target.Bytes[x.bytes:]) {
						return fmt.Errorf("the buffer holds %.10x, expected %.10x", e.target.Bytes[x.bytes:], want)
					}
				}
				return r.Barrier()
			}))
			for i, data := range e.heard {
				require.EqualValues(t, 1<<60+i, data)
			}
		})
	}
}

func putAndGet(r *Rank, e *exposed, n, count int) error {
	left := count
	var failed error
	done := func(err error) {
		left--
		if err != nil {
			failed = err
		}
	}
	all := func() bool { return left == 0 || failed != nil }
	for i := range count {
		buf, err := r.Alloc(n)
		if err != nil {
			return err
		}
		for j := range buf {
			buf[j] = byte(i + 1)
		}
		o := &OneSidedOp{
			Put: true, Local: buf, Target: e.target, Offset: n, Notify: true, Data: 1<<60 + uint64(i),
			Done: func(err error) {
				done(err)
				failed = firstError(failed, r.Free(buf))
			},
		}
		for err = r.StartOneSided(o); err == path.ErrAgain; err = r.StartOneSided(o) {
			if err := r.ProgressUntil(r.Now()+drivers.Microsecond, func() bool { return false }); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	if err := r.ProgressUntil(drivers.Never, all); err != nil || failed != nil {
		return firstError(failed, err)
	}
	into, err := r.Alloc(n)
	if err != nil {
		return err
	}
	left = 1
	if err := r.StartOneSided(&OneSidedOp{Local: into, Target: e.target, Offset: n, Done: done}); err != nil {
		return err
	}
	if err := r.ProgressUntil(drivers.Never, all); err != nil {
		return err
	}
	if want := bytes.Repeat([]byte{byte(count)}, n); !bytes.Equal(want, into) {
		return fmt.Errorf("the get returned %.10x, expected %.10x", into, want)
	}
	return failed
}
