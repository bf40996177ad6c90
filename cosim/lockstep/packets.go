package lockstep

import (
	"cmp"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A flow is the packets of a type between two processes that pass a point of a node, in order.
type flow struct {
	channel
	kind     regs.PacketType
	src, dst uint16
}

// finishPackets compares the contents of the packets of each flow, regardless of time.
func (p *Pair) finishPackets() {
	flows := [2]map[flow][]drivers.TraceEvent{}
	for i, s := range p.sides {
		flows[i] = flowsOf(s.seen)
	}
	p.found = nil
	var first *difference
	for i := range flows {
		for f := range flows[i] {
			if d := differenceOfFlow(f, flows[0][f], flows[1][f]); d != nil && d.before(first) {
				first = d
			}
		}
	}
	for f, list := range flows[0] {
		p.agreed += uint64(min(len(list), len(flows[1][f])))
	}
	if first == nil {
		if a, b := p.sides[0], p.sides[1]; a.opened != b.opened {
			p.stops = &stopPair{{what: "systems are opened", value: "as many as the other, or more"}, {what: "systems are opened", value: "not as many"}}
		}
		return
	}
	p.found = &Divergence{Devices: p.names, System: 1, Agreed: p.agreed}
	p.describe(first)
	p.draw(first)
}

// flowsOf groups packets that enter and leave the network by flow. The tail and the virtual channel
// depend on the hardware and are ignored.
func flowsOf(events []drivers.TraceEvent) map[flow][]drivers.TraceEvent {
	slices.SortStableFunc(events, inOrder)
	flows, at := map[flow][]drivers.TraceEvent{}, map[passage]flow{}
	for _, e := range events {
		if e.Point != drivers.PointInject && e.Point != drivers.PointEject {
			continue
		}
		way := passage{channelOf(&e), e.VC}
		if e.Flags&drivers.TraceHead != 0 {
			h := regs.Header(e.Data)
			at[way] = flow{way.channel, h.Type(), h.SrcNode()<<4 | uint16(h.SrcVPID()), h.DstNode()<<4 | uint16(h.DstVPID())}
		}
		if e.Flags&drivers.TraceTail == 0 {
			flows[at[way]] = append(flows[at[way]], e)
		}
	}
	return flows
}

func differenceOfFlow(f flow, left, right []drivers.TraceEvent) *difference {
	d := &difference{channel: f.channel, at: drivers.Forever}
	for i := range max(len(left), len(right)) {
		d.left, d.right = nil, nil
		if i < len(left) {
			d.left = &left[i]
		}
		if i < len(right) {
			d.right = &right[i]
		}
		e := d.either()
		if e.Flags&drivers.TraceHead != 0 {
			d.header = regs.Header(e.Data)
			d.number++
		}
		if d.left != nil && d.right != nil && cmp.Or(cmp.Compare(d.left.Data, d.right.Data), cmp.Compare(d.left.Flags, d.right.Flags)) == 0 {
			continue
		}
		d.at = e.Cycle
		return d
	}
	return nil
}
