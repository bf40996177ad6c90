// Package bisect finds the commit that broke a test, or made it slower. It builds nicloop at
// commits between a good and a bad one, and runs the test.
//
// # Guarantees
//
//   - The caller's working tree is not changed: commits are checked out in a temporary worktree.
//   - Nothing is built twice: packages come from Go's cache, simulators from that of nicloop.
//   - With Options.Tests the commits are those of a user's repository, with its tests and designs.
//   - A commit that cannot be tested (it does not build, or does not know the test) is skipped. If
//     the first bad commit is among skipped ones, all candidates are listed.
//   - Both ends are tested first. A test that fails at both, or at neither, is an error.
//
// # Requirements for the caller
//
//   - git and Go are installed, and the checkout contains the commits.
package bisect

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// Options configure a bisection.
type Options struct {
	Repo       string // directory of the checkout
	Good, Bad  string // revisions
	Test       string
	Device     string
	Seed       int64
	SlowerThan uint64 // cycles: a test that passes with more counts as bad; 0: no limit
	Tell       func(Trial)
	// Tests is a folder of the checkout with tests of a user's module; "": the tests of nicloop.
	// Program then runs them, instead of a nicloop that is built at each commit.
	Tests   string
	Program string
}

// Verdict is the result of a commit.
type Verdict string

// The verdicts. Skip: the commit cannot be tested.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip"
)

// A Trial is the test of one commit.
type Trial struct {
	Commit  string  `json:"commit"`
	Subject string  `json:"subject"`
	Verdict Verdict `json:"verdict"`
	Cycles  uint64  `json:"cycles,omitempty"`
	Why     string  `json:"why,omitempty"` // last line of its output, unless it is good
	Real    float64 `json:"real_s"`        // including the build
}

// A Result lists the candidates for the first bad commit: exactly one unless others were skipped.
type Result struct {
	Test   string   `json:"test"`
	Device string   `json:"device"`
	Seed   int64    `json:"seed"`
	Found  []string `json:"first_bad"`
	Trials []Trial  `json:"trials"`
}

// A search is a bisection in progress.
type search struct {
	o    Options
	tree string // path of the worktree
	temp string
	res  *Result
}

// Run performs the bisection.
func Run(ctx context.Context, o Options) (res *Result, err error) {
	s := &search{o: o, res: &Result{Test: o.Test, Device: o.Device, Seed: o.Seed}}
	top, err := git(ctx, o.Repo, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	for _, end := range []*string{&s.o.Good, &s.o.Bad} {
		id, err := git(ctx, o.Repo, "rev-parse", "--verify", "--quiet", *end+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("%w: there is no commit %q", drivers.ErrConfig, *end)
		}
		*end = id
	}
	if _, err := git(ctx, o.Repo, "merge-base", "--is-ancestor", s.o.Good, s.o.Bad); err != nil {
		return nil, fmt.Errorf("%w: %.10s does not lie before %.10s", drivers.ErrConfig, s.o.Good, s.o.Bad)
	}
	if s.temp, err = os.MkdirTemp("", "nicloop-bisect-"); err != nil {
		return nil, err
	}
	s.tree = filepath.Join(s.temp, "tree")
	if err := s.moveInto(top); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.temp))
	}
	if _, err := git(ctx, top, "worktree", "add", "--detach", "--quiet", s.tree, s.o.Bad); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.temp))
	}
	defer func() { err = errors.Join(err, s.clean(top)) }()
	if err := s.ends(ctx); err != nil {
		return s.res, err
	}
	return s.res, s.halve(ctx)
}

// clean removes the worktree. It runs regardless of how the search ended.
func (s *search) clean(top string) error {
	_, err := git(context.Background(), top, "worktree", "remove", "--force", s.tree)
	return errors.Join(err, os.RemoveAll(s.temp))
}

// ends tests both ends.
func (s *search) ends(ctx context.Context) error {
	for _, end := range []struct {
		commit string
		want   Verdict
	}{{s.o.Bad, Bad}, {s.o.Good, Good}} {
		if _, err := git(ctx, s.tree, "checkout", "--quiet", "--detach", end.commit); err != nil {
			return err
		}
		t, err := s.try(ctx)
		if err != nil {
			return err
		}
		if t.Verdict != end.want {
			return fmt.Errorf("%w: %.10s must be %s, and is %s%s", drivers.ErrConfig, end.commit, end.want, t.Verdict, reasonSuffix(t.Why))
		}
	}
	return nil
}

func reasonSuffix(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

var (
	firstBad  = regexp.MustCompile(`(?m)^([0-9a-f]{40}) is the first bad commit`)
	manyBad   = regexp.MustCompile(`(?m)^[0-9a-f]{40}$`)
	onlySkips = "There are only 'skip'ped commits left to test"
)

// halve runs git bisect until it is done. Its state is stored in the worktree and removed with it.
func (s *search) halve(ctx context.Context) error {
	out, err := git(ctx, s.tree, "bisect", "start", s.o.Bad, s.o.Good)
	for err == nil {
		if m := firstBad.FindStringSubmatch(out); m != nil {
			s.res.Found = []string{m[1]}
			return nil
		}
		var t Trial
		if t, err = s.try(ctx); err != nil {
			return err
		}
		out, err = git(ctx, s.tree, "bisect", string(t.Verdict))
		if err != nil && strings.Contains(out, onlySkips) {
			s.res.Found = manyBad.FindAllString(out, -1)
			return nil
		}
	}
	return err
}

// try builds nicloop at the checked-out commit and runs the test.
func (s *search) try(ctx context.Context) (t Trial, err error) {
	begin := time.Now()
	line, err := git(ctx, s.tree, "log", "-1", "--format=%H %s")
	if err != nil {
		return t, err
	}
	t.Commit, t.Subject, _ = strings.Cut(line, " ")
	t.Verdict, t.Why, err = s.judge(ctx, &t)
	if ctx.Err() != nil {
		return t, context.Cause(ctx)
	}
	if err != nil {
		return t, err
	}
	t.Real = time.Since(begin).Seconds()
	s.res.Trials = append(s.res.Trials, t)
	if s.o.Tell != nil {
		s.o.Tell(t)
	}
	return t, nil
}

func (s *search) judge(ctx context.Context, t *Trial) (Verdict, string, error) {
	program, tests, err := s.program(ctx)
	if err != nil {
		return Skip, err.Error(), nil
	}
	work, err := os.MkdirTemp(s.temp, "run-")
	if err != nil {
		return Skip, "", err
	}
	// A directory of its own keeps the database of runs out of the checkout. The flags are
	// supported by every version.
	args := append([]string{"regress", s.o.Test, "--device", s.o.Device, "--seed", strconv.FormatInt(s.o.Seed, 10), "-o", "out"}, tests...)
	out, err := s.command(ctx, work, program, args...)
	code := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		code = ended.ExitCode()
	} else if err != nil {
		return Skip, "", err
	}
	cycles, ran := readCycles(filepath.Join(work, "out", "results.xml"))
	t.Cycles = cycles
	switch {
	case code == 1 || code == 4:
		return Bad, reason(out), nil
	case code != 0:
		return Skip, lastLine(out), nil
	case !ran:
		return Skip, "the test was not run", nil
	case s.o.SlowerThan > 0 && cycles > s.o.SlowerThan:
		return Bad, fmt.Sprintf("%d cycles", cycles), nil
	}
	return Good, "", nil
}

// program returns the program that runs the test of a commit, and its flags for the tests of users.
func (s *search) program(ctx context.Context) (program string, flags []string, err error) {
	if s.o.Tests != "" {
		return s.o.Program, []string{"--tests", s.o.Tests}, nil
	}
	program = filepath.Join(s.temp, "nicloop")
	if out, err := s.command(ctx, s.tree, "go", "build", "-o", program, "./cmd/nicloop"); err != nil {
		return "", nil, errors.New("it does not build: " + lastLine(out))
	}
	return program, nil, nil
}

// moveInto makes the tests of a user, and the description of a design if it belongs to the
// checkout, those of the worktree.
func (s *search) moveInto(top string) error {
	if s.o.Tests == "" {
		return nil
	}
	tests, inside, err := s.inTree(top, s.o.Tests)
	if err != nil {
		return err
	}
	if !inside {
		return fmt.Errorf("%w: the tests in %s do not belong to the checkout %s: select it with --repository", drivers.ErrConfig, s.o.Tests, top)
	}
	s.o.Tests = tests
	if rest, isDesign := strings.CutPrefix(s.o.Device, "design:"); isDesign {
		file, keys, _ := strings.Cut(rest, "?")
		if file, _, err = s.inTree(top, file); err != nil {
			return err
		}
		s.o.Device = "design:" + file
		if keys != "" {
			s.o.Device += "?" + keys
		}
	}
	return nil
}

// inTree returns the path in the worktree of a file of the checkout, or the absolute path of one
// that does not belong to it.
func (s *search) inTree(top, file string) (path string, inside bool, err error) {
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", false, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", false, err
	}
	rel, err := filepath.Rel(top, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return file, false, nil
	}
	return filepath.Join(s.tree, rel), true, nil
}

// readCycles reads the cycles of the test from results.xml; ran is false if no test ran to its end.
func readCycles(file string) (cycles uint64, ran bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	var suite struct {
		Cases []struct {
			Skipped *struct{} `xml:"skipped"`
			Props   []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
		} `xml:"testcase"`
	}
	if xml.Unmarshal(text, &suite) != nil {
		return 0, false
	}
	for _, c := range suite.Cases {
		ran = ran || c.Skipped == nil
		for _, p := range c.Props {
			if n, err := strconv.ParseUint(p.Value, 10, 64); p.Name == "cycles" && err == nil {
				cycles += n
			}
		}
	}
	return cycles, ran
}

var failedLine = regexp.MustCompile(`(?m)^(?:FAIL|HANG|FLAKY) .*\n\s*(.*)$`)

// reason is the first line that explains the failure of the test.
func reason(out string) string {
	if m := failedLine.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return lastLine(out)
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// git runs git in a directory and returns its output.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := command(ctx, dir, "git", args...)
	out = strings.TrimSpace(out)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: git %s that works: %w: %s", drivers.ErrEnvironment, args[0], err, lastLine(out))
	}
	return out, err
}

// command runs a program with a directory for temporary files that is removed with the search, even
// if the program is killed.
func (s *search) command(ctx context.Context, dir, name string, args ...string) (string, error) {
	temp := filepath.Join(s.temp, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return "", err
	}
	return commandWith(ctx, append(os.Environ(), "TMPDIR="+temp, "GOTMPDIR="+temp), dir, name, args...)
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	return commandWith(ctx, nil, dir, name, args...)
}

func commandWith(ctx context.Context, env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	return out.String(), err
}
