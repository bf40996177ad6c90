package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
)

// BoardMemory is the memory of a simulated board.
const BoardMemory = 1 << 20

// ChipMemory is the memory of the small board: the block RAM of ice40_top.
const ChipMemory = 4096

// DefaultVCDepth is the default number of entries of a virtual channel.
const DefaultVCDepth = 16

// A Spec describes a node. Nodes of one kind form a mesh of any size for which they have ports: see
// [machine.PortsFor].
type Spec struct {
	RTL     fs.FS    // SystemVerilog sources
	Files   []string // files to compile, in order; one is nicloop_pkg.sv
	Include string   // directory of the .svh files
	Tree    string   // path of RTL if it is a working tree, whose builds are remembered to report changes
	Ports   int      // 3, 5 or 7: one, two or three dimensions
	Torus   bool     // with virtual channels for wrap-around wires
	VCDepth int      // 0: DefaultVCDepth
	// Board builds the node of a board (rtl/board/nic_uart.sv) with BoardMemory bytes, and a
	// program with one or two of them whose serial lines are pseudo-terminals (cosim/dpi,
	// board.cpp).
	Board bool
	// Chip, in addition to Board, builds the small board of an iCE40 (rtl/board/ice40_top.sv)
	// instead, with ChipMemory bytes and its link in loopback. Netlist simulates the netlist that
	// yosys generates from it with rtl/board/ice40.ys in place of the RTL.
	Chip, Netlist bool
	// PCIe connects the node to its host through PCIe (rtl/board/nic_pcie.sv) and a root complex
	// instead of AXI.
	PCIe bool
	// PHY, in addition to PCIe, inserts the model of a board's hard block and its shim: see PHYs.
	PHY string
	// AXI connects the node to its host through AXI in a clock domain of the host
	// (rtl/board/axi_front.sv), instead of AXI in the core's clock domain.
	AXI bool
	// Coverage counts covered lines and toggles (--coverage of the simulator).
	Coverage bool
	// Design names a design other than this project's NIC. RTL then contains a sim_node.sv for it,
	// and a nicloop_pkg.sv with the hash of its registers; Flags are additional arguments of
	// Verilator, and Headers files that it may include.
	Design         string
	Flags, Headers []string
	// ClockPS is the period of the clock in picoseconds; 0: that of this project's NIC.
	ClockPS int
	Shared  bool // build a shared object for the caller's process instead of a program

	Progress func(what string) // may be nil
	Log      *logrus.Logger    // nil: the standard logger
}

// PHYs are the formats of TLP streams available behind PCIe, indexed by their number in
// rtl/sim/pcie_host.sv: those of LitePCIe's S7PCIEPHY and of a Xilinx 7-series integrated block,
// with 64 and 128 bits.
var PHYs = []string{"", "litepcie", "litepcie128", "7series", "7series128"}

func (s *Spec) depth() int {
	if s.VCDepth == 0 {
		return DefaultVCDepth
	}
	return s.VCDepth
}

func (s *Spec) torus() int {
	if s.Torus {
		return 1
	}
	return 0
}

// name is a description of the node type.
func (s *Spec) name() string {
	kind := "mesh"
	if s.Torus {
		kind = "torus"
	}
	switch {
	case s.Design != "":
		return "the design " + s.Design
	case s.Netlist:
		return "the netlist of the small board"
	case s.Chip:
		return "the small board"
	case s.Board:
		return fmt.Sprintf("a board of %d ports, depth %d", s.Ports, s.depth())
	}
	name := fmt.Sprintf("a %s node of %d ports, depth %d", kind, s.Ports, s.depth())
	if s.PCIe {
		name += ", behind PCIe"
	}
	if s.PHY != "" {
		name += " (" + s.PHY + ")"
	}
	if s.AXI {
		name += ", behind AXI in a clock of its own"
	}
	if s.Coverage {
		name += ", that counts coverage"
	}
	return name
}

// parameters are the arguments of Verilator that select the node type.
func (s *Spec) parameters() []string {
	if s.Chip {
		return nil
	}
	if s.Board {
		return []string{fmt.Sprintf("-GPORTS=%d", s.Ports), fmt.Sprintf("-GVC_DEPTH=%d", s.depth()), "-GSHAPE_INPUT=1", fmt.Sprintf("-GMEMORY_BYTES=%d", BoardMemory)}
	}
	list := []string{fmt.Sprintf("-GPORTS=%d", s.Ports), fmt.Sprintf("-GTORUS=%d", s.torus()), fmt.Sprintf("-GVC_DEPTH=%d", s.depth())}
	if s.PCIe {
		list = append(list, "-GBUS=1")
	}
	if s.PHY != "" {
		list = append(list, fmt.Sprintf("-GPHY=%d", slices.Index(PHYs, s.PHY)))
	}
	if s.AXI {
		list = append(list, "-GBUS=2")
	}
	list = append(list, s.Flags...)
	if s.Coverage {
		list = append(list, "--coverage-line", "--coverage-toggle")
	}
	return list
}

// modelHeader defines the parameters of the library for node.h.
func (s *Spec) modelHeader() []byte {
	text := fmt.Appendf(nil, "#define NL_PORTS %d\n#define NL_TORUS %d\n#define NL_VC_DEPTH %d\n", s.Ports, s.torus(), s.depth())
	if s.PCIe {
		text = append(text, "#define NL_PCIE 1\n"...)
	}
	if s.AXI {
		text = append(text, "#define NL_AXI 1\n"...)
	}
	if s.Chip {
		text = append(text, "#define NL_CHIP 1\n"...)
	}
	if s.ClockPS != 0 {
		text = fmt.Appendf(text, "#define NL_PERIOD_PS %d\n", s.ClockPS)
	}
	return text
}

// verilatorArgs uses relative paths, so that messages name core/fifo.sv, and the compiler cache
// does not depend on the build directory.
func (s *Spec) verilatorArgs() []string {
	args := append([]string{"-Mdir", "../obj"}, s.verilatorFlags()...)
	args = append(args, s.parameters()...)
	if s.Include != "" {
		args = append(args, "-I"+s.Include)
	}
	if s.Netlist {
		return append(args, "-DNO_ICE40_DEFAULT_ASSIGNMENTS", modelsFile, lutFile, netlistFile) // Verilator 5.006 does not support ports with defaults
	}
	return append(args, s.Files...)
}

// top is the verilated module. Verilator's output is named V plus this name.
func (s *Spec) top() string {
	if s.Chip {
		return "ice40_top"
	}
	if s.Board {
		return "nic_uart"
	}
	return "sim_node"
}

// verilatorFlags and programFlags are compiler flags; see also nodeMakefile.
func (s *Spec) verilatorFlags() []string {
	flags := []string{"--cc", "--assert"}
	if !s.Chip { // it has no waves, and tracing code would dominate a netlist
		flags = append(flags, "--trace-fst")
	}
	return append(flags,
		"-O3", "--x-assign", "fast", "--x-initial", "unique", "--output-split", "20000",
		"--prefix", "V"+s.top(), "--top-module", s.top(), "-Wno-fatal", "-Wno-lint", "-Wno-style",
		"-CFLAGS", "-std=c++17 -DVL_USER_STOP -DVL_USER_FATAL -DVL_USER_FINISH",
	)
}

var programFlags = []string{"-std=c++17", "-O2", "-DVL_USER_STOP", "-DVL_USER_FATAL", "-DVL_USER_FINISH", "-DVM_TRACE=1", "-DVM_TRACE_FST=1"}

// inputs returns the RTL files of a build by their path in its directory.
func (s *Spec) inputs() (map[string][]byte, error) {
	in := map[string][]byte{}
	names := slices.Clone(s.Files)
	headers, err := fs.Glob(s.RTL, path.Join(s.Include, "*.svh"))
	if err != nil {
		return nil, err
	}
	if s.Netlist {
		names = append(names, synthesisScript)
	}
	for _, name := range slices.Concat(names, headers, s.Headers) {
		if in["rtl/"+name], err = fs.ReadFile(s.RTL, name); err != nil {
			return nil, fmt.Errorf("RTL source: %w", err)
		}
	}
	return in, nil
}

// layout is a version of the format of cache entries, so that programs with different formats do
// not share entries.
const layout = "2: with a manifest"

func (s *Spec) hash(t *tools, in map[string][]byte) [32]byte {
	h := sha256.New()
	for _, part := range [][]string{
		{layout, t.verilatorVersion, t.cxxVersion}, s.verilatorFlags(), {t.nodeMakefile(s)}, {headerMember, inputsGuard}, s.parameters(), s.Files, {s.Include},
	} {
		writePart(h, []byte(strings.Join(part, "\n")))
	}
	if s.Netlist {
		writePart(h, []byte(strings.Join(append(synthesisArgs(s.Files), t.yosysVersion, modelsFile), "\n")))
		writePart(h, lutModel)
	}
	if s.ClockPS != 0 { // the NIC's libraries keep the hashes that they had without this part
		writePart(h, fmt.Appendf(nil, "clock of %d ps", s.ClockPS))
	}
	for _, name := range sortedNames(in) {
		writePart(h, []byte(name))
		writePart(h, in[name])
	}
	return [32]byte(h.Sum(nil))
}

// writePart hashes data with its length, so that the boundary between parts is part of the hash.
func writePart(h hash.Hash, data []byte) {
	fmt.Fprintf(h, "%d:", len(data))
	h.Write(data)
}

func sortedNames(in map[string][]byte) []string {
	names := make([]string, 0, len(in))
	for name := range in {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var descHash = regexp.MustCompile(`DESC_HASH_VALUE = 64'h([0-9a-fA-F]+)`)

// descHashOf finds the hash of the description from which the RTL was generated. It is taken from
// the RTL, not from this program, so that the handshake can compare the two.
func descHashOf(in map[string][]byte) (uint64, error) {
	for _, name := range sortedNames(in) {
		if path.Base(name) != "nicloop_pkg.sv" {
			continue
		}
		if m := descHash.FindSubmatch(in[name]); m != nil {
			return strconv.ParseUint(string(m[1]), 16, 64)
		}
		return 0, fmt.Errorf("%s: no DESC_HASH_VALUE; run go generate ./drivers/regs", name)
	}
	return 0, errors.New("RTL sources: no nicloop_pkg.sv among them")
}
