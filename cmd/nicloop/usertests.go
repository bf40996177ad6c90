package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/nicloop/nicloop/bench/usertests"
	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// userTests is the folder whose tests are linked into this program, see package usertests; "" in
// nicloop itself.
var userTests string

// execute replaces this process by another program.
var execute = syscall.Exec

// listed returns the regression list of this program.
func listed() []regress.Test {
	if userTests != "" {
		return regress.Added()
	}
	return suite.List()
}

// testsFlags select tests outside this module, and write new ones.
type testsFlags struct {
	dir  string // of --tests
	name string // of --new
}

func (f *testsFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.dir, "tests", "", testsFlagText)
	fs.StringVar(&f.name, "new", "", "write the skeleton of a test `AREA/NAME` into the folder of --tests (default ./tests), and stop")
}

// testsFlagText is the help of --tests in every command.
const testsFlagText = "`FOLDER` of a Go package whose tests are meant, in a module of your own; default: key tests of a design:FILE"

// prepare returns if this program has the tests to run; otherwise it builds and executes the one
// that has. done reports that --new has been executed.
func (f *testsFlags) prepare(cmd *cobra.Command, o *regress.Options, speed *speedFlags) (done bool, err error) {
	dir, err := f.selectTests(cmd, o)
	switch {
	case err != nil:
		return false, err
	case f.name != "":
		return true, f.write(cmd, o.Device)
	case dir == "":
		return false, nil
	}
	speed.tests, speed.rerun = dir, o.Flags
	return false, handOver(cmd, dir)
}

// selectTests finds the folder of the tests and, of --tests, the device. "" means the tests of the
// NIC.
func (f *testsFlags) selectTests(cmd *cobra.Command, o *regress.Options) (dir string, err error) {
	if f.dir == "" {
		if dir, err = testsOf(o.Device); err != nil {
			return "", err
		}
		return cmp.Or(dir, userTests), nil
	}
	if !cmd.Flags().Changed("device") && os.Getenv(deviceVariable) == "" {
		file, err := design.TestedBy(f.dir)
		if _, missing := os.Stat(f.dir); missing != nil && f.name != "" {
			err = nil // --new makes it
		}
		if err != nil {
			return "", err
		}
		if file != "" {
			o.Device = "design:" + file
		}
	}
	o.Flags += " --tests " + regress.Quoted(f.dir)
	return f.dir, nil
}

// testsOf returns the folder that the description of a design names, or "".
func testsOf(device string) (string, error) {
	file, ok := descriptionOf(device)
	if !ok {
		return "", nil
	}
	d, err := design.Load(file)
	if err != nil {
		return "", err
	}
	return d.TestsDir(), nil
}

// descriptionOf returns the file of design:FILE?KEYS.
func descriptionOf(device string) (file string, ok bool) {
	rest, ok := strings.CutPrefix(device, "design:")
	file, _, _ = strings.Cut(rest, "?")
	return file, ok && file != ""
}

// handOver builds the program with the tests of a folder and executes it with the arguments of this
// one. It returns nil without doing so if this program has them.
func handOver(cmd *cobra.Command, dir string) error {
	if userTests != "" {
		abs, err := usertests.Folder(dir)
		if err == nil && abs != userTests {
			err = misused("this program has the tests of %s, not of %s: use nicloop", userTests, dir)
		}
		return err
	}
	bar := newBar(cmd.ErrOrStderr(), cmd.Name())
	program, err := usertests.Build(cmd.Context(), dir, bar.describe)
	bar.finish()
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, execute(program, append([]string{program}, os.Args[1:]...), os.Environ()))
}

// write writes the skeleton of a test and prints how to run it.
func (f *testsFlags) write(cmd *cobra.Command, device string) error {
	dir, err := testsOf(device)
	if err != nil {
		return err
	}
	dir = cmp.Or(f.dir, dir, "tests")
	var m *regmap.Map
	if _, ok := descriptionOf(device); ok {
		if m, err = registry.Registers(device); err != nil {
			return err
		}
	}
	file, err := usertests.New(dir, f.name, m)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "written:", file)
	mod, required, err := usertests.EnsureModule(dir)
	if err != nil {
		return err
	}
	if mod != "" {
		fmt.Fprintln(out, "written:", mod)
	}
	if !required {
		fmt.Fprintf(out, "first: cd %s && go get github.com/nicloop/nicloop\n", regress.Quoted(dir))
	}
	_, err = fmt.Fprintf(out, "run it: nicloop regress %s --tests %s --device %s\n", regress.Quoted(f.name), regress.Quoted(dir), regress.Quoted(device))
	return err
}

// userBaseline is the baseline of cycles of a folder of tests.
func userBaseline(dir string) string { return filepath.Join(dir, "cycles.txt") }

// baselineKind is registry.Kind, but of a design without the folder of its description: a baseline
// is valid wherever its module lies.
func baselineKind(device string) string {
	kind := registry.Kind(device)
	if file, ok := descriptionOf(kind); ok {
		kind = "design:" + filepath.Base(file) + strings.TrimPrefix(kind, "design:"+file)
	}
	return kind
}

// errNoTests is the error of a package that adds no test.
var errNoTests = errors.New("no test is added: call regress.Add in an init function")

// selected returns the tests of this program that match the patterns.
func selected(patterns []string) ([]regress.Test, error) {
	if err := regress.AddError(); err != nil {
		return nil, err
	}
	tests := listed()
	if len(tests) == 0 {
		return nil, usageError{fmt.Errorf("%s: %w", userTests, errNoTests)}
	}
	tests, err := regress.Select(tests, patterns)
	if none := (*regress.NoMatchError)(nil); userTests != "" && errors.As(err, &none) {
		none.List += " --tests " + regress.Quoted(userTests)
	}
	return tests, err
}
