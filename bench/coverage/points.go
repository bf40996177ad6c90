package coverage

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kinds of points.
const (
	Line       = "line"
	Toggle     = "toggle"
	Functional = "functional"
)

// A Point is an item of coverage.
type Point struct {
	Kind string `json:"kind"`
	File string `json:"file,omitempty"` // relative to the RTL directory; for functional points the group
	Line int    `json:"line,omitempty"`
	Name string `json:"name"` // of a toggle: signal and bit; of a line: how the block is entered
}

// Block is the module, named by its file, or the group of functional points.
func (p *Point) Block() string {
	return strings.TrimSuffix(filepath.Base(p.File), ".sv")
}

func (p *Point) String() string {
	if p.Kind == Functional {
		return p.File + ": " + p.Name
	}
	return fmt.Sprintf("%s:%d %s %s", p.File, p.Line, p.Kind, p.Name)
}

func byPosition(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
}

// A Test is one test with one seed, and its coverage.
type Test struct {
	Name string
	Seed int64
	seen map[Point]uint64
	lost bool // a simulator was killed before it wrote its counts
}

// A Base merges tests. Its methods may be called concurrently.
type Base struct {
	mu    sync.Mutex
	known map[Point]bool
	tests []*Test
}

// New creates an empty base. Functional points are known from the start.
func New() *Base {
	b := &Base{known: map[Point]bool{}}
	for _, p := range functionalPoints() {
		b.known[p] = true
	}
	return b
}

// Add merges the counts that the simulators of a test wrote to a directory, and its functional
// points.
func (b *Base) Add(name string, seed int64, dir string, f *FunctionalSink) error {
	t := &Test{Name: name, Seed: seed, seen: map[Point]uint64{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil {
		return err
	}
	known := map[Point]bool{}
	for _, file := range files {
		if err := read(file, known, t.seen); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		t.lost = t.lost || info.Size() == 0
	}
	for p, n := range f.points() {
		t.seen[p] += n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range known {
		b.known[p] = true
	}
	b.tests = append(b.tests, t)
	return nil
}

// read parses a coverage.dat of Verilator. A killed simulator leaves an empty file.
func read(file string, known map[Point]bool, seen map[Point]uint64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		p, n, ok, err := parse(s.Text())
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !ok {
			continue
		}
		known[p] = true
		if n > 0 {
			seen[p] += n
		}
	}
	return s.Err()
}

// parse parses a line such as C '\x01f\x02core/fifo.sv\x01l\x0220…' 5. It skips lines without a
// point, and code that is not part of the NIC.
func parse(line string) (p Point, n uint64, ok bool, err error) {
	rest, found := strings.CutPrefix(line, "C '")
	if !found {
		return p, 0, false, nil
	}
	keys, count, found := strings.Cut(rest, "' ")
	if n, err = strconv.ParseUint(strings.TrimSpace(count), 10, 64); err != nil || !found {
		return p, 0, false, fmt.Errorf("coverage: %q is no point", line)
	}
	page := ""
	for _, pair := range strings.Split(keys, "\x01") {
		key, value, _ := strings.Cut(pair, "\x02")
		switch key {
		case "f":
			p.File = value
		case "l":
			p.Line, err = strconv.Atoi(value)
		case "o":
			p.Name = value
		case "page":
			page = value
		}
		if err != nil {
			return p, 0, false, fmt.Errorf("coverage: %q is no point", line)
		}
	}
	switch {
	case strings.HasPrefix(page, "v_toggle"):
		p.Kind = Toggle
	case strings.HasPrefix(page, "v_line"), strings.HasPrefix(page, "v_branch"):
		p.Kind = Line
	default:
		return p, 0, false, nil
	}
	return p, n, strings.HasPrefix(p.File, "core/"), nil
}

// all returns all points in order.
func (b *Base) all() []Point {
	list := make([]Point, 0, len(b.known))
	for p := range b.known {
		list = append(list, p)
	}
	slices.SortFunc(list, byPosition)
	return list
}
