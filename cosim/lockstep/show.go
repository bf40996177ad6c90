package lockstep

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// own lists keys of rtl: and mixed: that affect how the system is simulated, but not its behaviour.
var own = map[string][]string{
	"rtl":   {"src", "plusargs", "patience", "spin", "inside", "random_init"},
	"mixed": {"src", "plusargs", "patience", "spin", "random_init", "rtl", "nodes"},
}

// Reference returns the device with the same cycles as another one: the model of a system named by
// rtl: or mixed:.
func Reference(uri string) (string, error) {
	scheme, rest, _ := strings.Cut(uri, ":")
	drop, ok := own[scheme]
	if !ok {
		return "", fmt.Errorf("%w: %s has no reference that takes its cycles; name one", drivers.ErrNotSupported, uri)
	}
	_, query, _ := strings.Cut(rest, "?")
	keys, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("%w: device %q: %v", drivers.ErrConfig, uri, err)
	}
	if keys.Has("uart") {
		return "", fmt.Errorf("%w: %s runs on wall-clock time: its cycles cannot be compared", drivers.ErrNotSupported, uri)
	}
	if keys.Get("clock") == "wall" {
		return "", fmt.Errorf("%w: the clock of %s is not controlled: nothing takes its cycles", drivers.ErrNotSupported, uri)
	}
	if keys.Has("bus") {
		return "", fmt.Errorf("%w: %s is behind a bus that the model has not: nothing takes its cycles", drivers.ErrNotSupported, uri)
	}
	for _, key := range drop {
		keys.Del(key)
	}
	if len(keys) == 0 {
		return "model:", nil
	}
	return "model:?" + keys.Encode(), nil
}

// HasWaves reports whether a device has internal signals: the RTL, or part of it.
func HasWaves(uri string) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	_, ok := own[scheme]
	return ok
}

// Range of the waves of a divergence, in cycles around it.
const (
	wavesBefore = 2000
	wavesBehind = 500
)

// A Show opens the systems of an additional run that records the waves of a divergence.
type Show struct {
	div    *Divergence
	file   string
	opened int
}

// Shown returns an opener for the software that led to a divergence, on one of its devices. The
// waves of the cycles around it are written to file. Soon after the divergence calls fail with
// [ErrParted].
func (d *Divergence) Shown(file string) *Show { return &Show{div: d, file: file} }

// Open is registry.Open.
func (s *Show) Open(ctx context.Context, uri string, opt drivers.Options) (drivers.System, error) {
	s.opened++
	opt.Checkpoints, opt.Waves, opt.Threads = nil, nil, 1
	if s.opened < s.div.System {
		return registry.Open(ctx, uri, opt)
	}
	if s.opened > s.div.System {
		return nil, ErrParted
	}
	to := s.div.Cycle + wavesBehind
	opt.Waves = &drivers.WaveWindow{File: s.file, From: s.div.Cycle - min(s.div.Cycle, wavesBefore), To: to, Nodes: s.div.shownNodes(), Maybe: true}
	sys, err := registry.Open(ctx, uri, opt)
	if err != nil {
		return nil, err
	}
	timed, ok := sys.(drivers.Timed)
	if !ok {
		sys.Close()
		return nil, fmt.Errorf("%w: %s has no simulated time", drivers.ErrNotSupported, uri)
	}
	return &shown{timed, to}, nil
}

// shown is a system whose time is limited.
type shown struct {
	drivers.Timed
	to drivers.Cycle
}

// Run implements drivers.Timed.
func (s *shown) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	now := s.Timed.Now()
	if now > s.to {
		return ErrParted
	}
	return s.Timed.Run(min(deadline, max(now, s.to+1)), stop)
}
