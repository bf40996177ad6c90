package host

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// Columns 1 and 2 of a 3 x 4 matrix of bytes.
func TestVectorOfColumns(t *testing.T) {
	v, err := Vector(3, 2, 4)
	require.NoError(t, err)
	require.Equal(t, []int{6, 10}, []int{v.Bytes(), v.Extent()})
	b := make([]byte, 6)
	v.Pack(b, []byte("abcdefghijkl")[1:])
	require.Equal(t, "bcfgjk", string(b))
	to := []byte("............")
	v.Unpack(to[2:], []byte("BCFG"))
	require.Equal(t, "..BC..FG....", string(to))
}

// drawType returns a random type whose blocks do not overlap, and its expected order of bytes.
func drawType(rnd *rand.Rand, most int) (t Datatype, order []int) {
	var lengths, offsets []int
	at := rnd.Intn(9)
	for n := rnd.Intn(most + 1); n > 0; {
		length := min(n, rnd.Intn(1+most/3))
		lengths, offsets = append(lengths, length), append(offsets, at)
		at += length + rnd.Intn(2)*rnd.Intn(50)
		n -= max(length, 1)
	}
	rnd.Shuffle(len(lengths), func(i, j int) {
		lengths[i], lengths[j] = lengths[j], lengths[i]
		offsets[i], offsets[j] = offsets[j], offsets[i]
	})
	for i := range lengths {
		for k := range lengths[i] {
			order = append(order, offsets[i]+k)
		}
	}
	t, err := Indexed(lengths, offsets)
	if err != nil {
		panic(err)
	}
	return t, order
}

func TestTypedMessages(t *testing.T) {
	for seed := range int64(20) {
		p := plan{nodes: 2, procs: 1, heap: 1 << 18, rma: RMA{Protocol: RGET}}
		launch(t, p, func(r *Rank) error {
			rnd := rand.New(rand.NewSource(seed))
			for k := range 20 {
				out, from := drawType(rnd, 5000)
				in, to := drawType(rnd, 5000)
				for len(to) < len(from) {
					in, to = drawType(rnd, 5000)
				}
				data := letter(out.Extent()+3, int(seed)+k)
				if r.ID() == 0 {
					q, err := r.IsendTyped(1, k, data, out)
					if err != nil {
						return err
					}
					clear(data) // it is packed
					if _, err := r.Wait(q); err != nil {
						return err
					}
					continue
				}
				buf := bytes.Repeat([]byte{0xee}, in.Extent()+5)
				want := bytes.Clone(buf)
				for i, at := range from {
					want[to[i]] = data[at]
				}
				st, err := r.RecvTyped(0, k, buf, in)
				if err != nil || st.Bytes != len(from) || !bytes.Equal(buf, want) {
					return fmt.Errorf("seed %d, message %d: %+v, %v, or bytes at wrong positions", seed, k, st, err)
				}
			}
			return r.Barrier()
		})
	}
}

// A receive that is longer than its message, and one that is cancelled, leave the other bytes
// unchanged.
func TestTypedReceivesThatDoNotFit(t *testing.T) {
	v, err := Vector(2, 4, 8)
	require.NoError(t, err)
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		if r.ID() == 0 {
			return errors.Join(r.Send(1, 1, letter(9, 1)), r.Barrier())
		}
		buf, before := letter(12, 5), letter(12, 5)
		q, err := r.IrecvTyped(0, 2, buf, v)
		if err != nil {
			return err
		}
		if err := r.Cancel(q); err != nil {
			return err
		}
		if _, err := r.Wait(q); !errors.Is(err, ErrCancelled) || !bytes.Equal(buf, before) {
			return fmt.Errorf("cancelled: %v", err)
		}
		if _, err := r.RecvTyped(0, 1, buf, v); !errors.Is(err, ErrTruncated) {
			return fmt.Errorf("9 bytes for 8: %v", err)
		}
		return r.Barrier()
	})
}

func TestWrongTypes(t *testing.T) {
	for _, wrong := range [][3]int{{-1, 1, 1}, {1, -1, 1}, {2, 1, -1}, {2, 1, math.MaxInt32 * 3}} {
		_, err := Vector(wrong[0], wrong[1], wrong[2])
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
	_, err := Indexed([]int{1}, nil)
	require.ErrorIs(t, err, drivers.ErrConfig)
	launch(t, plan{nodes: 1, procs: 1}, func(r *Rank) error {
		v, err := Vector(3, 4, 2)
		if err != nil {
			return err
		}
		if err := r.SendTyped(0, 1, make([]byte, 7), v); !errors.Is(err, drivers.ErrConfig) {
			return fmt.Errorf("a buffer that is too short: %v", err)
		}
		if _, err := r.IrecvTyped(0, 1, make([]byte, 8), v); !errors.Is(err, drivers.ErrConfig) {
			return fmt.Errorf("a receive whose blocks overlap: %v", err)
		}
		q, err := r.Irecv(0, 1, make([]byte, 12))
		if err == nil { // a send may contain a byte twice
			err = r.SendTyped(0, 1, []byte("abcdefgh"), v)
		}
		if err == nil {
			_, err = r.Wait(q)
		}
		if err == nil && string(q.op.Buf) != "abcdcdefefgh" {
			err = fmt.Errorf("%q", q.op.Buf)
		}
		return err
	})
}
