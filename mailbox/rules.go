package mailbox

import "fmt"

// Formula is a way to compute the threshold for returning credits.
type Formula uint8

const (
	Eq1      Formula = iota // FC paper, Equation 1: the one that works
	FormulaA                // quota div slots + 1: deadlocks with one credit slot (section 5.2)
	FormulaB                // quota div slots: overflows the credit region (section 5.2)
)

func (f Formula) String() string {
	switch f {
	case Eq1:
		return "eq1"
	case FormulaA:
		return "a"
	case FormulaB:
		return "b"
	}
	return fmt.Sprintf("Formula(%d)", uint8(f))
}

// Threshold is the number of freed slots that returns credits.
func (f Formula) Threshold(quota, creditSlots int) int {
	switch f {
	case FormulaA:
		return quota/creditSlots + 1
	case FormulaB:
		return quota / creditSlots
	}
	return quota/(creditSlots+1) + 1
}

// Fault is one deliberate mistake. Each violates a rule of the protocol where a threshold is
// compared or reached, or a control packet handled; a healthy Flow pays one comparison of a byte for
// it. Their only use is to show that the explorer, the scenarios and the naive model catch them.
type Fault uint8

const (
	NoFault          Fault = iota
	EarlyThreshold         // a threshold is reached one packet too early
	LateThreshold          // a threshold is reached one packet too late
	KeepThreshold          // the reached threshold is not removed from the list
	LoseCarry              // packets beyond an overtaken threshold are forgotten
	LiteralThreshold       // the threshold of Eq. 1 is inserted although fewer credits were granted
	GrantUnavailable       // credits are granted beyond the available slots
	ForgetPiggyback        // credits already piggybacked are returned again at the threshold
	LoseExcess             // an excess of piggybacked credits does not raise the current threshold
	NoShrink               // thresholds stay as they are after a compulsory response
	FreeRequest            // requests and responses consume no credit
	EagerResponse          // a response returns the static slots, too
	BlockedStarves         // a blocked peer below its static slots gets nothing
	CountCredits           // credit packets count as retrieved packets
	StealStatic            // a steal takes static slots, too
	DropRequest            // a request without a credit is forgotten, not kept in its flag
	DropResponse           // a response without a credit is forgotten, not kept in its flag
	numFaults
)

var faultNames = [numFaults]string{"none", "early-threshold", "late-threshold", "keep-threshold",
	"lose-carry", "literal-threshold", "grant-unavailable", "forget-piggyback", "lose-excess",
	"no-shrink", "free-request", "eager-response", "blocked-starves", "count-credits",
	"steal-static", "drop-request", "drop-response"}

func (f Fault) String() string {
	if f < numFaults {
		return faultNames[f]
	}
	return fmt.Sprintf("Fault(%d)", uint8(f))
}

// Faults lists all deliberate mistakes.
func Faults() []Fault {
	var all []Fault
	for f := NoFault + 1; f < numFaults; f++ {
		all = append(all, f)
	}
	return all
}

// Rules are the choices that experiments vary. The zero value is the protocol.
type Rules struct {
	Formula Formula
	Fault   Fault
}

// reach is the count at which a threshold is reached.
func (r Rules) reach(threshold int32) int32 {
	switch r.Fault {
	case EarlyThreshold:
		return max(threshold-1, 1)
	case LateThreshold:
		return threshold + 1
	}
	return threshold
}
