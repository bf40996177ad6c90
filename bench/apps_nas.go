package bench

import (
	"fmt"
	"math/bits"

	"github.com/nicloop/nicloop/drivers"
)

// CG and RADIX, and the list of all patterns. Details that SPEC, Figure 4.18, omits, above all the
// partners, follow the descriptions of the applications. LU and BT are in apps_lu.go and
// apps_bt.go.

// cg is CG of the NAS benchmarks: the product of a matrix and a vector is summed among the ranks of
// a row, partner by partner of a hypercube. There is no computation between the messages, so
// nothing can overlap.
var cg = &app{
	name: "cg", doc: "CG of the NAS benchmarks: exchanges with the partners of a hypercube, no overlapping computation (SPEC, Figure 4.18)",
	sends: alike(dimensions), buffers: func(int) int { return 2 }, check: powerOfTwo,
	begin: func(p *player) (func(int) error, error) { return p.hypercube(p.send) },
}

// cgIsend hides from the library that the sender waits at once.
var cgIsend = &app{
	name: "cg-isend", doc: "the same with nonblocking sends, each awaited at once",
	sends: alike(dimensions), buffers: func(int) int { return 2 }, check: powerOfTwo,
	begin: func(p *player) (func(int) error, error) {
		return p.hypercube(func(to, tag, k int, buf []byte) error {
			q, err := p.isend(to, tag, k, buf)
			if err != nil {
				return err
			}
			return p.wait(q)
		})
	},
}

func (p *player) hypercube(send func(to, tag, k int, buf []byte) error) (func(int) error, error) {
	b, err := p.buffers(2)
	return func(k int) error {
		p.work()
		for i := range dimensions(p.r.Size()) {
			peer := p.r.ID() ^ 1<<i
			in, err := p.irecv(peer, tagApp, k, b[1])
			if err != nil {
				return err
			}
			if err := send(peer, tagApp, k, b[0]); err != nil {
				return err
			}
			if err := p.take(in); err != nil {
				return err
			}
		}
		p.work()
		return nil
	}, err
}

func powerOfTwo(c *Config) error {
	if n := c.Ranks(); n&(n-1) != 0 {
		return fmt.Errorf("%w: %s among %d ranks: expected a power of two, because the partners form a hypercube", drivers.ErrConfig, c.Workload, n)
	}
	return nil
}

func dimensions(ranks int) int { return bits.Len(uint(ranks)) - 1 }

// radix is RADIX: keys are distributed by their digit, to one rank after the other. Of two ranks
// one sends first and the other receives first, four messages at a time.
var radix = &app{
	name: "radix", doc: "RADIX: keys are distributed, four receives at a time between blocking sends (SPEC, Figure 4.18)",
	sends: radixSends, buffers: radixBuffers,
	begin: func(p *player) (func(int) error, error) { return p.dealOut(func() {}, func() {}) },
}

// radixBeside and radixBehind add an eighth of the computation: between the receives and their
// wait, or after it.
var (
	radixBeside = &app{
		name: "radix-beside", doc: "the same with an eighth of the computation during every four receives",
		sends: radixSends, buffers: radixBuffers,
		begin: func(p *player) (func(int) error, error) { return p.dealOut(p.eighth, func() {}) },
	}
	radixBehind = &app{
		name: "radix-behind", doc: "the same with an eighth of the computation after every four receives",
		sends: radixSends, buffers: radixBuffers,
		begin: func(p *player) (func(int) error, error) { return p.dealOut(func() {}, p.eighth) },
	}
)

func radixSends(ranks, n int) []lot {
	return alike(func(ranks int) int { return atOnce * (ranks - 1) })(ranks, n)
}
func radixBuffers(int) int { return 1 + atOnce }

func (p *player) eighth() { p.workPart(8) }

func (p *player) dealOut(beside, behind func()) (func(int) error, error) {
	b, err := p.buffers(1 + atOnce)
	return func(k int) error {
		p.work()
		for round := range p.r.Size() {
			n := p.r.Size()
			peer := (round - p.r.ID() + n) % n
			if err := p.deal(peer, k*atOnce, b[0], b[1:], beside, behind); err != nil {
				return err
			}
		}
		p.work()
		return nil
	}, err
}

// atOnce is the number of receives that RADIX waits for together.
const atOnce = 4

// deal exchanges keys with one rank; the rank with the lower number sends first.
func (p *player) deal(peer, k int, out []byte, in [][]byte, beside, behind func()) error {
	if peer == p.r.ID() {
		return nil
	}
	sends := func() error {
		for i := range atOnce {
			if err := p.send(peer, tagApp, k+i, out); err != nil {
				return err
			}
		}
		return nil
	}
	if p.r.ID() < peer {
		if err := sends(); err != nil {
			return err
		}
	}
	var list []arrival
	for i := range atOnce {
		a, err := p.irecv(peer, tagApp, k+i, in[i])
		if err != nil {
			return err
		}
		list = append(list, a)
	}
	beside()
	if err := p.take(list...); err != nil {
		return err
	}
	behind()
	if p.r.ID() < peer {
		return nil
	}
	return sends()
}

// apps lists all patterns.
var apps = []*app{exchange1, exchange2, cg, cgIsend, bt, btSweeps, btSend, btPairs, btCrossed, lu, luNamed, luRound, luLate, luRoundLate, radix, radixBeside, radixBehind}
