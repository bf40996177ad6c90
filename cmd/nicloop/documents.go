package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/bisect"
	"github.com/nicloop/nicloop/bench/bridgebench"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/bench/reproduce"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/sweep"
	"github.com/nicloop/nicloop/bench/tune"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/doctor"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
)

// documentVersion is that of all documents together. It grows when a key goes, or means something
// else; a key that comes changes nothing.
const documentVersion = 1

// A document is what verbs print with --json: one object whose first keys are "schema", its name
// here, and "schema_version". docs/json.md lists their keys, and a test holds both.
type document struct {
	schema string
	verbs  []string
	what   string
	form   any // a pointer of its type
}

var documents = []document{
	{"run", []string{"run"}, "What one run of a workload measured.", (*bench.Result)(nil)},
	{"congestion", []string{"run"}, "What `nicloop run hotspot --nvm` measured: the same flows with fast and with slow memory.", (*bench.Congestion)(nil)},
	{"overlap", []string{"run"}, "What `nicloop run overlap` or `progress` measured: what either side of a message can compute beside it.", (*bench.Overlap)(nil)},
	{"run_failure", []string{"run"}, "Why a run failed, and what it had measured before.", (*runFailure)(nil)},
	{"paths", []string{"run"}, "Which messages of a run move in which way (`nicloop run WORKLOAD --explain-paths`).", (*pathTable)(nil)},
	{"ranks", []string{"ranks"}, "What ranks in several programs measured, by the clock on the wall.", (*ranksReport)(nil)},
	{"budget", []string{"budget"}, "The time of one packet, stage by stage.", (*bench.Budget)(nil)},
	{"calibration", []string{"calibrate"}, "What was measured of the blocks, beside what the model has. A file for `model:?params=` comes from `--write`.", (*calibration)(nil)},
	{"fabric", []string{"fabric"}, "Latency and throughput of a network under synthetic traffic.", (*fabricReport)(nil)},
	{"imb", []string{"imb"}, "Tables of the Intel MPI Benchmarks.", (*imb.Report)(nil)},
	{"experiment", []string{"reproduce"}, "A paper's experiment. Each is a line of its own.", (*reproduce.Report)(nil)},
	{"explorations", []string{"check mailbox", "check rendezvous", "check threshold"}, "What the explorations of protocol code came to.", (*explorations)(nil)},
	{"bridge", []string{"bench bridge"}, "What a crossing of the bridge costs.", (*bridgebench.Report)(nil)},
	{"collectives", []string{"bench collectives"}, "Every algorithm of the collectives, measured.", (*tune.Report)(nil)},
	{"simulators", []string{"cache list", "cache verify"}, "The simulators that are built.", (*simulators)(nil)},
	{"tools", []string{"doctor"}, "Tools that nicloop uses.", (*tools)(nil)},
	{"device", []string{"device info", "device dump"}, "What a device is, and its global registers; dump: all of them.", (*deviceInfo)(nil)},
	{"schemes", []string{"device list"}, "The schemes of devices, and their keys.", (*schemeList)(nil)},
	{"devices", []string{"device scan"}, "The boards and serial ports of a machine.", (*foundDevices)(nil)},
	{"selftest", []string{"device selftest"}, "What a self-test found, check by check.", (*selfTest)(nil)},
	{"replay", []string{"device replay"}, "How far a device did what was recorded of another, and the first thing that it did otherwise.", (*replayed)(nil)},
	{"version", []string{"version"}, "This program.", (*versionInfo)(nil)},
	{"regression", []string{"regress", "conform", "runs show"}, "A regression and its tests.", (*regression)(nil)},
	{"sweep", []string{"sweep"}, "The rows of a sweep.", (*sweepReport)(nil)},
	{"bisection", []string{"bisect"}, "The commit that broke a test, and what was tried.", (*bisect.Result)(nil)},
	{"runs", []string{"runs list"}, "The runs that are remembered, the newest first.", (*runList)(nil)},
	{"changes", []string{"runs diff"}, "The tests that two runs do not agree about.", (*changeList)(nil)},
	{"trend", []string{"runs trend"}, "The history of tests, the oldest run first.", (*pointList)(nil)},
}

// runFailure is what stands in for a result.
type runFailure struct {
	Error   string               `json:"error"`
	Verdict *bench.Verdict       `json:"verdict,omitempty"`    // of a hang
	Differs *lockstep.Divergence `json:"divergence,omitempty"` // of a run against another device
	Rows    []bench.Row          `json:"rows,omitempty"`       // of the sizes before it
}

type simulators struct {
	List []build.Stock `json:"simulators"` // what was used last first
}

type tools struct {
	List []doctor.Tool `json:"tools"`
}

type explorations struct {
	List []exploration `json:"explorations"`
}

type regression struct {
	Run   runs.Run      `json:"run"`
	Tests []runs.Record `json:"tests"` // as they ended
}

// sweepReport is what came of a sweep.
type sweepReport struct {
	Name    string         `json:"name"`
	Run     uint64         `json:"run,omitempty"` // in the memory of runs
	Runs    int            `json:"runs"`
	Failed  []failedPoint  `json:"failed"`
	Files   []string       `json:"files"`
	Columns []string       `json:"columns"`
	Rows    [][]string     `json:"rows"` // as rows.csv has them
	Changes []sweep.Change `json:"changes,omitempty"`
}

type failedPoint struct {
	Command string `json:"command"`
	Error   string `json:"error"`
}

type runList struct {
	List []runs.Run `json:"runs"`
}

type changeList struct {
	Before runs.Run      `json:"before"`
	After  runs.Run      `json:"after"`
	List   []runs.Change `json:"changes"` // what broke first
}

type pointList struct {
	List []runs.Point `json:"points"`
}

// calibration is what was measured, parameter by parameter.
type calibration struct {
	Device     string      `json:"device"`
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Name     string `json:"name"` // as in a file of parameters
	Unit     string `json:"unit"`
	Measured int    `json:"measured"`
	Has      int    `json:"model_has"`
	How      string `json:"measured_as"`
}

type deviceInfo struct {
	Device    drivers.Info    `json:"device"`
	Node      int             `json:"node"`
	Registers []registerValue `json:"registers"`
}

type registerValue struct {
	Name   string `json:"name"`
	Offset uint32 `json:"offset_bytes"`
	Value  uint64 `json:"value,string"` // decimal, of 64 bits
	Doc    string `json:"doc"`
}

type versionInfo struct {
	Version     string `json:"version"`
	Commit      string `json:"commit,omitempty"`
	Modified    bool   `json:"modified"`
	Description int    `json:"description_version"` // of the hardware that it speaks to
	Hash        uint64 `json:"description_hash,string"`
}

// writeJSON prints a document, indented. What it is follows from the type of v.
func writeJSON(w io.Writer, v any) error {
	text, err := encodeDocument(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// encodeDocument is a document in one line.
func encodeDocument(v any) ([]byte, error) {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Struct {
		t = reflect.PointerTo(t)
	}
	for _, d := range documents {
		if reflect.TypeOf(d.form) != t {
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		head := fmt.Sprintf(`{"schema":%q,"schema_version":%d,`, d.schema, documentVersion)
		return append([]byte(head), text[1:]...), nil
	}
	return nil, errors.New("no document is made of " + t.String())
}
