package rma

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A scenario is a machine of three nodes whose addresses are written as they
// appear in the scripts: processes as NODE.VPID, memory as regions by name.
type scenario struct {
	*rig
	regions map[string]*Region
	owners  map[string]Peer
	names   []Peer // ports in order of opening
}

func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		s := &scenario{rig: newRig(t, 3, 4<<20), regions: map[string]*Region{}, owners: map[string]Peer{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.do(d)
		})
	})
}

// do performs a command of a script:
//
//	open at=N.V                        region name=R at=N.V off= n= rights=ro|wo|rw
//	put|get|imm|notify|fcaa at= to= local=R+x remote=R+x n= nf=rsc…
//	mem node= off= n= [set=HEX]        stale region=R+x to=OFF (changes a table entry behind the NIC's back)
//
// Operations run until nothing moves, then print all events.
func (s *scenario) do(d *datadriven.TestData) string {
	var at, to Peer
	for key, p := range map[string]*Peer{"at": &at, "to": &to} {
		if d.HasArg(key) {
			var text string
			d.ScanArgs(s.t.(*testing.T), key, &text)
			_, err := fmt.Sscanf(text, "%d.%d", &p.Node, &p.VPID)
			require.NoError(s.t, err, d.Pos)
		}
	}
	switch d.Cmd {
	case "open":
		s.open(at.Node, at.VPID)
		s.names = append(s.names, at)
		return ""
	case "region":
		return s.register(d, at)
	case "mem":
		return s.memory(d)
	case "stale":
		return s.stale(d)
	}
	return s.operate(d, at, to)
}

func (s *scenario) text(d *datadriven.TestData, key string) (v string) {
	if d.HasArg(key) {
		d.ScanArgs(s.t.(*testing.T), key, &v)
	}
	return v
}

func (s *scenario) number(d *datadriven.TestData, key string) (v uint64) {
	if text := s.text(d, key); text != "" {
		_, err := fmt.Sscan(text, &v)
		require.NoError(s.t, err, d.Pos)
	}
	return v
}

func (s *scenario) register(d *datadriven.TestData, at Peer) string {
	name := s.text(d, "name")
	rights := map[string]Rights{"ro": ReadOnly, "wo": WriteOnly, "rw": ReadWrite}[s.text(d, "rights")]
	off := s.number(d, "off")
	r, err := s.ports[at].Register(off, s.number(d, "n"), rights)
	if err != nil {
		return err.Error()
	}
	s.regions[name], s.owners[name] = r, at
	return fmt.Sprintf("%s is 0x%x", name, uint64(r.NLA(off)))
}

// nla reads "name+offset" or a number.
func (s *scenario) nla(d *datadriven.TestData, key string) NLA {
	name, rest, _ := strings.Cut(s.text(d, key), "+")
	var off uint64
	if rest != "" {
		_, err := fmt.Sscan(rest, &off)
		require.NoError(s.t, err, d.Pos)
	}
	if r, ok := s.regions[name]; ok {
		return r.nla + NLA(off)
	}
	var raw uint64
	if name != "" {
		_, err := fmt.Sscan(name, &raw)
		require.NoError(s.t, err, d.Pos)
	}
	return NLA(raw + off)
}

func (s *scenario) memory(d *datadriven.TestData) string {
	off, n := s.number(d, "off"), s.number(d, "n")
	mem := s.mem(int(s.number(d, "node")))
	if set := s.text(d, "set"); set != "" {
		b, err := hex.DecodeString(set)
		require.NoError(s.t, err, d.Pos)
		copy(mem[off:], b)
		return ""
	}
	return hex.EncodeToString(mem[off : off+n])
}

// stale lets a region's first entry name another page.
func (s *scenario) stale(d *datadriven.TestData) string {
	name := s.text(d, "region")
	a := s.atus[s.owners[name].Node]
	m := a.mapped[s.regions[name].nla]
	e := regs.ATUEntry(a.tables[m.size].entries[m.first]).Fields()
	e.Page = s.number(d, "page")
	atomic.StoreUint64(&a.tables[m.size].entries[m.first], uint64(e.Pack()))
	return ""
}

func (s *scenario) operate(d *datadriven.TestData, at, to Peer) string {
	p := s.ports[at]
	local, remote, n := s.nla(d, "local"), s.nla(d, "remote"), int(s.number(d, "n"))
	var nf Notify
	for _, c := range s.text(d, "nf") {
		nf |= map[rune]Notify{'r': Requester, 's': Responder, 'c': Completer}[c]
	}
	var err error
	switch d.Cmd {
	case "put":
		_, err = p.Put(to, local, remote, n, nf)
	case "get":
		_, err = p.Get(to, local, remote, n, nf)
	case "imm":
		var b []byte
		b, err = hex.DecodeString(s.text(d, "bytes"))
		require.NoError(s.t, err, d.Pos)
		_, err = p.PutImmediate(to, remote, b, nf)
	case "notify":
		_, err = p.Notify(to, s.number(d, "payload"), nf)
	case "fcaa":
		_, err = p.FetchCompareAdd(to, remote, uint32(s.number(d, "compare")), uint32(s.number(d, "add")))
	case "bad": // what the library does not offer
		_, err = p.post(to, Command(s.number(d, "command")), nf, Requester, max(n, 1), uint64(local), remote)
	default:
		d.Fatalf(s.t.(*testing.T), "unknown command %s", d.Cmd)
	}
	if err != nil {
		return err.Error()
	}
	return s.events()
}

// events lets the hardware do all it can and prints what the ports have to say.
func (s *scenario) events() string {
	var b strings.Builder
	for {
		err := s.Run(drivers.Forever, &s.stop)
		if err == nil {
			break
		}
		fmt.Fprintf(&b, "the system says: %v\n", err)
	}
	for _, at := range s.names {
		p := s.ports[at]
		for ev := s.poll(p); ev != nil; ev = s.poll(p) {
			fmt.Fprintf(&b, "%d.%d: %s\n", at.Node, at.VPID, ev.text())
			var fault *FaultError
			require.True(s.t, ev.Err == nil || errors.As(ev.Err, &fault))
		}
		require.Zero(s.t, p.InFlight(), "%s: an operation never ended", at)
	}
	return b.String()
}
