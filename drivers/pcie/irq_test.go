//go:build linux

package pcie

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A vector wakes only those that wait for its process, or for any interrupt of its NIC.
func TestVectors(t *testing.T) {
	const vectors = 2 * vectorsPerNIC
	q := &interrupts{vectored: true, size: 8, arm: func(*device, uint64) (bool, error) { return false, nil }}
	raise := make([]*os.File, vectors)
	for i := range raise {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer w.Close()
		q.files, raise[i] = append(q.files, r), w
	}
	nic := func(nic int) *device { return &device{way: &part{nic: nic}, irq: q, registers: make([]byte, 8)} }
	first, second := nic(0), nic(1)
	await := func(d *device, vpid int) *bell {
		w, err := d.AwaitProcess(vpid)
		require.NoError(t, err)
		return w.(*bell)
	}
	three, five, other := await(first, 3), await(first, 5), await(second, 3)
	w, err := first.Await(drivers.Interrupt)
	require.NoError(t, err)
	all := w.(*bell)
	require.Equal(t, uint64(1<<3|1<<(18+3)), three.causes)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fire := func(vector int, rung *bell, silent ...*bell) {
		_, err := raise[vector].Write(make([]byte, 8))
		require.NoError(t, err)
		require.NoError(t, rung.Wait(ctx))
		for _, b := range silent {
			require.Empty(t, b.rung, "vector %d", vector)
		}
	}
	// Bells ring in the order in which they were made, so the last one is waited for first.
	fire(1+3, all, five, other)
	require.Len(t, three.rung, 1)
	require.NoError(t, three.Wait(ctx))
	fire(0, all, three, five, other)
	fire(1+5, all, three, other)
	require.NoError(t, five.Wait(ctx))
	fire(vectorsPerNIC+1+3, other, three, five, all)

	_, err = first.AwaitProcess(regs.VPIDs)
	require.ErrorIs(t, err, drivers.ErrConfig)
	second.irq = &interrupts{files: q.files[:vectorsPerNIC], vectored: true}
	_, err = second.AwaitProcess(3)
	require.ErrorIs(t, err, drivers.ErrNotSupported, "the function has vectors for one NIC")
	first.irq = &interrupts{files: q.files}
	_, err = first.AwaitProcess(3)
	require.ErrorIs(t, err, drivers.ErrNotSupported, "one line for all")
}
