package regress

import (
	"context"
	"fmt"
)

// Plan returns the machines that each test opens first, by its name, and the order in which a
// regression builds them.
func Plan(o Options, tests []Test) (opened map[string][]string, order []string) {
	r := newRunner(o, tests)
	opened = map[string][]string{}
	for _, x := range tests {
		for _, m := range r.planOf(x, o.Device) {
			opened[x.Name] = append(opened[x.Name], m.String())
		}
	}
	for _, m := range r.site.order {
		order = append(order, m.String())
	}
	return opened, order
}

func (m machine) String() string { return fmt.Sprintf("%s with %d nodes", m.device, m.nodes) }

// RunObserved runs one test once, on systems that open opens.
func RunObserved(ctx context.Context, o Options, out *Outcome, open opener) error {
	_, err := newRunner(o, nil).attempt(ctx, out, try{log: "test.log", open: open})
	return err
}
