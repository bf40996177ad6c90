package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/drivers"
)

// ErrVersions: two versions of a design have behaved differently.
var ErrVersions = errors.New("the versions differ")

// A VersionError is the first difference between a design and the version that it is compared with
// (key against). It wraps ErrVersions.
type VersionError struct {
	Node   int
	What   string           // "DMA write 3 of master 0", "beat 4 of the stream out", "register STATUS"
	Found  string           // of the design
	Other  string           // of the other version
	Cycles [2]drivers.Cycle // when each did that
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%v: node %d: %s: %s in cycle %d, but %s in cycle %d of the other version",
		ErrVersions, e.Node, e.What, e.Found, e.Cycles[0], e.Other, e.Cycles[1])
}

func (e *VersionError) Unwrap() error { return ErrVersions }

// settleCycles is how much later than the design the other version may do something at the end of a
// run. What one did earlier and the other did not is a difference.
const settleCycles = 1000

// versions keeps a second system beside a System. Software drives the first one; the second gets
// the same accesses and the same changes of memory, and runs to the same cycle. What both show is
// compared in order, at any time: register reads, DMA writes of each master, beats of both streams
// and interrupt outputs.
type versions struct {
	second *System
	sinks  [2]*sideSink

	mu      sync.Mutex // protects the fields below, and serialises calls
	shadow  [][]byte   // memory of the first system as of its last access
	shown   map[shownKey]*[2][]shownEvent
	matched map[shownKey]int
	err     *VersionError
	ended   bool
}

// A shownKey is something whose order is compared.
type shownKey struct {
	node   int
	kind   shownKind
	master uint8
}

type shownKind uint8

const (
	shownWrite shownKind = iota
	shownOut
	shownIn
	shownLines
)

// A shownEvent is a DMA write, a beat, or a change of interrupt outputs.
type shownEvent struct {
	cycle drivers.Cycle
	words []uint64 // address, strobes and data; parts of a beat; levels
}

// A sideSink collects the trace of one side. The trace of a side is complete when a call of its
// system returns.
type sideSink struct {
	next    drivers.TraceSink // of the user; may be nil
	events  []drivers.TraceEvent
	pending map[int]*openWrite
}

// openWrite is a DMA write whose quadwords may follow in the next batch of events.
type openWrite struct {
	master uint8
	event  shownEvent
	left   int
}

func (s *sideSink) Trace(events []drivers.TraceEvent) error {
	s.events = append(s.events, events...)
	if s.next != nil {
		return s.next.Trace(events)
	}
	return nil
}

// openVersions opens the other version, described by the file at path, beside a system. sink is the
// Options.Trace with which the first system was opened.
func openVersions(ctx context.Context, first *System, sink *sideSink, path string, keys map[string]string, opt drivers.Options) error {
	other := &sideSink{}
	opt.Trace = other
	besideFirst(&opt)
	opt.Nodes = first.info.Nodes
	keys = maps.Clone(keys)
	delete(keys, "pcap")
	second, err := openOne(ctx, path, keys, opt)
	if err != nil {
		return fmt.Errorf("against=%s: %w", path, err)
	}
	v := &versions{second: second, sinks: [2]*sideSink{sink, other}, shown: map[shownKey]*[2][]shownEvent{}, matched: map[shownKey]int{}}
	for n := range first.devices {
		if a, b := len(first.Memory(n)), len(second.Memory(n)); a != b {
			second.Close()
			return fmt.Errorf("%w: against=%s: %d bytes of memory, expected %d", drivers.ErrConfig, path, b, a)
		}
		v.shadow = append(v.shadow, bytes.Clone(first.Memory(n)))
		copy(second.Memory(n), first.Memory(n))
	}
	first.versions = v
	return nil
}

// OtherFile is the file of the other version beside one of the design: dump.other.fst for dump.fst.
func OtherFile(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".other" + ext
}

// besideFirst makes the files of the other version those of OtherFile, with the same waves.
func besideFirst(opt *drivers.Options) {
	if opt.Waves != nil {
		waves := *opt.Waves
		waves.File = OtherFile(waves.File)
		opt.Waves = &waves
	}
	if opt.Checkpoints != nil {
		checkpoints := *opt.Checkpoints
		checkpoints.File = OtherFile(checkpoints.File)
		opt.Checkpoints = &checkpoints
	}
	if opt.LogFile != "" {
		opt.LogFile = OtherFile(opt.LogFile)
	}
}

// Repeat writes the waves of the last cycles; see drivers.Repeater. Those of the other version are
// in the file that OtherFile names.
func (s *System) Repeat() (drivers.Repeated, error) {
	first, err := s.Session.Repeat()
	if s.versions != nil {
		s.versions.mu.Lock()
		defer s.versions.mu.Unlock()
		_, second := s.versions.second.Session.Repeat()
		err = errors.Join(err, second)
	}
	return first, err
}

const comparedPage = 4096

// store gives the second system what software has written to the memory of the first.
func (v *versions) store(first *System) {
	for n, shadow := range v.shadow {
		mem, other := first.Memory(n), v.second.Memory(n)
		for at := 0; at < len(mem); at += comparedPage {
			end := min(at+comparedPage, len(mem))
			if bytes.Equal(mem[at:end], shadow[at:end]) {
				continue
			}
			for i := at; i < end; i++ {
				if mem[i] != shadow[i] {
					other[i], shadow[i] = mem[i], mem[i]
				}
			}
		}
	}
}

// follow lets the second system catch up, and compares.
func (v *versions) follow(first *System) error {
	v.remember(first)
	var stop drivers.Stop
	for v.second.Now() < first.Now() {
		if err := v.second.Run(first.Now(), &stop); err != nil {
			return v.failed(err)
		}
	}
	return v.compare()
}

// failed reports an error that only the other version has.
func (v *versions) failed(err error) error {
	return fmt.Errorf("%w: only the other version fails: %w", ErrVersions, err)
}

// read reads a register of the first system, then of the second, and compares the answers.
func (v *versions) read(first *System, node int, off uint32, bytes int) (uint64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return 0, v.err
	}
	v.store(first)
	value, err := first.readOne(node, off, bytes)
	other, otherErr := v.second.readOne(node, off, bytes)
	switch {
	case err != nil && otherErr != nil: // both fail: that is what they have in common
		return value, err
	case err != nil:
		return value, fmt.Errorf("%w: the other version does not fail: %w", ErrVersions, err)
	case otherErr != nil:
		return value, v.failed(otherErr)
	}
	if r, _, ok := first.info.Registers.ByAddress(off); value != other && !(ok && r.Volatile) {
		v.err = &VersionError{
			node, "register " + first.info.Registers.Describe(off), fmt.Sprintf("0x%x", value), fmt.Sprintf("0x%x", other),
			[2]drivers.Cycle{first.Now(), v.second.Now()},
		}
		return value, v.err
	}
	return value, v.follow(first)
}

// run lets time pass in the first system, then in the second one.
func (v *versions) run(first *System, deadline drivers.Cycle, stop *drivers.Stop) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	v.store(first)
	err := first.runOne(deadline, stop)
	followed := v.follow(first)
	if err != nil && v.err == nil { // the second may have stopped for the same reason
		return err
	}
	return errors.Join(err, followed)
}

// arm arms the interrupt of a node in both. It may take time, in which the design writes to memory.
func (v *versions) arm(first *System, node int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.store(first)
	first.armOne(node)
	v.second.armOne(node)
	v.remember(first)
}

// remember copies the memory of the first system after an access. Changes between this call and the
// next access were made by software.
func (v *versions) remember(first *System) {
	for n, shadow := range v.shadow {
		copy(shadow, first.Memory(n))
	}
}

// collect turns the trace of a side into events.
func (v *versions) collect(side int) {
	s := v.sinks[side]
	if s.pending == nil {
		s.pending = map[int]*openWrite{}
	}
	for _, e := range s.events {
		node := int(e.Node)
		key := shownKey{node: node}
		switch e.Point {
		case drivers.PointDMAAddress:
			s.pending[node] = &openWrite{e.VC, shownEvent{e.Cycle, []uint64{e.Data}}, -1}
			continue
		case drivers.PointDMAStrobes, drivers.PointDMAData:
			w := s.pending[node]
			if w == nil {
				continue
			}
			if w.event.words = append(w.event.words, e.Data); w.left < 0 {
				w.left = quadwords(e.Data)
			} else {
				w.left--
			}
			if w.left > 0 {
				continue
			}
			delete(s.pending, node)
			key.kind, key.master = shownWrite, w.master
			v.add(side, key, w.event)
			continue
		case drivers.PointStreamOut:
			key.kind = shownOut
		case drivers.PointStreamIn:
			key.kind = shownIn
		case drivers.PointLines:
			key.kind = shownLines
		default:
			continue
		}
		if key.kind == shownLines || e.Flags&drivers.TraceHead != 0 {
			v.add(side, key, shownEvent{e.Cycle, []uint64{e.Data}})
			continue
		}
		if list := v.shown[key]; list != nil && len(list[side]) > 0 { // a further part of the last beat
			last := &list[side][len(list[side])-1]
			last.words = append(last.words, e.Data)
		}
	}
	s.events = s.events[:0]
}

// quadwords counts those that strobes select.
func quadwords(strobes uint64) (n int) {
	for ; strobes != 0; strobes >>= 8 {
		if strobes&0xff != 0 {
			n++
		}
	}
	return n
}

func (v *versions) add(side int, key shownKey, e shownEvent) {
	list := v.shown[key]
	if list == nil {
		list = &[2][]shownEvent{}
		v.shown[key] = list
	}
	list[side] = append(list[side], e)
}

// compare matches what both have shown. The earliest difference counts.
func (v *versions) compare() error {
	v.collect(0)
	v.collect(1)
	for key, list := range v.shown {
		n := min(len(list[0]), len(list[1]))
		for i := range n {
			if slices.Equal(list[0][i].words, list[1][i].words) {
				continue
			}
			v.note(key, v.matched[key]+i, &list[0][i], &list[1][i])
			break
		}
		v.matched[key] += n
		list[0], list[1] = list[0][n:], list[1][n:]
	}
	if v.err == nil {
		return nil
	}
	return v.err
}

// note keeps a difference if it is earlier than the one that is known. Of two in one cycle the one
// of the lower node and kind counts, so that the result does not depend on the order of a map.
func (v *versions) note(key shownKey, number int, a, b *shownEvent) {
	e := &VersionError{Node: key.node, What: key.name(number), Found: "nothing", Other: "nothing"}
	if a != nil {
		e.Found, e.Cycles[0] = key.text(a, b), a.cycle
	}
	if b != nil {
		e.Other, e.Cycles[1] = key.text(b, a), b.cycle
	}
	if a == nil {
		e.Cycles[0] = e.Cycles[1]
	}
	if b == nil {
		e.Cycles[1] = e.Cycles[0]
	}
	at, known := min(e.Cycles[0], e.Cycles[1]), v.err
	if known != nil {
		before := min(known.Cycles[0], known.Cycles[1])
		if at > before || at == before && (e.Node > known.Node || e.Node == known.Node && e.What >= known.What) {
			return
		}
	}
	v.err = e
}

func (k shownKey) name(number int) string {
	switch k.kind {
	case shownWrite:
		return fmt.Sprintf("DMA write %d of master %d", number+1, k.master)
	case shownOut:
		return fmt.Sprintf("beat %d of the stream out", number+1)
	case shownIn:
		return fmt.Sprintf("beat %d of the stream in", number+1)
	}
	return fmt.Sprintf("change %d of the interrupt outputs", number+1)
}

// text describes an event by what is different in the other one.
func (k shownKey) text(e, other *shownEvent) string {
	if k.kind != shownWrite || len(e.words) < 2 {
		return fmt.Sprintf("%#x", e.words)
	}
	text := fmt.Sprintf("address 0x%x", e.words[0])
	switch {
	case other == nil || other.words[0] != e.words[0]:
	case len(other.words) < 2 || other.words[1] != e.words[1]:
		text += fmt.Sprintf(", strobes %016x", e.words[1])
	default:
		q := 0
		for i := 2; i < len(e.words); i++ {
			for e.words[1]>>(8*q)&0xff == 0 {
				q++
			}
			if i < len(other.words) && e.words[i] != other.words[i] {
				return fmt.Sprintf("%#x at 0x%x", e.words[i], e.words[0]+uint64(8*q))
			}
			q++
		}
	}
	return text
}

// end compares what is left when a run ends, and closes the second system.
func (v *versions) end(first *System) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return nil
	}
	v.ended = true
	known := v.err
	v.collect(0)
	v.collect(1)
	end := min(first.Now(), v.second.Now())
	for key, list := range v.shown {
		for side := range list {
			if len(list[side]) == 0 || list[side][0].cycle+settleCycles > end {
				continue
			}
			sides := [2]*shownEvent{}
			sides[side] = &list[side][0]
			v.note(key, v.matched[key], sides[0], sides[1])
		}
	}
	err := v.second.Close()
	if known == nil && v.err != nil {
		err = errors.Join(error(v.err), err)
	}
	return err
}
