package vtime

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// The tests in this file generate the lines of the worked examples in doc.go, and look for them
// there.

// worked reports whether doc.go contains these lines as a block.
func worked(t *testing.T, lines []string) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	block := "//\t" + strings.Join(lines, "\n//\t") + "\n"
	require.True(t, strings.Contains(string(text), block), "doc.go does not have this block:\n%s", block)
}

// Two processes, one packet.
func TestWorkedExampleOfVirtualTime(t *testing.T) {
	k, procs := world(t, Config{PIOWrite: 40 * ns, Wake: 60 * ns})
	start := k.Now()
	first := drivers.Cycle(start / regs.ClockPS)
	lines := []string{"rank  its time  hardware in"}
	note := func(p *Proc, what string) {
		lines = append(lines, fmt.Sprintf("%4d %6d ns  cycle %2d     %s", p.node, (p.Now()-start)/ns, p.Cycle()-first, what))
	}
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		if i == 0 {
			note(p, "begins, works for 100 ns (Spend)")
			p.Spend(100 * ns)
			note(p, "stores a line: it carries the time 140 ns")
			if err := p.Device().WritePIO(line(0), make([]byte, 8)); err != nil {
				return err
			}
			p.Spend(20 * ns)
			note(p, "has worked on; must know what has come (Sync)")
			p.Sync()
			note(p, "looks: nothing is there, and that is certain")
			return nil
		}
		note(p, "begins, sees nothing, parks (WaitArrival)")
		p.WaitArrival(drivers.Never)
		note(p, "finds the packet, 60 ns (Wake) after it was written")
		return nil
	}))
	worked(t, lines)
}

// scriptedParts are two parts that are always busy. The test decides which of their threads is
// slow.
type scriptedParts struct {
	drivers.Timed // other methods are not called
	parts         [2]*scriptedPart
	sync.Mutex
	events []string
}

type scriptedPart struct {
	all       *scriptedParts
	id        int
	now, past drivers.Cycle
	window    int
	done      bool
	before    func(event string)
	after     func(event string)
}

func newScriptedParts() *scriptedParts {
	s := &scriptedParts{}
	for i := range s.parts {
		s.parts[i] = &scriptedPart{all: s, id: i, window: -1, before: func(string) {}, after: func(string) {}}
	}
	return s
}

func (s *scriptedParts) Info() drivers.Info        { return drivers.Info{Nodes: 2, VPIDs: 1, ClockPS: 1000} }
func (s *scriptedParts) Device(int) drivers.Device { return nil }
func (s *scriptedParts) Now() drivers.Cycle        { return s.parts[0].now }
func (s *scriptedParts) Lookahead() drivers.Cycle  { return 4 }
func (s *scriptedParts) Join()                     {}
func (s *scriptedParts) Partitions() []drivers.Partition {
	return []drivers.Partition{s.parts[0], s.parts[1]}
}

func (p *scriptedPart) Nodes() (first, past int) { return p.id, p.id + 1 }
func (p *scriptedPart) Now() drivers.Cycle       { return p.now }
func (p *scriptedPart) NextEvent() drivers.Cycle { return p.now + 1 }

func (p *scriptedPart) Run(until drivers.Cycle, stop *drivers.Stop) error {
	p.now = min(until, p.past-1)
	*stop = drivers.Stop{Now: p.now}
	if p.now == p.past-1 && p.now < until && !p.done {
		p.done = true
		p.note("has done w%d", p.window)
	}
	return nil
}

func (p *scriptedPart) Open(past drivers.Cycle) {
	if past == p.past {
		return
	}
	p.window, p.done = p.window+1, false
	p.note("begins w%d: cycles %d to %d", p.window, p.past, past-1)
	p.past = past
}

// Events implements drivers.Partition.
func (p *scriptedPart) Events() uint64 { return 0 }

func (p *scriptedPart) Exchange(late uint) {
	p.note("takes what was sent in w%d", p.window-int(late))
}

// note records an event in the column of its thread.
func (p *scriptedPart) note(format string, args ...any) {
	event := fmt.Sprintf(format, args...)
	p.before(event)
	p.all.Lock()
	p.all.events = append(p.all.events, fmt.Sprintf("%*s%s", 32*p.id, "", event))
	p.all.Unlock()
	p.after(event)
}

// Thread 0 is fast, thread 1 slow in w1: the fast one gets one window ahead, but no further.
func TestWorkedExampleOfWindows(t *testing.T) {
	s := newScriptedParts()
	k := New(s, Config{PIODepth: 1})
	k.loops[0].with.crew.script = always(true)
	first, begun, ahead, further := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	fast, slow := s.parts[0], s.parts[1]
	await := func(done chan struct{}) {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("a thread waits for what the other does not do")
		}
	}
	fast.before = func(event string) {
		if event == "has done w1" {
			await(begun)
		}
	}
	fast.after = func(event string) {
		switch event {
		case "begins w1: cycles 1 to 2":
			close(first)
		case "has done w2":
			close(ahead)
		case "has done w3":
			close(further)
		}
	}
	slow.before = func(event string) {
		switch event {
		case "begins w1: cycles 1 to 2":
			await(first)
		case "has done w1":
			await(ahead)
			time.Sleep(5 * time.Millisecond) // thread 0 could start w3 if it did not wait
		case "takes what was sent in w0":
			await(further)
		}
	}
	slow.after = func(event string) {
		if event == "begins w1: cycles 1 to 2" {
			close(begun)
		}
	}
	for i := range 2 {
		k.Add(i, 0)
	}
	require.NoError(t, k.Run(func(i int) error {
		k.procs[i].Spend(20 * ns)
		k.procs[i].Sync()
		return nil
	}))
	lines := []string{"thread 0                        thread 1"}
	from := slices.IndexFunc(s.events, func(e string) bool { return strings.Contains(e, "begins w1:") })
	to := slices.IndexFunc(s.events, func(e string) bool { return strings.Contains(e, "begins w3:") })
	require.Less(t, from, to)
	for _, e := range s.events[from : to+1] {
		if !strings.HasSuffix(e, " w0") && !strings.HasSuffix(e, " w-1") { // before the first window
			lines = append(lines, e)
		}
	}
	worked(t, lines)
}
