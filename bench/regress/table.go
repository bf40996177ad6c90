package regress

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table is what people read: a line for each test as it ends, and under them what failed.
type Table struct {
	w     io.Writer
	width int // of names
}

// NewTable begins a table of tests.
func NewTable(w io.Writer, tests []Test) *Table {
	t := &Table{w: w, width: len("TEST")}
	for _, x := range tests {
		t.width = max(t.width, len(x.Name))
	}
	t.line("TEST", "SEED", "STATUS", "SIM TIME", "REAL TIME")
	return t
}

func (t *Table) line(name, seed, status, simulated, took string) {
	fmt.Fprintf(t.w, "%-*s  %-6s  %-6s  %10s  %9s\n", t.width, name, seed, status, simulated, took)
}

// Add writes the line of a test that has ended.
func (t *Table) Add(o *Outcome) {
	t.line(o.Test.Name, fmt.Sprint(o.Seed), string(o.Status), o.Simulated.String(), fmt.Sprintf("%.2f s", o.Real.Seconds()))
}

// Close writes what else there is to say: notes, failures in full, why tests were skipped, and the
// count.
func (t *Table) Close(list []Outcome) {
	for _, o := range list {
		if o.Note != "" {
			fmt.Fprintf(t.w, "\n%s (seed %d): %s", o.Test.Name, o.Seed, o.Note)
		}
	}
	fmt.Fprintln(t.w)
	for _, g := range Groups(list) {
		t.failure(g.Of[0])
		if len(g.Of) > 1 {
			fmt.Fprintf(t.w, "  %d failures of this kind (%s): %s\n", len(g.Of), g.Signature, g.Seeds())
		}
	}
	t.reasons(list)
	n := Count(list)
	if first := slices.IndexFunc(list, func(o Outcome) bool { return o.Status == NotRun && o.Err != nil }); first >= 0 {
		fmt.Fprintf(t.w, "\n%s: %v; the same applies to all after it\n", list[first].Test.Name, list[first].Err)
	}
	fmt.Fprintf(t.w, "\n%d passed, %d failed, %d skipped", n[Passed], n[Failed]+n[Hung]+n[Flaky], n[Skipped])
	if n[NotRun] > 0 {
		fmt.Fprintf(t.w, ", %d not run", n[NotRun])
	}
	for _, more := range []struct {
		status Status
		text   string
	}{{Hung, "of the failed %d hung"}, {Flaky, "of the failed %d are flaky"}, {Stopped, "%d interrupted"}} {
		if n[more.status] > 0 {
			fmt.Fprintf(t.w, ", "+more.text, n[more.status])
		}
	}
	if slow := slowCount(list); slow > 0 {
		fmt.Fprintf(t.w, ", of the failed %d only took too many cycles", slow)
	}
	fmt.Fprintln(t.w)
}

func (t *Table) failure(o *Outcome) {
	fmt.Fprintf(t.w, "\n%s %s (seed %d)\n  %s\n  log:   %s\n", o.Status, o.Test.Name, o.Seed,
		strings.ReplaceAll(o.Err.Error(), "\n", "\n  "), o.Log)
	if o.Waves != "" {
		fmt.Fprintf(t.w, "  waves: %s%s\n", o.Waves, o.shown())
	}
	fmt.Fprintf(t.w, "  rerun: %s\n", o.Rerun)
	if o.Shortest != "" {
		fmt.Fprintf(t.w, "  shortest that fails alike: %s\n", o.Shortest)
	}
}

// reasons prints why tests were skipped: each reason once, with the tests to which it applies.
func (t *Table) reasons(list []Outcome) {
	var order []string
	tests := map[string][]string{}
	for _, o := range list {
		if o.Status != Skipped || o.Err == nil {
			continue
		}
		reason := o.Err.Error()
		if tests[reason] == nil {
			order = append(order, reason)
		}
		if !slices.Contains(tests[reason], o.Test.Name) {
			tests[reason] = append(tests[reason], o.Test.Name)
		}
	}
	for _, reason := range order {
		names := strings.Join(tests[reason], " ")
		if n := len(tests[reason]); n > 1 {
			names = fmt.Sprintf("%d tests: %s\n ", n, names)
		} else {
			names += ":"
		}
		fmt.Fprintf(t.w, "\nSKIP %s %s\n", names, reason)
	}
}

// shown returns the cycles that the waves show, or "" if they are unknown.
func (o *Outcome) shown() string {
	if o.Repeated == nil {
		return ""
	}
	return fmt.Sprintf(" (cycles %d to %d, repeated from %d)", o.Repeated.From, o.Repeated.To, o.Repeated.Checkpoint)
}

// Count counts outcomes by status.
func Count(list []Outcome) map[Status]int {
	n := map[Status]int{}
	for _, o := range list {
		n[o.Status]++
	}
	return n
}
