package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// elementsOf returns elements of rank r that are small enough for exact floating-point sums and
// products.
func elementsOf[T Number](r, n int) []T {
	rnd := rand.New(rand.NewSource(int64(r)))
	list := make([]T, n)
	for i := range list {
		list[i] = T(rnd.Intn(6)) - 2 // unsigned numbers wrap around
		if isFloat[T]() {
			list[i] /= 2
		}
	}
	return list
}

func inBytes[T Number](list []T) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, list); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// typed compares an operation in all reductions with a fold of plain numbers.
func typed[T Number](t *testing.T, name string, op Op, f func(a, b T) T) {
	const n = 9
	for _, nodes := range []int{1, 3, 4} {
		for way := range maxAlgorithms {
			want := elementsOf[T](0, n)
			for r := 1; r < nodes; r++ {
				for i, v := range elementsOf[T](r, n) {
					want[i] = f(want[i], v)
				}
			}
			launch(t, plan{nodes: nodes, procs: 1}, func(r *Rank) error {
				if err := setWay(r, way); err != nil {
					return err
				}
				what := fmt.Sprintf("%s of %T, %d ranks", name, want, nodes)
				b, i := inBytes(elementsOf[T](r.ID(), n)), inBytes(elementsOf[T](r.ID(), n))
				q, err := r.Iallreduce(i, op)
				err = errors.Join(err, r.Allreduce(b, op), same(what, b, inBytes(want)))
				if err != nil {
					return err
				}
				_, err = r.Wait(q)
				all, mine := bytes.Repeat(inBytes(elementsOf[T](r.ID(), n)), nodes), make([]byte, len(b))
				b = inBytes(elementsOf[T](r.ID(), n))
				err = errors.Join(err, same(what, i, inBytes(want)), r.Reduce(nodes-1, b, op),
					r.ReduceScatter(all, mine, Even(nodes, len(b)), op), same(what, mine, inBytes(want)))
				if r.ID() == nodes-1 {
					err = errors.Join(err, same(what, b, inBytes(want)))
				}
				for _, bad := range []int{1, op.Size - 1, op.Size + op.Size/2} {
					if err := r.Allreduce(make([]byte, bad), op); !errors.Is(err, drivers.ErrConfig) {
						return fmt.Errorf("%s: %d bytes: %v", what, bad, err)
					}
				}
				return err
			})
		}
	}
}

func numbers[T Number](t *testing.T) {
	typed(t, "sum", Sum[T](), func(a, b T) T { return a + b })
	typed(t, "product", Product[T](), func(a, b T) T { return a * b })
	typed(t, "min", Min[T](), func(a, b T) T {
		if b < a {
			return b
		}
		return a
	})
	typed(t, "max", Max[T](), func(a, b T) T {
		if b > a {
			return b
		}
		return a
	})
	var zero T
	require.Equal(t, binary.Size(zero), Sum[T]().Size)
}

func integers[T Integer](t *testing.T) {
	numbers[T](t)
	typed(t, "and", And[T](), func(a, b T) T { return a & b })
	typed(t, "or", Or[T](), func(a, b T) T { return a | b })
	typed(t, "xor", Xor[T](), func(a, b T) T { return a ^ b })
}

func TestTypedReductions(t *testing.T) {
	integers[int32](t)
	integers[int64](t)
	integers[uint32](t)
	integers[uint64](t)
	numbers[float32](t)
	numbers[float64](t)
}

// The caller can define an operation on elements of any size.
func TestOwnOperation(t *testing.T) {
	longest := Op{3, func(into, from []byte) {
		for i := 0; i < len(into); i += 3 {
			if bytes.Compare(from[i:i+3], into[i:i+3]) > 0 {
				copy(into[i:i+3], from[i:i+3])
			}
		}
	}}
	launch(t, plan{nodes: 5, procs: 1}, func(r *Rank) error {
		b := []byte{1, byte(r.ID()), 9, byte(4 - r.ID()), 0, byte(r.ID())}
		if err := errors.Join(r.Allreduce(b, longest), same("largest", b, []byte{1, 4, 9, 4, 0, 0})); err != nil {
			return err
		}
		if err := r.Allreduce(b[:4], longest); !errors.Is(err, drivers.ErrConfig) {
			return fmt.Errorf("%v, expected whole elements", err)
		}
		return nil
	})
}

// Ranks with different numbers of elements receive an error, not a sum that includes stale bytes.
func TestDifferentLengths(t *testing.T) {
	for what, reduce := range map[string]func(r *Rank, b []byte) error{
		"allreduce": func(r *Rank, b []byte) error { return r.Allreduce(b, SumInt64) },
		"reduce":    func(r *Rank, b []byte) error { return r.Reduce(0, b, SumInt64) },
		"iallreduce": func(r *Rank, b []byte) error {
			q, err := r.Iallreduce(b, SumInt64)
			if err == nil {
				_, err = r.Wait(q)
			}
			return err
		},
	} {
		launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
			err := reduce(r, make([]byte, 16-8*r.ID()))
			if r.ID() == 0 && !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%s: %v, expected that the other one has less", what, err)
			}
			return nil
		})
	}
}
