package mailbox

import "fmt"

// Formula selects how the threshold for returning credits is computed.
type Formula uint8

const (
	Eq1      Formula = iota // FC paper, Equation 1: the correct formula
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

// Threshold returns the number of freed slots at which credits are returned.
func (f Formula) Threshold(quota, creditSlots int) int {
	switch f {
	case FormulaA:
		return quota/creditSlots + 1
	case FormulaB:
		return quota / creditSlots
	}
	return quota/(creditSlots+1) + 1
}
