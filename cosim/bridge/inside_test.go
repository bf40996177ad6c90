package bridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/inside"
	"github.com/nicloop/nicloop/drivers"
)

// within opens a session whose model is in this process.
func within(t testing.TB, change func(*Config)) *Session {
	t.Helper()
	if err := inside.Supported(); err != nil {
		t.Skip(err)
	}
	return start(t, func(c *Config) {
		c.Inside, c.Program, c.BuildHash = true, sharedFixture.Program, sharedFixture.Hash
		if change != nil {
			change(c)
		}
	})
}

// The same calls give the same bytes and the same trace, regardless of where the model runs.
func TestInsideIsTheSame(t *testing.T) {
	n := seed(t)
	there, here := &sink{}, &sink{}
	want := traffic(t, start(t, func(c *Config) { c.Trace = there }), n, 400)
	require.Equal(t, want, traffic(t, within(t, func(c *Config) { c.Trace = here }), n, 400))
	require.NotEmpty(t, here.events)
	require.Equal(t, there.events, here.events)
	require.Equal(t, want, traffic(t, within(t, nil), n, 400))
}

// Every failure of a model is reported in the same words as by a process.
func TestInsideFailures(t *testing.T) {
	told := func(s *Session, misbehave uint64) (all []string) {
		var stop drivers.Stop
		s.PostReg(2, 50, regMisbehave, misbehave)
		for _, deadline := range []drivers.Cycle{1000, 2000} {
			err := s.Run(deadline, &stop)
			require.Error(t, err)
			all = append(all, err.Error())
		}
		_, err := s.ReadReg(0, regNodeID)
		return append(all, err.Error())
	}
	for _, misbehave := range []uint64{1, 2, 3, 7} {
		s := within(t, nil)
		require.Equal(t, told(start(t, nil), misbehave), told(s, misbehave))
		require.ErrorIs(t, s.Err(), drivers.ErrAssertion)
	}

	s := within(t, nil)
	var stop drivers.Stop
	var dma *drivers.DMAError
	s.PostReg(1, 50, regMisbehave, 4)
	require.ErrorAs(t, s.Run(drivers.Forever, &stop), &dma)
	require.Equal(t, drivers.DMAError{Node: 1, Addr: 0xfffffffffffffff8, Bytes: 64, Memory: 1 << 16}, *dma)
	require.Equal(t, drivers.Cycle(1000), run(t, s, 1000).Now, "the session goes on")

	s.PostReg(1, s.Now(), regMisbehave, 6)
	_, err := s.ReadReg(1, regScratch)
	require.ErrorIs(t, err, drivers.ErrProtocol)
	require.ErrorContains(t, err, "node 1: register read at 0x20: the NIC has not answered")
}

func TestInsideMisunderstands(t *testing.T) {
	s := within(t, nil)
	s.put(command{typ: cmdArm, id: 7})
	var stop drivers.Stop
	err := s.Run(20, &stop)
	require.ErrorIs(t, err, drivers.ErrProtocol)
	require.ErrorContains(t, err, "ARM: watch 7, but there are 0")
	require.Equal(t, err, s.Run(30, &stop))
}

// Sessions share nothing, although each copy of the model has global variables.
func TestInsideSideBySide(t *testing.T) {
	n := seed(t)
	want := traffic(t, start(t, nil), n, 200)
	got := make(chan []byte, 3)
	for range cap(got) {
		s := within(t, nil)
		go func() { got <- traffic(t, s, n, 200) }()
	}
	for range cap(got) {
		require.Equal(t, want, <-got)
	}
	failing, sound := within(t, nil), within(t, nil)
	var stop drivers.Stop
	failing.PostReg(2, 50, regMisbehave, 2)
	require.ErrorIs(t, failing.Run(100, &stop), drivers.ErrAssertion)
	require.NoError(t, failing.Close())
	run(t, sound, 100)
}

func TestInsideCloseDuringRun(t *testing.T) {
	s := within(t, nil)
	endless(s)
	closed := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() {
		defer close(closed)
		s.Close()
	})
	go func() {
		time.Sleep(50 * time.Millisecond)
		s.Close() // both at once
	}()
	var stop drivers.Stop
	require.ErrorIs(t, s.Run(drivers.Forever, &stop), drivers.ErrClosed)
	<-closed
	require.Nil(t, s.Memory(0))
	require.ErrorIs(t, s.Run(drivers.Forever, &stop), drivers.ErrClosed)
}

// Output of a model goes to its session's log only, in particular not to the host's standard
// output.
func TestInsideLog(t *testing.T) {
	if err := inside.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), "BRIDGE_TEST_ROLE=inside", "BRIDGE_TEST_LOGS="+dir)
	out, err := host.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
	for name, want := range map[string]string{"1": "node 0: asked to fail", "2": "node 0: asked to die"} {
		log, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(log), "asked to"), string(log))
		require.Contains(t, string(log), want)
	}
}

// playInside is a process with two failing models with logs, and one without.
func playInside() {
	var err error
	if fixture, err = buildFixture(true); err != nil {
		panic(err)
	}
	for misbehave, name := range []string{"", "1", "2"} {
		cfg := config()
		cfg.Inside = true
		if name != "" {
			cfg.LogFile = filepath.Join(os.Getenv("BRIDGE_TEST_LOGS"), name)
		}
		s, err := Start(context.Background(), cfg)
		if err != nil {
			panic(err)
		}
		defer s.Close()
		var stop drivers.Stop
		s.PostReg(0, 0, regMisbehave, uint64(max(misbehave, 1)))
		if err := s.Run(100, &stop); !errors.Is(err, drivers.ErrAssertion) {
			panic(err)
		}
	}
}

func TestInsideWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.fst")
	s := within(t, func(c *Config) { c.Waves = &drivers.WaveWindow{File: file, From: 100, To: 150} })
	run(t, s, 5000)
	require.NoError(t, s.Close())
	dump, err := os.ReadFile(file)
	require.NoError(t, err)
	const period = 6400
	require.Equal(t, uint64(100*period), binary.BigEndian.Uint64(dump[9:]))
	require.Equal(t, uint64(150*period-period/2), binary.BigEndian.Uint64(dump[17:]))
}

func TestInsideRefuses(t *testing.T) {
	s := within(t, nil)
	require.Zero(t, s.Pid())
	_, err := s.Repeat()
	require.ErrorIs(t, err, drivers.ErrNotSupported)

	begin := func(change func(*Config)) error {
		cfg := s.cfg
		change(&cfg)
		_, err := Start(context.Background(), cfg)
		return err
	}
	err = begin(func(c *Config) { c.Checkpoints = &drivers.Checkpoints{Every: 1, Last: 1, File: "x"} })
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "leave inside=1 out")
	err = begin(func(c *Config) { c.BuildHash[0]++ })
	require.ErrorIs(t, err, drivers.ErrProtocol)
	require.ErrorContains(t, err, "build hash")
	require.ErrorContains(t, begin(func(c *Config) { c.Args = []string{"--what", "2"} }), "--what 2: not understood")
	err = begin(func(c *Config) { c.Program = fixture.Program })
	require.ErrorIs(t, err, drivers.ErrEnvironment, "a program is no shared object")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Start(ctx, s.cfg)
	require.ErrorIs(t, err, context.Canceled)
}

func TestInsideAllocatesNothing(t *testing.T) {
	s := within(t, nil)
	w, err := s.Watch(1, 0, 64)
	require.NoError(t, err)
	var stop drivers.Stop
	line := make([]byte, 56)
	failed := false
	n := testing.AllocsPerRun(200, func() {
		s.Arm(w)
		s.PostReg(0, s.Now(), regScratch, 1)
		s.PostPIO(0, s.Now(), pio(0, 1, 56), line)
		failed = failed || s.Run(drivers.Forever, &stop) != nil || len(stop.Fired) != 1
	})
	require.False(t, failed)
	require.Zero(t, n)
}

// copies counts the mappings of loaded models.
func copies(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(maps), "memfd:nicloop")
}

// Nothing remains of a session: neither its copy of the model, nor its memory, nor a descriptor.
func TestInsideLeavesNothing(t *testing.T) {
	before, open := copies(t), len(resourceNames(t))
	for i := range 20 {
		s := within(t, func(c *Config) { c.LogFile, c.Args = filepath.Join(t.TempDir(), "log"), []string{"--threads", "2"} })
		require.Greater(t, copies(t), before)
		if i%2 == 1 {
			s.PostReg(0, 0, regMisbehave, 2) // prints, and fails
		}
		var stop drivers.Stop
		_ = s.Run(100, &stop)
		require.NoError(t, s.Close())
		require.Equal(t, before, copies(t))
	}
	require.Len(t, resourceNames(t), open)
}

// resourceNames lists this process's descriptors.
func resourceNames(t *testing.T) (names []string) {
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range list {
		if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !bytes.Contains([]byte(name), []byte("/proc/")) {
			names = append(names, name)
		}
	}
	return names
}
