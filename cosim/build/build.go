package build

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nicloop/nicloop/cosim/dpi"
)

// A Model is a built simulator in the cache.
type Model struct {
	Dir      string // holds everything below
	Program  string // the simulator
	Hash     [32]byte
	DescHash uint64
	Dims     [3]int
	Tool     string // the version of Verilator
	Built    bool   // by this call, not found
	Seconds  float64
}

// HashText is the hash as it is printed.
func (m *Model) HashText() string { return hex.EncodeToString(m.Hash[:]) }

// Build finds or builds the model of spec.
func Build(ctx context.Context, spec Spec) (*Model, error) {
	start := time.Now()
	t, err := findTools(ctx)
	if err != nil {
		return nil, err
	}
	in, err := spec.inputs()
	if err != nil {
		return nil, err
	}
	desc, err := descHashOf(in)
	if err != nil {
		return nil, err
	}
	m := &Model{Hash: spec.hash(t, in), DescHash: desc, Dims: spec.Dims, Tool: t.verilatorVersion}
	c, err := openCache()
	if err != nil {
		return nil, err
	}
	m.Dir = c.place(m.HashText())
	m.Program = filepath.Join(m.Dir, "sim")
	m.Built, err = c.provide(ctx, m.HashText(), func(dir string) error { return spec.build(ctx, t, m, in, dir) })
	m.Seconds = time.Since(start).Seconds()
	if err != nil {
		return nil, err
	}
	return m, nil
}

// build fills dir with the model.
func (s *Spec) build(ctx context.Context, t *tools, m *Model, in map[string][]byte, dir string) error {
	if err := s.lay(m, in, dir); err != nil {
		return err
	}
	mesh := FormatDims(s.Dims)
	log := newBuildLog(filepath.Join(filepath.Dir(dir), "failed-"+m.HashText()[:16]+".log"))
	s.progress("verilating the " + mesh + " mesh")
	if err := log.run(ctx, filepath.Join(dir, "rtl"), t.verilator, s.verilatorArgs()...); err != nil {
		return err
	}
	s.progress("compiling the " + mesh + " mesh")
	args := append([]string{"-j", "2", "-f", s.makefile(), "OBJCACHE=" + t.ccache, "CXX=" + t.cxx, "LINK=" + t.cxx}, makeFlags...)
	if err := log.run(ctx, filepath.Join(dir, "obj"), t.make, args...); err != nil {
		return err
	}
	return prune(dir)
}

func (s *Spec) progress(what string) {
	if s.Progress != nil {
		s.Progress(what)
	}
}

// lay writes the sources and the configuration of main.cpp. Only main.cpp sees the
// build hash, so the compiler cache serves the rest for every mesh.
func (s *Spec) lay(m *Model, in map[string][]byte, dir string) error {
	for _, name := range sortedNames(in) {
		if err := writeFile(filepath.Join(dir, name), in[name]); err != nil {
			return err
		}
	}
	if s.hierarchical() {
		if err := writeFile(filepath.Join(dir, "rtl", meshFile), s.meshTop()); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#define NL_NODES %d\n", s.Nodes())
	for i, axis := range "XYZ" {
		fmt.Fprintf(&b, "#define NL_DIM_%c %d\n", axis, s.Dims[i])
	}
	fmt.Fprintf(&b, "#define NL_VPIDS %d\n#define NL_DESC_HASH 0x%xull\n#define NL_BUILD_HASH %q\n", VPIDs, m.DescHash, m.HashText())
	return writeFile(filepath.Join(dir, "cpp", "nl_config.h"), []byte(b.String()))
}

func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// verilatorArgs: paths are relative, so messages name core/fifo.sv, and so the
// compiler cache does not see the build directory.
func (s *Spec) verilatorArgs() []string {
	args := append([]string{"-Mdir", "../obj"}, verilatorFlags...)
	args = append(args, s.topArgs()...)
	if s.Include != "" {
		args = append(args, "-I"+s.Include)
	}
	args = append(args, s.Files...)
	if s.hierarchical() {
		args = append(args, meshFile)
	}
	for _, name := range dpi.SimulatorFiles {
		args = append(args, "../cpp/"+name)
	}
	return args
}

// prune keeps the simulator and what Link needs: headers, the library of the model,
// Verilator's runtime objects and the C++ side.
func prune(dir string) error {
	if err := os.Rename(filepath.Join(dir, "obj", "Vsim_top"), filepath.Join(dir, "sim")); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "obj"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		keep := strings.HasSuffix(name, ".h") || name == "Vsim_top__ALL.a" ||
			strings.HasPrefix(name, "verilated") && strings.HasSuffix(name, ".o")
		if !keep {
			if err := os.RemoveAll(filepath.Join(dir, "obj", name)); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(filepath.Join(dir, "rtl"))
}
