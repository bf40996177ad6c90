package bridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
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
	Program   string
	Dims      [3]int
	VPIDs     int
	DescHash  uint64   // what the simulator must have been built from: a
	BuildHash [32]byte // mismatch ends the handshake and names both values

	MemoryBytes int // DMA memory per node, rounded up to whole pages
	Trace       drivers.TraceSink
	Waves       *drivers.WaveWindow
	LogFile     string
	Only        []int    // nodes that are simulated; nil: all. See Edge
	Args        []string // options of the simulator beside those that follow from this
	Plusargs    []string
	// Patience is how long the simulator may be silent in wall time; 0 means 30 s.
	// While it runs it gives a sign of life every half second.
	Patience time.Duration
	// Spin is how long either side may look for a message before it sleeps; 0 means
	// 1 ms, less than 0 never.
	Spin time.Duration
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
	if w := c.Waves; w != nil && (w.File == "" || w.From >= w.To) {
		return fmt.Errorf("%w: waves of the cycles [%d, %d) in %q: expected a file and a window that is not empty",
			drivers.ErrConfig, w.From, w.To, w.File)
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

// args are the simulator's arguments.
func (c *Config) args(socket string) ([]string, error) {
	args := append([]string{socket, "--dims", fmt.Sprintf("%dx%dx%d", c.Dims[0], c.Dims[1], c.Dims[2])}, c.Args...)
	args = append(args, c.onlyArgs()...)
	if c.Waves != nil {
		file, err := filepath.Abs(c.Waves.File)
		if err != nil {
			return nil, err
		}
		// The simulator could not say why it cannot write: find out here.
		f, err := os.Create(file)
		if err != nil {
			return nil, fmt.Errorf("wave file: %w", err)
		}
		f.Close()
		args = append(args, "--waves", file)
	}
	return append(args, c.Plusargs...), nil
}
