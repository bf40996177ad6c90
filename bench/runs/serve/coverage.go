package serve

import (
	"math"
	"net/http"
	"slices"

	"github.com/nicloop/nicloop/bench/runs"
)

// coverageView is the RTL coverage of runs, by device.
type coverageView struct{ Devices []coveredDevice }

type coveredDevice struct {
	Device string
	Runs   []coveredRun // newest first
	Charts []named
}

type coveredRun struct {
	runs.Run
	Page bool // exists
}

// coverage shows the development of coverage over runs.
func (s *Server) coverage(*http.Request) (string, any, error) {
	all, err := s.Store.List()
	if err != nil {
		return "", nil, err
	}
	v := &coverageView{}
	for _, run := range all {
		if run.Coverage == nil {
			continue
		}
		i := slices.IndexFunc(v.Devices, func(d coveredDevice) bool { return d.Device == run.Device })
		if i < 0 {
			i = len(v.Devices)
			v.Devices = append(v.Devices, coveredDevice{Device: run.Device})
		}
		v.Devices[i].Runs = append(v.Devices[i].Runs, coveredRun{run, s.isCovered(&run)})
	}
	for i := range v.Devices {
		v.Devices[i].chart()
	}
	return "coverage.html", v, nil
}

// chart draws the three shares over runs; a single run is not drawn.
func (d *coveredDevice) chart() {
	if len(d.Runs) < 2 {
		return
	}
	for _, c := range []struct {
		name string
		of   func(*runs.Coverage) runs.Share
	}{
		{"lines", func(c *runs.Coverage) runs.Share { return c.Lines }},
		{"toggles", func(c *runs.Coverage) runs.Share { return c.Toggles }},
		{"functional points", func(c *runs.Coverage) runs.Share { return c.Points }},
	} {
		var dots []dot
		for _, r := range slices.Backward(d.Runs) {
			dots = append(dots, dot{r.ID, math.Round(10*c.of(r.Coverage).Percent()) / 10, "PASS"})
		}
		d.Charts = append(d.Charts, named{c.name, chart(dots, "% of "+c.name)})
	}
}

// isCovered reports whether the page of a run's coverage exists.
func (s *Server) isCovered(run *runs.Run) bool {
	if run.Coverage == nil || run.Coverage.Page == "" {
		return false
	}
	return s.isThere(run, "coverage", run.Coverage.Page)
}

// covered serves the page.
func (s *Server) covered(w http.ResponseWriter, r *http.Request) {
	run, _, err := s.get(r)
	if err != nil || !s.isCovered(&run) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", coveragePolicy)
	s.send(w, r, &run, "coverage", run.Coverage.Page, "text/html; charset=utf-8")
}
