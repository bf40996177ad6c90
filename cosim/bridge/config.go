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
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/sirupsen/logrus"
)

const (
	traceRecords    = 1 << 16
	defaultPatience = 30 * time.Second
	defaultSpin     = time.Millisecond
	shutdownGrace   = 10 * time.Second // closing a wave file may take time
	interruptGrace  = 500 * time.Millisecond
	maxMemory       = 1 << 36 // per node
)

// A Config selects and configures a simulator.
type Config struct {
	Program   string // or the shared object, if Inside
	Inside    bool   // run the model in this process; see the package documentation
	Dims      [3]int
	ClockPS   int // of a cycle, for the times in errors; 0: that of this project's NIC
	VPIDs     int
	DescHash  uint64   // description and build that the simulator must have: a
	BuildHash [32]byte // mismatch ends the handshake and reports both values

	MemoryBytes int // DMA memory per node, rounded up to whole pages
	// Segments is the placement of each node's memory for its NIC; nil: at address 0.
	Segments [][]drivers.Segment
	// Lent memory can be shared with other processes (Session.Lend); this requires a model inside.
	// It stays mapped as long as the session is referenced.
	Lent        bool
	Trace       drivers.TraceSink
	Waves       *drivers.WaveWindow
	Checkpoints *drivers.Checkpoints
	LogFile     string
	Log         *logrus.Logger // nil: the standard logger
	Only        []int          // simulated nodes; nil: all. See Edge
	Args        []string       // additional options of the simulator
	Plusargs    []string
	// Patience is the maximum wall time without a message of the simulator; 0: 30 s. During a run
	// it sends a heartbeat every half second.
	Patience time.Duration
	// Spin is the maximum time to poll for a message before sleeping, if trials show that polling
	// pays; 0: 1 ms. Negative: neither side polls.
	Spin time.Duration
	// Grace is the time that the simulator gets to exit and to write its coverage counts; 0: 10 s.
	Grace time.Duration
}

// interruptGrace is the time that a simulator gets to exit after its host has disconnected. Runs
// are often interrupted to inspect the waves of a hang, so waves are closed in this case, too.
func (c *Config) interruptGrace() time.Duration {
	if c.Waves != nil {
		return shutdownGrace
	}
	return interruptGrace
}

// grace is the time for an orderly exit.
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
		return fmt.Errorf("%w: memory of a simulator in another process cannot be lent", drivers.ErrNotSupported)
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
	if c.ClockPS == 0 {
		c.ClockPS = regs.ClockPS
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

// validateNodes checks the nodes for which waves are requested.
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

// args returns the simulator's arguments.
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
	// The wave library replaces the file of this name, even if it is a link.
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

// emptyFile creates an empty wave file. The simulator could not report why it cannot write; this
// can.
func emptyFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("wave file: %w", err)
	}
	return f.Close()
}

// canWrite performs the same check without changing or leaving a file: a run with checkpoints
// writes waves only if it fails.
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

// plainFile refuses anything but a regular file: the wave library removes whatever has this name,
// even a device if it has permission.
func plainFile(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: wave file: %s is there and no plain file (%v): choose another name", drivers.ErrConfig, name, info.Mode())
	}
	return nil
}
