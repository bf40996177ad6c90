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

// Config says what is booted, with which device, and what runs inside.
type Config struct {
	// System is the device: its time passes by itself (CanFreeRun), its memory can be lent (CanLend),
	// and each node has Memory bytes. It stays open.
	System drivers.System
	Node   int
	Memory int      // bytes of the guest; 0: DefaultMemory
	Image  string   // folder; "": ImageDir
	QEMU   string   // program; "": the one in PATH
	IOMMU  bool     // the guest has one, so vfio-pci may have the device
	Driver string   // who gets the device; "": nobody
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
	// Stdout and Stderr take what the command prints, Console what the kernel does; nil: nobody.
	Stdout, Stderr, Console io.Writer
	// Tries are how often a guest is booted that dies before the command begins; 0: 3.
	Tries int
	// Started is told of QEMU; may be nil.
	Started func(pid int)
	Log     *logrus.Logger // nil: the standard logger
}

// DefaultMemory is enough for the commands of nicloop.
const DefaultMemory = 512 << 20

// Needs is what the device must be able to do.
const Needs = drivers.CanPIO | DesignNeeds

// DesignNeeds is what a design must be able to do: it has no send windows.
const DesignNeeds = drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanFreeRun | drivers.CanLend

// A Result is how the command ended.
type Result struct {
	Code  int
	Boots int
	// From the start of QEMU: the first read of a register, the begin of the command, its end.
	// FirstRegister is 0 if there was none.
	FirstRegister, Begun, Ended time.Duration
}

// What can end a guest too early.
var (
	ErrPanic = errors.New("the guest's kernel panicked")
	ErrQEMU  = errors.New("QEMU ended")
)

// A GuestError is a guest that ended before its command did.
type GuestError struct {
	Err     error // ErrPanic, ErrQEMU, or what the device ended with
	Detail  string
	Console string // what the kernel said last
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

// Unwrap makes it one of the machine, as a simulator that dies is.
func (e *GuestError) Unwrap() []error { return []error{e.Err, drivers.ErrPeerDied} }

// Run boots a guest and runs the command. No process and no file is left of it.
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
		hw, err := c.Function.hardwareOf(c.System.Device(c.Node), c.Log)
		if err == nil {
			err = hw.reset()
		}
		if err != nil {
			return res, err
		}
	}
}

// fill replaces what is not given, and checks the rest.
func (c *Config) fill() error {
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	const least, most = 256 << 20, 2 << 30 // a q35 has more elsewhere, too
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
	needs := Needs
	if c.Function.Design != nil {
		needs = DesignNeeds
	}
	if err := drivers.Require(c.System, needs); err != nil {
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
	return CheckImage(c.Image)
}

// initrd is the image's disk and that of this run, in memory.
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
