package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/sweep"
)

// A sweepMemory adds the runs of a sweep to the database of runs.
type sweepMemory struct {
	s       *sweeping
	store   *runs.Store // nil: runs are not recorded
	id      uint64
	pending []runs.Record
	flushed time.Time
}

func newSweepMemory(s *sweeping) (*sweepMemory, error) {
	m := &sweepMemory{s: s, flushed: time.Now()}
	if s.f.db == "" {
		return m, nil
	}
	var devices []string
	for _, p := range s.points {
		if !slices.Contains(devices, p.Device) {
			devices = append(devices, p.Device)
		}
	}
	commit, modified := commitOf(devices[0])
	device := devices[0]
	if len(devices) > 1 {
		device = fmt.Sprintf("%d devices, such as %s", len(devices), device)
	}
	m.store = runs.At(s.f.db)
	var err error
	m.id, err = m.store.Begin(runs.Run{
		Verb: "sweep", Began: time.Now().UTC().Truncate(time.Millisecond), Device: device, Commit: commit, Modified: modified,
		Patterns: []string{s.name}, Seed: s.points[0].Seed, Seeds: 1, Machine: batch.Machine(), Dir: s.f.dir,
	})
	return m, err
}

// add records a run, with a delay of at most a second.
func (m *sweepMemory) add(i int, r *batch.Record) error {
	if m.store == nil {
		return nil
	}
	p, f := &m.s.points[i], m.s.file
	rec := runs.Record{
		Test: f.Test(p), Seed: p.Seed, Device: p.Device, Status: sweep.StatusOf(r), Error: r.Error, Real: r.Real,
		Exactness: sweep.Exactness(p.Device), Rerun: "nicloop " + shellWords(p.Args),
	}
	packets, _ := packetsOf(p.Args)
	rec.Packets = uint64(packets)
	rows, err := f.Rows(p, r)
	if err != nil {
		return err
	}
	if rec.Status == sweep.Passed {
		rec.Hardware, rec.Cycles = sweep.Hardware(r.Result), sweep.Cycles(r.Result)
		for _, x := range f.Figures(rows) {
			rec.Figures = append(rec.Figures, runs.Figure(x))
		}
	}
	m.pending = append(m.pending, rec)
	if time.Since(m.flushed) < time.Second {
		return nil
	}
	return m.flush()
}

func (m *sweepMemory) flush() error {
	if len(m.pending) == 0 {
		return nil
	}
	_, err := m.store.Add(m.id, m.pending)
	m.pending, m.flushed = nil, time.Now()
	return err
}

func (m *sweepMemory) close(failure error) error {
	if m.store == nil {
		return nil
	}
	return errors.Join(m.flush(), m.store.End(m.id, 0, failure))
}

// past holds the times of earlier runs of sweeps.
type past struct {
	last    map[string]float64 // by test, device and seed
	seconds map[string]float64 // by backend
	packets map[string]float64
}

// pastRuns is the number of newest runs that are read.
const pastRuns = 50

// pastTimes reads the database of runs. Without one, no time is known.
func pastTimes(db string) (*past, error) {
	p := &past{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	if db == "" {
		return p, nil
	}
	store := runs.At(db)
	list, err := store.List()
	if errors.Is(err, runs.ErrNone) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r runs.Run) bool { return r.Verb != "sweep" })
	for _, r := range list[:min(pastRuns, len(list))] {
		_, records, err := store.Get(r.ID)
		if err != nil {
			return nil, err
		}
		p.take(records)
	}
	return p, nil
}

func (p *past) take(records []runs.Record) {
	for _, r := range records {
		key := fmt.Sprint(r.Test, r.Device, r.Seed)
		if _, newer := p.last[key]; !newer {
			p.last[key] = r.Real
		}
		if r.Packets > 0 && r.Status == sweep.Passed {
			p.seconds[backend(r.Device)] += r.Real
			p.packets[backend(r.Device)] += float64(r.Packets)
		}
	}
}

func (p *past) of(test, device string, seed int64) (float64, bool) {
	v, ok := p.last[fmt.Sprint(test, device, seed)]
	return v, ok
}

// rate returns the seconds per packet on the backend of a device.
func (p *past) rate(device string) float64 {
	if p.packets[backend(device)] == 0 {
		return 0
	}
	return p.seconds[backend(device)] / p.packets[backend(device)]
}

func backend(device string) string {
	scheme, _, _ := strings.Cut(device, ":")
	return scheme
}
