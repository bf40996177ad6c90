package regress

import (
	"encoding/xml"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers/userfile"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Props    []junitProp `xml:"properties>property"`
	Cases    []junitCase `xml:"testcase"`

	undecided int // tests that were interrupted or never began
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *junitSkipped `xml:"skipped,omitempty"`
	Props   []junitProp   `xml:"properties>property"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitProp struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// A JUnit is a results.xml that grows while tests end. At any time it is whole, so that what a
// night has done is not lost with the night.
type JUnit struct {
	file     string
	suite    junitSuite
	total    time.Duration
	written  time.Time
	cost     time.Duration // of writing it last
	pending  bool
	once     bool // a pipe or device, which cannot be written again: it gets the results at the end
	building time.Duration
}

// NewJUnit begins a file, to see now whether it can be written.
func NewJUnit(file string) (*JUnit, error) {
	j := &JUnit{file: file, suite: junitSuite{Name: "nicloop"}, once: !userfile.IsReplaced(file)}
	if j.once {
		return j, nil
	}
	return j, j.write()
}

// SetBuilding says how long building took before the tests.
func (j *JUnit) SetBuilding(took time.Duration) { j.building = took }

// Add adds an outcome. With many the file is written now and then: writing takes a twentieth of the
// time at most.
func (j *JUnit) Add(o *Outcome) error {
	j.suite.add(o)
	j.total += o.Real
	j.pending = true
	if j.once || time.Since(j.written) < 20*j.cost {
		return nil
	}
	return j.write()
}

// Close writes what is pending, and the outcomes that never began.
func (j *JUnit) Close(list []Outcome) error {
	for i := range list {
		if !list[i].finished {
			j.suite.add(&list[i])
			j.pending = true
		}
	}
	if !j.pending {
		return nil
	}
	return j.write()
}

func (j *JUnit) write() error {
	begin := time.Now()
	j.suite.Time = seconds(j.total)
	j.suite.Props = []junitProp{{"build_s", seconds(j.building)}}
	if j.suite.undecided > 0 {
		j.suite.Props = append(j.suite.Props, junitProp{"without_verdict", strconv.Itoa(j.suite.undecided)})
	}
	out, err := xml.MarshalIndent(&j.suite, "", "  ")
	if err != nil {
		return err
	}
	if err := userfile.WriteBytes(j.file, append([]byte(xml.Header), append(out, '\n')...)); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	j.written, j.pending = time.Now(), false
	j.cost = j.written.Sub(begin)
	return nil
}

func (s *junitSuite) add(o *Outcome) {
	area, name, _ := strings.Cut(o.Test.Name, "/")
	c := junitCase{Class: "nicloop." + area, Name: fmt.Sprintf("%s [seed %d]", name, o.Seed), Time: seconds(o.Real)}
	c.File, c.Line = o.Test.source()
	for _, p := range append(o.divergence(), []junitProp{
		{"device", o.Device}, {"seed", strconv.FormatInt(o.Seed, 10)}, {"status", string(o.Status)}, {"simulated_ps", strconv.FormatInt(int64(o.Simulated), 10)},
		{"cycles", strconv.FormatUint(o.Cycles(), 10)}, {"note", o.Note}, {"log", o.Log}, {"waves", o.Waves}, {"rerun", o.Rerun},
	}...) {
		if p.Value != "" {
			c.Props = append(c.Props, p)
		}
	}
	if o.Status.Undecided() { // JUnit has no word for a test without a verdict
		s.undecided++
		return
	}
	s.Tests++
	switch {
	case o.Status.Bad():
		s.Failures++
		head, _, _ := strings.Cut(o.Err.Error(), "\n")
		c.Failure = &junitFailure{Message: head, Type: string(o.Status), Text: o.Err.Error() + "\nreproduce with: " + o.Rerun}
	case o.Status != Passed:
		s.Skipped++
		c.Skipped = &junitSkipped{Message: o.reason()}
	}
	s.Cases = append(s.Cases, c)
}

// divergence are the properties of where a test parted from its reference.
func (o *Outcome) divergence() []junitProp {
	if o.Parted == nil {
		return nil
	}
	return []junitProp{{"divergence_block", o.Parted.Block}, {"divergence_source", o.Parted.Source}, {"divergence_cycle", fmt.Sprint(uint64(o.Parted.Cycle))},
		{"divergence_node", strconv.Itoa(o.Parted.Node)}, {"divergence_waves", o.Parted.Waves}, {"divergence_gtkw", o.Parted.Gtkw}}
}

// reason says why a test has neither passed nor failed.
func (o *Outcome) reason() string {
	if o.Err == nil {
		return "not run"
	}
	return o.Err.Error()
}

// source is where a test is written, from the top of the module on.
func (t *Test) source() (file string, line int) {
	if t.Run == nil {
		return "", 0
	}
	f := runtime.FuncForPC(reflect.ValueOf(t.Run).Pointer())
	file, line = f.FileLine(f.Entry())
	for _, folder := range []string{"bench/regress/", "bench/suite/"} {
		if at := strings.LastIndex(file, folder); at >= 0 {
			return file[at:], line
		}
	}
	return file, line
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
