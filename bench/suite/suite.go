// Package suite is the regression list of the NIC: the tests of its topics in their order.
//
// Each topic is a package of its own below this one. Package nictest is what their tests have in
// common; package regress runs them.
package suite

import (
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/board"
	"github.com/nicloop/nicloop/bench/suite/bus"
	"github.com/nicloop/nicloop/bench/suite/faults"
	"github.com/nicloop/nicloop/bench/suite/isolation"
	"github.com/nicloop/nicloop/bench/suite/links"
	"github.com/nicloop/nicloop/bench/suite/messages"
	"github.com/nicloop/nicloop/bench/suite/rma"
	"github.com/nicloop/nicloop/bench/suite/velo"
)

// List returns the regression list: the tests of all topics, and then those that regress.Add has
// added.
func List() []regress.Test {
	list := append(append([]regress.Test{}, velo.Directed()...), links.Links()...)
	list = append(list, links.Network()...)
	list = append(list, rma.Tests()...)
	list = append(list, rma.Rates()...)
	list = append(append(list, rma.HeldUp()...), rma.Paths()...)
	list = append(list, isolation.Fences()...)
	list = append(list, isolation.SendWindows()...)
	list = append(list, isolation.Domains()...)
	list = append(list, isolation.Lives()...)
	list = append(list, isolation.HoldTimes()...)
	list = append(list, velo.FlowControl()...)
	list = append(list, messages.Matching()...)
	list = append(list, messages.Collectives()...)
	list = append(list, faults.Tests()...)
	list = append(list, bus.PCIe()...)
	list = append(list, bus.AXI()...)
	list = append(list, board.Tests()...)
	list = append(list, velo.FlowCorners()...)
	list = append(list, regress.Added()...)
	for i := range list {
		if area, _, _ := strings.Cut(list[i].Name, "/"); slices.Contains(conformAreas(), area) {
			list[i].Tags = append(slices.Clip(list[i].Tags), regress.Conform)
		}
	}
	return list
}

// conformAreas are the areas whose tests every backend must pass.
func conformAreas() []string {
	return []string{"velo", "rma", "matching", "collectives"}
}

// Conformance returns the part of the list that every backend must pass.
func Conformance() []regress.Test {
	return slices.DeleteFunc(List(), func(t regress.Test) bool { return !slices.Contains(t.Tags, regress.Conform) })
}
