package bridge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/userfile"
)

const (
	traceRecords    = 1 << 16
	defaultPatience = 30 * time.Second
	defaultSpin     = time.Millisecond
	shutdownGrace   = 10 * time.Second // a wave file may take its time to close
	interruptGrace  = 500 * time.Millisecond
	maxMemory       = 1 << 36 // per node
)

// A Config says which simulator to start and how.
type Config struct {
	Program   string // or the shared object, if Inside
	Inside    bool   // the model runs in this process; see the package's text
	Dims      [3]int
	VPIDs     int
	DescHash  uint64   // what the simulator must have been built from: a
	BuildHash [32]byte // mismatch ends the handshake and names both values

	MemoryBytes int // DMA memory per node, rounded up to whole pages
	// Segments say where each node's NIC finds it; nil: at address 0.
	Segments [][]drivers.Segment
	// Lent memory can be shared with other processes (Session.Lend), which takes a model inside. It
	// stays mapped until nobody has the session.
	Lent        bool
	Trace       drivers.TraceSink
	Waves       *drivers.WaveWindow
	Checkpoints *drivers.Checkpoints
	LogFile     string
	Only        []int    // nodes that are simulated; nil: all. See Edge
	Args        []string // options of the simulator beside those that follow from this
	Plusargs    []string
	// Patience is how long the simulator may be silent in wall time; 0 means 30 s.
	// While it runs it gives a sign of life every half second.
	Patience time.Duration
	// Spin is how long we may look for a message before we sleep, where trials show that it
	// pays; 0 means 1 ms. Less than 0: neither side ever looks.
	Spin time.Duration
	// Grace is how long the simulator may take to end, which writes what it has counted; 0 means 10 s.
	Grace time.Duration
}

// interruptGrace is how long a simulator may take to end whose host has hung up. To look at the
// waves of a run that hangs is the main reason to interrupt it, so they are closed then, too.
func (c *Config) interruptGrace() time.Duration {
	if c.Waves != nil {
		return shutdownGrace
	}
	return interruptGrace
}

// grace of an orderly end.
func (c *Config) grace() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return shutdownGrace
}

func (c *Config) nodes() int { return c.Dims[0] * c.Dims[1] * c.Dims[2] }

func (c *Config) validate() error {
	switch n := c.nodes(); {
	case n < 1 || n > maxNodes:
		return fmt.Errorf("%w: %d nodes: expected 1..%d", drivers.ErrConfig, n, maxNodes)
	case c.VPIDs < 1 || c.VPIDs > maxVPIDs:
		return fmt.Errorf("%w: %d VPIDs: expected 1..%d", drivers.ErrConfig, c.VPIDs, maxVPIDs)
	case c.MemoryBytes < pageBytes || c.MemoryBytes > maxMemory:
		return fmt.Errorf("%w: DMA memory of %d bytes per node: expected %d..%d", drivers.ErrConfig, c.MemoryBytes, pageBytes, maxMemory)
	}
	if err := segment.Check(c.Segments, c.nodes(), c.MemoryBytes); err != nil {
		return err
	}
	if c.Lent && !c.Inside {
		return fmt.Errorf("%w: memory of a simulator in a process of its own cannot be lent", drivers.ErrNotSupported)
	}
	if err := errors.Join(c.validateWaves(), c.validateCheckpoints(), c.CheckInside()); err != nil {
		return err
	}
	if err := c.validateOnly(); err != nil {
		return err
	}
	for _, p := range c.Plusargs {
		if !strings.HasPrefix(p, "+") {
			return fmt.Errorf("%w: plusarg %q: expected it to start with +", drivers.ErrConfig, p)
		}
	}
	if c.Spin == 0 {
		c.Spin = defaultSpin
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	return nil
}

func (c *Config) validateWaves() error {
	w := c.Waves
	if w == nil {
		return nil
	}
	if w.File == "" || w.From >= w.To {
		return fmt.Errorf("%w: waves of the cycles [%d, %d) in %q: expected a file and a window that is not empty",
			drivers.ErrConfig, w.From, w.To, w.File)
	}
	return c.validateNodes(w.Nodes)
}

func (c *Config) validateCheckpoints() error {
	k := c.Checkpoints
	switch {
	case k == nil:
		return nil
	case c.Waves != nil:
		return fmt.Errorf("%w: waves of a window and checkpoints: expected one of the two", drivers.ErrConfig)
	case k.File == "" || k.Every < 1 || k.Last < 1:
		return fmt.Errorf("%w: checkpoints every %d cycles, waves of the last %d in %q: expected a file, and at least 1 of both",
			drivers.ErrConfig, k.Every, k.Last, k.File)
	}
	return c.validateNodes(k.Nodes)
}

// validateNodes checks the nodes of which there shall be waves.
func (c *Config) validateNodes(nodes []int) error {
	for i, n := range nodes {
		if n < 0 || n >= c.nodes() {
			return fmt.Errorf("%w: waves of node %d: expected nodes 0..%d", drivers.ErrConfig, n, c.nodes()-1)
		}
		if len(c.Only) > 0 && !slices.Contains(c.Only, n) {
			return fmt.Errorf("%w: waves of node %d, which is not RTL: expected some of %v", drivers.ErrConfig, n, c.Only)
		}
		if slices.Contains(nodes[:i], n) {
			return fmt.Errorf("%w: waves of node %d are asked for twice", drivers.ErrConfig, n)
		}
	}
	return nil
}

// args are the simulator's arguments.
func (c *Config) args(socket string) ([]string, error) {
	args := append([]string{socket, "--dims", fmt.Sprintf("%dx%dx%d", c.Dims[0], c.Dims[1], c.Dims[2])}, c.Args...)
	args = append(args, c.onlyArgs()...)
	if w := c.Waves; w != nil {
		more, err := waveArgs(w.File, w.Nodes)
		if err == nil {
			err = emptyFile(w.File)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	if k := c.Checkpoints; k != nil {
		more, err := waveArgs(k.File, k.Nodes)
		if err == nil {
			err = canWrite(k.File)
		}
		if err != nil {
			return nil, err
		}
		args = append(append(args, more...), "--checkpoint", strconv.FormatUint(uint64(k.Every), 10))
	}
	return append(args, c.Plusargs...), nil
}

func waveArgs(name string, nodes []int) ([]string, error) {
	// The library that writes waves replaces what it finds under the name, a link too.
	file, _, err := userfile.Resolve(name)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err == nil {
		err = plainFile(file)
	}
	if err != nil {
		return nil, err
	}
	args := []string{"--waves", file}
	if len(nodes) > 0 {
		args = append(args, "--waves-nodes", strings.Trim(strings.ReplaceAll(fmt.Sprint(nodes), " ", ","), "[]"))
	}
	return args, nil
}

// emptyFile makes room for waves. The simulator could not say why it cannot write: this finds out.
func emptyFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("wave file: %w", err)
	}
	return f.Close()
}

// canWrite finds out the same, and leaves a file as it is and none where none was: a run with
// checkpoints writes waves only if it fails.
func canWrite(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		f.Close()
		return os.Remove(name)
	}
	if errors.Is(err, os.ErrExist) {
		f, err = os.OpenFile(name, os.O_WRONLY, 0)
	}
	if err != nil {
		return fmt.Errorf("wave file: %w", err)
	}
	return f.Close()
}

// plainFile refuses what is there and no file: the library that writes waves removes whatever it
// finds under the name, a device too if it may.
func plainFile(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: wave file: %s is there and no plain file (%v): choose another name", drivers.ErrConfig, name, info.Mode())
	}
	return nil
}
