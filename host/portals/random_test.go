package portals

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A naivePT does matching as the specification words it: two plain slices and one of headers.
type naivePT struct {
	lists   [2][]naiveEntry
	headers []naiveHeader
}

type naiveEntry struct {
	MatchEntry
	handle ME
}

type naiveHeader struct {
	source     Process
	bits, mark uint64
}

func (m *MatchEntry) accepts(source Process, bits uint64) bool {
	return (bits^m.MatchBits)&^m.IgnoreBits == 0 && (m.MatchID.NID == RankAny || m.MatchID.NID == source.NID)
}

// expect is an event that must come next.
type expect struct {
	kind          EventKind
	user, hdrData uint64
}

func (p *naivePT) arrive(source Process, bits, mark uint64) (list []expect) {
	for i := range p.lists {
		at := slices.IndexFunc(p.lists[i], func(e naiveEntry) bool { return e.accepts(source, bits) })
		if at < 0 {
			continue
		}
		e := p.lists[i][at]
		list = append(list, expect{EventPut, e.UserPtr, mark})
		if List(i) == OverflowList {
			p.headers = append(p.headers, naiveHeader{source, bits, mark})
		}
		if e.Options&MEUseOnce != 0 {
			p.lists[i] = slices.Delete(p.lists[i], at, at+1)
			list = append(list, expect{EventAutoUnlink, e.UserPtr, 0})
		}
		return list
	}
	return nil
}

func (p *naivePT) append(l List, e *naiveEntry) (list []expect, linked bool) {
	for l == PriorityList {
		at := slices.IndexFunc(p.headers, func(h naiveHeader) bool { return e.accepts(h.source, h.bits) })
		if at < 0 {
			break
		}
		list = append(list, expect{EventPutOverflow, e.UserPtr, p.headers[at].mark})
		p.headers = slices.Delete(p.headers, at, at+1)
		if e.Options&MEUseOnce != 0 {
			return append(list, expect{EventAutoUnlink, e.UserPtr, 0}), false
		}
	}
	return list, true
}

// TestRandomAgainstNaive compares matching with the naive one over random appends, messages and
// unlinks, long enough that lists are compacted.
func TestRandomAgainstNaive(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, 0, 0)
		var naive naivePT
		for step := range uint64(1500) {
			var want []expect
			switch k := rnd.IntN(20); {
			case k < 9:
				bits, mark := rnd.Uint64N(8), 1+step
				p := Packet{Header: Header{Kind: KindPut, Source: Rank(rnd.Uint32N(3)), Bits: bits, HdrData: mark}}
				require.NoError(t, r.ni[0].Deliver(&p))
				want = naive.arrive(p.Source, bits, mark)
			case k < 18:
				e := naiveEntry{MatchEntry: anyone(rnd.Uint64N(8))}
				e.UserPtr = step
				if rnd.IntN(3) == 0 {
					e.MatchID = Rank(rnd.Uint32N(3))
				}
				if rnd.IntN(3) == 0 {
					e.IgnoreBits = rnd.Uint64N(8)
				}
				l := PriorityList
				if rnd.IntN(8) == 0 {
					l = OverflowList
				}
				if rnd.IntN(30) > 0 {
					e.Options = MEUseOnce
				}
				var linked bool
				want, linked = naive.append(l, &e)
				e.handle = r.me(l, e.MatchEntry)
				if linked {
					naive.lists[l] = append(naive.lists[l], e)
				}
			default:
				if l := naive.lists[PriorityList]; len(l) > 0 {
					at := rnd.IntN(len(l))
					require.NoError(t, r.ni[0].MEUnlink(l[at].handle))
					naive.lists[PriorityList] = slices.Delete(l, at, at+1)
				}
			}
			var got []expect
			for _, e := range r.target() {
				if e.Kind != EventAutoFree {
					got = append(got, expect{e.Kind, e.UserPtr, e.HdrData})
				}
			}
			require.Equal(t, want, got, "seed %d, step %d", seed, step)
		}
	}
}
