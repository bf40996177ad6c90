package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/scan"
	"github.com/spf13/cobra"
)

type foundDevices struct {
	List []scan.Found `json:"devices"`
}

type scanFlags struct {
	root string
	ids  []string
}

func (f *scanFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.ids, "id", nil, fmt.Sprintf("PCI `VENDOR:DEVICE` of boards, instead of %v", scan.IDs[0]))
	cmd.Flags().StringVar(&f.root, "root", "", "`FOLDER` with the machine's sys and dev, instead of /")
}

func (f *scanFlags) host() (*scan.Host, error) {
	h := &scan.Host{Root: f.root}
	for _, text := range f.ids {
		id, err := scan.ParseID(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--id: %w", err)}
		}
		h.IDs = append(h.IDs, id)
	}
	return h, nil
}

func newDeviceScan() *cobra.Command {
	f := &scanFlags{}
	var probe, asJSON bool
	var baud int
	cmd := &cobra.Command{
		Use: "scan", Short: "List boards and serial ports, their drivers, and why one is not usable", Args: checked(cobra.NoArgs),
		Long: `List PCI devices with the identifiers of supported boards, and serial ports: the
driver and IOMMU group of each, its negotiated link, its identification, why it is
not usable and how to fix that.

Nothing is written. Registers of a PCI device are read if it is enabled and no driver
has it. A serial port is opened, but nothing is sent to it without --probe, because it
may belong to another device.`,
		Example: "  nicloop device scan\n  nicloop device scan --probe --baud 3000000\n  nicloop device scan --id 10ee:7024",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := f.host()
			if err != nil {
				return err
			}
			if probe {
				h.Probe = func(port string) (scan.State, error) { return probePort(cmd.Context(), port, baud) }
			}
			list, err := h.Scan()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), &foundDevices{list})
			}
			printFound(cmd.OutOrStdout(), list)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&probe, "probe", false, "identify the devices at serial ports")
	cmd.Flags().IntVar(&baud, "baud", 115200, "baud rate of --probe")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// probeTime limits the response time of a port.
const probeTime = 5 * time.Second

// probePort opens a port as uart: does, which changes nothing before it has identified the device.
func probePort(ctx context.Context, port string, baud int) (scan.State, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	sys, err := registry.Open(ctx, fmt.Sprintf("uart:%s?baud=%d", port, baud), drivers.Options{})
	switch {
	case err == nil:
		return scan.Ours, sys.Close()
	case errors.Is(err, drivers.ErrProtocol) && strings.Contains(err.Error(), "DESC_HASH"):
		return scan.Other, err
	}
	return scan.Foreign, err
}

func printFound(w io.Writer, list []scan.Found) {
	for _, f := range list {
		what := f.Product
		if f.ID != "" {
			what = "PCI " + f.ID
		}
		held := "no driver"
		if f.Driver != "" {
			held = "driver " + f.Driver
		}
		fmt.Fprintf(w, "%s  %s\n", f.Name, strings.Join(filled(what, held, groupText(f), linkText(f.Link)), ", "))
		state := string(f.State)
		if f.Said != "" && f.Said != f.Why {
			state += ": " + f.Said
		}
		fmt.Fprintf(w, "  state %s\n", state)
		if f.Usable {
			fmt.Fprintf(w, "  use   --device %s\n", f.URI)
			continue
		}
		fmt.Fprintf(w, "  not usable: %s\n  fix   %s\n", f.Why, f.Hint)
	}
	fmt.Fprintf(w, "%d found\n", len(list))
}

// filled removes empty strings.
func filled(list ...string) (some []string) {
	for _, s := range list {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

func groupText(f scan.Found) string {
	if f.Group == "" {
		return ""
	}
	return "IOMMU group " + f.Group
}

func linkText(l *scan.Link) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%s x%d", l.Speed, l.Width)
}

func newDeviceBind() *cobra.Command {
	var driver string
	return bindCommand("bind ADDRESS", "Bind a PCI device to a driver for user-space programs",
		`Give a PCI device to a driver, vfio-pci unless told otherwise, by driver_override. The device is taken
from who has it; if the driver does not take it, it is given back, and both are said. With
--driver none no driver may have it, as pcie: needs it. You are asked before, but with --yes. Root
alone may do this.`,
		"  nicloop device bind 0000:03:00.0\n  nicloop device bind 0000:03:00.0 --driver none --yes",
		func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&driver, "driver", scan.DefaultDriver, "driver to bind")
		},
		func(h *scan.Host, address string) (plan string, do func() error, err error) {
			plan, err = h.Plan(address, driver)
			return plan, func() error { return h.Bind(address, driver) }, err
		})
}

func newDeviceUnbind() *cobra.Command {
	return bindCommand("unbind ADDRESS", "Return a PCI device to the kernel's default driver",
		`Take a PCI device from its driver, empty driver_override, and let the kernel choose who has it: its
own driver, if there is one, or nobody. You are asked before, but with --yes.`,
		"  nicloop device unbind 0000:03:00.0", func(*cobra.Command) {},
		func(h *scan.Host, address string) (plan string, do func() error, err error) {
			plan, err = h.Plan(address, "")
			return plan, func() error { return h.Unbind(address) }, err
		})
}

func bindCommand(use, short, long, example string, flags func(*cobra.Command), prepare func(*scan.Host, string) (string, func() error, error)) *cobra.Command {
	f := &scanFlags{}
	var yes bool
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: checked(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := f.host()
			if err != nil {
				return err
			}
			plan, do, err := prepare(h, args[0])
			if err != nil {
				return err
			}
			if plan == "" {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: nothing to do\n", args[0])
				return err
			}
			if err := ask(cmd, plan, yes); err != nil {
				return err
			}
			if err := do(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "done: %s\n", plan)
			return err
		},
	}
	f.add(cmd)
	flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}
