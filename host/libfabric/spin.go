package libfabric

// A spinner looks at shared memory before its thread sleeps. Sleeping and waking take several
// microseconds; a program that only computes a little answers sooner. If the program computes for
// long or has no processor, looking takes the processor away from it. So the number of looks
// adapts: twice as many as the last wait needed, and half as many after a wait in vain. Every
// spinRetries waits in vain, the most looks are tried, because few looks cannot discover that more
// would suffice.
type spinner struct {
	looks  int
	missed int // waits in a row for which the looks were not enough
}

const (
	shortestSpin = 50
	longestSpin  = 8000 // some 10 us
	spinRetries  = 32
)

// until looks until ready returns true. It returns false if the looks were not enough.
func (s *spinner) until(ready func() bool) bool {
	looks := max(s.looks, shortestSpin)
	if s.missed%spinRetries == spinRetries-1 {
		looks = longestSpin
	}
	for i := range looks {
		if ready() {
			s.looks = min(max(2*i, s.looks-s.looks/8), longestSpin)
			s.missed = 0
			return true
		}
	}
	s.looks = max(s.looks/2, shortestSpin)
	s.missed++
	return false
}
