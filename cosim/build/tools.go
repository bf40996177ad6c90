package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sys/cpu"

	"github.com/nicloop/nicloop/drivers"
)

// tools are the paths and versions of the programs that a build needs.
type tools struct {
	verilator, make, cxx, ar, ccache string
	verilatorVersion, cxxVersion     string
	yosys, yosysVersion              string // only for a netlist
	arch                             string // compiler flag for this machine's instruction set

	log *logrus.Logger // nil: the standard logger
}

// nodeMakefile compiles the verilated node. -O2 is as fast as -O3 in the bare bench (0.87 to 1.0 of
// its time) and compiles faster. Run time is dominated by eval(); constructors, wave dumping and
// Verilator's runtime run rarely and compile slowly, so they are not optimised. The same applies to
// all of a netlist, which runs for minutes at most.
func (t *tools) nodeMakefile(s *Spec) string {
	top, fast := s.top(), "-O2 "
	if s.Netlist {
		fast = "-O1 "
	}
	text := "include V" + top + ".mk\n" +
		"OPT_FAST = " + fast + t.arch + "\nOPT_SLOW = -O0\nOPT_GLOBAL = -O1 " + t.arch + "\n" +
		"V" + top + "__Trace__%.o: OPT_FAST = -O1\n"
	if s.Shared {
		text += "CPPFLAGS += " + quoted(sharedFlags) + "\n"
	}
	return text
}

// archFlag selects the instruction set: popcnt (v2) gains a third of the speed, v3 another 7 to 9
// %. It is part of a model's hash, so a cache shared by several machines has a model for each.
func archFlag() string {
	if cpu.X86.HasAVX2 && cpu.X86.HasBMI2 && cpu.X86.HasFMA {
		return "-march=x86-64-v3"
	}
	return "-march=x86-64-v2"
}

var packages = []struct {
	program, deb string
	path         func(*tools) *string
}{
	{"verilator", "verilator", func(t *tools) *string { return &t.verilator }},
	{"make", "make", func(t *tools) *string { return &t.make }},
	{"g++", "g++", func(t *tools) *string { return &t.cxx }},
	{"ar", "binutils", func(t *tools) *string { return &t.ar }},
	{"ccache", "ccache", func(t *tools) *string { return &t.ccache }},
}

func findTools(ctx context.Context) (*tools, error) {
	t := &tools{arch: archFlag()}
	for _, p := range packages {
		path, err := exec.LookPath(p.program)
		if err != nil {
			return nil, fmt.Errorf("%w: %s, needed to build the simulator (not in PATH); apt-get install %s",
				drivers.ErrEnvironment, p.program, p.deb)
		}
		*p.path(t) = path
	}
	var err error
	if t.verilatorVersion, err = version(ctx, t.verilator); err != nil {
		return nil, err
	}
	t.cxxVersion, err = version(ctx, t.cxx)
	return t, err
}

// versions caches the versions of programs by file identity: asking Verilator takes as long as a
// short test.
var versions sync.Map

// program identifies a file at the time of the query.
type program struct {
	path string
	size int64
	at   time.Time
}

// version queries a program once per file identity.
func version(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	key := program{path, info.Size(), info.ModTime()}
	if line, ok := versions.Load(key); ok {
		return line.(string), context.Cause(ctx)
	}
	line, err := firstLine(ctx, path, "--version")
	if err == nil {
		versions.Store(key, line)
	}
	return line, err
}

func firstLine(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx) // the tool may be intact
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s %s does not work: %w", drivers.ErrEnvironment, program, strings.Join(args, " "), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}
