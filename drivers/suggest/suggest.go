// Package suggest finds the valid name that a user probably meant.
package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Nearest returns `, did you mean "x"?` for the candidate nearest to name, or "" if none is near.
func Nearest(name string, candidates []string) string {
	best, dist := "", 3
	for _, c := range candidates {
		if d := editDistance(name, c); d < dist {
			best, dist = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// Some returns `, did you mean "x", "y" or "z"?` for at most that number of candidates: those with
// few differences, and those that begin with the same word. It returns "" if none is near.
func Some(name string, candidates []string, most int) string {
	type near struct {
		word     string
		distance int
	}
	var list []near
	upper := strings.ToUpper(name)
	for _, c := range candidates {
		d := editDistance(upper, strings.ToUpper(c))
		if d < 3 || sharesStart(upper, strings.ToUpper(c)) {
			list = append(list, near{c, d})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	if len(list) == 0 {
		return ""
	}
	var words []string
	for _, n := range list[:min(most, len(list))] {
		words = append(words, fmt.Sprintf("%q", n.word))
	}
	last := len(words) - 1
	if last == 0 {
		return ", did you mean " + words[0] + "?"
	}
	return ", did you mean " + strings.Join(words[:last], ", ") + " or " + words[last] + "?"
}

// sharesStart reports whether two names begin with the same word of at least two letters.
func sharesStart(a, b string) bool {
	first, _, _ := strings.Cut(a, "_")
	other, _, _ := strings.Cut(b, "_")
	return len(first) >= 2 && first == other
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
