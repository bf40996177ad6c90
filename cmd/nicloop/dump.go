package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
)

func (f *deviceFlags) dump() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "dump", Short: "Print all registers of a node, with their fields", Args: checked(cobra.NoArgs),
		Long: `Print all registers of a node, including those of each process, with their fields.
Registers that are zero are omitted, unless --all or --json is given. Reading changes
no register, except that a board counts accesses to the wire registers, which only a
simulation has, in BAD_ACCESS.`,
		Example: "  nicloop device dump --device uart:/dev/ttyUSB0\n  nicloop device dump --json >before.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(sys drivers.System, dev drivers.Device) error {
				rep, err := f.readRegisters(sys, dev, func(*regmap.Register) bool { return true })
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), rep)
				}
				return printDump(cmd.OutOrStdout(), registersOf(rep.Device), rep, all)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON, for device diff")
	cmd.Flags().BoolVar(&all, "all", false, "include registers that are zero")
	return cmd
}

// readRegisters reads all implemented copies of the wanted registers. It omits registers that
// respond with DECERR: those of wires exist in a simulation only, and a small NIC has few processes
// and no RMA.
func (f *deviceFlags) readRegisters(sys drivers.System, dev drivers.Device, wanted func(*regmap.Register) bool) (*deviceInfo, error) {
	rep := &deviceInfo{Device: sys.Info(), Node: f.node}
	m := registersOf(rep.Device)
	for _, r := range m.Registers() {
		if !wanted(&r) || r.Access == regmap.WO {
			continue
		}
		for i := range int(r.Count) {
			off := r.Address(i)
			v, err := dev.ReadReg(off)
			var bus *drivers.BusError
			if errors.As(err, &bus) && bus.Resp == drivers.RespDECERR && off != 0 {
				break // the copies after it are missing, too
			}
			if err != nil {
				return nil, err
			}
			rep.Registers = append(rep.Registers, registerValue{m.Describe(off), off, v, r.Doc})
		}
	}
	return rep, nil
}

func printDump(w io.Writer, m *regmap.Map, rep *deviceInfo, all bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	zeros := 0
	for _, r := range rep.Registers {
		if r.Value == 0 && !all {
			zeros++
			continue
		}
		fmt.Fprintf(tw, "0x%05x\t%s\t0x%x\t%s\n", r.Offset, r.Name, r.Value, fieldsText(m, r.Offset, func(field regmap.Bits) string { return fmt.Sprintf("0x%x", field.Of(r.Value)) }))
	}
	if zeros > 0 {
		fmt.Fprintf(tw, "%d more are zero (--all)\n", zeros)
	}
	return tw.Flush()
}

// fieldsText prints the fields of a register for which show returns a text: "SIZE 7, ON 1".
func fieldsText(m *regmap.Map, off uint32, show func(field regmap.Bits) string) string {
	r, _, ok := m.ByAddress(off)
	if !ok {
		return ""
	}
	var parts []string
	for _, f := range r.Fields {
		if text := show(f.Bits); text != "" {
			parts = append(parts, f.Name+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

func newDeviceDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff BEFORE AFTER", Short: "Compare two dumps of device dump --json", Args: checked(cobra.ExactArgs(2)),
		Long: `Compare two files that nicloop device dump --json has written: of one board at two
times, of two boards, or of a board and the RTL. A difference is exit code 1.`,
		Example: "  nicloop device diff before.json after.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var dumps [2]*deviceInfo
			for i, name := range args {
				var err error
				if dumps[i], err = readDump(name); err != nil {
					return usageError{err}
				}
			}
			m := mapOfDump(dumps[0])
			a, b := dumps[0].Device.DescHash, dumps[1].Device.DescHash
			if a != b {
				return usageError{fmt.Errorf("cannot compare: %s is of hardware description 0x%016x, %s of 0x%016x; expected equal descriptions", args[0], a, args[1], b)}
			}
			n, err := printDiff(cmd.OutOrStdout(), m, dumps)
			if err == nil && n > 0 {
				err = errFailed
			}
			return err
		},
	}
}

// mapOfDump is the register map of the device that a dump was made of. Without the files of the
// design the registers of a dump have their names, but no fields.
func mapOfDump(dump *deviceInfo) *regmap.Map {
	if dump.Device.DescHash == regs.DescHashValue {
		return regs.Map()
	}
	m, err := registry.Registers(dump.Device.URI)
	if err != nil || m.Hash != dump.Device.DescHash {
		return regmap.New("", dump.Device.DescHash, nil)
	}
	return m
}

func readDump(name string) (*deviceInfo, error) {
	text, err := userfile.Read(name, userfile.TextLimit)
	if err != nil {
		return nil, err
	}
	var d deviceInfo
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: expected the output of nicloop device dump --json: %w", name, err)
	}
	if len(d.Registers) == 0 {
		return nil, fmt.Errorf("%s: expected the output of nicloop device dump --json; it has no registers", name)
	}
	return &d, nil
}

// printDiff counts the registers that differ, or that only one dump has.
func printDiff(w io.Writer, m *regmap.Map, dumps [2]*deviceInfo) (n int, err error) {
	after := map[uint32]registerValue{}
	for _, r := range dumps[1].Registers {
		after[r.Offset] = r
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range dumps[0].Registers {
		other, ok := after[r.Offset]
		delete(after, r.Offset)
		switch {
		case !ok:
			fmt.Fprintf(tw, "0x%05x\t%s\t0x%x\t-\n", r.Offset, r.Name, r.Value)
		case other.Value != r.Value:
			fmt.Fprintf(tw, "0x%05x\t%s\t0x%x\t0x%x\t%s\n", r.Offset, r.Name, r.Value, other.Value, fieldsText(m, r.Offset, changed(r.Value, other.Value)))
		default:
			continue
		}
		n++
	}
	for _, r := range dumps[1].Registers {
		if _, only := after[r.Offset]; only {
			fmt.Fprintf(tw, "0x%05x\t%s\t-\t0x%x\n", r.Offset, r.Name, r.Value)
			n++
		}
	}
	fmt.Fprintf(tw, "%d of %d registers differ\n", n, len(dumps[0].Registers)+len(after))
	return n, tw.Flush()
}

// changed prints the change of a field: "3 -> 5".
func changed(a, b uint64) func(regmap.Bits) string {
	return func(field regmap.Bits) string {
		x, y := field.Of(a), field.Of(b)
		if x == y {
			return ""
		}
		return fmt.Sprintf("0x%x -> 0x%x", x, y)
	}
}
