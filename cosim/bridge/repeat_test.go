package bridge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func checkpoints(t *testing.T, every, last drivers.Cycle) (*Session, string) {
	file := filepath.Join(t.TempDir(), "end.fst")
	return start(t, func(c *Config) { c.Checkpoints = &drivers.Checkpoints{Every: every, Last: last, File: file} }), file
}

// span returns the range of a wave file in cycles.
func span(t *testing.T, file string) [2]uint64 {
	const period = 6400
	dump, err := os.ReadFile(file)
	require.NoError(t, err)
	return [2]uint64{binary.BigEndian.Uint64(dump[9:]) / period, (binary.BigEndian.Uint64(dump[17:]) + period/2) / period}
}

// A repetition starts at the last checkpoint before its window, and does not affect the session.
func TestRepeat(t *testing.T) {
	s, file := checkpoints(t, 100, 250)
	for at := drivers.Cycle(30); at <= 1200; at += 30 {
		s.PostReg(0, at, regScratch, uint64(at))
		run(t, s, at)
	}
	require.NoFileExists(t, file, "nothing is written before it is asked for")
	r, err := s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Repeated{File: file, Checkpoint: 900, From: 950, To: 1200}, r)
	require.Equal(t, [2]uint64{950, 1200}, span(t, file))

	v, err := s.ReadReg(0, regScratch)
	require.NoError(t, err)
	require.Equal(t, uint64(1200), v)
	run(t, s, 1500)
	r, err = s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Repeated{File: file, Checkpoint: 1200, From: 1250, To: 1500}, r, "of the new end")
}

// A window that starts before the oldest checkpoint is truncated; eight are kept.
func TestRepeatFromTheOldest(t *testing.T) {
	s, file := checkpoints(t, 100, 5000)
	run(t, s, 50)
	r, err := s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Repeated{File: file, To: 50}, r)
	run(t, s, 2050)
	r, err = s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Repeated{File: file, Checkpoint: 1300, From: 1300, To: 2050}, r)
	require.Equal(t, [2]uint64{1300, 2050}, span(t, file))

	// The checkpoint that was used is gone; earlier ones still know later cycles.
	r, err = s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Cycle(1400), r.Checkpoint)
}

// The cycles that led to a failing assertion are repeated while the simulator still exists,
// including the failure.
func TestRepeatOfAFault(t *testing.T) {
	s, file := checkpoints(t, 1000, 500)
	run(t, s, 3300)
	s.PostReg(2, 3300, regMisbehave, 2)
	var stop drivers.Stop
	err := s.Run(5000, &stop)
	require.ErrorIs(t, err, drivers.ErrAssertion)
	r, err := s.Repeat()
	require.NoError(t, err)
	require.Equal(t, drivers.Cycle(2000), r.Checkpoint)
	require.Equal(t, stop.Now, r.To)
	require.Equal(t, stop.Now-500, r.From)
	require.Equal(t, uint64(r.From), span(t, file)[0])
	require.ErrorIs(t, s.Run(5000, &stop), drivers.ErrAssertion, "the session is over all the same")
}

// A run without failure does not touch the wave file.
func TestCheckpointsTouchNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "end.fst")
	require.NoError(t, os.WriteFile(file, []byte("of yesterday"), 0o600))
	s := start(t, func(c *Config) { c.Checkpoints = &drivers.Checkpoints{Every: 100, Last: 100, File: file} })
	run(t, s, 250)
	require.NoError(t, s.Close())
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "of yesterday", string(kept))
}

func TestWavesGoToPlainFiles(t *testing.T) {
	for _, cfg := range []Config{
		{Waves: &drivers.WaveWindow{File: "/dev/null", To: drivers.Forever}},
		{Checkpoints: &drivers.Checkpoints{Every: 100, Last: 100, File: "/dev/null"}},
	} {
		_, err := cfg.args("socket")
		require.ErrorContains(t, err, "/dev/null is there and no plain file")
	}
}

func TestRepeatRefused(t *testing.T) {
	s := start(t, nil)
	_, err := s.Repeat()
	require.ErrorIs(t, err, drivers.ErrNotSupported)

	s, _ = checkpoints(t, 100, 100)
	require.NoError(t, s.Close())
	_, err = s.Repeat()
	require.ErrorIs(t, err, drivers.ErrClosed)

	cfg := config()
	cfg.Checkpoints = &drivers.Checkpoints{Every: 100, File: "x"}
	require.ErrorContains(t, cfg.validate(), "waves of the last 0")
	cfg.Checkpoints = &drivers.Checkpoints{Every: 100, Last: 1, File: "x", Nodes: []int{4}}
	require.ErrorContains(t, cfg.validate(), "waves of node 4: expected nodes 0..3")
}

// running counts the processes of the stand-in model.
func running(t *testing.T) (n int) {
	dirs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, d := range dirs {
		if line, err := os.ReadFile(d); err == nil && bytes.Contains(line, []byte(fixture.Program)) {
			n++
		}
	}
	return n
}

// Checkpoints are processes: they end with the simulator in any case.
func TestCheckpointsEndWithTheSimulator(t *testing.T) {
	before := running(t)
	for name, end := range map[string]func(*Session){
		"closed": func(s *Session) { require.NoError(t, s.Close()) },
		"killed": func(s *Session) { require.NoError(t, syscall.Kill(s.Pid(), syscall.SIGKILL)) },
	} {
		s, _ := checkpoints(t, 100, 100)
		run(t, s, 450)
		require.Equal(t, before+6, running(t), "%s: five checkpoints and the simulator", name)
		end(s)
		require.Eventually(t, func() bool { return running(t) == before }, 10*time.Second, 10*time.Millisecond, fmt.Sprintf("%s: checkpoints stay", name))
	}
}

// A lost checkpoint gives an error, and the session continues.
func TestRepeatWithoutTheCheckpoint(t *testing.T) {
	s, _ := checkpoints(t, 100, 100)
	run(t, s, 450)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.Pid(), s.Pid()))
	require.NoError(t, err)
	for _, text := range bytes.Fields(children) {
		var pid int
		_, err := fmt.Sscan(string(text), &pid)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	_, err = s.Repeat()
	require.ErrorContains(t, err, "repeating from the checkpoint at cycle 300 failed")
	run(t, s, 900)
}
