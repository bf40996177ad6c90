package selftest

import "math/rand/v2"

// A prbs generates the sequence of x^31 + x^28 + 1 (ITU-T O.150), of period 2^31 - 1. It contains
// every 31-bit pattern except zero, so neither clock recovery nor an equalizer can adapt to it.
type prbs uint32

// newPRBS starts at a position that depends on seed. It scrambles the seed, because a small number
// would start next to a long run of zeros.
func newPRBS(seed uint64) prbs {
	p := prbs(rand.New(rand.NewPCG(seed, 31)).Uint32()) & 0x7fffffff
	if p == 0 {
		p = 1
	}
	return p
}

func (p *prbs) read(b []byte) {
	s := uint32(*p)
	for i := range b {
		var v byte
		for bit := range 8 {
			next := (s>>30 ^ s>>27) & 1
			s = s<<1&0x7fffffff | next
			v |= byte(next) << bit
		}
		b[i] = v
	}
	*p = prbs(s)
}
