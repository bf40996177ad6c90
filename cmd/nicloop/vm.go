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

// deviceVariable is the environment variable with the default device.
const deviceVariable = "NICLOOP_DEVICE"

// nodeVariable is the environment variable with the node of a guest.
const nodeVariable = "NICLOOP_NODE"

// defaultDevice is the device of commands without --device.
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
	kernel         string
	modules, files []string
}

func newVM() *cobra.Command {
	f := &vmFlags{}
	cmd := &cobra.Command{
		Use:   "vm [flags] -- COMMAND [ARGUMENT…]",
		Short: "Run a command in a virtual machine with the NIC as a PCI device",
		Long: `Boot Debian's unmodified kernel in unmodified QEMU (TCG), with the NIC of a device as
PCI device ` + vm.Slot + `, and run a command there. COMMAND is nicloop (this program) or a
command of busybox. The output and the exit code of this command are those of COMMAND.
Inside the guest, the default of --device is the NIC in the slot
(variable ` + deviceVariable + `); ` + nodeVariable + ` is the number of its node.

The NIC accesses the guest's memory by DMA and interrupts it by MSI-X or INTA. The boot
image is made of Debian packages at the first start (scripts/vm-image) and cached.

With a device design:FILE, the guest finds the PCI function of its key pci, and --module
inserts its driver.

` + exitText,
		Example: `  nicloop vm --device model: -- nicloop device selftest
  nicloop vm --device rtl: -- nicloop regress 'board/*'
  nicloop vm --device model: -- nicloop device scan
  nicloop vm --device model: --nodes 2 -- nicloop device peek NODE_ID
  nicloop vm --device design:my.yaml --module my.ko -- sh -c 'ip link; dmesg | tail'
  nicloop vm --console -- sh -c 'dmesg | tail; cat /proc/interrupts'`,
		Args: checked(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.SetInterspersed(false)
	fs.StringVar(&f.device, "device", "rtl:", "device in the slot")
	fs.StringVar(&f.driver, "driver", "none", "driver of the device in the guest: none (BARs as files, memory in huge pages), uio_pci_generic (also INTA), vfio-pci (IOMMU, MSI-X)")
	fs.IntVar(&f.nodes, "nodes", 1, "nodes of the system; each runs the command in a guest of its own")
	mebibytesVar(fs, &f.memory, "memory", vm.DefaultMemory>>20, "memory of each guest; a number without a unit counts MiB")
	fs.StringVar(&f.kernel, "kernel", "", "kernel to boot instead of Debian's")
	fs.StringArrayVar(&f.modules, "module", nil, "kernel module to insert before the command runs; may be given several times")
	fs.StringArrayVar(&f.files, "file", nil, "file to put into /files of the guest; may be given several times")
	cmd.AddCommand(newVMBuildModule())
	fs.BoolVar(&f.console, "console", false, "print kernel messages on standard error")
	fs.BoolVar(&f.times, "times", false, "print times on standard error")
	return cmd
}

// guestDrivers maps a driver to its binding and to the device URI in the guest.
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
	function, err := vmFunction(f.device)
	if err != nil {
		return err
	}
	sys, err := registry.Open(cmd.Context(), freeRunning(f.device), drivers.Options{
		Nodes: f.nodes, MemoryBytes: f.memory << 20, Needs: function.Needs(), Progress: bar.describe,
	})
	if err != nil {
		return err
	}
	defer sys.Close()
	bar.finish()
	var all sync.WaitGroup
	errs := make([]error, f.nodes)
	for n := range f.nodes {
		c := vm.Config{
			Function: function, Kernel: f.kernel, Modules: f.modules, Files: f.files,
			System: sys, Node: n, Memory: f.memory << 20, IOMMU: f.driver == "vfio-pci", Driver: driver.bound,
			Env:     []string{deviceVariable + "=" + driver.uri, fmt.Sprintf("%s=%d", nodeVariable, n)},
			Command: command, Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
		}
		if f.nodes > 1 {
			c.Stdout, c.Stderr = &linesOf{to: c.Stdout, node: n}, &linesOf{to: c.Stderr, node: n}
		}
		all.Go(func() { errs[n] = f.one(cmd, c) })
	}
	all.Wait()
	return worst(errs)
}

// worst returns the failure of a guest, or else that of a command.
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

// mostGuests limits the memory that guests take.
const mostGuests = 8

// one runs one guest.
func (f *vmFlags) one(cmd *cobra.Command, c vm.Config) error {
	if f.console {
		c.Console = c.Stderr
	}
	res, err := vm.Run(cmd.Context(), c)
	for _, w := range []io.Writer{c.Stdout, c.Stderr} {
		if l, ok := w.(*linesOf); ok && len(l.line) > 0 { // a last line without a newline
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

// linesOf prefixes each line with its node, because guests print concurrently.
type linesOf struct {
	to   io.Writer
	node int
	line []byte
}

// oneLine is locked while a line is printed.
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

// provideImage makes the boot image if there is none and the source of this program is available.
func provideImage(ctx context.Context, tell func(string)) error {
	dir, err := vm.ImageDir()
	if err != nil {
		return err
	}
	missing := vm.CheckImage(dir)
	if missing == nil {
		return nil
	}
	script, ok := sourceScript("vm-image")
	if !ok {
		return missing
	}
	tell("making the boot image, once")
	if text, err := exec.CommandContext(ctx, script, dir).CombinedOutput(); err != nil {
		return errors.Join(missing, fmt.Errorf("%w: %s: %w\n%s", drivers.ErrEnvironment, script, err, text))
	}
	return vm.CheckImage(dir)
}

// sourceScript returns the path of a script in the source tree of this program. Not ok: it is not
// there.
func sourceScript(name string) (path string, ok bool) {
	_, source, _, _ := runtime.Caller(0)
	path = filepath.Join(filepath.Dir(source), "../../scripts", name)
	return path, isFile(path)
}
