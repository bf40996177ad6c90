// Package limits states how large the numbers may be that a user, a file or a peer gives. One bound
// per kind of number keeps arithmetic on them (sums with a warm-up, products of dimensions,
// conversions to picoseconds) from overflowing. The bounds lie far above what any machine can run;
// whether a request fits into memory is checked elsewhere.
//
// A caller checks a number against its kind before it computes with it, and reports an error that
// names the number, where it was given, and the bound.
package limits

import (
	"math/bits"
	"time"
)

const (
	// Count bounds iterations, repetitions, warm-ups and other loop counts.
	Count = 1_000_000_000
	// Seeds bounds how many seeds one command may run.
	Seeds = 1_000_000
	// Runs bounds the runs of a sweep, before its conditions select some of them.
	Runs = 10_000_000
	// Nodes bounds the nodes of a simulated network.
	Nodes = 1 << 20
	// WireCycles bounds the latency of one wire or one stage of a router; it fits an int16.
	WireCycles = 1 << 14
	// Cycles bounds points in simulated time.
	Cycles = 1 << 50
	// Bytes bounds sizes of messages, buffers and files.
	Bytes = 1 << 40
	// Duration bounds real and simulated time: in picoseconds it still fits an int64.
	Duration = 100 * 24 * time.Hour
	// Number bounds every integer that has no kind of its own.
	Number = 1 << 40
)

// Product multiplies positive numbers. It reports false if the product exceeds most.
func Product(most int, factors ...int) (product int, ok bool) {
	p := uint(1)
	for _, f := range factors {
		high, low := bits.Mul(p, uint(f))
		if f < 0 || high != 0 || low > uint(most) {
			return 0, false
		}
		p = low
	}
	return int(p), true
}
