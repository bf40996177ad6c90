package drivers

import (
	"fmt"
	"regexp"
	"strconv"
)

// An AssertionError is a failed RTL assertion. It wraps ErrAssertion.
type AssertionError struct {
	Cycle Cycle
	Time  Time
	// Node, Instance (below sim_node) and Source ("core/fifo.sv:20") of the assertion, as far as
	// the simulator printed them; otherwise -1 and "".
	Node     int
	Instance string
	Source   string
	Text     string
}

var (
	asserted   = regexp.MustCompile(`(?s)Assertion failed in node(\d+)\.sim_node(?:\.([^:\s]+))?: (.*)`)
	assertedAt = regexp.MustCompile(`\S+\.svh?:\d+`)
)

// NewAssertionError parses the simulator's message.
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
