package offload

import (
	"fmt"
	"slices"
)

// An Entry is the match and ignore bits of a list entry.
type Entry struct{ Match, Ignore uint64 }

// Accepts is the matching rule of Portals 4.
func (e Entry) Accepts(bits uint64) bool { return (bits^e.Match)&^e.Ignore == 0 }

func (e Entry) String() string { return fmt.Sprintf("match %09b ignore %09b", e.Match, e.Ignore) }

// Semantics is how a get finds its entry.
type Semantics uint8

const (
	// Exact demands that a get fits the entry of its send and no other, so order does not matter.
	Exact Semantics = iota
	// FirstMatch: a get takes the first entry that fits; entries stay.
	FirstMatch
	// UseOnce: a get takes the first entry that fits, and uses it up; gets arrive in any order.
	UseOnce
	// UseOnceInOrder is UseOnce with gets that arrive in the order of the receives.
	UseOnceInOrder
	semantics
)

func (s Semantics) String() string {
	return [...]string{"exact", "first match", "use once, any order", "use once, receive order"}[s]
}

// AllSemantics lists all of them.
func AllSemantics() []Semantics {
	list := make([]Semantics, semantics)
	for i := range list {
		list[i] = Semantics(i)
	}
	return list
}

// Found is the result of a search.
type Found struct {
	Semantics Semantics
	Printed   bool
	Entries   int        // pairs of match and ignore bits that an entry can have, up to ignored bits
	Sets      int        // sets of codes that they accept
	Pairs     int        // pairs of sets that were tried
	Solutions [][2]Entry // one pair of entries for each pair of sets that satisfies all cases
}

// Search tries all entries of both sends with the codes of the paper.
func Search(s Semantics, printed bool) Found {
	table := Table(printed)
	var codes []uint64
	for _, c := range table {
		for i := range 2 {
			if code := c.Get(i).Code(); !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
	}
	f := Found{Semantics: s, Printed: printed}
	sets := map[string]Entry{}
	var list []Entry
	for ignore := range uint64(1 << CodeBits) {
		for match := range uint64(1 << CodeBits) {
			if match&ignore != 0 {
				continue // the value of an ignored bit does not matter
			}
			f.Entries++
			e := Entry{match, ignore}
			accepted := make([]byte, len(codes))
			for i, code := range codes {
				if e.Accepts(code) {
					accepted[i] = 1
				}
			}
			if _, known := sets[string(accepted)]; !known {
				sets[string(accepted)] = e
				list = append(list, e)
			}
		}
	}
	f.Sets = len(list)
	for _, first := range list {
		for _, second := range list {
			f.Pairs++
			if pair := [2]Entry{first, second}; satisfiesAll(pair, table, s) {
				f.Solutions = append(f.Solutions, pair)
			}
		}
	}
	return f
}

func satisfiesAll(pair [2]Entry, table []Case, s Semantics) bool {
	for _, c := range table {
		if !satisfies(pair, c, s) {
			return false
		}
	}
	return true
}

// satisfies reports whether every get of a case takes the entry of its send.
func satisfies(pair [2]Entry, c Case, s Semantics) bool {
	codes := [2]uint64{c.Get(0).Code(), c.Get(1).Code()}
	take := func(r int, used *[2]bool) bool {
		for i, e := range pair {
			if !used[i] && e.Accepts(codes[r]) {
				used[i] = s >= UseOnce
				return Tag(i+1) == c.Sends[r]
			}
		}
		return c.Sends[r] == 0
	}
	switch s {
	case Exact:
		for r, code := range codes {
			for i, e := range pair {
				if e.Accepts(code) != (Tag(i+1) == c.Sends[r]) {
					return false
				}
			}
		}
		return true
	case UseOnce:
		var used [2]bool
		if !take(1, &used) || !take(0, &used) {
			return false
		}
	}
	var used [2]bool
	return take(0, &used) && take(1, &used)
}
