package selftest

import "math/rand/v2"

// A prbs is the sequence of x^31 + x^28 + 1 (ITU-T O.150): 2^31 - 1 bits, in which a receiver finds every run of 31 bits but for zeros, so that
// neither a clock nor an equalizer gets used to it.
type prbs uint32

// newPRBS begins somewhere in the sequence, not beside its long runs of zeros, where a small number would.
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
