// Package usertests builds the regression program of a Go package outside this module, whose init
// functions add tests with regress.Add, and writes skeletons of such tests.
//
// # Guarantees
//
//   - The program is the nicloop command of the version that the user's module requires, with the
//     user's package linked in. A user writes no main function.
//   - Nothing is written into the user's module: go.mod is copied, and main lies in an overlay.
//   - An unchanged package gives the same file, in some seconds at most.
package usertests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
)

const (
	module  = "github.com/nicloop/nicloop"
	command = module + "/cmd/nicloop"
	// mainFolder is the folder of the program in the user's module. It exists in the overlay alone,
	// so that the program may import internal packages of the module.
	mainFolder = "nicloop_tests_program"
	unusedFor  = 30 * 24 * time.Hour
)

// A CompileError has the output of the go command for a package that it cannot build.
type CompileError struct {
	Dir    string
	Output string
}

func (e *CompileError) Error() string {
	return fmt.Sprintf("the go command rejects the tests in %s:\n%s", e.Dir, strings.TrimRight(e.Output, "\n"))
}

// Unwrap makes it an error of what the user gave.
func (e *CompileError) Unwrap() error { return drivers.ErrConfig }

// goPackage is what go list prints about a package.
type goPackage struct {
	Dir, ImportPath, Name string
	GoFiles               []string
	Module                *struct{ Path, Dir, GoMod string }
}

// Build compiles the program of the package in a folder and returns its file. progress is called
// before the build, which takes seconds; it may be nil.
func Build(ctx context.Context, dir string, progress func(step string)) (program string, err error) {
	if dir, err = Folder(dir); err != nil {
		return "", err
	}
	cache, err := build.ProgramCache("tests", "programs of tests")
	if err != nil {
		return "", err
	}
	sweep(cache, time.Now().Add(-unusedFor))
	h := fnv.New64a()
	h.Write([]byte(dir))
	b := &builder{dir: dir, work: filepath.Join(cache, fmt.Sprintf("%016x", h.Sum64()))}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, filepath.Join(b.work, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := b.find(ctx); err != nil {
		return "", err
	}
	if progress != nil {
		progress("go build of the tests in " + dir)
	}
	return b.build(ctx)
}

// Folder returns the absolute path of a folder of tests, without symbolic links.
func Folder(dir string) (string, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: tests: %w", drivers.ErrConfig, err)
	case !info.IsDir():
		return "", fmt.Errorf("%w: tests: %s is a file: expected the folder of a Go package", drivers.ErrConfig, dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

type builder struct {
	dir   string // of the tests
	work  string // of this program in the cache
	tests goPackage
	main  goPackage
	flags []string // of go list and go build
}

// find asks the go command for the two packages.
func (b *builder) find(ctx context.Context) error {
	if err := b.list(ctx, ".", &b.tests); err != nil {
		return err
	}
	switch {
	case b.tests.Module == nil:
		return fmt.Errorf("%w: tests: %s belongs to no Go module: run `go mod init NAME` there", drivers.ErrConfig, b.dir)
	case b.tests.Name == "main":
		return fmt.Errorf("%w: tests: %s is a package main: expected a package that nicloop can import, such as `package tests`", drivers.ErrConfig, b.dir)
	}
	if b.tests.Module.Path != module {
		if err := b.copyModule(ctx); err != nil {
			return err
		}
	}
	return b.list(ctx, command, &b.main)
}

func (b *builder) list(ctx context.Context, name string, p *goPackage) error {
	args := append(append([]string{"list"}, b.flags...), "-json=Dir,ImportPath,Name,GoFiles,Module", name)
	out, err := b.goCommand(ctx, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, p)
}

// copyModule makes the go command use a copy of go.mod and go.sum. The user's tests import a few
// packages of nicloop; the program needs further modules, which `go mod tidy` of the user removes.
// Relative paths in go.mod stay valid: they are relative to the root of the module.
func (b *builder) copyModule(ctx context.Context) error {
	nicloop, err := b.goCommand(ctx, "list", "-m", "-f={{.Dir}}", module)
	if why := (*CompileError)(nil); errors.As(err, &why) && strings.Contains(why.Output, "not a known dependency") {
		return fmt.Errorf("%w: tests: the module %s in %s does not require nicloop: run `go get %s` there\n%s",
			drivers.ErrConfig, b.tests.Module.Path, b.tests.Module.Dir, module, strings.TrimSpace(why.Output))
	}
	if err != nil {
		return err
	}
	work, err := b.goCommand(ctx, "env", "GOWORK")
	if err != nil {
		return err
	}
	if w := strings.TrimSpace(string(work)); w != "" && w != "off" {
		return nil // -modfile is not allowed; go.work.sum is written by the go command itself
	}
	sums := []string{strings.TrimSuffix(b.tests.Module.GoMod, ".mod") + ".sum"}
	if dir := strings.TrimSpace(string(nicloop)); dir != "" { // so that no checksum has to be fetched
		sums = append(sums, filepath.Join(dir, "go.sum"))
	}
	if err := join(filepath.Join(b.work, "go.mod"), b.tests.Module.GoMod); err != nil {
		return err
	}
	if err := join(filepath.Join(b.work, "go.sum"), sums...); err != nil {
		return err
	}
	b.flags = []string{"-mod=mod", "-modfile=" + filepath.Join(b.work, "go.mod")}
	return nil
}

// join writes the contents of files, as far as they exist, into another.
func join(to string, files ...string) error {
	var all []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if all = append(all, text...); len(text) > 0 && text[len(text)-1] != '\n' {
			all = append(all, '\n')
		}
	}
	return os.WriteFile(to, all, 0o644)
}

// build compiles into a new file, which replaces the old one: a regression that runs keeps its own.
func (b *builder) build(ctx context.Context) (string, error) {
	overlay, err := b.overlay()
	if err != nil {
		return "", err
	}
	program := filepath.Join(b.work, "nicloop")
	fresh := program + ".new"
	defer os.Remove(fresh)
	args := append([]string{"build", "-overlay", overlay, "-o", fresh}, b.flags...)
	if _, err := b.goCommand(ctx, append(args, "./"+mainFolder)...); err != nil {
		return "", err
	}
	now := time.Now()
	if same(program, fresh) {
		return program, os.Chtimes(program, now, now)
	}
	return program, os.Rename(fresh, program)
}

// overlay writes the file that puts the sources of the command, and one more that imports the
// tests, into the user's module.
func (b *builder) overlay() (string, error) {
	tests := filepath.Join(b.work, "tests.go")
	text := fmt.Sprintf("package main\n\nimport _ %q\n\nfunc init() { userTests = %q }\n", b.tests.ImportPath, b.dir)
	if err := os.WriteFile(tests, []byte(text), 0o644); err != nil {
		return "", err
	}
	root := filepath.Join(b.tests.Module.Dir, mainFolder)
	replace := map[string]string{filepath.Join(root, "user_tests_import.go"): tests}
	for _, f := range b.main.GoFiles {
		replace[filepath.Join(root, f)] = filepath.Join(b.main.Dir, f)
	}
	doc, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.work, "overlay.json")
	return file, os.WriteFile(file, doc, 0o644)
}

// goCommand runs the go command in the module of the tests, or in their folder while that is not
// known.
func (b *builder) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.dir
	if b.tests.Module != nil && b.tests.Module.Dir != "" {
		cmd.Dir = b.tests.Module.Dir
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &ended):
		return nil, &CompileError{b.dir, errOut.String()}
	case err != nil:
		return nil, fmt.Errorf("%w: tests of a module of your own need the go command: %w", drivers.ErrEnvironment, err)
	}
	return out.Bytes(), nil
}

// same reports whether two files have the same content.
func same(a, b string) bool {
	x, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	y, err := os.ReadFile(b)
	return err == nil && bytes.Equal(x, y)
}

// lock waits until no other process builds the same program, or until ctx ends: the other process
// may be stopped.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sweep removes programs that were not used for long.
func sweep(cache string, before time.Time) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(cache, e.Name())
		if info, err := os.Stat(filepath.Join(dir, "nicloop")); err == nil && info.ModTime().Before(before) {
			_ = os.RemoveAll(dir) // of no consequence: the next sweep tries again
		}
	}
}
