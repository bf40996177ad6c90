package regress

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *struct{}     `xml:"skipped,omitempty"`
	Props   []junitProp   `xml:"properties>property"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitProp struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// WriteJUnit writes results.xml.
func WriteJUnit(file string, list []Outcome) error {
	s := junitSuite{Name: "nicloop", Tests: len(list)}
	var total time.Duration
	for _, o := range list {
		area, name, _ := strings.Cut(o.Test.Name, "/")
		c := junitCase{Class: "nicloop." + area, Name: name, Time: seconds(o.Real), Props: []junitProp{
			{"seed", fmt.Sprint(o.Seed)}, {"simulated_ps", fmt.Sprint(int64(o.Simulated))}, {"rerun", o.Rerun},
		}}
		switch o.Status {
		case Failed, Hung:
			s.Failures++
			head, _, _ := strings.Cut(o.Err.Error(), "\n")
			c.Failure = &junitFailure{Message: head, Type: string(o.Status), Text: o.Err.Error() + "\nreproduce with: " + o.Rerun}
		case Skipped:
			s.Skipped++
			c.Skipped = &struct{}{}
		}
		total += o.Real
		s.Cases = append(s.Cases, c)
	}
	s.Time = seconds(total)
	out, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(xml.Header), append(out, '\n')...), 0o644)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// WriteTable writes the table at the end, the failures in full, and the count.
func WriteTable(w io.Writer, list []Outcome) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TEST\tSEED\tSTATUS\tSIM TIME\tREAL TIME")
	for _, o := range list {
		fmt.Fprintf(tw, "%s\t%d\t%s\t%v\t%.2f s\n", o.Test.Name, o.Seed, o.Status, o.Simulated, o.Real.Seconds())
	}
	tw.Flush()
	for _, o := range list {
		if o.Note != "" {
			fmt.Fprintf(w, "\n%s (seed %d): %s", o.Test.Name, o.Seed, o.Note)
		}
	}
	fmt.Fprintln(w)
	for _, o := range list {
		if o.Status == Failed || o.Status == Hung {
			fmt.Fprintf(w, "\n%s %s (seed %d)\n  %s\n  log:   %s\n", o.Status, o.Test.Name, o.Seed,
				strings.ReplaceAll(o.Err.Error(), "\n", "\n  "), o.Dir)
			if o.Waves != "" {
				fmt.Fprintf(w, "  waves: %s%s\n", o.Waves, o.shown())
			}
			fmt.Fprintf(w, "  rerun: %s\n", o.Rerun)
		}
	}
	for _, o := range list {
		if o.Status == Skipped && o.Err != nil {
			fmt.Fprintf(w, "\nSKIP %s: %v\n", o.Test.Name, o.Err)
		}
	}
	n := Count(list)
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", n[Passed], n[Failed]+n[Hung], n[Skipped])
}

// shown says what the waves show, if that is known.
func (o *Outcome) shown() string {
	if o.Repeated == nil {
		return ""
	}
	return fmt.Sprintf(" (cycles %d to %d, repeated from %d)", o.Repeated.From, o.Repeated.To, o.Repeated.Checkpoint)
}

// Count counts outcomes by status.
func Count(list []Outcome) map[Status]int {
	n := map[Status]int{}
	for _, o := range list {
		n[o.Status]++
	}
	return n
}
