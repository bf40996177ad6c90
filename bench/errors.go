package bench

import "fmt"

// A LostError: packets were lost or doubled between software and hardware.
type LostError struct {
	Posted, Injected, Delivered, Taken, Dropped uint64
}

func (e *LostError) Error() string {
	return fmt.Sprintf("packets do not add up: %d posted by software, %d injected and %d delivered by the NICs, %d taken by software, %d dropped; expected the first four equal and none dropped",
		e.Posted, e.Injected, e.Delivered, e.Taken, e.Dropped)
}

// An OverflowError: flow control let a mailbox fill up.
type OverflowError struct {
	Flow   string
	Node   int
	Cycles uint64
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("node %d: a full mailbox held the network for %d cycles under %s flow control, which must never happen: a region of the mailbox overflowed", e.Node, e.Cycles, e.Flow)
}
