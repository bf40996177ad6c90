package drivers

import (
	"fmt"
	"regexp"
	"strconv"
)

// An AssertionError is an assertion of the RTL that failed. It is an ErrAssertion.
type AssertionError struct {
	Cycle Cycle
	Time  Time
	// Node, its Instance below sim_node and the Source ("core/fifo.sv:20") that it stands in, as far as the simulator has said so:
	// else -1 and "".
	Node     int
	Instance string
	Source   string
	Text     string
}

var (
	asserted   = regexp.MustCompile(`(?s)Assertion failed in node(\d+)\.sim_node(?:\.([^:\s]+))?: (.*)`)
	assertedAt = regexp.MustCompile(`\S+\.svh?:\d+`)
)

// NewAssertionError reads what a simulator has printed.
func NewAssertionError(at Cycle, clockPS int, text string) *AssertionError {
	e := &AssertionError{Cycle: at, Time: Time(at) * Time(clockPS), Node: -1, Source: assertedAt.FindString(text), Text: text}
	if m := asserted.FindStringSubmatch(text); m != nil {
		e.Node, _ = strconv.Atoi(m[1])
		e.Instance, e.Text = m[2], m[3]
	}
	return e
}

func (e *AssertionError) Error() string {
	head := fmt.Sprintf("%v: cycle %d (%v)", ErrAssertion, e.Cycle, e.Time)
	if e.Node < 0 {
		return head + ": " + e.Text
	}
	where := "sim_node"
	if e.Instance != "" {
		where = e.Instance
	}
	return fmt.Sprintf("%s, node %d, %s (%s): %s", head, e.Node, where, e.Source, e.Text)
}

func (e *AssertionError) Unwrap() error { return ErrAssertion }
