package regress

import (
	"fmt"
	"io"
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
	n, left := Count(list), 0
	for _, o := range list {
		if !o.finished {
			if left++; left == 1 && o.Err != nil {
				fmt.Fprintf(t.w, "\n%s: %v; so are all that come after it\n", o.Test.Name, o.Err)
			}
		}
	}
	fmt.Fprintf(t.w, "\n%d passed, %d failed, %d skipped", n[Passed], n[Failed]+n[Hung]+n[Flaky], n[Skipped]-left)
	if left > 0 {
		fmt.Fprintf(t.w, ", %d not run", left)
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

// reasons says why tests were skipped, once for all seeds of a test.
func (t *Table) reasons(list []Outcome) {
	said := map[string]bool{}
	for _, o := range list {
		if o.Status != Skipped || o.Err == nil || !o.finished {
			continue
		}
		if text := fmt.Sprintf("\nSKIP %s: %v\n", o.Test.Name, o.Err); !said[text] {
			said[text] = true
			fmt.Fprint(t.w, text)
		}
	}
}

// shown says what the waves show, if that is known.
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
