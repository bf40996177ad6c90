package freerun_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// BenchmarkReadReg reads a register of a machine that rests, beside one whose time does not pass by
// itself.
func BenchmarkReadReg(b *testing.B) {
	for _, body := range []string{"model:", "rtl:", "rtl:?inside=1"} {
		for _, clock := range []string{"simulated", "wall"} {
			b.Run(body+"/"+clock, func(b *testing.B) {
				sep := "?"
				if body == "rtl:?inside=1" {
					sep = "&"
				}
				sys, err := registry.Open(context.Background(), body+sep+"clock="+clock, drivers.Options{Nodes: 1, MemoryBytes: 1 << 16})
				require.NoError(b, err)
				defer sys.Close()
				dev := sys.Device(0)
				for b.Loop() {
					if _, err := dev.ReadReg(regs.Magic); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
