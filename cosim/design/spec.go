package design

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	hdl "github.com/nicloop/nicloop/rtl"
)

const (
	wrapperFile = "sim_node.sv"
	packageFile = "nicloop_pkg.sv" // cosim/build reads the hash of the registers from it
	importsFile = hdl.Include + "/nicloop_dpi.svh"
	headerLimit = 4096 // files of the include folders
)

// Spec says how the simulator of a checked design is built.
func (d *Description) Spec(c *Checked, descHash uint64) (build.Spec, error) {
	tree := fstest.MapFS{}
	s := build.Spec{
		RTL: tree, Include: hdl.Include, Ports: 3, Torus: d.Network.Links == "ring", Design: d.Name, ClockPS: d.ClockPS(),
		Flags: append(d.flags(), d.Verilator...),
	}
	add := func(name string, text []byte) { tree[name] = &fstest.MapFile{Data: text} }
	for _, name := range append(hdl.HostFiles(), importsFile) {
		text, err := hdl.Sources.ReadFile(name)
		if err != nil {
			return s, err
		}
		add(name, text)
	}
	add(packageFile, fmt.Appendf(nil, "package nicloop_pkg;\n  localparam logic [63:0] DESC_HASH_VALUE = 64'h%016x;\nendpackage\n", descHash))
	add(wrapperFile, []byte(c.Wrapper))
	s.Files = append(append(s.Files, packageFile), hdl.HostFiles()...)
	files, err := d.files()
	if err != nil {
		return s, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return s, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
		}
		name := d.inTree(file)
		add(name, text)
		s.Files = append(s.Files, name)
	}
	s.Files = append(s.Files, wrapperFile)
	for _, dir := range d.includeDirs(files) {
		names, err := headersIn(dir)
		if err != nil {
			return s, err
		}
		for _, file := range names {
			text, err := os.ReadFile(file)
			if err != nil {
				return s, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
			}
			name := d.inTree(file)
			if slices.Contains(s.Files, name) || slices.Contains(s.Headers, name) {
				continue
			}
			add(name, text)
			s.Headers = append(s.Headers, name)
		}
		s.Flags = append(s.Flags, "-I"+d.inTree(dir))
	}
	return s, nil
}

// inTree is where a file of the design lies in the tree that is built. Messages of Verilator show
// it, so it is the path relative to the description.
func (d *Description) inTree(file string) string {
	rel, err := filepath.Rel(filepath.Dir(d.file), file)
	if err != nil {
		rel = filepath.Base(file)
	}
	return "design/" + strings.ReplaceAll(filepath.ToSlash(rel), "..", "up")
}

// includeDirs are those of the description, and those of the sources.
func (d *Description) includeDirs(files []string) (list []string) {
	for _, i := range d.Include {
		list = append(list, d.path(i))
	}
	for _, f := range files {
		if dir := filepath.Dir(f); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// headersIn lists the files of a folder that sources can include.
func headersIn(dir string) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: include: %w", drivers.ErrConfig, err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && slices.Contains([]string{".vh", ".svh", ".h", ".v", ".sv", ".vlt"}, filepath.Ext(e.Name())) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	if len(list) > headerLimit {
		return nil, fmt.Errorf("%w: include: %s has %d files, expected at most %d", drivers.ErrConfig, dir, len(list), headerLimit)
	}
	return list, nil
}
