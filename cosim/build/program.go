package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/dpi"
)

// programHash identifies a program by its library and its sources, including the main file.
func (l library) programHash(sources map[string][]byte) [32]byte {
	h := sha256.New()
	h.Write(l.hash[:])
	writePart(h, []byte(strings.Join(append(l.flags(), l.linkFlags()...), "\n")))
	for _, name := range sortedNames(sources) {
		writePart(h, []byte(name))
		writePart(h, sources[name])
	}
	return [32]byte(h.Sum(nil))
}

// Link builds another program around the model's library: file from sources, together with the
// given files of package dpi. It is stored in the cache.
func (m *Model) Link(ctx context.Context, sources fs.FS, file string, with ...string) (string, error) {
	t, err := findTools(ctx)
	if err != nil {
		return "", err
	}
	files, err := dpi.Files(with...)
	if err != nil {
		return "", err
	}
	if files[file], err = fs.ReadFile(sources, file); err != nil {
		return "", err
	}
	c, err := openCache(nil)
	if err != nil {
		return "", err
	}
	hash := fmt.Sprintf("%x", m.lib.programHash(files))
	_, err = c.provide(ctx, thing{hash, "the program " + file, t.verilatorVersion}, func(dir string) error { return m.lib.program(ctx, t, dir, files, &report{}) })
	return filepath.Join(c.path(hash), m.lib.programName()), err
}

// program compiles sources and links them with the library. Object files are shared between
// programs through the compiler cache.
func (l library) program(ctx context.Context, t *tools, dir string, sources map[string][]byte, r *report) error {
	root, err := firstLine(ctx, t.verilator, "--getenv", "VERILATOR_ROOT")
	if err != nil {
		return err
	}
	var objects, rules strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := writeFile(filepath.Join(dir, name), sources[name]); err != nil {
			return err
		}
		if base, ok := strings.CutSuffix(name, ".cpp"); ok {
			fmt.Fprintf(&objects, " %s.o", base)
		}
	}
	runtime, err := filepath.Glob(filepath.Join(l.dir, "obj", "verilated*.o"))
	if err != nil {
		return err
	}
	flags := append(l.flags(), t.arch, "-I.", "-I"+filepath.Join(l.dir, "obj"),
		"-isystem", filepath.Join(root, "include"), "-isystem", filepath.Join(root, "include", "vltstd"))
	fmt.Fprintf(&rules, "%s:%s\n\t%s -o $@ $^ %s %s %s -lz -pthread -latomic\n", l.programName(), objects.String(), t.cxx,
		quoted(l.linkFlags()), quoted([]string{filepath.Join(l.dir, "obj", "V"+l.top+"__ALL.a")}), quoted(runtime))
	fmt.Fprintf(&rules, "%%.o: %%.cpp\n\t%s %s %s -c -o $@ $<\n", t.ccache, t.cxx, quoted(flags))
	if err := writeFile(filepath.Join(dir, exportsFile), []byte(exports)); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "Makefile"), []byte(rules.String())); err != nil {
		return err
	}
	log := newBuildLog(filepath.Join(filepath.Dir(dir), "failed-program.log"), t.log)
	if err := r.took(&r.compiling, func() error { return log.make(ctx, dir, t, r, "-j", jobs()) }); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != l.programName() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepOnly removes the sources, and the files of dir/obj for which keep returns false.
func keepOnly(dir string, keep func(name string) bool) error {
	entries, err := os.ReadDir(filepath.Join(dir, "obj"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, "obj", e.Name())); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(filepath.Join(dir, "rtl"))
}

func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
