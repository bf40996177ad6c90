package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/nicloop/nicloop/cosim/vm"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
)

// deviceVariable names the device of commands that are given none.
const deviceVariable = "NICLOOP_DEVICE"

// defaultDevice is what stands behind the driver unless somebody says so.
func defaultDevice() string {
	if d := os.Getenv(deviceVariable); d != "" {
		return d
	}
	return "rtl:"
}

type vmFlags struct {
	device, driver string
	memory, nodes  int
	console, times bool
}

func newVM() *cobra.Command {
	f := &vmFlags{}
	cmd := &cobra.Command{
		Use:   "vm [flags] -- COMMAND [ARGUMENT…]",
		Short: "Run a command in a virtual machine that has the NIC in a PCI slot",
		Long: `Boot Debian's kernel, unchanged, in QEMU, unchanged (TCG), with the NIC of a device as PCI device ` + vm.Slot + `,
and run a command there. COMMAND may be nicloop, which is this very program, or one of busybox.
Its output and its exit code are those of this command. Within, --device is the NIC of the slot
unless given (the variable ` + deviceVariable + `).

The NIC reaches the guest's memory by DMA, and interrupts it by MSI-X or INTA. What is booted is made of
Debian's packages at first (scripts/vm-image) and kept in the user's cache.

` + exitText,
		Example: `  nicloop vm --device model: -- nicloop device selftest
  nicloop vm --device rtl: -- nicloop regress 'board/*'
  nicloop vm --device model: -- nicloop device scan
  nicloop vm --device model: --nodes 2 -- nicloop device peek NODE_ID
  nicloop vm --console -- sh -c 'dmesg | tail; cat /proc/interrupts'`,
		Args: checked(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.SetInterspersed(false)
	fs.StringVar(&f.device, "device", "rtl:", "what is behind the slot")
	fs.StringVar(&f.driver, "driver", "none", "who has the device in the guest: none (files of its BARs, memory in huge pages), uio_pci_generic (INTA too), vfio-pci (behind an IOMMU, MSI-X)")
	fs.IntVar(&f.nodes, "nodes", 1, "nodes of the system: as many guests run the command, each with one in its slot")
	mebibytesVar(fs, &f.memory, "memory", vm.DefaultMemory>>20, "memory of each guest; a number without a unit counts MiB")
	fs.BoolVar(&f.console, "console", false, "show what the kernel says, on standard error")
	fs.BoolVar(&f.times, "times", false, "say how long it took, on standard error")
	return cmd
}

// guestDrivers are who may have the device, and what it is then in the guest.
var guestDrivers = map[string]struct{ bound, uri string }{
	"none":            {"", "pcie:" + vm.Slot + "?dma=hugepage"},
	"uio_pci_generic": {"uio_pci_generic", "pcie:" + vm.Slot + "?dma=hugepage"},
	"vfio-pci":        {"vfio-pci", "pcie:" + vm.Slot},
}

func (f *vmFlags) run(cmd *cobra.Command, command []string) error {
	driver, ok := guestDrivers[f.driver]
	if !ok {
		return misused("--driver %q: expected none, uio_pci_generic or vfio-pci", f.driver)
	}
	if f.nodes < 1 || f.nodes > mostGuests {
		return misused("--nodes %d: expected 1 to %d", f.nodes, mostGuests)
	}
	bar := newBar(cmd.ErrOrStderr(), "vm")
	defer bar.finish()
	if err := provideImage(cmd.Context(), bar.describe); err != nil {
		return err
	}
	sys, err := registry.Open(cmd.Context(), onTheWall(f.device), drivers.Options{Nodes: f.nodes, MemoryBytes: f.memory << 20, Needs: vm.Needs, Progress: bar.describe})
	if err != nil {
		return err
	}
	defer sys.Close()
	bar.finish()
	var all sync.WaitGroup
	errs := make([]error, f.nodes)
	for n := range f.nodes {
		c := vm.Config{System: sys, Node: n, Memory: f.memory << 20, IOMMU: f.driver == "vfio-pci", Driver: driver.bound,
			Env: []string{deviceVariable + "=" + driver.uri}, Command: command, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()}
		if f.nodes > 1 {
			c.Stdout, c.Stderr = &linesOf{to: c.Stdout, node: n}, &linesOf{to: c.Stderr, node: n}
		}
		all.Go(func() { errs[n] = f.one(cmd, c) })
	}
	all.Wait()
	return worst(errs)
}

// worst is what guests died of, if any did; else what a command failed with.
func worst(errs []error) error {
	var died []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, errFailed) {
			died = append(died, err)
		}
	}
	if died != nil {
		return errors.Join(died...)
	}
	return errors.Join(errs...)
}

// mostGuests is what one machine has memory for.
const mostGuests = 8

// one runs one guest.
func (f *vmFlags) one(cmd *cobra.Command, c vm.Config) error {
	if f.console {
		c.Console = c.Stderr
	}
	res, err := vm.Run(cmd.Context(), c)
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		if l, ok := w.(*linesOf); ok && len(l.line) > 0 { // a last one without an end
			_, _ = l.Write([]byte("\n"))
		}
	}
	if err != nil {
		return err
	}
	if f.times {
		first := "none"
		if res.FirstRegister > 0 {
			first = res.FirstRegister.Round(time.Millisecond).String()
		}
		fmt.Fprintf(c.Stderr, "vm: boots %d, first register %s, command from %v to %v\n",
			res.Boots, first, res.Begun.Round(time.Millisecond), res.Ended.Round(time.Millisecond))
	}
	if res.Code != 0 {
		return coded{res.Code, errFailed}
	}
	return nil
}

// linesOf says of each line which guest it comes from. Guests print side by side.
type linesOf struct {
	to   io.Writer
	node int
	line []byte
}

// oneLine is held while a line is printed.
var oneLine sync.Mutex

func (l *linesOf) Write(b []byte) (int, error) {
	l.line = append(l.line, b...)
	for {
		line, rest, ok := bytes.Cut(l.line, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		l.line = bytes.Clone(rest)
		oneLine.Lock()
		_, err := fmt.Fprintf(l.to, "node %d: %s\n", l.node, line)
		oneLine.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

// provideImage makes the image if there is none and the source of this program is here.
func provideImage(ctx context.Context, tell func(string)) error {
	dir, err := vm.ImageDir()
	if err != nil {
		return err
	}
	missing := vm.CheckImage(dir)
	if missing == nil {
		return nil
	}
	_, source, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(source), "../../scripts/vm-image")
	if !isFile(script) {
		return missing
	}
	tell("making what is booted, once")
	if text, err := exec.CommandContext(ctx, script, dir).CombinedOutput(); err != nil {
		return errors.Join(missing, fmt.Errorf("%w: %s: %w\n%s", drivers.ErrEnvironment, script, err, text))
	}
	return vm.CheckImage(dir)
}
