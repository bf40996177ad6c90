package rtl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	hdl "github.com/nicloop/nicloop/rtl"
)

// setSource selects the sources of the simulator: the RTL in this program or, with src, that of a
// working tree.
func (r *request) setSource(src string) error {
	if r.spec.PCIe {
		return r.setFiles(src, hdl.PCIeOf)
	}
	if r.spec.AXI {
		return r.setFiles(src, hdl.AXIOf)
	}
	return r.setFiles(src, hdl.SimulationOf)
}

// setBoardSource is setSource for a board.
func (r *request) setBoardSource(src string) error { return r.setFiles(src, hdl.BoardOf) }

func (r *request) setFiles(src string, of func(tree fs.FS) ([]string, error)) (err error) {
	if src == "" {
		r.spec.RTL = hdl.Sources
		r.spec.Files, err = of(hdl.Sources)
		return err
	}
	dir, err := treeAt(src)
	if err != nil {
		return err
	}
	tree := os.DirFS(dir)
	files, err := of(tree)
	if err == nil {
		err = missing(tree, files)
	}
	if err == nil {
		err = build.CheckBoundary(tree, hdl.Sources)
	}
	if err != nil {
		return fmt.Errorf("%w: src=%s: %w", drivers.ErrConfig, src, err)
	}
	r.spec.RTL, r.spec.Files, r.spec.Tree = tree, files, dir
	r.keys["src"] = dir
	return nil
}

// treeAt finds the RTL in a directory: a checkout, or its directory rtl.
func treeAt(src string) (string, error) {
	dir, err := filepath.Abs(src)
	if err != nil {
		return "", err
	}
	for _, d := range []string{filepath.Join(dir, "rtl"), dir} {
		if _, err := os.Stat(filepath.Join(d, "design.flist")); err == nil {
			return d, nil
		}
	}
	return "", fmt.Errorf("%w: src=%s: expected a checkout, or its folder rtl: neither %[3]s/rtl/design.flist nor %[3]s/design.flist is there",
		drivers.ErrConfig, src, dir)
}

func missing(tree fs.FS, files []string) error {
	for _, name := range files {
		if _, err := fs.Stat(tree, name); err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return fmt.Errorf("%s is in design.flist, simulation.flist, pcie.flist, axi.flist or board.flist: %w", name, err)
		}
	}
	return nil
}
