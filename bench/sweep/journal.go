package sweep

import (
	"encoding/json"
	"strings"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/bench/journal"
)

// A Journal stores the records of runs as lines of JSON, so that an interrupted sweep can be
// resumed. A run is identified by everything that its result depends on: the program, the command,
// and the files named by its device.
type Journal struct {
	program string
	file    *journal.File
	known   map[string]batch.Record
	foreign int
}

type journalLine struct {
	Program string       `json:"program"`
	Run     string       `json:"run"`
	Record  batch.Record `json:"record"`
}

// OpenJournal opens or creates the file. Unless resume is set, previous contents are discarded.
func OpenJournal(name, program string, resume bool) (j *Journal, err error) {
	j = &Journal{known: map[string]batch.Record{}}
	if j.program, err = journal.Digest(program); err != nil {
		return nil, err
	}
	if j.file, err = journal.Open(name, 0o644, resume, j.take); err != nil {
		return nil, err
	}
	return j, nil
}

// take parses a line of the file.
func (j *Journal) take(b []byte) error {
	var line journalLine
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	if line.Program != j.program {
		j.foreign++
		return nil
	}
	j.known[line.Run] = line.Record
	return nil
}

// Foreign counts the runs recorded by another program.
func (j *Journal) Foreign() int { return j.foreign }

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Get returns the record of a point that passed. Failed runs are repeated.
func (j *Journal) Get(p *Point) (r batch.Record, ok bool, err error) {
	key, err := keyOf(p)
	if err != nil {
		return r, false, err
	}
	r, ok = j.known[key]
	return r, ok && StatusOf(&r) == Passed, nil
}

// Put adds a record.
func (j *Journal) Put(p *Point, r batch.Record) error {
	key, err := keyOf(p)
	if err != nil {
		return err
	}
	if err := j.file.Append(journalLine{j.program, key, r}); err != nil {
		return err
	}
	return j.file.Sync()
}

// keyOf identifies a run by everything that its result depends on besides the program.
func keyOf(p *Point) (string, error) {
	files, err := journal.DeviceFiles(p.Device)
	return strings.Join(p.Args, " ") + files, err
}
