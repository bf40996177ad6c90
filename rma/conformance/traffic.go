package conformance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/rma"
)

const (
	areaBytes = 40 << 10 // per process
	half      = areaBytes / 2
	buffers   = 4 // in the half of the area that its own operations use
)

// A process has a target area at each peer, to which no other process writes. It puts data there
// and reads back what it expects to be there.
type process struct {
	*rma.Port
	r       *rig
	at      rma.Peer
	base    uint64
	mem     []byte
	region  *rma.Region
	targets []target // by peer
	busy    map[rma.Handle]pending
	spare   []int // buffers that no operation uses
}

type target struct {
	start  int
	expect []byte
}

// A pending operation has a buffer and a check to run when it is done.
type pending struct {
	buffer int
	check  func()
}

// traffic: operations between two processes are performed in order, so the contents of a target are
// known at any time.
func traffic(r *rig) {
	rng := rand.New(rand.NewPCG(r.seed, 2))
	var all []*process
	for node := range 3 {
		for vpid := range 2 {
			at := rma.Peer{Node: node, VPID: vpid}
			p := &process{r: r, at: at, base: dataAt + uint64(vpid)*areaBytes, busy: map[rma.Handle]pending{}}
			p.Port = r.open(at, 1+rng.IntN(9), 30+rng.IntN(30))
			p.mem = r.mem(node)[p.base : p.base+areaBytes]
			p.region = r.region(p.Port, p.base, areaBytes, rma.ReadWrite)
			for b := range buffers {
				p.spare = append(p.spare, b)
			}
			all = append(all, p)
		}
	}
	width := half / len(all)
	for i, p := range all {
		for range all { // targets are adjacent, so an overrun of most fragments hits a neighbour
			p.targets = append(p.targets, target{start: i * width, expect: make([]byte, width)})
		}
	}
	for ops := 0; ops < 600; {
		p := all[rng.IntN(len(all))]
		if p.operate(rng, all, width) {
			ops++
		}
		if rng.IntN(3) == 0 {
			r.must(r.Run(r.Now()+drivers.Cycle(rng.IntN(300)), &r.stop))
		}
		if rng.IntN(2) == 0 {
			p.drain()
		}
	}
	for range 100 { // draining one full ring lets others continue
		r.quiet()
		for _, p := range all {
			p.drain()
		}
	}
	r.check(r.stop.Idle, "the machine does not become idle")
	for _, p := range all {
		r.check(p.InFlight() == 0, "%s: %d operations did not complete", p.at, p.InFlight())
		for j, q := range all {
			l := &p.targets[j]
			r.same(l.expect, q.mem[l.start:l.start+width], fmt.Sprintf("what %s left at %s", p.at, q.at))
		}
	}
}

// operate posts an operation unless ErrTryAgain.
func (p *process) operate(rng *rand.Rand, all []*process, width int) bool {
	if len(p.spare) == 0 {
		return false
	}
	j := rng.IntN(len(all))
	q, l := all[j], &p.targets[j]
	n := 1 + rng.IntN(min(width, 1<<(1+rng.IntN(12))))
	off := rng.IntN(width - n + 1)
	remote := q.region.NLA(q.base + uint64(l.start+off))
	buffer := p.spare[0]
	scratch := half + buffer*half/buffers + rng.IntN(half/buffers-n+1)
	local := p.region.NLA(p.base + uint64(scratch))
	data := p.mem[scratch : scratch+n]
	nf := rma.Notify(rng.IntN(8))
	check := func() {}
	var h rma.Handle
	var err error
	switch rng.IntN(5) {
	case 0, 1:
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if h, err = p.Put(q.at, local, remote, n, nf); err == nil {
			copy(l.expect[off:], data)
		}
	case 2:
		want := bytes.Clone(l.expect[off : off+n])
		check = func() { p.r.same(want, data, fmt.Sprintf("what %s got from %s", p.at, q.at)) }
		h, err = p.Get(q.at, local, remote, n, nf)
	case 3:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], rng.Uint64())
		n = min(n, 8)
		if h, err = p.PutImmediate(q.at, remote, b[:n], nf); err == nil {
			copy(l.expect[off:], b[:n])
		}
	case 4:
		h, err = p.fetch(rng, q, l, off)
	}
	if errors.Is(err, rma.ErrTryAgain) {
		return false
	}
	p.r.must(err)
	p.busy[h] = pending{buffer, check}
	p.spare = p.spare[1:]
	return true
}

// fetch operates on an aligned word of the target near off.
func (p *process) fetch(rng *rand.Rand, q *process, l *target, off int) (rma.Handle, error) {
	word := (l.start + min(off, len(l.expect)-8) + 3) &^ 3
	at := l.expect[word-l.start:]
	old, compare, add := binary.LittleEndian.Uint32(at), rng.Uint32(), rng.Uint32()
	h, err := p.FetchCompareAdd(q.at, q.region.NLA(q.base+uint64(word)), compare, add)
	if err == nil && old <= compare {
		binary.LittleEndian.PutUint32(at, old+add)
	}
	return h, err
}

// drain takes all events and completes the done operations in order, so that the same seed gives
// the same sequence.
func (p *process) drain() {
	var ev rma.Event
	for ok, err := p.Poll(&ev); ok || err != nil; ok, err = p.Poll(&ev) {
		p.r.must(err)
		p.r.must(ev.Err)
	}
	var done []rma.Handle
	for h := range p.busy {
		if p.LocallyComplete(h) {
			done = append(done, h)
		}
	}
	slices.Sort(done)
	for _, h := range done {
		p.busy[h].check()
		p.spare = append(p.spare, p.busy[h].buffer)
		delete(p.busy, h)
	}
}
