package rtl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/freerun"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	hdl "github.com/nicloop/nicloop/rtl"
)

const (
	defaultMemory  = 1 << 20
	maxWireLatency = 64
)

func init() {
	registry.Register(registry.Backend{
		Scheme: "rtl", Doc: "the Verilated RTL of up to 64 nodes in its own process, or inside",
		Keys: keys(), Open: open, Prepare: prepare, Validate: validate,
		IsLoopback: func(_ string, keys map[string]string) bool {
			return keys["uart"] != "" && (keys["size"] != "" || keys["netlist"] != "")
		},
		CanRepeat: func(keys map[string]string) bool {
			return keys["inside"] != "1" && keys["coverage"] == "" && keys["clock"] != "wall" && keys["uart"] == ""
		},
	})
}

// request is a validated URI with its options.
type request struct {
	spec   build.Spec
	cfg    bridge.Config
	keys   map[string]string
	faults machine.Faults
	// with bus=pcie
	busFaults []busFault
}

func open(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if on, err := onUART(keys); err != nil {
		return nil, err
	} else if on {
		return openBoard(ctx, path, keys, opt)
	}
	r, err := parse(path, keys, opt)
	if err != nil {
		return nil, err
	}
	model, err := build.Build(ctx, r.spec)
	if err != nil {
		return nil, err
	}
	if err := r.countInto(keys["coverage"]); err != nil {
		return nil, err
	}
	r.cfg.Program = model.Program
	r.cfg.BuildHash = model.Hash
	session, err := bridge.Start(ctx, r.cfg)
	if err != nil {
		return nil, err
	}
	s := newSystem(session, r, model)
	r.faults.Apply(s)
	r.applyBus(s)
	if r.cfg.Lent {
		return freerun.New(s), nil
	}
	return s, nil
}

// validate parses a URI for as many nodes as it names, or one.
func validate(path string, keys map[string]string) error {
	on, err := onUART(keys)
	if err != nil {
		return err
	}
	opt := drivers.Options{}
	if keys["dims"] == "" {
		opt.Nodes = 1
	}
	if on {
		_, err = parseBoard(path, keys, opt)
	} else {
		_, err = parse(path, keys, opt)
	}
	return err
}

// prepare builds the simulator that open would start.
func prepare(ctx context.Context, path string, keys map[string]string, opt drivers.Options) error {
	on, err := onUART(keys)
	if err != nil {
		return err
	}
	var spec build.Spec
	if on {
		r, err := parseBoard(path, keys, opt)
		if err != nil {
			return err
		}
		spec = r.spec
	} else {
		r, err := parse(path, keys, opt)
		if err != nil {
			return err
		}
		spec = r.spec
	}
	_, err = build.Build(ctx, spec)
	return err
}

func parse(path string, keys map[string]string, opt drivers.Options) (*request, error) {
	if path != "" {
		return nil, fmt.Errorf("%w: rtl:%s: expected no path; settings are keys, as in rtl:?dims=2x2", drivers.ErrConfig, path)
	}
	r := &request{keys: maps.Clone(keys)}
	dims, err := mesh(keys["dims"], opt.Nodes)
	if err != nil {
		return nil, err
	}
	r.spec = build.Spec{Include: hdl.Include, Ports: machine.PortsFor(dims), Progress: opt.Progress, Log: opt.Log}
	wall, err := r.setSpec(keys, opt)
	if err != nil {
		return nil, err
	}
	latencies, err := latencyArgs(keys)
	if err != nil {
		return nil, err
	}
	if r.faults, err = machine.ParseFaults(keys); err != nil {
		return nil, err
	}
	r.cfg = bridge.Config{
		Args: r.cfg.Args, Dims: dims, VPIDs: machine.VPIDs, DescHash: regs.DescHashValue,
		MemoryBytes: opt.MemoryBytes, Segments: opt.Segments, Inside: r.spec.Shared, Lent: wall,
		Trace: opt.Trace, Waves: opt.Waves, Checkpoints: opt.Checkpoints, LogFile: opt.LogFile, Log: opt.Log,
		Plusargs: append(r.cfg.Plusargs, strings.Fields(strings.ReplaceAll(keys["plusargs"], ",", " "))...),
	}
	if err := r.cfg.CheckInside(); err != nil {
		return nil, err
	}
	if err := r.setCoverage(keys["coverage"]); err != nil {
		return nil, err
	}
	if err := r.setRandomInit(keys); err != nil {
		return nil, err
	}
	r.cfg.Args = append(r.cfg.Args, latencies...)
	if opt.Threads > 1 {
		r.cfg.Args = append(r.cfg.Args, "--threads", strconv.Itoa(opt.Threads))
	}
	if r.cfg.MemoryBytes == 0 {
		r.cfg.MemoryBytes = defaultMemory
	}
	if err := r.setWaits(keys); err != nil {
		return nil, err
	}
	return r, nil
}

// setSpec sets what the simulator is built from, and tells whether its clock is free-running.
func (r *request) setSpec(keys map[string]string, opt drivers.Options) (wall bool, err error) {
	if err := r.setBus(keys); err != nil {
		return false, err
	}
	if err := r.setSource(keys["src"]); err != nil {
		return false, err
	}
	torus, err := machine.Number(keys, "torus", 0, 1, 0)
	if err != nil {
		return false, err
	}
	r.spec.Torus = torus == 1
	if r.spec.VCDepth, err = machine.Number(keys, "vc_depth", 2, 128, 0); err != nil {
		return false, err
	}
	in, err := machine.Number(keys, "inside", 0, 1, 0)
	if err != nil {
		return false, err
	}
	if wall, err = freerun.Clock("rtl", keys, opt); err != nil {
		return false, err
	}
	if wall && keys["inside"] == "0" {
		return false, fmt.Errorf("%w: rtl:?clock=wall has the model in this process: leave inside=0 out", drivers.ErrNotSupported)
	}
	r.spec.Shared = in == 1 || wall
	return wall, nil
}

// latencyArgs returns the simulator's arguments for latencies of memory and wires.
func latencyArgs(keys map[string]string) (args []string, err error) {
	for _, l := range []struct {
		key, flag   string
		least, most int
	}{
		{"host_wr_latency", "--wr-latency", 1, 65535}, {"host_rd_latency", "--rd-latency", 1, 65535},
		{"wire_latency", "--wire-latency", 0, maxWireLatency},
	} {
		cycles, err := machine.Number(keys, l.key, l.least, l.most, 0)
		if err != nil {
			return nil, err
		}
		if cycles != 0 {
			args = append(args, l.flag, strconv.Itoa(cycles))
		}
	}
	return args, nil
}

// setRandomInit has registers without a reset value start with random ones.
func (r *request) setRandomInit(keys map[string]string) error {
	seed, err := machine.Number(keys, "random_init", 1, math.MaxInt32, 0)
	if err == nil && seed != 0 {
		r.cfg.Plusargs = append(r.cfg.Plusargs, "+verilator+rand+reset+2", fmt.Sprintf("+verilator+seed+%d", seed))
	}
	return err
}

// setWaits sets how long the bridge waits for the simulator, and how long it spins before it
// sleeps.
func (r *request) setWaits(keys map[string]string) (err error) {
	if p, ok := keys["patience"]; ok {
		if r.cfg.Patience, err = time.ParseDuration(p); err != nil || r.cfg.Patience < time.Second {
			return fmt.Errorf("%w: patience=%s: expected a duration of at least 1s, for example 30s", drivers.ErrConfig, p)
		}
	}
	if text, ok := keys["spin"]; ok {
		if r.cfg.Spin, err = time.ParseDuration(text); err != nil || r.cfg.Spin > 10*time.Millisecond {
			return fmt.Errorf("%w: spin=%s: expected a duration of at most 10ms, or 0s", drivers.ErrConfig, text)
		}
		if r.cfg.Spin == 0 {
			r.cfg.Spin = -1
		}
	}
	return nil
}

// mesh combines the sizes in the URI and the options.
func mesh(dims string, nodes int) ([3]int, error) {
	bad := func(n int) ([3]int, error) {
		return [3]int{}, fmt.Errorf("%w: %d nodes: rtl: holds 1..%d nodes, as the field dst_node of a PIO address has 6 bits", drivers.ErrConfig, n, machine.MaxNodes)
	}
	if nodes < 0 || nodes > machine.MaxNodes || nodes == 0 && dims == "" {
		return bad(nodes)
	}
	if dims == "" {
		return machine.DimsFor(nodes), nil
	}
	d, err := machine.ParseDims(dims)
	if err != nil {
		return d, err
	}
	switch n := d[0] * d[1] * d[2]; {
	case n > machine.MaxNodes:
		return bad(n)
	case nodes != 0 && n != nodes:
		return d, fmt.Errorf("%w: dims=%s is a mesh of %d nodes, but %d are asked for; leave one of the two out", drivers.ErrConfig, dims, n, nodes)
	}
	return d, nil
}
