package simregs

// Registers. Chances are in 1/2^32.
const (
	RootLost     = 0xffff0000 // chance of a read of the NIC to get no completion
	RootLate     = 0xffff0008 // or one behind its time-out
	RootPoisoned = 0xffff0010 // or one that is poisoned
	RootErrors   = 0xffff0018 // or one that says UR or CA
	RootCtrl     = 0xffff0040 // switches, see below
	RootReads    = 0xffff0048 // reads of the NIC so far
	RootInParts  = 0xffff0050 // completions that were not the whole of what was left
	RootPassed   = 0xffff0058 // completions that have passed an earlier one
	RootFaults   = 0xffff0060 // faults made of chances
	// What the NIC's transaction layer has counted since its reset: two counters of 32 bits each, the
	// first in the lower half.
	RootMalformed = 0xffff0080 // TLPs that were malformed; unsupported requests
	RootDropped   = 0xffff0088 // TLPs that were poisoned; reads that timed out
	RootFailed    = 0xffff0090 // reads whose completion told an error; completions that nobody waited for
	RootRefused   = 0xffff0098 // posted writes that registers and send windows refused
)

// Switches of Ctrl.
const (
	RootRemoved     = 1 << 0 // the NIC was pulled out: reads are all ones, writes are lost
	RootReset       = 1 << 1 // resets the function, links included; reads 1 while that lasts
	RootNoBusMaster = 1 << 2 // the NIC may not reach memory
)
