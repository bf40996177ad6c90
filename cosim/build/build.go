package build

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/cosim/dpi"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// A Model is a built simulator in the cache.
type Model struct {
	Program  string // the simulator, or the shared object
	Hash     [32]byte
	DescHash uint64
	Tool     string // the version of Verilator
	Built    bool   // by this call, not found in the cache
	Seconds  float64

	lib library
}

// A library is the compiled, verilated node in the cache, which every program around it links. It
// does not depend on the C++ side.
type library struct {
	dir    string
	top    string // the verilated module
	hash   [32]byte
	shared bool
	counts bool // coverage
}

// HashText is the hash as printed.
func (m *Model) HashText() string { return hex.EncodeToString(m.Hash[:]) }

// Build returns the simulator of spec, from the cache if possible.
func Build(ctx context.Context, spec Spec) (*Model, error) {
	start := time.Now()
	in, err := spec.inputs()
	if err != nil {
		return nil, err
	}
	desc, err := descHashOf(in)
	if err != nil {
		return nil, err
	}
	c, err := openCache(spec.Progress)
	if err != nil {
		return nil, err
	}
	c.log = spec.Log
	sources, err := spec.sources()
	if err != nil {
		return nil, err
	}
	ordered := spec.ordered(in, sources)
	m := &Model{DescHash: desc, lib: library{top: spec.top(), shared: spec.Shared, counts: spec.Coverage}}
	t, err := findTools(ctx)
	if err == nil && spec.Netlist {
		err = t.findYosys(ctx)
	}
	if err != nil {
		return c.withoutTools(err, ordered, m)
	}
	t.log = spec.Log
	m.Tool, m.lib.hash = t.verilatorVersion, spec.hash(t, in)
	m.lib.dir = c.path(hex.EncodeToString(m.lib.hash[:]))
	m.Hash = m.lib.programHash(sources)
	m.Program = filepath.Join(c.path(m.HashText()), m.lib.programName())
	if what := spec.changed(c, in); what != "" {
		c.tell(what)
	}
	if err := spec.buildProgram(ctx, c, t, m, in, sources); err != nil {
		return nil, err
	}
	m.Seconds = time.Since(start).Seconds()
	logs.Layer(spec.Log, "build").WithFields(logrus.Fields{"node": spec.name(), "hash": m.HashText()[:12], "built": m.Built, "seconds": m.Seconds}).Debug("simulator found or built")
	c.file(ordered, receipt{Program: m.HashText(), Library: filepath.Base(m.lib.dir), Tool: m.Tool})
	spec.remember(c, in)
	return m, nil
}

// buildProgram finds or builds the program of a model, after its library.
func (s *Spec) buildProgram(ctx context.Context, c cache, t *tools, m *Model, in, sources map[string][]byte) (err error) {
	what := thing{m.HashText(), "the simulator of " + s.name(), t.verilatorVersion}
	m.Built, err = c.provide(ctx, what, func(dir string) error {
		r := s.newReport()
		if err := s.library(ctx, c, t, m.lib, in, r); err != nil {
			return err
		}
		config := fmt.Sprintf("#define NL_VPIDS %d\n#define NL_DESC_HASH 0x%xull\n#define NL_BUILD_HASH %q\n", machine.VPIDs, m.DescHash, m.HashText())
		sources["nl_config.h"] = []byte(config)
		if err := m.lib.program(ctx, t, dir, sources, r); err != nil {
			return err
		}
		r.done()
		return nil
	})
	if m.Built && err == nil {
		c.prune(keepFor, keepBytes)
	}
	return err
}

// library finds or builds the verilated node.
func (s *Spec) library(ctx context.Context, c cache, t *tools, lib library, in map[string][]byte, r *report) error {
	what := thing{filepath.Base(lib.dir), "the library of " + s.name(), t.verilatorVersion}
	_, err := c.provide(ctx, what, func(dir string) error {
		for _, name := range sortedNames(in) {
			if err := writeFile(filepath.Join(dir, name), in[name]); err != nil {
				return err
			}
		}
		if err := writeFile(filepath.Join(dir, "obj", "nl_model.h"), s.modelHeader()); err != nil {
			return err
		}
		log := newBuildLog(filepath.Join(filepath.Dir(dir), "failed-"+filepath.Base(lib.dir)[:16]+".log"), t.log)
		r.tell("building " + r.name + ": takes " + s.time() + " on two free cores, once")
		if s.Netlist {
			if err := s.synthesize(ctx, t, log, r, filepath.Join(dir, "rtl")); err != nil {
				return err
			}
		}
		err := r.took(&r.verilating, func() error {
			return log.run(ctx, filepath.Join(dir, "rtl"), t.verilator, s.verilatorArgs()...)
		})
		if err == nil {
			err = quicken(filepath.Join(dir, "obj"), lib.top)
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, "obj", "node.mk"), []byte(t.nodeMakefile(s))); err != nil {
			return err
		}
		args := []string{"-j", jobs(), "-f", "node.mk", "OBJCACHE=" + t.ccache, "CXX=" + t.cxx,
			"V" + lib.top + "__ALL.a", "verilated.o", "verilated_dpi.o", "verilated_threads.o"}
		if !s.Chip {
			args = append(args, "verilated_fst_c.o")
		}
		if lib.counts {
			args = append(args, "verilated_cov.o")
		}
		if err := r.took(&r.compiling, func() error { return log.make(ctx, filepath.Join(dir, "obj"), t, r, args...) }); err != nil {
			return err
		}
		return keepNeeded(dir)
	})
	return err
}

// jobs is the number of concurrent compilers.
func jobs() string { return strconv.Itoa(runtime.NumCPU()) }

// sources are the files of package dpi for the simulator.
func (s *Spec) sources() (map[string][]byte, error) {
	switch {
	case s.Board:
		return dpi.Files(dpi.BoardFiles...)
	case s.Shared:
		return dpi.Files(dpi.InsideFiles...)
	}
	return dpi.Files(dpi.SimulatorFiles...)
}

// keepNeeded keeps the files that programs link and include.
func keepNeeded(dir string) error {
	return keepOnly(dir, func(name string) bool {
		return strings.HasSuffix(name, ".h") || strings.HasSuffix(name, ".a") || strings.HasPrefix(name, "verilated") && strings.HasSuffix(name, ".o")
	})
}
