package suite

import (
	_ "embed" // the baseline
	"sync"

	"github.com/nicloop/nicloop/bench/cycles"
)

//go:embed cycles.txt
var cyclesText string

// CyclesFile is the file of the baseline, from the root of the module.
const CyclesFile = "bench/suite/cycles.txt"

// Cycles returns the committed baseline of simulated cycles. Callers must not change it.
var Cycles = sync.OnceValues(func() (*cycles.Baseline, error) { return cycles.Parse(cyclesText) })
