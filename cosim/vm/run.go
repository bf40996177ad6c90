package vm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// Config selects the image, the device and the command of the guest.
type Config struct {
	// System is the device: free-running (CanFreeRun), with memory that can be lent (CanLend) and
	// Memory bytes per node. It stays open.
	System drivers.System
	Node   int
	Memory int      // bytes of the guest; 0: DefaultMemory
	Image  string   // directory; "": ImageDir
	QEMU   string   // program; "": the one in PATH
	IOMMU  bool     // give the guest an IOMMU, as required by vfio-pci
	Driver string   // driver to bind to the device; "": none
	Env    []string // NAME=VALUE, in the guest
	// Function is what the guest finds in the slot; nil: this project's NIC.
	Function *Function
	// Kernel is the kernel that is booted; "": the one of the image. Modules are inserted in their
	// order before the command runs. Files are put into the folder /files of the guest.
	Kernel         string
	Modules, Files []string
	// Program is the guest's nicloop; "": this program. Command is what runs; its first word may be
	// nicloop.
	Program string
	Command []string
	// Stdout and Stderr receive the command's output, Console the kernel's; nil: discard.
	Stdout, Stderr, Console io.Writer
	// Tries is the number of boot attempts if the guest dies before the command begins; 0: 3.
	Tries int
	// Started is called with QEMU's process; may be nil.
	Started func(pid int)
	Log     *logrus.Logger // nil: the standard logger

	hw hardware // behind Function
}

// DefaultMemory suffices for the commands of nicloop.
const DefaultMemory = 512 << 20

// Needs returns what the device behind a function must be able to do; nil: this project's NIC.
// Other designs have no send windows.
func (f *Function) Needs() drivers.Capabilities {
	if f != nil && f.Design != nil {
		return designNeeds
	}
	return designNeeds | drivers.CanPIO
}

const designNeeds = drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanFreeRun | drivers.CanLend

// A Result describes the end of the command.
type Result struct {
	Code  int
	Boots int
	// Times since the start of QEMU: the first register read (0: none), the start and the end of
	// the command.
	FirstRegister, Begun, Ended time.Duration
}

// Reasons for which a guest ends too early.
var (
	ErrPanic = errors.New("the guest's kernel panicked")
	ErrQEMU  = errors.New("QEMU ended")
)

// A GuestError reports that a guest ended before its command.
type GuestError struct {
	Err     error // ErrPanic, ErrQEMU, or the error of the device
	Detail  string
	Console string // last messages of the kernel
	begun   bool
}

func (e *GuestError) Error() string {
	text := e.Err.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	when := "before the command began"
	if e.begun {
		when = "while the command ran"
	}
	text += ", " + when
	if last := strings.TrimSpace(e.Console); last != "" {
		text += "; the guest's console:\n" + last
	}
	return text
}

// Unwrap classifies it as a failure of the machine, like the death of a simulator.
func (e *GuestError) Unwrap() []error { return []error{e.Err, drivers.ErrPeerDied} }

// Run boots a guest and runs the command. It leaves no process and no file behind.
func Run(ctx context.Context, c Config) (Result, error) {
	if err := c.fill(); err != nil {
		return Result{}, err
	}
	for n := 1; ; n++ {
		m := mark(rand.Text())
		res, err := c.boot(ctx, m)
		res.Boots = n
		var died *GuestError
		if err == nil || n >= c.Tries || ctx.Err() != nil || !errors.As(err, &died) || died.begun || !errors.Is(err, ErrQEMU) {
			return res, err
		}
		logs.Layer(c.Log, "vm").WithError(err).Debug("booting again")
		if err := c.hw.reset(); err != nil {
			return res, err
		}
	}
}

// fill sets the defaults and validates the rest.
func (c *Config) fill() error {
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	const least, most = 256 << 20, 2 << 30 // a q35 places larger memory in two ranges
	switch {
	case c.Memory < least || c.Memory > most || c.Memory%(2<<20) != 0:
		return fmt.Errorf("%w: %d bytes of memory: expected %d to %d, in pages of 2 MB", drivers.ErrConfig, c.Memory, least, most)
	case len(c.Command) == 0:
		return fmt.Errorf("%w: no command for the guest", drivers.ErrConfig)
	case len(c.System.Device(c.Node).Memory()) < c.Memory || c.System.Device(c.Node).Segments() != nil:
		return fmt.Errorf("%w: expected a device whose memory is the guest's: %d bytes from address 0 on", drivers.ErrConfig, c.Memory)
	}
	if c.Function == nil {
		f := nicFunction()
		c.Function = &f
	}
	if err := drivers.Require(c.System, c.Function.Needs()); err != nil {
		return err
	}
	if c.Tries == 0 {
		c.Tries = 3
	}
	var err error
	if c.Image == "" {
		if c.Image, err = ImageDir(); err != nil {
			return err
		}
	}
	if c.Program == "" {
		if c.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	for _, w := range []*io.Writer{&c.Stdout, &c.Stderr} {
		if *w == nil {
			*w = io.Discard
		}
	}
	if c.QEMU, err = findQEMU(c.QEMU); err != nil {
		return err
	}
	if c.Kernel == "" {
		c.Kernel = filepath.Join(c.Image, "vmlinuz")
	}
	if err := CheckImage(c.Image); err != nil {
		return err
	}
	c.hw, err = c.Function.hardwareOf(c.System.Device(c.Node), c.Log)
	return err
}

// initrd concatenates the disk of the image and that of this run, in memory.
func (c *Config) initrd(m mark) (*os.File, error) {
	base, err := os.ReadFile(filepath.Join(c.Image, "initrd.gz"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	f, err := memoryFile("nicloop-initrd")
	if err != nil {
		return nil, err
	}
	pad := make([]byte, -len(base)&3)
	if _, err = f.Write(append(base, pad...)); err == nil {
		err = c.disk(f, c.task(m))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
