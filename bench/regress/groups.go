package regress

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
)

var numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?`)

// Signature is what failures of one cause have in common: the assertion of the RTL; else where
// device and reference part; else what kind of hang it is; else the first line of the error,
// without numbers.
func (o *Outcome) Signature() string {
	var v *bench.Verdict
	var asserted *drivers.AssertionError
	var slow *SlowError
	switch {
	case !o.Status.Bad() || o.Err == nil:
		return ""
	case errors.As(o.Err, &asserted):
		return "assertion: " + asserted.Source + ": " + numbers.ReplaceAllString(asserted.Text, "N")
	case errors.As(o.Err, &slow) && o.Parted == nil:
		return "slower than its " + slow.Source
	case o.Parted != nil:
		return "first divergence: " + o.Parted.Signature()
	case errors.As(o.Err, &v):
		return "hang: " + string(v.Class)
	}
	head, _, _ := strings.Cut(o.Err.Error(), "\n")
	return numbers.ReplaceAllString(head, "N")
}

// A Group is failures with one signature, in order of the list.
type Group struct {
	Signature string
	Of        []*Outcome
}

// Groups sorts failures by signature, in order of the first of each.
func Groups(list []Outcome) (groups []Group) {
	at := map[string]int{}
	for i := range list {
		s := list[i].Signature()
		if s == "" {
			continue
		}
		n, ok := at[s]
		if !ok {
			n = len(groups)
			at[s] = n
			groups = append(groups, Group{Signature: s})
		}
		groups[n].Of = append(groups[n].Of, &list[i])
	}
	return groups
}

// Seeds lists the tests of a group, each with its seeds.
func (g *Group) Seeds() string {
	var order []string
	seeds := map[string][]string{}
	for _, o := range g.Of {
		if seeds[o.Test.Name] == nil {
			order = append(order, o.Test.Name)
		}
		seeds[o.Test.Name] = append(seeds[o.Test.Name], fmt.Sprint(o.Seed))
	}
	for i, name := range order {
		word := "seed"
		if len(seeds[name]) > 1 {
			word = "seeds"
		}
		order[i] = fmt.Sprintf("%s (%s %s)", name, word, strings.Join(seeds[name], ", "))
	}
	return strings.Join(order, ", ")
}
