package paper

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/journal"
	"github.com/nicloop/nicloop/bench/load"
)

// A Journal keeps what runs have measured, a line of JSON each, so that a command of hours that was
// cut short can be taken up again. A run is known again by all that its result depends on,
// which includes the program: another one measures anew.
type Journal struct {
	program string
	mu      sync.Mutex
	file    *journal.File
	known   map[string]Sample
	points  map[string]*load.Point
	values  map[string]json.RawMessage // of experiments with samples of their own
	foreign int                        // runs that another program has left
}

// entry is a line of the file.
type entry struct {
	Program string          `json:"program"`
	Run     string          `json:"run"`
	Time    float64         `json:"time_us"`
	Slots   int             `json:"slots"`
	Flow    bench.FlowStats `json:"flow"`
	Point   *load.Point     `json:"point,omitempty"` // of experiments without a device
	Value   json.RawMessage `json:"value,omitempty"` // of those with samples of their own
}

// OpenJournal opens the file, or makes it. Unless resume, what it has is forgotten.
func OpenJournal(name string, resume bool) (*Journal, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	j := &Journal{known: map[string]Sample{}, points: map[string]*load.Point{}, values: map[string]json.RawMessage{}}
	if j.program, err = journal.Digest(program); err != nil {
		return nil, err
	}
	if j.file, err = journal.Open(name, 0o666, resume, j.take); err != nil {
		return nil, err
	}
	return j, nil
}

// take takes in a line of the file.
func (j *Journal) take(b []byte) error {
	var e entry
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	switch {
	case e.Program != j.program:
		j.foreign++
	case e.Point != nil:
		j.points[e.Run] = e.Point
	case e.Value != nil:
		j.values[e.Run] = e.Value
	default:
		j.known[e.Run] = Sample{Time: e.Time, slots: e.Slots, Flow: e.Flow}
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Runs counts those that it has, and those that another program has left there.
func (j *Journal) Runs() (known, foreign int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.known) + len(j.points) + len(j.values), j.foreign
}

// get gives what a run has measured, if that is known. No journal knows nothing.
func (j *Journal) get(key string) (Sample, bool) {
	if j == nil {
		return Sample{}, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.known[key]
	return s, ok
}

func (j *Journal) put(key string, s Sample) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.known[key] = s
	return j.file.Append(entry{Program: j.program, Run: key, Time: s.Time, Slots: s.slots, Flow: s.Flow})
}

// Point is get for experiments without a device.
func (j *Journal) Point(key string) (*load.Point, bool) {
	if j == nil {
		return nil, false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	p, ok := j.points[key]
	return p, ok
}

// PutPoint keeps what Point returns.
func (j *Journal) PutPoint(key string, p *load.Point) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.points[key] = p
	return j.file.Append(entry{Program: j.program, Run: key, Point: p})
}

// Value reads what a run has measured into v, if that is known.
func (j *Journal) Value(key string, v any) (known bool, err error) {
	if j == nil {
		return false, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b, known := j.values[key]
	if known {
		err = json.Unmarshal(b, v)
	}
	return known, err
}

// PutValue keeps what Value reads.
func (j *Journal) PutValue(key string, v any) error {
	if j == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.values[key] = b
	return j.file.Append(entry{Program: j.program, Run: key, Value: b})
}

// keys name runs by all that their results depend on.
func (j *Journal) keys(e *Env, runs []Run) ([]string, error) {
	list := make([]string, len(runs))
	for i, r := range runs {
		var err error
		if list[i], err = j.Key(e, r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Key names a run by everything that its result depends on. r is a value without pointers.
func (j *Journal) Key(e *Env, r any) (string, error) {
	if j == nil {
		return "", nil
	}
	files, err := journal.DeviceFiles(e.Device)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("device %s%s, slots %d ps, seed %d, %#v", e.Device, files, e.Machine.slotTime(), e.Seed, r), nil
}
