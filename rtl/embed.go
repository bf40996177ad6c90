// Package rtl carries the SystemVerilog sources, so that a program can build the simulation it
// needs without a checkout at hand.
//
// The files design.flist, simulation.flist, pcie.flist, axi.flist and board.flist list them in
// compile order and are the only lists: building, linting and synthesis all use them, and a working
// tree that is simulated instead has its own. A caller passes the include directory [Include] along
// with [SimulationFiles].
package rtl

import (
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Sources holds every file that the simulations, and netlists, are built from, by its path below
// this folder.
//
//go:embed design.flist simulation.flist pcie.flist axi.flist board.flist nicloop_pkg.sv core/*.sv host/*.sv sim/*.sv sim/*.svh board/*.sv board/*.ys
var Sources embed.FS

// Include is the folder of the .svh files.
const Include = "sim"

// DesignFiles lists the synthesizable files; the top module is nic_core.
func DesignFiles() []string { return must(DesignOf(Sources)) }

// SimulationFiles lists the files of the simulation, the design included; the top module is
// sim_node.
func SimulationFiles() []string { return must(SimulationOf(Sources)) }

// PCIeFiles is SimulationFiles with what BUS 1 of sim_node takes: a node behind PCIe.
func PCIeFiles() []string { return must(PCIeOf(Sources)) }

// AXIFiles is SimulationFiles with what BUS 2 of sim_node takes: a node behind AXI, in a clock of
// its own.
func AXIFiles() []string { return must(AXIOf(Sources)) }

// BoardFiles lists the files of a board, the design included; the top module is nic_uart. See
// board/README.md.
func BoardFiles() []string { return must(BoardOf(Sources)) }

// HostFiles lists the bus models that connect any design to a simulation (package cosim/design).
func HostFiles() []string {
	names, err := fs.Glob(Sources, "host/*.sv")
	return must(names, err)
}

// DesignOf is DesignFiles of another tree.
func DesignOf(tree fs.FS) ([]string, error) { return readList(tree, "design.flist") }

// SimulationOf is SimulationFiles of another tree.
func SimulationOf(tree fs.FS) ([]string, error) {
	return withDesign(tree, "simulation.flist")
}

// BoardOf is BoardFiles of another tree.
func BoardOf(tree fs.FS) ([]string, error) {
	return withDesign(tree, "board.flist")
}

// PCIeOf is SimulationFiles of another tree, with what BUS 1 of sim_node takes.
func PCIeOf(tree fs.FS) ([]string, error) { return withHost(tree, "pcie.flist") }

// AXIOf is SimulationFiles of another tree, with what BUS 2 of sim_node takes.
func AXIOf(tree fs.FS) ([]string, error) { return withHost(tree, "axi.flist") }

// withHost has the files of a host of its own in front of the top.
func withHost(tree fs.FS, name string) ([]string, error) {
	files, err := SimulationOf(tree)
	if err != nil {
		return nil, err
	}
	more, err := readList(tree, name)
	return slices.Concat(files[:len(files)-1], more, files[len(files)-1:]), err
}

func withDesign(tree fs.FS, name string) ([]string, error) {
	design, err := DesignOf(tree)
	if err != nil {
		return nil, err
	}
	rest, err := readList(tree, name)
	return slices.Concat(design, rest), err
}

// readList reads a list: a file per line, by its path in the tree.
func readList(tree fs.FS, name string) ([]string, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	var list []string
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !fs.ValidPath(line) || filepath.Ext(line) != ".sv" {
			return nil, fmt.Errorf("%s:%d: %q: expected the path of an .sv file below the folder of the list", name, i+1, line)
		}
		list = append(list, line)
	}
	return list, nil
}

// must is for the sources that this program carries.
func must(list []string, err error) []string {
	if err != nil {
		panic(err)
	}
	return list
}
