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
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/sweep"
	"github.com/nicloop/nicloop/bench/tune"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/doctor"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
)

// documentVersion is the version of all documents together. It is incremented when a key is removed
// or changes its meaning; a new key does not change it.
const documentVersion = 1

// A document is the output of a verb with --json: one object whose first keys are "schema" and
// "schema_version". docs/json.md lists all keys, and a test compares both.
type document struct {
	schema string
	verbs  []string
	what   string
	form   any // a pointer of its type
}

var documents = []document{
	{"run", []string{"run"}, "The measurements of one run of a workload.", (*bench.Result)(nil)},
	{"congestion", []string{"run"}, "The measurements of `nicloop run hotspot --nvm`: the same flows with fast and with slow memory.", (*bench.Congestion)(nil)},
	{"overlap", []string{"run"}, "The measurements of `nicloop run overlap` or `progress`: the computation that either side can overlap with a message.", (*bench.Overlap)(nil)},
	{"run_failure", []string{"run"}, "The error of a failed run, and its measurements up to then.", (*runFailure)(nil)},
	{"paths", []string{"run"}, "The path selection table of a run (`nicloop run WORKLOAD --explain-paths`).", (*pathTable)(nil)},
	{"ranks", []string{"ranks"}, "The measurements of ranks in several programs, in real time.", (*ranksReport)(nil)},
	{"mpi", []string{"mpi"}, "What an MPI program did, and what the NICs counted.", (*mpiReport)(nil)},
	{"mpi_hang", []string{"mpi"}, "What each rank of an MPI program waits for that hangs.", (*mpiHang)(nil)},
	{"budget", []string{"budget"}, "The time of one packet, stage by stage.", (*bench.Budget)(nil)},
	{"calibration", []string{"calibrate"}, "The measured parameters of the blocks and those of the model. `--write` writes a file for `model:?params=`.", (*calibration)(nil)},
	{"fabric", []string{"fabric"}, "Latency and throughput of a network under synthetic traffic.", (*fabricReport)(nil)},
	{"imb", []string{"imb"}, "Tables of the Intel MPI Benchmarks.", (*imb.Report)(nil)},
	{"experiment", []string{"reproduce"}, "A paper's experiment. Each is a line of its own.", (*paper.Report)(nil)},
	{"explorations", []string{"check mailbox", "check rendezvous", "check threshold", "check iwarp", "check portals", "check rportals", "check rdrp", "check portals-offload"}, "The results of the model checks.", (*explorations)(nil)},
	{"iwarp", []string{"iwarp ping", "iwarp bandwidth"}, "Measurements of the verbs of iWARP, in real or simulated time.", (*iwarpReport)(nil)},
	{"iwarp_rping", []string{"iwarp rping"}, "The result of rping in either role.", (*rpingReport)(nil)},
	{"bridge", []string{"bench bridge"}, "The cost of a crossing of the bridge.", (*bridgebench.Report)(nil)},
	{"collectives", []string{"bench collectives"}, "The measurements of every algorithm of the collectives.", (*tune.Report)(nil)},
	{"simulators", []string{"cache list", "cache verify"}, "The cached simulators.", (*simulators)(nil)},
	{"tools", []string{"doctor"}, "The tools that nicloop uses.", (*tools)(nil)},
	{"device", []string{"device info", "device dump"}, "The description of a device and its global registers; dump: all registers.", (*deviceInfo)(nil)},
	{"schemes", []string{"device list"}, "The schemes of devices, and their keys.", (*schemeList)(nil)},
	{"devices", []string{"device scan"}, "The boards and serial ports of a machine.", (*foundDevices)(nil)},
	{"selftest", []string{"device selftest"}, "The results of a self-test, check by check.", (*selfTest)(nil)},
	{"replay", []string{"device replay"}, "The progress of a replay, and the first difference from the recording.", (*replayed)(nil)},
	{"version", []string{"version"}, "The version of this program.", (*versionInfo)(nil)},
	{"regression", []string{"regress", "conform", "runs show"}, "A regression and its tests.", (*regression)(nil)},
	{"sweep", []string{"sweep"}, "The rows of a sweep.", (*sweepReport)(nil)},
	{"bisection", []string{"bisect"}, "The commit that broke a test, and all trials.", (*bisect.Result)(nil)},
	{"runs", []string{"runs list"}, "The recorded runs, newest first.", (*runList)(nil)},
	{"changes", []string{"runs diff"}, "The tests whose results differ between two runs.", (*changeList)(nil)},
	{"trend", []string{"runs trend"}, "The history of tests, the oldest run first.", (*pointList)(nil)},
}

// runFailure is printed instead of the result of a failed run.
type runFailure struct {
	Error   string               `json:"error"`
	Verdict *bench.Verdict       `json:"verdict,omitempty"`    // of a hang
	Differs *lockstep.Divergence `json:"divergence,omitempty"` // of a run against another device
	Rows    []bench.Row          `json:"rows,omitempty"`       // of the sizes measured before
}

type simulators struct {
	List []build.Stock `json:"simulators"` // most recently used first
}

type tools struct {
	List []doctor.Tool `json:"tools"`
}

type explorations struct {
	List []exploration `json:"explorations"`
}

type regression struct {
	Run   runs.Run      `json:"run"`
	Tests []runs.Record `json:"tests"` // in order of completion
}

// sweepReport is the result of a sweep.
type sweepReport struct {
	Name    string         `json:"name"`
	Run     uint64         `json:"run,omitempty"` // in the database of runs
	Runs    int            `json:"runs"`
	Failed  []failedPoint  `json:"failed"`
	Files   []string       `json:"files"`
	Columns []string       `json:"columns"`
	Rows    [][]string     `json:"rows"` // as in rows.csv
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
	List   []runs.Change `json:"changes"` // newly broken tests first
}

type pointList struct {
	List []runs.Point `json:"points"`
}

// calibration compares measured parameters with those of the model.
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
	Description int    `json:"description_version"` // of the hardware that it supports
	Hash        uint64 `json:"description_hash,string"`
}

// writeJSON prints a document, indented. The type of v selects the schema.
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

// encodeDocument returns a document in one line.
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
	return nil, errors.New("no document has the type  " + t.String())
}
