package rma

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests")

const (
	ringsAt  = 0x1000 // ring of VPID v: one page each
	atuAt    = 0x20000
	atuBytes = 0x10000
	dataAt   = 1 << 20 // from here on memory is the tests'
)

// rig is a machine of ideal NICs with an ATU per node and ports on some VPIDs.
type rig struct {
	drivers.Timed
	t     testing.TB
	stop  drivers.Stop
	atus  []*ATU
	ports map[Peer]*Port
}

func newRig(t testing.TB, nodes, memory int) *rig { return newRigOn(t, "ideal:", nodes, memory) }

func newRigOn(t testing.TB, uri string, nodes, memory int) *rig {
	s, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: nodes, MemoryBytes: memory})
	require.NoError(t, err)
	r := &rig{Timed: s.(drivers.Timed), t: t, ports: map[Peer]*Port{}}
	for n := range nodes {
		a, err := NewATU(s.Device(n), atuAt, atuBytes)
		require.NoError(t, err)
		r.atus = append(r.atus, a)
	}
	return r
}

func (r *rig) config(at Peer) Config {
	return Config{NotiSlots: 64, Outstanding: 8, NotiBase: ringsAt + uint64(at.VPID)<<12, ATU: r.atus[at.Node]}
}

func (r *rig) open(node, vpid int) *Port { return r.openWith(node, vpid, func(*Config) {}) }

func (r *rig) openWith(node, vpid int, change func(*Config)) *Port {
	at := Peer{node, vpid}
	cfg := r.config(at)
	change(&cfg)
	p, err := Open(r.Device(node), vpid, node, cfg)
	require.NoError(r.t, err)
	r.ports[at] = p
	return p
}

// quiet lets the hardware do all it can.
func (r *rig) quiet() {
	require.NoError(r.t, r.Run(drivers.Forever, &r.stop))
	require.True(r.t, r.stop.Quiet)
}

func (r *rig) mem(node int) []byte { return r.Device(node).Memory() }

func (r *rig) reg(node int, off uint32) uint64 {
	v, err := r.Device(node).ReadReg(off)
	require.NoError(r.t, err)
	return v
}

func (r *rig) region(p *Port, off, n uint64, want Rights) *Region {
	g, err := p.Register(off, n, want)
	require.NoError(r.t, err)
	return g
}

// poll gives the next event, or nil.
func (r *rig) poll(p *Port) *Event {
	var ev Event
	ok, err := p.Poll(&ev)
	require.NoError(r.t, err)
	if !ok {
		return nil
	}
	return &ev
}

func (r *rig) nothing(p *Port) { require.Nil(r.t, r.poll(p)) }

// text prints an event on a line, with device-independent names only.
func (ev *Event) text() string {
	whose := "own"
	if ev.Handle == 0 {
		whose = "peer's"
	}
	s := fmt.Sprintf("%s %s at %s, %s", whose, ev.Command, ev.Unit, ev.Peer)
	switch {
	case ev.Err != nil:
		return s + ": " + ev.Err.Error()
	case ev.Command == CommandFetchCompareAdd && ev.Unit == UnitCompleter:
		old, changed := ev.Fetched()
		s += fmt.Sprintf(": was %d, changed %v", old, changed)
	case ev.Command == CommandNotify && ev.Unit == UnitCompleter:
		s += fmt.Sprintf(": payload 0x%x", ev.Payload)
	default:
		s += fmt.Sprintf(": %d bytes at 0x%x", ev.Bytes, uint64(ev.NLA))
	}
	if ev.Last {
		s += ", last"
	}
	return s
}
