package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "nicloop" { // a test that runs itself as nicloop would never end
		executable = func() (string, error) { return "", errors.New("a test must say which nicloop tasks are commands of") }
	}
	testscript.Main(m, map[string]func(){
		"nicloop": func() { os.Exit(command()) },
	})
}

// TestScripts runs testdata/*.txtar: what people type and what they must see.
func TestScripts(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error { // built models are shared with everybody
			env.Setenv("XDG_CACHE_HOME", cache)
			// So are compiled files, by whoever has another cache of models: ccache goes by XDG_CACHE_HOME,
			// too.
			if dir, err := exec.Command("ccache", "--get-config", "cache_dir").Output(); err == nil {
				env.Setenv("CCACHE_DIR", strings.TrimSpace(string(dir)))
			}
			sources, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			env.Setenv("SOURCES", sources)
			// The folder that holds nothing but nicloop itself.
			env.Setenv("ONLY_NICLOOP", filepath.SplitList(env.Getenv("PATH"))[0])
			return nil
		},
		Condition: func(name string) (bool, error) { // a full disk takes a file system of one's own
			if name != "root" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return os.Geteuid() == 0 && exec.Command("unshare", "--mount", "true").Run() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "interrupted": interrupted},
	})
}

// exits runs a command and demands its exit code: exits CODE COMMAND…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		coded, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = coded.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, expected %d", got, want)
	}
}

// interrupted starts a command in a process group of its own, as a terminal does, sends the group a
// signal once FILE has contents, and demands that the command ends with exit code 5: interrupted
// SIGNAL FILE COMMAND… KILL is for the command alone, which must have ended by it; what it started
// may live for some seconds.
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupted SIGNAL FILE COMMAND…")
	}
	number := unix.SignalNum("SIG" + args[0])
	if signal.Ignored(number) { // the tests run under nohup, and so would the command
		ts.Logf("%s is ignored here", args[0])
		return
	}
	program, err := exec.LookPath(filepath.Join(ts.Getenv("ONLY_NICLOOP"), args[2]))
	ts.Check(err)
	cmd := exec.Command(program, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_CACHE_HOME", "CCACHE_DIR", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(cmd.Start())
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for range 3000 { // at most five minutes, most of which would be a build
		if info, err := os.Stat(ts.MkAbs(args[1])); err == nil && info.Size() > 100<<10 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	target := -cmd.Process.Pid
	if number == syscall.SIGKILL {
		target = cmd.Process.Pid
	}
	ts.Check(syscall.Kill(target, number))
	stuck := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	_ = cmd.Wait()
	stuck.Stop()
	if code := cmd.ProcessState.ExitCode(); code != exitStopped && number != syscall.SIGKILL {
		ts.Fatalf("%s: %v, expected exit code %d", args[0], cmd.ProcessState, exitStopped)
	}
	for range 300 {
		if _, err := os.Stat(ts.MkAbs(args[1] + ".hier")); os.IsNotExist(err) {
			return // the waves are closed
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s: %s.hier is left: the waves are not closed", args[0], args[1])
}
