package reuse

// Costs are what a threshold follows from, all in one unit of time.
type Costs struct {
	CopyByte float64 // of copying into an intermediate buffer
	Look     float64 // of what the table takes (V of the paper)
	Register float64 // of registering, besides its pages
	Page     float64 // and for each page of 4 KB
}

// DefaultPortion of the uses that pay for a registration is when it is done: the paper's 25 %.
const DefaultPortion = 25

const pageBytes = 4096

// Pays is how many uses without a copy pay for the registration of n bytes (equation 5.3); 0: none
// ever do.
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

// Threshold is the use at which a buffer of n bytes is registered: portion percent of what pays; 0:
// it never is.
func (c Costs) Threshold(n, portion int) int {
	pays := c.Pays(n)
	if pays == 0 {
		return 0
	}
	return max(1, (pays*portion+99)/100)
}
