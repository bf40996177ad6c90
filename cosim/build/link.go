package build

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/nicloop/nicloop/cosim/dpi"
)

// Link builds another program around the model's library: file from sources, with
// the given files of package dpi beside it. It lies in the cache next to the model.
func (m *Model) Link(ctx context.Context, sources fs.FS, file string, with ...string) (string, error) {
	t, err := findTools(ctx)
	if err != nil {
		return "", err
	}
	text, err := fs.ReadFile(sources, file)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	writePart(h, []byte(m.HashText()))
	writePart(h, text)
	for _, name := range with {
		writePart(h, []byte(name))
	}
	hash := fmt.Sprintf("%x", h.Sum(nil))
	c, err := openCache()
	if err != nil {
		return "", err
	}
	_, err = c.provide(ctx, hash, func(dir string) error {
		if err := writeFile(filepath.Join(dir, file), text); err != nil {
			return err
		}
		return m.link(ctx, t, dir, file, with)
	})
	return filepath.Join(c.place(hash), "program"), err
}

func (m *Model) link(ctx context.Context, t *tools, dir, file string, with []string) error {
	root, err := firstLine(ctx, t.verilator, "--getenv", "VERILATOR_ROOT")
	if err != nil {
		return err
	}
	obj, cpp := filepath.Join(m.Dir, "obj"), filepath.Join(m.Dir, "cpp")
	runtime, err := filepath.Glob(filepath.Join(obj, "verilated*.o"))
	if err != nil {
		return err
	}
	args := []string{
		"-std=c++17", "-O3", "-march=x86-64-v2", "-I" + obj, "-I" + cpp, "-I" + filepath.Join(root, "include"),
		"-I" + filepath.Join(root, "include", "vltstd"), "-o", "program", file,
	}
	for _, name := range with {
		if !slices.Contains(dpi.SimulatorFiles, name) {
			return fmt.Errorf("package dpi has no file %s", name)
		}
		args = append(args, filepath.Join(cpp, name))
	}
	args = append(args, filepath.Join(obj, "Vsim_top__ALL.a"))
	args = append(args, runtime...)
	args = append(args, "-lz", "-pthread", "-latomic")
	log := newBuildLog(filepath.Join(filepath.Dir(dir), "failed-link.log"))
	return log.run(ctx, dir, t.cxx, args...)
}
