package bench

import "fmt"

// A LostError reports that packets were lost or duplicated between software and hardware.
type LostError struct {
	Posted, Injected, Delivered, Taken, Dropped uint64
}

func (e *LostError) Error() string {
	return fmt.Sprintf("packet counts differ: %d posted by software, %d injected and %d delivered by the NICs, %d retrieved by software, %d dropped; expected the first four to be equal and none dropped",
		e.Posted, e.Injected, e.Delivered, e.Taken, e.Dropped)
}

// An OverflowError reports that a mailbox was full in spite of flow control.
type OverflowError struct {
	Flow   string
	Node   int
	Cycles uint64
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("node %d: a full mailbox stalled the network for %d cycles although flow control is %s: a region of the mailbox overflowed", e.Node, e.Cycles, e.Flow)
}
