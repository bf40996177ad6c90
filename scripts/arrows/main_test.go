package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArrows(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		ok       bool
	}{
		{"host", "drivers", true},
		{"host/eager", "velo", true},
		{"host", "cosim/bridge", false},
		{"velo", "bench", false},
		{"rma", "cosim", false},
		{"mailbox/explore", "mailbox", true},
		{"mailbox/explore", "mailbox/modelcheck", true},
		{"host/threshold/explore", "mailbox/modelcheck", true},
		{"mailbox", "drivers/regs", true},
		{"mailbox", "drivers", false},
		{"mailbox", "drivers/regsx", false},
		{"drivers/pcie", "drivers/regs", true},
		{"cosim/ideal", "drivers/regs", true},
		{"drivers", "cosim/dpi", false},
		{"cosim/rtl", "rtl", true},
		{"cosim", "velo", false},
		{"bench", "cosim/rtl", true},
		{"bench", "cmd/nicloop", false},
		{"attic", "drivers", false},
		{"drivers/all", "cosim/rtl", true},
		{"cmd/nicloop", "drivers/all", true},
		{"host", "drivers/all", false},
		{"drivers/pcie", "drivers/all", false},
	} {
		for _, p := range []pkg{
			{ImportPath: module + tc.from, Imports: []string{"fmt", module + tc.to}},
			{ImportPath: module + tc.from, TestImports: []string{module + tc.to}},
			{ImportPath: module + tc.from, XTestImports: []string{module + tc.to}},
		} {
			err := check([]pkg{p})
			if tc.ok {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.from)
			}
		}
	}
}

// No path knows another, and no core knows a path.
func TestFloors(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		ok       bool
	}{
		{"host", "host/path/ring", true},
		{"host/path/ring", "host/path", true},
		{"host/path/ring", "host/reuse", true},
		{"host/path/ring", "host/path/eager", false},
		{"host/path/ring", "host", false},
		{"host/path", "host/path/ring", false},
		{"cosim/model", "cosim/build", false},
		{"cosim/model", "cosim/machine", true},
		{"cosim/machine", "cosim/nic", false},
		{"host/path", "host/rendezvous", false},
		{"host/rendezvous", "host/path", false},
		{"host/rendezvous", "host/match", true},
		{"host/rendezvous/explore", "host/rendezvous", true},
		{"host/match", "host", false},
		{"mailbox/modelcheck", "mailbox", false},
		{"bench/regress", "bench/suite", false},
		{"bench/suite", "bench/suite/velo", true},
		{"bench/suite/velo", "bench/suite/rma", false},
		{"bench/suite/faults", "bench/suite/messages", true},
		{"bench/suite/nictest", "bench/suite/velo", false},
		{"bench/paper/spec", "bench/paper/fc", false},
		{"bench/reproduce", "bench/paper/fc", true},
	} {
		err := check([]pkg{{ImportPath: module + tc.from, Imports: []string{module + tc.to}}})
		require.Equal(t, tc.ok, err == nil, "%s imports %s: %v", tc.from, tc.to, err)
	}
}

func TestOnlyTestsSeeTheIdealNIC(t *testing.T) {
	for _, from := range []string{"velo", "rma/conformance", "host"} {
		ideal := []string{module + "cosim/ideal"}
		require.NoError(t, check([]pkg{{ImportPath: module + from, TestImports: ideal, XTestImports: ideal}}))
		require.ErrorContains(t, check([]pkg{{ImportPath: module + from, Imports: ideal}}), from)
		model := []string{module + "cosim/model"}
		require.ErrorContains(t, check([]pkg{{ImportPath: module + from, TestImports: model}}), from)
	}
}
