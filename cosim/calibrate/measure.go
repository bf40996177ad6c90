package calibrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// Config says what to measure.
type Config struct {
	Device   string                // rtl: or model:; keys are added to it, of which vc_depth must not be there
	Building func(what string)     // told what takes long
	Progress func(done, total int) // told after each experiment
	Log      *logrus.Logger        // nil: the standard logger
}

// ErrTrace: the trace lacks what an experiment needs.
var ErrTrace = errors.New("a trace without what is measured")

// An experiment finds some parameters, perhaps with the help of those found before.
type experiment struct {
	name string
	run  func(ctx context.Context, c *Config, p *nic.Params) error
}

var experiments = []experiment{
	{"start", start},
	{"crossing", crossing},
	{"round trip", roundTrip},
	{"blockade", blockade},
	{"operations", operations},
}

// How says of each parameter, by the name that it has in the file, how it is measured.
var How = map[string]string{
	"nic.clear":            "first read of a mailbox register after reset, against later ones",
	"nic.lines":            "lines taken and not sent when a full mailbox has stopped everything",
	"nic.host_write":       "packet complete to slot acknowledged, less the beats and the check",
	"nic.host_read":        "a put whose translation misses, against one that hits",
	"nic.descriptor":       "notification put posted to its packet sent, less bus and queues",
	"nic.translate":        "8-byte put against notification put, less the read",
	"nic.notify":           "notification put received to notification in memory, less its beats",
	"network.vc_depth":     "flits that stand in a router when a full mailbox has stopped everything",
	"network.router":       "head in from a link to head out at its node",
	"network.link":         "head in to head out over one hop, less injection and two routers",
	"network.inject":       "head in to head out at one node, less the router",
	"network.credit":       "two flits per round trip of a credit, two entries, over one hop",
	"network.local_credit": "two flits per round trip of a credit, two entries, at one node",
}

// Measure finds every parameter.
func Measure(ctx context.Context, c *Config) (p nic.Params, err error) {
	for i, e := range experiments {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		if err := e.run(ctx, c, &p); err != nil {
			return p, fmt.Errorf("experiment %s on %s: %w", e.name, c.Device, err)
		}
		logs.Layer(c.Log, "calibrate").WithFields(logrus.Fields{"experiment": e.name, "device": c.Device}).Debug("parameters measured")
		if c.Progress != nil {
			c.Progress(i+1, len(experiments))
		}
	}
	return p, nil
}

// between is from the i-th event at one point to the j-th at another.
func (p *probe) between(a tracePoint, i int, b tracePoint, j int) (drivers.Cycle, error) {
	from, to := p.at(a), p.at(b)
	if len(from) <= i || len(to) <= j || to[j] < from[i] {
		return 0, fmt.Errorf("%w: expected %v at least %d times and later %v at least %d times, found %d and %d",
			ErrTrace, a, i+1, b, j+1, len(from), len(to))
	}
	return to[j] - from[i], nil
}
