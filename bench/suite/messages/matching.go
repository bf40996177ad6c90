package messages

import (
	"encoding/binary"
	"fmt"
	"math/rand"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// Matching: MPI's matching rules under random traffic, for every way that
// messages travel.
func Matching() (list []regress.Test) {
	for _, m := range []struct {
		name    string
		longest int
		set     func(*bench.Config)
	}{
		{"eager", host.EagerMax, func(*bench.Config) {}},
		{"local", host.EagerMax, func(c *bench.Config) { c.Local = true }},
		{"rget", 6000, func(c *bench.Config) { c.Rendezvous = host.RGET }},
		{"rput", 6000, func(c *bench.Config) { c.Rendezvous = host.RPUT }},
		{"spec", 6000, func(c *bench.Config) { c.Rendezvous, c.AlwaysSpeculate = host.Spec, true }},
		{"rings", 6000, func(c *bench.Config) { c.Reuse = shortRings(host.ReuseAdapt) }},
		{"rings-copy", 6000, func(c *bench.Config) { c.Reuse = shortRings(host.ReuseCopy) }},
		{"rings-spec", 6000, func(c *bench.Config) {
			c.Rendezvous, c.AlwaysSpeculate, c.Reuse = host.Spec, true, shortRings(host.ReuseAdapt)
		}},
		{"chunked", 6000, func(c *bench.Config) { c.Rendezvous, c.Chunk, c.Outstanding = host.Chunked, 1000, 3 }},
	} {
		tags := []string{"matching"}
		if m.longest > host.EagerMax {
			tags = append(tags, "rma")
		}
		list = append(list, regress.Test{
			Name: "matching/" + m.name, Tags: tags,
			Doc: "random messages, tags and wildcards: every message once, in MPI's order",
			Run: func(t *regress.T) error {
				c := bench.Default("")
				c.Nodes, c.Procs, c.Sizes = 2, 2, []int{m.longest}
				c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true}
				m.set(&c)
				return t.Launch(c, 80, func(r *host.Rank) error { return rounds(t.Seed, r, m.longest, c.Reuse.On()) })
			},
		})
	}
	return list
}

// shortRings are full soon, and buffers registered at once.
func shortRings(mode host.ReuseMode) host.Reuse {
	return host.Reuse{Mode: mode, Entries: 2, Portion: 1, From: 16, Longest: 4096}
}

// rounds runs several draws of traffic, one after the other.
func rounds(seed int64, r *host.Rank, longest int, again bool) error {
	for i := range int64(6) {
		t := NewTraffic(seed*100+i, r, longest)
		if again {
			if err := t.takeBuffers(longest); err != nil {
				return err
			}
		}
		if err := t.Run(); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if err := r.Barrier(); err != nil {
			return err
		}
		r.FreeAll()
	}
	return nil
}

// Traffic is what one rank sends and receives; all ranks draw it from one seed.
type Traffic struct {
	r        *host.Rank
	out, in  []letter
	patterns []host.Status // of the receives, in the order of posting; Bytes unused
	first    int           // so many are posted together, the rest once those are done
	early    bool          // the first ones are posted before anything is sent
	again    [6][]byte     // buffers of sends, used again when those are done; none: each has one of its own
}

type letter struct {
	from, to, tag, length int
	k                     int // number among the letters of this pair
}

const tagsInUse = 3

// NewTraffic draws random messages between the ranks of a world, of up to longest bytes. Every rank
// draws the same ones from the same seed.
func NewTraffic(seed int64, r *host.Rank, longest int) *Traffic {
	rnd := rand.New(rand.NewSource(seed))
	t := &Traffic{r: r, early: rnd.Intn(2) == 0}
	pair := map[[2]int]int{}
	for range 20 * r.Size() {
		l := letter{from: rnd.Intn(r.Size()), to: rnd.Intn(r.Size()), tag: rnd.Intn(tagsInUse), length: 8 + rnd.Intn(longest-7)}
		if l.from == l.to {
			continue
		}
		p := [2]int{l.from, l.to}
		l.k = pair[p]
		pair[p]++
		if l.from == r.ID() {
			t.out = append(t.out, l)
		}
		if l.to == r.ID() {
			t.in = append(t.in, l)
		}
	}
	t.draw(rand.New(rand.NewSource(seed + int64(r.ID())<<32)))
	return t
}

// draw chooses one receive for each letter, so that no receive can take the only
// letter of another: wildcards for all letters of a tag, of a source, or for all;
// or, mixed with named receives, fewer of these than there are letters for them
// whatever the wildcards take, and the rest afterwards.
func (t *Traffic) draw(rnd *rand.Rand) {
	mode := rnd.Intn(4)
	if mode == 3 {
		t.drawMixed(rnd)
		return
	}
	open := [tagsInUse]bool{}
	for i := range open {
		open[i] = rnd.Intn(2) == 0
	}
	for _, i := range rnd.Perm(len(t.in)) {
		p := host.Status{Source: t.in[i].from, Tag: t.in[i].tag}
		switch {
		case mode == 0 && open[p.Tag]:
			p.Source = host.AnySource
		case mode == 1:
			p.Tag = host.AnyTag
		case mode == 2:
			p = host.Status{Source: host.AnySource, Tag: host.AnyTag}
		}
		t.patterns = append(t.patterns, p)
	}
	t.first = len(t.patterns)
}

func (t *Traffic) drawMixed(rnd *rand.Rand) {
	letters := make([][tagsInUse]int, t.r.Size())
	var perTag [tagsInUse]int
	for _, l := range t.in {
		letters[l.from][l.tag]++
		perTag[l.tag]++
	}
	for tag := range tagsInUse {
		wild := min(1+rnd.Intn(2), perTag[tag])
		for range wild {
			t.patterns = append(t.patterns, host.Status{Source: host.AnySource, Tag: tag})
		}
		for from := range letters {
			for range letters[from][tag] - wild {
				t.patterns = append(t.patterns, host.Status{Source: from, Tag: tag})
			}
		}
	}
	rnd.Shuffle(len(t.patterns), func(i, j int) { t.patterns[i], t.patterns[j] = t.patterns[j], t.patterns[i] })
	t.first = len(t.patterns)
	for len(t.patterns) < len(t.in) {
		t.patterns = append(t.patterns, host.Status{Source: host.AnySource, Tag: host.AnyTag})
	}
}

// Run sends and receives the messages of the rank, and compares what it received.
func (t *Traffic) Run() error {
	var first []*mail
	var err error
	if t.early {
		if first, err = t.post(t.patterns[:t.first]); err != nil {
			return err
		}
	}
	sends, err := t.send()
	if err != nil {
		return err
	}
	if !t.early {
		t.r.Compute(20 * drivers.Microsecond) // let them come unexpected
		if first, err = t.post(t.patterns[:t.first]); err != nil {
			return err
		}
	}
	got, err := t.collect(nil, first)
	if err != nil {
		return err
	}
	rest, err := t.post(t.patterns[t.first:])
	if err != nil {
		return err
	}
	if got, err = t.collect(got, rest); err != nil {
		return err
	}
	if err := t.r.Waitall(sends); err != nil {
		return err
	}
	return t.checkOrder(got)
}

// mail is a receive with its buffer.
type mail struct {
	q   *host.Request
	buf []byte
}

func (t *Traffic) post(patterns []host.Status) (list []*mail, err error) {
	for _, p := range patterns {
		m := &mail{}
		if m.buf, err = t.r.Alloc(8192); err != nil {
			return nil, err
		}
		if m.q, err = t.r.Irecv(p.Source, p.Tag, m.buf); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// takeBuffers has sends use some buffers of DMA memory whenever they are free.
func (t *Traffic) takeBuffers(longest int) (err error) {
	for i := range t.again {
		if t.again[i], err = t.r.Alloc(longest); err != nil {
			return err
		}
	}
	return nil
}

func (t *Traffic) send() (list []*host.Request, err error) {
	var last [len(t.again)]*host.Request // from each of the buffers
	for i, l := range t.out {
		buf := make([]byte, l.length) // outside DMA memory: the copying path
		k := i % len(t.again)
		free := t.again[k] != nil && (last[k] == nil || last[k].Done())
		if free {
			buf = t.again[k][:l.length]
		}
		binary.LittleEndian.PutUint64(buf, uint64(l.k))
		stamp(buf[8:], l)
		q, err := t.r.Isend(l.to, l.tag, buf)
		if err != nil {
			return nil, err
		}
		if list = append(list, q); free {
			last[k] = q
		}
	}
	return list, nil
}

func (t *Traffic) collect(got []letter, list []*mail) ([]letter, error) {
	for _, m := range list {
		st, err := t.r.Wait(m.q)
		if err != nil {
			return nil, err
		}
		l, err := t.open(st, m.buf)
		if err != nil {
			return nil, err
		}
		got = append(got, l)
	}
	return got, nil
}

func stamp(b []byte, l letter) {
	for i := range b {
		b[i] = byte(l.from*7 + l.to*5 + l.k*3 + i)
	}
}

// open checks that a received letter is one that was sent here, unchanged.
func (t *Traffic) open(st host.Status, buf []byte) (letter, error) {
	k := int(binary.LittleEndian.Uint64(buf))
	for i := range t.in {
		l := t.in[i]
		if l.from != st.Source || l.k != k || l.length < 0 {
			continue
		}
		want := make([]byte, l.length)
		binary.LittleEndian.PutUint64(want, uint64(k))
		stamp(want[8:], l)
		if st.Tag != l.tag || st.Bytes != l.length || string(want) != string(buf[:st.Bytes]) {
			return l, fmt.Errorf("rank %d: message %d from rank %d arrived with tag %d and %d bytes, expected tag %d and %d bytes, or its bytes are wrong", t.r.ID(), k, l.from, st.Tag, st.Bytes, l.tag, l.length)
		}
		t.in[i].length = -1 // once
		return l, nil
	}
	return letter{}, fmt.Errorf("rank %d: message %d from rank %d was not sent, or arrived twice", t.r.ID(), k, st.Source)
}

// checkOrder: of two letters of one sender that an earlier receive could both
// have taken, it must have taken the one sent first.
func (t *Traffic) checkOrder(got []letter) error {
	for i, early := range got {
		p := t.patterns[i]
		for _, late := range got[i+1:] {
			fits := (p.Source == host.AnySource || p.Source == late.from) && (p.Tag == host.AnyTag || p.Tag == late.tag)
			if fits && early.from == late.from && early.k > late.k {
				return fmt.Errorf("rank %d: receive %d (source %d, tag %d) took letter %d of rank %d before letter %d: overtaken", t.r.ID(), i, p.Source, p.Tag, early.k, early.from, late.k)
			}
		}
	}
	return nil
}
