package reproduce

import (
	"bytes"
	"cmp"
	_ "embed" // verdicts.jsonl
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// RecordsFile is the file of published verdicts in the source tree, a Record per line. It is
// written by nicloop reproduce --record, and never by hand.
const RecordsFile = "bench/reproduce/verdicts.jsonl"

//go:embed verdicts.jsonl
var published []byte

// A Record is the published result of one experiment under one configuration.
type Record struct {
	ID      string        `json:"id"` // first ID of the experiment
	Scale   paper.Scale   `json:"scale"`
	Device  string        `json:"device,omitempty"`
	Machine paper.Machine `json:"machine,omitempty"`
	Seed    int64         `json:"seed"`
	Samples int           `json:"samples"`
	// Commit is the commit of the program that measured it; empty: unknown.
	Commit string          `json:"commit,omitempty"`
	Claims []paper.Verdict `json:"claims"`
}

// RecordOf returns the record of a report.
func RecordOf(rep *paper.Report, commit string) Record {
	return Record{
		ID: rep.IDs[0], Scale: rep.Scale, Device: rep.Device, Machine: rep.Machine, Seed: rep.Seed, Samples: rep.Samples,
		Commit: commit, Claims: rep.Claims,
	}
}

// Env returns the environment in which the record was measured.
func (r *Record) Env() paper.Env {
	return paper.Env{Device: r.Device, Machine: r.Machine, Scale: r.Scale, Seed: r.Seed, Samples: r.Samples}
}

// Published returns the records of this program.
func Published() ([]Record, error) { return readRecords(bytes.NewReader(published)) }

// ReadRecords reads a file of records. A file that does not exist has none.
func ReadRecords(name string) ([]Record, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := readRecords(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func readRecords(r io.Reader) (list []Record, err error) {
	for d := json.NewDecoder(r); ; {
		var rec Record
		switch err := d.Decode(&rec); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("record %d: %w", len(list)+1, err)
		}
		list = append(list, rec)
	}
}

// Merge puts a record into a list in the order of All and of scales. It replaces the record of the
// same experiment, scale, device and machine.
func Merge(list []Record, r Record) []Record {
	list = slices.DeleteFunc(slices.Clone(list), func(o Record) bool {
		return o.ID == r.ID && o.Scale == r.Scale && o.Device == r.Device && o.Machine == r.Machine
	})
	list = append(list, r)
	position := func(r Record) int {
		return slices.IndexFunc(All(), func(x *paper.Experiment) bool { return x.IDs[0] == r.ID })
	}
	slices.SortStableFunc(list, func(a, b Record) int {
		return cmp.Or(position(a)-position(b),
			slices.Index(paper.Scales(), a.Scale)-slices.Index(paper.Scales(), b.Scale),
			strings.Compare(string(a.Machine), string(b.Machine)), strings.Compare(a.Device, b.Device))
	})
	return list
}

// WriteRecords writes a file of records.
func WriteRecords(name string, list []Record) error {
	var text bytes.Buffer
	for _, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		text.Write(append(line, '\n'))
	}
	return os.WriteFile(name, text.Bytes(), 0o666)
}

// A Change is a claim whose published result did not come out again.
type Change struct {
	Claim            string
	Was, Now         judge.Outcome // empty: the claim was not there
	WasOurs, NowOurs string
}

func (c Change) String() string {
	return fmt.Sprintf("%s: published %s (%s), now %s (%s)",
		c.Claim, cmp.Or(c.Was, "nothing"), c.WasOurs, cmp.Or(c.Now, "nothing"), c.NowOurs)
}

// Compare lists the claims of a record that a report does not repeat: verdict and numbers must be
// the same, because runs are deterministic.
func (r *Record) Compare(claims []paper.Verdict) (changes []Change) {
	find := func(list []paper.Verdict, text string) *paper.Verdict {
		if i := slices.IndexFunc(list, func(v paper.Verdict) bool { return v.Claim == text }); i >= 0 {
			return &list[i]
		}
		return &paper.Verdict{}
	}
	for _, was := range r.Claims {
		now := find(claims, was.Claim)
		if was.Outcome != now.Outcome || was.Ours != now.Ours || !sameIntervals(was.Checks, now.Checks) {
			changes = append(changes, Change{was.Claim, was.Outcome, now.Outcome, was.Ours, now.Ours})
		}
	}
	for _, now := range claims {
		if find(r.Claims, now.Claim).Claim == "" {
			changes = append(changes, Change{now.Claim, "", now.Outcome, "", now.Ours})
		}
	}
	return changes
}

func sameIntervals(a, b []judge.Interval) bool {
	return slices.EqualFunc(a, b, func(a, b judge.Interval) bool {
		return a.Want == b.Want && a.Mean == b.Mean && a.Within == b.Within && a.Outcome == b.Outcome
	})
}

// List writes a line for every claim: the section of the paper, and the published verdict,
// interval, scale and commit. Claims without a published verdict have dashes.
func List(w io.Writer, records []Record) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tPAPER\tSCALE\tVERDICT\tINTERVAL\tCOMMIT\tCLAIM")
	for _, x := range All() {
		listed := map[string]bool{}
		for _, r := range records {
			if r.ID != x.IDs[0] {
				continue
			}
			for _, v := range r.Claims {
				listed[v.Claim] = true
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", strings.Join(x.IDs, " "), x.Paper, r.place(), v.Outcome, interval(v),
					cmp.Or(short(r.Commit), "-"), v.Claim)
			}
		}
		for _, c := range x.Claims {
			if !listed[c.Text] {
				fmt.Fprintf(tw, "%s\t%s\t-\t-\t-\t-\t%s\n", strings.Join(x.IDs, " "), x.Paper, c.Text)
			}
		}
	}
	return tw.Flush()
}

// place is the scale, and the machine if it is not ours.
func (r *Record) place() string {
	if r.Machine != "" && r.Machine != paper.OurMachine {
		return fmt.Sprintf("%s, %s", r.Scale, r.Machine)
	}
	return string(r.Scale)
}

// commitDigits are those of an abbreviated commit.
const commitDigits = 8

func short(commit string) string { return commit[:min(len(commit), commitDigits)] }

// interval is that of the check that decided the verdict: the first that does not hold, or the
// first of all.
func interval(v paper.Verdict) string {
	if len(v.Checks) == 0 {
		return "-"
	}
	i := max(slices.IndexFunc(v.Checks, func(c judge.Interval) bool { return c.Outcome == v.Outcome && c.Outcome != judge.Holds }), 0)
	more := ""
	if len(v.Checks) > 1 {
		more = fmt.Sprintf(", check %d of %d", i+1, len(v.Checks))
	}
	return v.Checks[i].String() + more
}
