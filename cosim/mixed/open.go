package mixed

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

func init() {
	registry.Register(registry.Backend{
		Scheme: "mixed", Doc: "some nodes the Verilated RTL, the others the model, in one mesh to the very cycle",
		Keys: slices.Concat(ownKeys, bothKeys, rtlKeys, refused), Open: open, Prepare: prepare, Validate: validate,
		CanRepeat: func(map[string]string) bool { return true },
	})
}

// request is a validated URI with its options.
type request struct {
	keys   map[string]string
	nodes  []int // RTL nodes, in order
	params model.Params
}

func open(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	r, err := parse(path, keys, &opt)
	if err != nil {
		return nil, err
	}
	s := newSystem(r)
	ropt, mopt := opt, opt
	ropt.Threads, mopt.Threads = 0, 0 // the RTL has a few nodes only, the model is one part
	if opt.Trace != nil {
		s.trace = &merger{sink: opt.Trace}
		ropt.Trace, mopt.Trace = s.trace, s.trace
	}
	m, f, err := model.NewInside(r.params, mopt, func(node int) bool { return s.isRTL[node] })
	if err != nil {
		return nil, err
	}
	session, info, err := rtl.StartSome(ctx, pick(keys, bothKeys, rtlKeys), ropt, r.nodes)
	if err != nil {
		return nil, err
	}
	info.Backend, info.URI = "mixed", r.uri()
	s.connect(session, m, f, info)
	return s, nil
}

// validate parses a URI for as many nodes as it names, or for the largest mesh: with fewer, nodes
// that it lists as RTL may not exist.
func validate(path string, keys map[string]string) error {
	opt := drivers.Options{}
	if keys["dims"] == "" && keys["nodes"] == "" {
		opt.Nodes = machine.MaxNodes
	}
	_, err := parse(path, keys, &opt)
	return err
}

// prepare builds the simulator that open would start.
func prepare(ctx context.Context, path string, keys map[string]string, opt drivers.Options) error {
	if _, err := parse(path, keys, &opt); err != nil {
		return err
	}
	return rtl.Prepare(ctx, pick(keys, bothKeys, rtlKeys), opt)
}

// Repeat makes the simulator repeat the run of its nodes; see drivers.Repeater.
func (s *System) Repeat() (drivers.Repeated, error) { return s.rtl.Repeat() }

// pick copies the keys of some lists.
func pick(keys map[string]string, lists ...[]registry.Key) map[string]string {
	list := registry.KeyNames(slices.Concat(lists...))
	some := maps.Clone(keys)
	maps.DeleteFunc(some, func(k, _ string) bool { return !slices.Contains(list, k) })
	return some
}

func parse(path string, keys map[string]string, opt *drivers.Options) (*request, error) {
	bad := func(format string, args ...any) (*request, error) {
		return nil, fmt.Errorf("%w: mixed: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	if path != "" {
		return bad("found the path %q, expected none; settings are keys, as in mixed:?rtl=5,9&nodes=64", path)
	}
	for _, k := range registry.KeyNames(refused) {
		if _, given := keys[k]; given {
			return nil, fmt.Errorf("%w: %s: wires between RTL and model take one cycle and cannot break; use rtl: or model: for faults of wires, or for longer ones", drivers.ErrNotSupported, k)
		}
	}
	if err := nodesOf(keys, opt); err != nil {
		return nil, err
	}
	if opt.Nodes > machine.MaxNodes {
		return bad("%d nodes: holds 2..%d", opt.Nodes, machine.MaxNodes)
	}
	p, err := model.ParamsFor(pick(keys, bothKeys), opt.Nodes)
	if err != nil {
		return nil, err
	}
	opt.Nodes = p.Dims[0] * p.Dims[1] * p.Dims[2]
	if opt.Nodes < 2 || opt.Nodes > machine.MaxNodes {
		return bad("%d nodes: holds 2..%d", opt.Nodes, machine.MaxNodes)
	}
	r := &request{keys: keys, params: p}
	if r.nodes, err = parseNodes(keys["rtl"], opt.Nodes); err != nil {
		return nil, err
	}
	return r, nil
}

// nodesOf combines the key and the option; a caller may not know the number of nodes of a device.
func nodesOf(keys map[string]string, opt *drivers.Options) error {
	text, given := keys["nodes"]
	if !given {
		if opt.Nodes == 0 && keys["dims"] == "" {
			return fmt.Errorf("%w: mixed: how many nodes? expected nodes=N or dims=XxYxZ, as in mixed:?rtl=5,9&nodes=64", drivers.ErrConfig)
		}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > machine.MaxNodes {
		return fmt.Errorf("%w: mixed: nodes=%s: expected a number 2..%d", drivers.ErrConfig, text, machine.MaxNodes)
	}
	if opt.Nodes != 0 && opt.Nodes != n {
		return fmt.Errorf("%w: mixed: nodes=%d, but %d are asked for: leave one of the two out, or add --nodes %d", drivers.ErrConfig, n, opt.Nodes, n)
	}
	opt.Nodes = n
	return nil
}

// parseNodes parses "5,9".
func parseNodes(text string, nodes int) ([]int, error) {
	bad := func(format string, args ...any) ([]int, error) {
		return nil, fmt.Errorf("%w: mixed: rtl=%s: %s", drivers.ErrConfig, text, fmt.Sprintf(format, args...))
	}
	if text == "" {
		return bad("expected the numbers of the nodes that are RTL, as in rtl=5,9; if there are none use model:")
	}
	var list []int
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil:
			return bad("expected numbers separated by commas, as in rtl=5,9; found %q", word)
		case n < 0 || n >= nodes:
			return bad("there is no node %d; expected nodes of 0..%d", n, nodes-1)
		case slices.Contains(list, n):
			return bad("node %d stands there twice; name each once", n)
		}
		list = append(list, n)
	}
	if len(list) == nodes {
		return bad("these are all nodes; leave some to the model, or use rtl:")
	}
	slices.Sort(list)
	return list, nil
}

// uri is the URI that reproduces the system.
func (r *request) uri() string {
	q := url.Values{"dims": {machine.FormatDims(r.params.Dims)}}
	for k, v := range r.keys {
		if k != "dims" && k != "nodes" {
			q.Set(k, v)
		}
	}
	return "mixed:?" + strings.ReplaceAll(q.Encode(), "%2C", ",")
}

// connect connects the two sides.
func (s *System) connect(session *bridge.Session, m *nic.Machine, f *fabric.Fabric, info drivers.Info) {
	s.rtl, s.machine, s.part, s.fabric, s.info = session, m, m.Part(0), f.Part(0), info
}
