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

	"github.com/nicloop/nicloop/cosim/dpi"
)

// VPIDs is the number of processes per node of every model.
const VPIDs = 16

// A Spec says which model is wanted.
type Spec struct {
	RTL     fs.FS    // SystemVerilog sources
	Files   []string // those to compile, in order; one is nicloop_pkg.sv
	Include string   // the folder of the .svh files
	Dims    [3]int
	Torus   bool // with wires from end to end of every dimension of more than two nodes
	// Zero means the default of sim_top.
	VCDepth, HostWriteLatency int

	Progress func(what string) // may be nil
}

// Nodes is the size of the mesh or torus.
func (s *Spec) Nodes() int { return s.Dims[0] * s.Dims[1] * s.Dims[2] }

// parameters are the -G arguments of Verilator.
func (s *Spec) parameters() []string {
	p := []string{
		fmt.Sprintf("-GNODES=%d", s.Nodes()),
		fmt.Sprintf("-GDIM_X=%d", s.Dims[0]), fmt.Sprintf("-GDIM_Y=%d", s.Dims[1]), fmt.Sprintf("-GDIM_Z=%d", s.Dims[2]),
	}
	if s.Torus {
		p = append(p, "-GTORUS=1")
	}
	if s.VCDepth != 0 {
		p = append(p, fmt.Sprintf("-GVC_DEPTH=%d", s.VCDepth))
	}
	if s.HostWriteLatency != 0 {
		p = append(p, fmt.Sprintf("-GHOST_WR_LATENCY=%d", s.HostWriteLatency))
	}
	return p
}

// Flags of the two compilers. x86-64-v2 brings popcnt, which is a third of the speed,
// and runs on every server of the last ten years. The time lies in eval(), which is
// OPT_FAST; constructors and tracing are OPT_SLOW and cheap to compile.
var (
	verilatorFlags = []string{
		"--cc", "--exe", "--assert", "--trace-fst", "-O3", "--x-assign", "fast", "--output-split", "20000",
		"--prefix", "Vsim_top", "-Wno-fatal", "-Wno-lint", "-Wno-style",
		"-CFLAGS", "-std=c++17 -DVL_USER_STOP -DVL_USER_FATAL -DVL_USER_FINISH",
	}
	makeFlags = []string{"OPT_FAST=-O3 -march=x86-64-v2", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2 -march=x86-64-v2"}
)

// inputs lists all files of a build with a prefix that tells RTL from C++.
func (s *Spec) inputs() (map[string][]byte, error) {
	in := map[string][]byte{}
	names := slices.Clone(s.Files)
	headers, err := fs.Glob(s.RTL, path.Join(s.Include, "*.svh"))
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, headers...) {
		if in["rtl/"+name], err = fs.ReadFile(s.RTL, name); err != nil {
			return nil, fmt.Errorf("RTL source: %w", err)
		}
	}
	sources, err := fs.Glob(dpi.Sources, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range sources {
		if in["cpp/"+name], err = fs.ReadFile(dpi.Sources, name); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (s *Spec) hash(t *tools, in map[string][]byte) [32]byte {
	h := sha256.New()
	for _, part := range [][]string{
		{t.verilatorVersion, t.cxxVersion}, verilatorFlags, makeFlags, s.parameters(), s.Files, {s.Include},
	} {
		writePart(h, []byte(strings.Join(part, "\n")))
	}
	for _, name := range sortedNames(in) {
		writePart(h, []byte(name))
		writePart(h, in[name])
	}
	return [32]byte(h.Sum(nil))
}

// writePart hashes data with its length, so that parts cannot flow into each other.
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

// descHashOf finds the hash of the description that the RTL was generated from:
// taken from the RTL, not from this program, so that the handshake can compare.
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
