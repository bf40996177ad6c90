package drivers

// A Leader is a Timed some of whose nodes can go ahead of Now, which saves it from asking them cycle by cycle. What is posted to a
// node that is ahead must not be for a cycle that it has done; so whoever lets it lead must know when that may be.
type Leader interface {
	Timed
	// Leads tells which nodes can.
	Leads(node int) bool
	// Lead lets them, up to what until gives, which is asked now and then in Run: the first cycle at which the caller may do
	// anything with one of these nodes, if nothing stops Run before. A stop by one of them is reported when Now has
	// come to its cycle; until then the node stands there. With nil no node goes ahead any more.
	Lead(until func() Cycle)
}
