// Package cycles is a baseline of simulated time: how many cycles each regression test takes on
// each kind of device.
//
// Simulation is deterministic, so a test that takes one cycle more than its baseline has changed:
// the hardware, the host software or the test. The file is committed; git log shows who changed a
// number, and the last column of its line why.
package cycles

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// Seed is the seed to which all entries of a baseline apply.
const Seed = 1

// An Entry is the baseline of one test on one kind of device (see registry.Kind).
type Entry struct {
	Kind, Test string
	Cycles     uint64
	Reason     string // of the last change
}

type key struct{ kind, test string }

// A Baseline is a set of entries.
type Baseline struct{ entries map[key]Entry }

const head = `# Simulated cycles of each regression test with seed 1, by kind of device. A test that takes more
# fails. nicloop regress --accept REASON updates the lines of the tests that it runs.
# kind	test	cycles	reason of the last change
`

// Parse reads a baseline: lines of kind, test, cycles and reason, separated by tabs. Lines that
// start with # are comments.
func Parse(text string) (*Baseline, error) {
	b := &Baseline{entries: map[key]Entry{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.SplitN(line, "\t", 4)
		if len(fields) != 4 || fields[3] == "" {
			return nil, fmt.Errorf("%w: line %d %q: expected kind, test, cycles and reason, separated by tabs", drivers.ErrConfig, n, line)
		}
		count, err := strconv.ParseUint(fields[2], 10, 64)
		if err != nil || count == 0 {
			return nil, fmt.Errorf("%w: line %d: cycles %q: expected a number above 0", drivers.ErrConfig, n, fields[2])
		}
		k := key{fields[0], fields[1]}
		if _, twice := b.entries[k]; twice {
			return nil, fmt.Errorf("%w: line %d: %s on %s is listed twice; keep one of the lines", drivers.ErrConfig, n, k.test, k.kind)
		}
		b.entries[k] = Entry{k.kind, k.test, count, fields[3]}
	}
	return b, lines.Err()
}

// Find returns the entry of a test on a kind of device.
func (b *Baseline) Find(kind, test string) (Entry, bool) {
	e, ok := b.entries[key{kind, test}]
	return e, ok
}

// Has reports whether there are entries for a kind of device.
func (b *Baseline) Has(kind string) bool {
	for k := range b.entries {
		if k.kind == kind {
			return true
		}
	}
	return false
}

// Set adds or replaces an entry and reports whether its number of cycles has changed. The reason is
// part of a line, so it becomes one line itself.
func (b *Baseline) Set(e Entry) bool {
	k := key{e.Kind, e.Test}
	if b.entries[k].Cycles == e.Cycles {
		return false
	}
	e.Reason = strings.Join(strings.Fields(e.Reason), " ")
	b.entries[k] = e
	return true
}

// Entries returns all entries, sorted by kind and test.
func (b *Baseline) Entries() []Entry {
	list := make([]Entry, 0, len(b.entries))
	for _, e := range b.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(x, y Entry) int {
		return cmp.Or(strings.Compare(x.Kind, y.Kind), strings.Compare(x.Test, y.Test))
	})
	return list
}

// Write writes the baseline in the form that Parse reads.
func (b *Baseline) Write(w io.Writer) error {
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, e := range b.Entries() {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", e.Kind, e.Test, e.Cycles, e.Reason); err != nil {
			return err
		}
	}
	return nil
}
