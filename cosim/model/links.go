package model

import (
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
)

// traceLinks reports every flit on a link, and every head where it arrives.
func (n *network) traceLinks(cfg fabric.Config) {
	vcs, ports := cfg.Topology.VCs(), cfg.Topology.Ports(0)
	link := uint8(drivers.PointLink1 - 1)
	if n.shared {
		link = drivers.PointPort
	}
	seen := make([]int, cfg.Topology.Routers()*ports*vcs) // flits of the current packet
	n.f.Watch(func(router, port int, vc uint8, flit fabric.Flit) {
		from, out, _ := cfg.Topology.Link(router, port)
		at := drivers.Cycle(n.f.Now()) + 1
		index := &seen[(router*ports+port)*vcs+int(vc)]
		if flit.Head() {
			*index = 0 // the previous packet may have lost its tail
		}
		n.m.TraceFlit(at, from, link+uint8(out), vc, flit.Packet(), *index)
		if *index == 0 && !n.shared && (cfg.Outside == nil || !cfg.Outside(router)) && !n.f.Exposed(router, port) {
			n.m.TraceFlit(at+drivers.Cycle(cfg.LinkCycles), router, drivers.PointArrive1+uint8(port-1), vc, flit.Packet(), 0)
		}
		if *index++; flit.Tail() {
			*index = 0
		}
	}, func(router, port int, vc uint8, flit fabric.Flit, at uint64) {
		if flit.Head() {
			n.m.TraceFlit(drivers.Cycle(at)-1, router, drivers.PointArrive1+uint8(port-1), vc, flit.Packet(), 0)
		}
	})
}
