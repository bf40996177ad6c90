package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/spf13/cobra"
)

type deviceFlags struct {
	uri   string
	nodes int
	node  int
}

func newDevice() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "device",
		Short: "List backends; inspect, test, monitor and reset a device; access its registers",
	}
	f := &deviceFlags{}
	fs := cmd.PersistentFlags()
	fs.StringVar(&f.uri, "device", defaultDevice(), "device: SCHEME:[PATH][?KEY=VALUE&…] (see nicloop device list)")
	fs.IntVar(&f.nodes, "nodes", 2, "nodes of a simulated machine")
	fs.IntVar(&f.node, "node", 0, "node to access")
	return group(cmd, newDeviceList(), newDeviceScan(), newDeviceBind(), newDeviceUnbind(), f.info(), f.dump(), newDeviceDiff(), f.selftest(), f.monitor(), f.reset(), f.replay(), newDeviceLog(), f.peek(), f.poke(), f.script(), f.serve())
}

// with opens the device for one node's use.
func (f *deviceFlags) with(cmd *cobra.Command, use func(drivers.System, drivers.Device) error) error {
	nodes := f.nodes
	if registry.DiscoversNodes(f.uri) && !cmd.Flags().Changed("nodes") {
		nodes = 0
	} else if f.node < 0 || f.node >= f.nodes {
		return usageError{fmt.Errorf("--node %d: expected 0 to %d, because --nodes is %d", f.node, f.nodes-1, f.nodes)}
	}
	bar := newBar(cmd.ErrOrStderr(), "device")
	opt := drivers.Options{Nodes: nodes, MemoryBytes: 1 << 16, Progress: bar.describe}
	sys, err := registry.Open(cmd.Context(), f.uri, opt)
	if errors.Is(err, drivers.ErrNotSupported) { // a small board has fewer nodes, enough for all but a self-test
		opt.MemoryBytes = 0
		sys, err = registry.Open(cmd.Context(), f.uri, opt)
	}
	if err != nil {
		return err
	}
	defer sys.Close()
	if there := sys.Info().Nodes; f.node < 0 || f.node >= there {
		return usageError{fmt.Errorf("--node %d: expected 0 to %d, because %s has %d", f.node, there-1, f.uri, there)}
	}
	return use(sys, sys.Device(f.node))
}

func (f *deviceFlags) info() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "info", Short: "Print the description, capabilities and global registers of a device", Args: checked(cobra.NoArgs),
		Example: "  nicloop device info --nodes 4 --node 2\n  nicloop device info --device model: --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(sys drivers.System, dev drivers.Device) error {
				rep, err := f.readRegisters(sys, dev, func(r *regmap.Register) bool { return r.Count == 1 })
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), rep)
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "capabilities: %s\nmemory: %s\n", dev.Capabilities(), memoryText(dev)); err != nil {
					return err
				}
				return printDevice(cmd.OutOrStdout(), rep)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printDevice(w io.Writer, rep *deviceInfo) error {
	d := &rep.Device
	fmt.Fprintf(w, "%s: %s, %d nodes (%s) of %d processes, clock %d ps\ndescription 0x%016x, hardware %s, %s\nnode %d:\n",
		d.URI, d.Backend, d.Nodes, network(*d), d.VPIDs, d.ClockPS, d.DescHash, d.Hash, d.Tool, rep.Node)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rep.Registers {
		fmt.Fprintf(tw, "0x%05x\t%s\t0x%x\t%s\n", r.Offset, r.Name, r.Value, r.Doc)
	}
	return tw.Flush()
}

// memoryText describes where the NIC addresses the memory.
func memoryText(dev drivers.Device) string {
	s := fmt.Sprintf("%d bytes", len(dev.Memory()))
	switch list := dev.Segments(); len(list) {
	case 0:
		return s + " at device address 0"
	case 1:
		return fmt.Sprintf("%s at device address 0x%x", s, list[0].Addr)
	default:
		return fmt.Sprintf("%s in %d segments, the first at device address 0x%x", s, len(list), list[0].Addr)
	}
}

func (f *deviceFlags) peek() *cobra.Command {
	cmd := &cobra.Command{
		Use: "peek REGISTER", Short: "Read a register by name (MBOX_WP[3]) or offset (0x10018)", Args: checked(cobra.ExactArgs(1)),
		Example: "  nicloop device peek MAGIC\n  nicloop device peek 'MBOX_WP[3]' --node 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, off, err := f.register(args[0])
			if err != nil {
				return err
			}
			return f.with(cmd, func(_ drivers.System, dev drivers.Device) error {
				v, err := dev.ReadReg(off)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s 0x%x\n", m.Describe(off), v)
				return err
			})
		},
	}
	completing(cmd, 1, registerChoices)
	return cmd
}

func (f *deviceFlags) poke() *cobra.Command {
	cmd := &cobra.Command{
		Use: "poke REGISTER VALUE", Short: "Write a register and read it back", Args: checked(cobra.ExactArgs(2)),
		Example: "  nicloop device poke SCRATCH 0xcafe",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, off, err := f.register(args[0])
			if err != nil {
				return err
			}
			v, err := strconv.ParseUint(args[1], 0, 64)
			if err != nil {
				return usageError{fmt.Errorf("value %q: expected a number of at most 64 bits, such as 0xcafe", args[1])}
			}
			return f.with(cmd, func(_ drivers.System, dev drivers.Device) error {
				if err := dev.WriteReg(off, v); err != nil {
					return err
				}
				got, err := dev.ReadReg(off)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s 0x%x\n", m.Describe(off), got)
				return err
			})
		},
	}
	completing(cmd, 1, registerChoices)
	return cmd
}

// register finds what NAME, NAME[INDEX] or an offset is in the map of the device.
func (f *deviceFlags) register(text string) (m *regmap.Map, off uint32, err error) {
	if m, err = registry.Registers(f.uri); err != nil {
		return nil, 0, usageError{err}
	}
	if off, err = m.Parse(text); err != nil {
		return nil, 0, usageError{err}
	}
	return m, off, nil
}

// registersOf is the register map of an opened device.
func registersOf(info drivers.Info) *regmap.Map {
	if info.Registers != nil {
		return info.Registers
	}
	return regs.Map()
}
