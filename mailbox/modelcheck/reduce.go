package modelcheck

import "slices"

// Fewest is partial-order reduction by one actor at a time: of the actors whose own events suffice
// in this state, it keeps the events of the one with the fewest. Which actors suffice is the
// adapter's proof obligation; without one, all events stay. The result reuses the array of events.
func Fewest[E any](events []E, actors int, actor func(E) int, suffices func(actor int) bool) []E {
	best, fewest := -1, len(events)
	for a := range actors {
		if !suffices(a) {
			continue
		}
		n := 0
		for _, e := range events {
			if actor(e) == a {
				n++
			}
		}
		if n < fewest {
			best, fewest = a, n
		}
	}
	if best < 0 {
		return events
	}
	return slices.DeleteFunc(events, func(e E) bool { return actor(e) != best })
}

// Permutations lists all orders of n actors, for adapters that pass on the smallest renaming.
func Permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range Permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
