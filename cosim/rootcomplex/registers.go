package rootcomplex

// Registers. Chances are in 1/2^32.
const (
	Lost     = 0xffff0000 // chance of a read of the NIC to get no completion
	Late     = 0xffff0008 // or one behind its time-out
	Poisoned = 0xffff0010 // or one that is poisoned
	Errors   = 0xffff0018 // or one that says UR or CA
	Ctrl     = 0xffff0040 // switches, see below
	Reads    = 0xffff0048 // reads of the NIC so far
	InParts  = 0xffff0050 // completions that were not the whole of what was left
	Passed   = 0xffff0058 // completions that have passed an earlier one
	Faults   = 0xffff0060 // faults made of chances
	// What the NIC's transaction layer has counted since its reset: two counters of 32 bits each, the
	// first in the lower half.
	Malformed = 0xffff0080 // TLPs that were malformed; unsupported requests
	Dropped   = 0xffff0088 // TLPs that were poisoned; reads that timed out
	Failed    = 0xffff0090 // reads whose completion told an error; completions that nobody waited for
	Refused   = 0xffff0098 // posted writes that registers and send windows refused
)

// Switches of Ctrl.
const (
	Removed     = 1 << 0 // the NIC was pulled out: reads are all ones, writes are lost
	Reset       = 1 << 1 // resets the function, links included; reads 1 while that lasts
	NoBusMaster = 1 << 2 // the NIC may not reach memory
)
