package offload

import (
	"fmt"
	"math/big"
)

// A Scheme gives each receive history of up to Receives tags a bit of its own. The get of a receive
// has the bit of the history that ends with it. The entry of send i, whose sender knows sends 1 to
// i, accepts the histories whose last receive MPI pairs with send i, given those sends.
type Scheme struct{ Receives int }

// Bits is the length of a code: the number of histories.
func (s Scheme) Bits() int {
	n, power := 0, 1
	for range s.Receives {
		power *= 3
		n += power
	}
	return n
}

// index is the position of a history among all, shorter ones first.
func (s Scheme) index(history []Tag) int {
	first, size, at := 0, 1, 0
	for i, t := range history {
		if i > 0 {
			first += size
		}
		size *= 3
		at = at*3 + int(t)
	}
	return first + at
}

// Accepts reports whether the entry of the last send takes the get of the last receive.
func (s Scheme) Accepts(sends, history []Tag) bool {
	return Match(sends, history)[len(history)-1] == len(sends)
}

// Code is the match bits of the get of the last receive; histories beyond 64 bits have none.
func (s Scheme) Code(history []Tag) uint64 { return 1 << s.index(history) }

// Entry is the entry of the last send: it ignores the bits of the histories that it accepts.
func (s Scheme) Entry(sends []Tag) Entry {
	var e Entry
	eachSequence(3, s.Receives, func(history []Tag) bool {
		if s.Accepts(sends, history) {
			e.Ignore |= s.Code(history)
		}
		return true
	})
	e.Ignore |= ^(uint64(1)<<s.Bits() - 1)
	return e
}

// Check compares the scheme with MPI for all sends and receives up to the given numbers, with a
// list that is searched in order. It returns how many gets it has compared.
func (s Scheme) Check(sends int) (gets int, err error) {
	eachSequence(2, sends, func(sent []Tag) bool {
		eachSequence(3, s.Receives, func(history []Tag) bool {
			gets++
			taken := 0
			for i := 1; i <= len(sent) && taken == 0; i++ {
				if s.Accepts(sent[:i], history) {
					taken = i
				}
			}
			if want := Match(sent, history)[len(history)-1]; taken != want {
				err = fmt.Errorf("sends %v, receives %v: the last get takes the entry of send %d, expected %d",
					sent, history, taken, want)
			}
			return err == nil
		})
		return err == nil
	})
	return gets, err
}

// eachSequence calls f with all sequences of 1 to length tags. Of two tags they are sends, of three
// receives.
func eachSequence(tags, length int, f func([]Tag) bool) {
	for n := 1; n <= length; n++ {
		list := make([]Tag, n)
		total := 1
		for range n {
			total *= tags
		}
		for v := range total {
			for i := n - 1; i >= 0; i-- {
				list[i] = Tag(v % tags)
				if tags == 2 {
					list[i]++
				}
				v /= tags
			}
			if !f(list) {
				return
			}
		}
	}
}

// Behaviours counts the histories of up to so many receives that some sequence of up to so many
// sends tells apart. Two such histories need different codes, so every scheme, whatever its codes,
// needs bits for as many codes.
func Behaviours(sends, receives int) int {
	seen := map[string]bool{}
	eachSequence(3, receives, func(history []Tag) bool {
		var key []byte
		eachSequence(2, sends, func(sent []Tag) bool {
			key = append(key, byte(Match(sent, history)[len(history)-1]))
			return true
		})
		seen[string(key)] = true
		return true
	})
	return len(seen)
}

// ReceivesBeyond is the smallest number of receives, with as many sends, that has more behaviours
// than codes of so many bits, so that no scheme exists. The behaviours of exactly n receives follow
// b(n) = 3 b(n-1) - b(n-2) with 3, 7, 18, 47, 123 as far as Behaviours was counted (n = 5); this
// function continues the sequence, which is an extrapolation.
func ReceivesBeyond(bits int) int {
	codes := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	before, now, total := big.NewInt(2), big.NewInt(3), big.NewInt(3)
	n := 1
	for ; total.Cmp(codes) <= 0; n++ {
		next := new(big.Int).Mul(now, big.NewInt(3))
		before, now = now, next.Sub(next, before)
		total.Add(total, now)
	}
	return n
}
