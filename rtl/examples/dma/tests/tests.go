// Package tests has the regression tests of the scatter-gather DMA engine: an example of tests that
// nicloop regress --tests builds and runs.
package tests

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/designtest"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
)

func init() {
	regress.Add(
		regress.Test{
			Name: "dma/copy", Tags: []string{"smoke"},
			Doc: "a list of pieces is copied to the byte, with one interrupt at its end",
			Run: testCopy,
		},
		regress.Test{
			Name: "dma/outside",
			Doc:  "a copy to an address outside the memory ends with STATUS.ERROR",
			Run:  testOutside,
		},
	)
}

// A piece is one descriptor of a list: bytes of memory, where they are and where they are copied
// to. All are multiples of 8.
type piece struct{ from, to, bytes uint64 }

const (
	memory     = 1 << 16
	list       = 0x8000 // address of the first descriptor
	descriptor = 32     // bytes
	pieces     = 8
	room       = 0x400 // bytes of memory for each piece
	copies     = 0x4000
)

// start writes a list of descriptors into memory and starts the engine with its interrupt enabled.
func start(dma *designtest.Node, work []piece) {
	for i, p := range work {
		at := list + descriptor*i
		next := uint64(at + descriptor)
		if i == len(work)-1 {
			next = 0
		}
		for word, v := range []uint64{p.from, p.to, p.bytes, next} {
			binary.LittleEndian.PutUint64(dma.Memory()[at+8*word:], v)
		}
	}
	dma.Set("HEAD_LO", list).Set("HEAD_HI", 0).Set("CTRL", 3)
}

func testCopy(t *regress.T) error {
	sys, err := designtest.Open(t, 1, memory)
	if err != nil {
		return err
	}
	dma := sys.Node(0)
	mem := dma.Memory()
	t.Rand.Read(mem[:pieces*room])
	expected := make([]byte, pieces*room)
	var work []piece
	var total uint64
	for i := range uint64(pieces) {
		p := piece{from: i*room + 8*uint64(t.Rand.Intn(8)), to: copies + i*room + 8*uint64(t.Rand.Intn(8)), bytes: 8 * uint64(1+t.Rand.Intn(100))}
		copy(expected[p.to-copies:], mem[p.from:p.from+p.bytes])
		work, total = append(work, p), total+p.bytes
	}
	start(dma, work)
	if err := sys.Until(dma.Interrupt(), 100_000); err != nil {
		return err
	}
	if err := t.Same(mem[copies:copies+pieces*room], expected); err != nil {
		return fmt.Errorf("copies of %+v: %w", work, err)
	}
	if err := errors.Join(dma.Expect("STATUS.DONE", 1), dma.Expect("STATUS.ERROR", 0), dma.Expect("BYTES", total)); err != nil {
		return err
	}
	t.Notef("%d bytes in %d pieces", total, len(work))
	dma.Set("STATUS", 2)
	if err := sys.Until(dma.Interrupt(), 200); !errors.Is(err, designtest.ErrTimeout) {
		return fmt.Errorf("the interrupt is asserted after STATUS.DONE was cleared (%v)", err)
	}
	return nil
}

func testOutside(t *regress.T) error {
	sys, err := designtest.Open(t, 1, memory)
	if err != nil {
		return err
	}
	dma := sys.Node(0)
	start(dma, []piece{{0, 1 << 40, 64}})
	var outside *drivers.DMAError
	if err := sys.Until(dma.Interrupt(), 10_000); !errors.As(err, &outside) || outside.Addr != 1<<40 {
		return fmt.Errorf("found %v, expected an error of the access at %#x", err, uint64(1)<<40)
	}
	if err := sys.Until(dma.Interrupt(), 100); err != nil {
		return err
	}
	return dma.Expect("STATUS.ERROR", 1)
}
