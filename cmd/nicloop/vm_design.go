package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/cosim/vm"
	"github.com/nicloop/nicloop/drivers"
)

// vmFunction is the PCI function of a design: device; nil for any other device.
func vmFunction(device string) (*vm.Function, error) {
	path, ok := strings.CutPrefix(device, "design:")
	if !ok {
		return nil, nil
	}
	path, _, _ = strings.Cut(path, "?")
	d, err := design.Load(path)
	if err != nil {
		return nil, err
	}
	if d.PCI.ID == "" {
		return nil, fmt.Errorf("%w: %s has no key pci; expected such as pci: {id: 1234:d3a0, class: 0x020000}",
			drivers.ErrConfig, path)
	}
	writes, err := d.ResetWrites()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	vendor, id, err := d.PCI.IDs()
	if err != nil {
		return nil, err
	}
	f := &vm.Function{
		Vendor: vendor, Device: id, Class: d.PCI.Class, Revision: d.PCI.Revision,
		Registers: uint32(d.PCI.Bar), Vectors: d.PCI.MSIX,
		Design: &vm.Design{Widths: d.PCI.Widths, Levels: design.SimIRQLevel, Pulses: design.SimIRQPulse},
	}
	for _, w := range writes {
		f.Design.Reset = append(f.Design.Reset, vm.RegisterWrite(w))
	}
	return f, nil
}

func newVMBuildModule() *cobra.Command {
	return &cobra.Command{
		Use:   "build-module FOLDER",
		Short: "Build a kernel module for the guest's kernel",
		Long: `Build the kernel module in a folder, which has a Kbuild or Makefile with obj-m,
against the headers of the guest's kernel, and print the path of the .ko file. The
headers are Debian packages, downloaded once into the user's cache.

` + exitText,
		Example: `  nicloop vm build-module ./driver`,
		Args:    checked(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := provideImage(cmd.Context(), func(string) {}); err != nil {
				return err
			}
			script, ok := sourceScript("vm-module")
			if !ok {
				return fmt.Errorf("%w: %s is missing: build nicloop from its source tree", drivers.ErrEnvironment, script)
			}
			build := exec.CommandContext(cmd.Context(), script, args[0])
			build.Stdout, build.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			err := build.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) { // the script has printed why
				return coded{exit.ExitCode(), errFailed}
			}
			return err
		},
	}
}
