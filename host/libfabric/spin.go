package libfabric

// A spinner looks at shared memory before its thread sleeps. Sleeping and waking take several
// microseconds; a program that only computes a little answers sooner. If it does not, because it
// computes for long or has no processor, looking takes the processor from whom the thread waits
// for. So the number of looks follows the experience: twice as many as were needed last, and half
// of it after a wait in vain. Now and then the most looks are tried, as few looks never learn that
// more would do.
type spinner struct {
	looks  int
	missed int // waits in a row for which the looks were not enough
}

const (
	shortestSpin = 50
	longestSpin  = 8000 // some 10 us
	spinRetries  = 32   // every so many waits, the most looks are tried
)

// until looks until ready, or returns false.
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
