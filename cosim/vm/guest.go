package vm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
)

// Slot is the device's PCI address in the guest.
const Slot = "0000:00:02.0"

// programAt is the path of the program in the guest.
const programAt = "bin/nicloop"

// ImageDir is the output directory of scripts/vm-image.
func ImageDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: a folder for the image of the guest: %w; set HOME or XDG_CACHE_HOME", drivers.ErrEnvironment, err)
	}
	return filepath.Join(base, "nicloop", "vm"), nil
}

// imageFormat is written by scripts/vm-image to the file format.
const imageFormat = "1"

// CheckImage returns an error unless there is an image that this package can boot and that nobody
// else could have written.
func CheckImage(dir string) error {
	for _, name := range []string{"", "vmlinuz", "initrd.gz", "format"} {
		name = filepath.Join(dir, name)
		if _, err := os.Stat(name); err != nil {
			break // reported below
		}
		if why := build.Foreign(name); why != "" {
			return fmt.Errorf("%w: %s %s: remove it, and make it again: scripts/vm-image", drivers.ErrEnvironment, name, why)
		}
	}
	format, err := os.ReadFile(filepath.Join(dir, "format"))
	if err == nil && strings.TrimSpace(string(format)) != imageFormat {
		err = fmt.Errorf("%s is of another release of nicloop", dir)
	}
	if err != nil {
		return fmt.Errorf("%w: an image to boot: %w; make it: scripts/vm-image", drivers.ErrEnvironment, err)
	}
	return nil
}

// disk writes what the guest's first file system has beside the image: the program, what it is
// linked with, the modules and files of the user, and the task.
func (c *Config) disk(w io.Writer, task string) error {
	files, err := linked(c.Program)
	if err != nil {
		return err
	}
	for _, name := range c.Modules {
		files = append(files, linkedFile{name, moduleAt(name)})
	}
	for _, name := range c.Files {
		files = append(files, linkedFile{name, "files/" + filepath.Base(name)})
	}
	a := &archive{w: w}
	made := map[string]bool{}
	for _, f := range append(files, linkedFile{c.Program, programAt}) {
		for _, dir := range parents(f.at) {
			if !made[dir] {
				made[dir] = true
				a.file(dir, folder, nil)
			}
		}
		text, err := os.ReadFile(f.from)
		if err != nil {
			return fmt.Errorf("%w: a file for the guest: %w", drivers.ErrConfig, err)
		}
		a.file(f.at, executable, text)
	}
	a.file("task", executable, []byte(task))
	return a.close()
}

// moduleAt is where the guest finds a module of the user.
func moduleAt(name string) string { return "usermodules/" + filepath.Base(name) }

// parents are the folders that a path needs, outermost first.
func parents(name string) (list []string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		list = append([]string{dir}, list...)
	}
	return list
}

// A linkedFile is a file and its path in the guest.
type linkedFile struct{ from, at string }

var library = regexp.MustCompile(`(/\S+) \(0x`)

// linked returns the libraries of a program; a static program has none.
func linked(program string) (files []linkedFile, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("%w: a program for the guest: %s: %w", drivers.ErrEnvironment, program, err)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return nil, fmt.Errorf("%w: the guest runs programs of x86-64; %s is one of %v", drivers.ErrNotSupported, program, f.Machine)
	}
	dynamic := false
	for _, p := range f.Progs {
		dynamic = dynamic || p.Type == elf.PT_INTERP
	}
	if !dynamic {
		return nil, nil
	}
	out, err := exec.Command("ldd", program).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: ldd %s: %w: %s", drivers.ErrEnvironment, program, err, out)
	}
	for _, m := range library.FindAllSubmatch(out, -1) {
		files = append(files, linkedFile{string(m[1]), strings.TrimPrefix(string(m[1]), "/")})
	}
	return files, nil
}

// task returns the shell script that the guest runs. Its marks separate output from other text.
func (c *Config) task(m mark) string {
	var b strings.Builder
	fmt.Fprintf(&b, "slot=/sys/bus/pci/devices/%s\n", Slot)
	if c.Driver != "" {
		fmt.Fprintf(&b, "echo %s >$slot/driver_override\necho %s >/sys/bus/pci/drivers_probe\n", c.Driver, Slot)
	}
	for _, e := range c.Env {
		fmt.Fprintf(&b, "export %s\n", quoted(e))
	}
	fmt.Fprintf(&b, "printf '\\0@@%s begin 0\\n'\n", m)
	for _, name := range c.Modules {
		fmt.Fprintf(&b, "insmod /%s || { dmesg | tail -n 5 >&2; false; } && ", quoted(moduleAt(name)))
	}
	for i, word := range c.Command {
		if i == 0 && word == "nicloop" {
			word = "/" + programAt
		}
		fmt.Fprintf(&b, "%s ", quoted(word))
	}
	fmt.Fprintf(&b, "\nprintf '\\0@@%s end %%d\\n' $?\n", m)
	return b.String()
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// A mark is a word that no output contains by chance.
type mark string

// A splitter passes on the text between two marks, and nothing else.
type splitter struct {
	m      mark
	to     io.Writer
	begun  chan struct{}
	ended  chan int
	held   []byte
	inside bool
}

func newSplitter(m mark, to io.Writer) *splitter {
	return &splitter{m: m, to: to, begun: make(chan struct{}), ended: make(chan int, 1)}
}

// code returns the exit code, once.
func (s *splitter) code() (int, bool) {
	select {
	case code := <-s.ended:
		return code, true
	default:
		return 0, false
	}
}

func (s *splitter) Write(b []byte) (int, error) {
	s.held = append(s.held, b...)
	for s.next() {
	}
	return len(b), nil
}

// next handles one mark, or passes on text that cannot be part of one.
func (s *splitter) next() bool {
	prefix := []byte("\x00@@" + string(s.m) + " ")
	at := bytes.Index(s.held, prefix)
	if at < 0 {
		keep := min(len(s.held), len(prefix)-1)
		for keep > 0 && !bytes.HasPrefix(prefix, s.held[len(s.held)-keep:]) {
			keep--
		}
		s.pass(len(s.held) - keep)
		return false
	}
	s.pass(at)
	line, rest, ok := bytes.Cut(s.held[len(prefix):], []byte("\n"))
	if !ok {
		return false
	}
	var kind string
	var code int
	_, err := fmt.Sscanf(string(line), "%s %d", &kind, &code)
	s.held = rest
	switch {
	case err == nil && kind == "begin" && !s.inside:
		s.inside = true
		close(s.begun)
	case err == nil && kind == "end" && s.inside:
		s.inside = false
		s.ended <- code
	}
	return true
}

func (s *splitter) pass(n int) {
	if s.inside {
		_, _ = s.to.Write(s.held[:n]) // the writer keeps the error
	}
	s.held = s.held[n:]
}

// console keeps the end of the kernel's messages and detects a panic.
type console struct {
	also  io.Writer
	tail  []byte
	panic bool
}

const consoleKept = 4000

var panicked = []byte("Kernel panic")

func (c *console) Write(b []byte) (int, error) {
	if c.also != nil {
		_, _ = c.also.Write(b)
	}
	c.tail = append(c.tail, b...)
	c.panic = c.panic || bytes.Contains(c.tail, panicked)
	if extra := len(c.tail) - consoleKept; extra > 0 {
		c.tail = bytes.Clone(c.tail[extra:])
	}
	return len(b), nil
}
