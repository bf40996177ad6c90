package model

import (
	"fmt"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Params contains all parameters. Defaults has the RTL's values as measured by cosim/calibrate;
// cosim/differ compares the model with the RTL.
type Params struct {
	Dims  [3]int
	Torus bool
	// Shared is a network whose routers do not belong to nodes; nil: a mesh or torus.
	Shared *Shared
	// Fabric has the cycles of routers, links and credits and the depth of a virtual channel; its
	// topology follows from Dims and Torus.
	Fabric fabric.Config
	// NIC has the cycles of the NIC's units and of host memory.
	NIC nic.Timing
	// Faults are the initial faults of all wires.
	Faults machine.Faults
	// Lent: memory can be shared with other processes; see nic.Config.
	Lent bool
}

// Defaults returns the parameters of the RTL.
func Defaults(dims [3]int) Params { return with(nic.RTL(), dims) }

func with(p nic.Params, dims [3]int) Params {
	n := &p.Network
	return Params{Dims: dims, NIC: p.NIC, Fabric: fabric.Config{
		VCDepth: n.VCDepth, RouterCycles: n.Router, LinkCycles: n.Link, InjectCycles: n.Inject, CreditCycles: n.Credit, LocalCreditCycles: n.LocalCredit,
		HopMax: regs.HopMax,
	}}
}

func (p *Params) topology() fabric.Topology {
	if p.Shared != nil {
		return p.Shared
	}
	if p.Torus {
		return fabric.Torus(p.Dims[:]...)
	}
	return fabric.Mesh(p.Dims[:]...)
}

// parse combines the URI and the options.
func parse(keys map[string]string, nodes int) (Params, error) {
	on, dims, err := networkOf(keys, nodes)
	if err != nil {
		return Params{}, err
	}
	cycles := nic.RTL()
	if file := keys["params"]; file != "" {
		if cycles, err = nic.ReadParams(file); err != nil {
			return Params{}, err
		}
	}
	p := with(cycles, dims)
	p.Shared = on
	wr, rd := int(p.NIC.HostWrite), int(p.NIC.HostRead)
	torus, wire := 0, 0
	for _, k := range []struct {
		name      string
		low, high int
		to        *int
	}{
		{"torus", 0, 1, &torus}, {"vc_depth", 2, 128, &p.Fabric.VCDepth},
		{"host_wr_latency", 1, 65535, &wr}, {"host_rd_latency", 1, 65535, &rd}, {"wire_latency", 0, 64, &wire},
	} {
		if *k.to, err = machine.Number(keys, k.name, k.low, k.high, *k.to); err != nil {
			return p, err
		}
	}
	if p.Faults, err = machine.ParseFaults(keys); err != nil {
		return p, err
	}
	p.Fabric.LinkCycles += wire
	p.Fabric.CreditCycles += wire
	p.Torus, p.NIC.HostWrite, p.NIC.HostRead = torus == 1, drivers.Cycle(wr), drivers.Cycle(rd)
	return p, nil
}

// ParamsFor returns the parameters for keys of the scheme model: and a number of nodes.
func ParamsFor(keys map[string]string, nodes int) (Params, error) { return parse(keys, nodes) }

// Topology is the network of routers and links.
func (p *Params) Topology() fabric.Topology { return p.topology() }

// networkOf determines the kind of network.
func networkOf(keys map[string]string, nodes int) (on *Shared, dims [3]int, err error) {
	text, given := keys["topology"]
	if !given {
		dims, err = dimsOf(keys["dims"], nodes)
		return nil, dims, err
	}
	if on, err = sharedOf(text, keys, nodes); err != nil {
		return nil, dims, err
	}
	return on, [3]int{on.nics, 1, 1}, nil
}

func dimsOf(text string, nodes int) (dims [3]int, err error) {
	dims = machine.DimsFor(nodes)
	if text != "" {
		if dims, err = machine.ParseDims(text); err != nil {
			return dims, err
		}
	}
	n := dims[0] * dims[1] * dims[2]
	switch {
	case n < 1 || n > regs.HeaderNodes:
		return dims, fmt.Errorf("%w: %d nodes: model: holds 1..%d nodes, which is what headers can name", drivers.ErrConfig, n, regs.HeaderNodes)
	case dims[0]+dims[1]+dims[2]-2 > regs.HopMax:
		return dims, fmt.Errorf("%w: dims=%s: a packet would come to %d routers, and is discarded behind %d: give other dims, or a dragonfly or fattree as topology",
			drivers.ErrConfig, machine.FormatDims(dims), dims[0]+dims[1]+dims[2]-2, regs.HopMax)
	case nodes != 0 && n != nodes:
		return dims, fmt.Errorf("%w: dims=%s has %d nodes, but %d are asked for; leave one of the two out", drivers.ErrConfig, text, n, nodes)
	}
	return dims, nil
}
