// Package harness opens any hardware design as a device: design:FILE, where FILE is a description
// (package cosim/design). The simulator is the one of this project's NIC with a generated wrapper.
package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/cosim/freerun"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
)

const defaultMemory = 1 << 20

var keys = []registry.Key{
	{Name: "nodes", Value: "2", Doc: "instances of the design, joined by its network"},
	{Name: "stall", Value: "64", Doc: "chance, of 256, that a bus model withholds a handshake in a cycle"},
	{Name: "stall_seed", Value: "7", Doc: "where the random numbers of that start"},
	{Name: "host_wr_latency", Value: "4", Doc: "cycles from the last beat of a write to its response"},
	{Name: "host_rd_latency", Value: "8", Doc: "cycles from the address of a read to its first beat"},
	{Name: "wire_latency", Value: "0", Doc: "cycles that a word takes on the network, beyond one"},
	{Name: "loss", Value: "655", Doc: "frames of 65536 that the network discards at random (words, without TLAST)"},
	{Name: "corrupt", Value: "655", Doc: "words of 65536 in which the network inverts one bit of data"},
	{Name: "net_seed", Value: "7", Doc: "where the random numbers of loss and corrupt start"},
	{Name: "random_init", Value: "7", Doc: "registers and memories start with random values, by this seed"},
	{Name: "against", Value: "old.yaml", Doc: "another version of the design, which gets the same accesses; the first difference is an error"},
	{Name: "pcap", Value: "frames.pcapng", Doc: "writes what nodes send on their streams as Ethernet frames"},
	{Name: "clock", Value: "wall", Doc: "time passes by itself, as on a board; with inside=1 the memory can be lent to other processes"},
	{Name: "inside", Value: "1", Doc: "the model in this process: less per crossing"},
	{Name: "plusargs", Value: "%2Ba,%2Bb=1", Doc: "arguments of the simulator, separated by commas; + is %2B in a URI"},
}

func init() {
	registry.Register(registry.Backend{
		Scheme: "design", Doc: "any hardware design, by its description: design:my.yaml",
		Keys: keys, Open: open, Prepare: prepare, Registers: registers, Outputs: outputs,
		CanRepeat: func(keys map[string]string) bool { return keys["inside"] != "1" },
	})
}

// outputs is the capture of frames, if there is one.
func outputs(keys map[string]string) []string {
	if name := keys["pcap"]; name != "" {
		return []string{name}
	}
	return nil
}

func registers(path string, _ map[string]string) (*regmap.Map, error) {
	d, err := design.Load(path)
	if err != nil {
		return nil, err
	}
	return d.Map()
}

// built is a design with its simulator.
type built struct {
	d      *design.Description
	m      *regmap.Map
	width  int // bits of the register bus
	stream *design.StreamLayout
	model  *build.Model
}

func buildDesign(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (*built, error) {
	d, err := design.Load(path)
	if err != nil {
		return nil, err
	}
	b := &built{d: d}
	if b.m, err = d.Map(); err != nil {
		return nil, err
	}
	ports, err := d.Ports(ctx)
	if err != nil {
		return nil, err
	}
	checked, err := d.Check(ports)
	if err != nil {
		return nil, err
	}
	b.width, b.stream = checked.Width, checked.Stream
	spec, err := d.Spec(checked, b.m.Hash)
	if err != nil {
		return nil, err
	}
	spec.Progress, spec.Shared = opt.Progress, keys["inside"] == "1"
	b.model, err = build.Build(ctx, spec)
	return b, err
}

func prepare(ctx context.Context, path string, keys map[string]string, opt drivers.Options) error {
	_, err := buildDesign(ctx, path, keys, opt)
	if other, compared := keys["against"]; compared && err == nil {
		_, err = buildDesign(ctx, other, keys, opt)
	}
	return err
}

func open(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	wall, err := freerun.Clock("design", keys, opt)
	if err != nil {
		return nil, err
	}
	other, compared := keys["against"]
	if wall && (compared || keys["pcap"] != "") {
		return nil, fmt.Errorf("%w: design:?clock=wall: keys against and pcap need simulated time", drivers.ErrConfig)
	}
	if !compared {
		s, err := openOne(ctx, path, keys, opt)
		switch {
		case err != nil:
			return nil, err
		case wall:
			return freerun.New(s), nil
		}
		return s, nil
	}
	sink := &sideSink{next: opt.Trace}
	opt.Trace = sink
	s, err := openOne(ctx, path, keys, opt)
	if err != nil {
		return nil, err
	}
	if err := openVersions(ctx, s, sink, other, keys, opt); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func openOne(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (*System, error) {
	cfg, err := configure(keys, opt)
	if err != nil {
		return nil, err
	}
	b, err := buildDesign(ctx, path, keys, opt)
	if err != nil {
		return nil, err
	}
	cfg.Program, cfg.BuildHash, cfg.DescHash, cfg.ClockPS = b.model.Program, b.model.Hash, b.model.DescHash, b.d.ClockPS()
	if _, set := keys["wire_latency"]; !set && b.d.Network.Latency != 0 {
		cfg.Args = append(cfg.Args, "--wire-latency", strconv.Itoa(b.d.Network.Latency))
	}
	var frames *frameWriter
	if name, set := keys["pcap"]; set {
		if b.stream == nil {
			return nil, fmt.Errorf("%w: pcap=%s: %s has no network", drivers.ErrConfig, name, path)
		}
		if frames, err = newFrameWriter(name, cfg.Dims[0], *b.stream, b.d.ClockPS(), cfg.Trace); err != nil {
			return nil, err
		}
		cfg.Trace = frames
	}
	session, err := bridge.Start(ctx, *cfg)
	if err != nil {
		return nil, frames.discard(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	s := newSystem(session, cfg, b, uri(abs, keys))
	s.frames = frames
	return s, nil
}

// uri is what reproduces the system.
func uri(path string, keys map[string]string) string {
	q := url.Values{}
	for k, v := range keys {
		q.Set(k, v)
	}
	if len(q) == 0 {
		return "design:" + path
	}
	return "design:" + path + "?" + q.Encode()
}

func configure(keys map[string]string, opt drivers.Options) (*bridge.Config, error) {
	nodes, err := number(keys, "nodes", max(1, opt.Nodes), 1, 64)
	if err != nil {
		return nil, err
	}
	if opt.Nodes != 0 && opt.Nodes != nodes {
		return nil, fmt.Errorf("%w: nodes=%d, but %d are asked for; leave one of the two out", drivers.ErrConfig, nodes, opt.Nodes)
	}
	cfg := &bridge.Config{
		Dims: [3]int{nodes, 1, 1}, VPIDs: machine.VPIDs, MemoryBytes: max(opt.MemoryBytes, 4096), Segments: opt.Segments,
		Inside: keys["inside"] == "1", Lent: keys["inside"] == "1" && keys["clock"] == "wall",
		Waves: opt.Waves, Checkpoints: opt.Checkpoints, LogFile: opt.LogFile, Log: opt.Log, Trace: opt.Trace,
		Plusargs: strings.Fields(strings.ReplaceAll(keys["plusargs"], ",", " ")),
	}
	if opt.MemoryBytes == 0 {
		cfg.MemoryBytes = defaultMemory
	}
	for key, flag := range map[string]string{"host_wr_latency": "--wr-latency", "host_rd_latency": "--rd-latency", "wire_latency": "--wire-latency"} {
		if _, set := keys[key]; !set {
			continue
		}
		n, err := number(keys, key, 1, 0, map[bool]int{true: design.MaxLatency, false: 65535}[key == "wire_latency"])
		if err != nil {
			return nil, err
		}
		cfg.Args = append(cfg.Args, flag, strconv.Itoa(n))
	}
	for key, high := range map[string]int{
		"stall": 255, "stall_seed": math.MaxInt32, "loss": 65535, "corrupt": 65535, "net_seed": math.MaxInt32,
	} {
		if _, set := keys[key]; !set {
			continue
		}
		n, err := number(keys, key, 0, 0, high)
		if err != nil {
			return nil, err
		}
		cfg.Plusargs = append(cfg.Plusargs, fmt.Sprintf("+%s=%d", key, n))
	}
	if seed, err := number(keys, "random_init", 0, 1, math.MaxInt32); err != nil {
		return nil, err
	} else if seed != 0 {
		cfg.Plusargs = append(cfg.Plusargs, "+verilator+rand+reset+2", fmt.Sprintf("+verilator+seed+%d", seed))
	}
	if opt.Threads > 1 {
		cfg.Args = append(cfg.Args, "--threads", strconv.Itoa(opt.Threads))
	}
	return cfg, cfg.CheckInside()
}

func number(keys map[string]string, key string, absent, low, high int) (int, error) {
	text, ok := keys[key]
	if !ok {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%w: %s=%s: expected a number %d..%d", drivers.ErrConfig, key, text, low, high)
	}
	return n, nil
}

// onWide marks an access of four bytes on a register bus of eight: see rtl/host/csr_host.sv.
const onWide = 1 << 31

// A System is the simulated machine; time and conditions are the session's.
type System struct {
	*bridge.Session
	info     drivers.Info
	width    int
	devices  []Device
	waiters  drivers.Waiters
	frames   *frameWriter // nil: frames are not captured
	versions *versions    // nil: no other version is compared

	mu    sync.Mutex
	dirty []bool // nodes with writes that ArmIRQ must wait for
	err   error
}

var _ drivers.Timed = (*System)(nil)

func newSystem(session *bridge.Session, cfg *bridge.Config, b *built, uri string) *System {
	nodes := cfg.Dims[0]
	s := &System{
		Session: session, width: b.width, dirty: make([]bool, nodes), devices: make([]Device, nodes),
		info: drivers.Info{
			URI: uri, Backend: "design", Nodes: nodes, VPIDs: machine.VPIDs, Dims: cfg.Dims, Torus: b.d.Network.Links == "ring", ClockPS: b.d.ClockPS(),
			DescHash: b.m.Hash, Hash: b.model.HashText(), Tool: b.model.Tool, Registers: b.m,
		},
	}
	for n := range s.devices {
		s.devices[n] = Device{s, n}
	}
	return s
}

// Close ends the simulation, and with key against reports what only one version has done.
func (s *System) Close() error {
	var differs error
	if s.versions != nil {
		differs = s.versions.end(s)
	}
	err := errors.Join(differs, s.Session.Close(), s.frames.close())
	s.frames = nil
	return err
}

// Info describes the system; Info.Registers is the map of the design.
func (s *System) Info() drivers.Info { return s.info }

// Device returns one instance of the design.
func (s *System) Device(node int) drivers.Device { return s.devices[node] }

// Node is Device with the accesses that designs other than this project's NIC need.
func (s *System) Node(node int) Device { return s.devices[node] }
