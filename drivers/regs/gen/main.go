// Command gen turns the description of registers and packet formats into what every language needs.
//
//	gen [-check] -desc rtl/desc/nicloop.yaml -root .
//
// Without -check it writes the outputs; with -check it compares them and fails when one is stale.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// source is the description's path below the root of the repository.
const source = "rtl/desc/nicloop.yaml"

// records is the path of what the hardware keeps to itself.
const records = "rtl/desc/records.yaml"

// output is one generated file: its path below the root and what renders it.
type output struct {
	path   string
	render func(*description) ([]byte, error)
}

var outputs = []output{
	{"rtl/nicloop_pkg.sv", renderSV},
	{"drivers/regs/regs_gen.go", renderGo},
	{"rtl/desc/nicloop.h", renderC},
	{"rtl/desc/nicloop.md", renderMarkdown},
	{"cosim/capture/nicloop_gen.lua", renderLua},
}

func main() {
	root := flag.String("root", ".", "root of the repository")
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	d, err := load(filepath.Join(root, source))
	if err == nil {
		err = d.loadRecords(filepath.Join(root, records))
	}
	if err != nil {
		return err
	}
	apply := write
	if check {
		apply = compare
	}
	var errs []error
	for _, o := range outputs {
		text, err := o.render(d)
		if err == nil {
			err = apply(filepath.Join(root, o.path), text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o.path, err))
		}
	}
	return errors.Join(errs...)
}

func write(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil // keep the time stamp: nothing downstream needs a rebuild
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func compare(path string, text []byte) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, text) {
		return errors.New("stale: run `go generate ./drivers/regs` and commit the result")
	}
	return nil
}
