package reuse

// Costs are the inputs of the threshold, all in one unit of time.
type Costs struct {
	CopyByte float64 // copying a byte into an intermediate buffer
	Look     float64 // table lookup (V in the paper)
	Register float64 // registration, without the cost per page
	Page     float64 // registration of a page of 4 KB
}

// DefaultPortion is the percentage of the break-even number of uses at which a buffer is
// registered: 25 % as in the paper.
const DefaultPortion = 25

const pageBytes = 4096

// Pays is the number of uses without a copy that outweigh the registration of n bytes (equation
// 5.3); 0: none do.
func (c Costs) Pays(n int) int {
	saved := c.CopyByte*float64(n) - c.Look
	if saved <= 0 {
		return 0
	}
	r := c.Register + c.Page*float64((n+pageBytes-1)/pageBytes)
	uses := int(r / saved)
	if float64(uses)*saved <= r {
		uses++
	}
	return uses
}

// Threshold is the use at which a buffer of n bytes is registered: portion percent of Pays; 0:
// never.
func (c Costs) Threshold(n, portion int) int {
	pays := c.Pays(n)
	if pays == 0 {
		return 0
	}
	return max(1, (pays*portion+99)/100)
}
