package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nicloop/nicloop/cosim/calibrate"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
)

func newCalibrate() *cobra.Command {
	c := calibrate.Config{}
	var write string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the cycles of the RTL's blocks, which the model takes as parameters",
		Long: `Measure what the model takes as parameters: the cycles of routers, links,
credits and of the NIC's units, in small experiments on an otherwise idle pair of
nodes. The model has those of cosim/nic/rtl.json built in; "model:?params=FILE"
takes others.

Exit code 1: what was measured differs from what the model has, and --write did
not say to keep it.`,
		Example: `  nicloop calibrate
  nicloop calibrate --device 'rtl:?host_rd_latency=60' --write board.json
  nicloop run alltoall --nodes 64 --procs 16 --device 'model:?params=board.json'
  nicloop calibrate --write cosim/nic/rtl.json        after a change of the RTL`,
		Args: checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress := newBar(cmd.ErrOrStderr(), "calibrate")
			c.Building, c.Progress = progress.describe, progress.set
			p, err := calibrate.Measure(cmd.Context(), &c)
			progress.finish()
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), compared(c.Device, &p))
			} else {
				err = printCalibration(cmd.OutOrStdout(), c.Device, &p)
			}
			if err != nil {
				return err
			}
			if write != "" {
				return writeCalibration(write, &p)
			}
			if p != nic.RTL() {
				return errFailed
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&c.Device, "device", "rtl:", "what to measure: rtl:[?KEY=VALUE&…]; keys vc_depth and dims are set by the experiments")
	fs.StringVar(&write, "write", "", "keep the parameters in `FILE`")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// compared puts what was measured beside what the model has.
func compared(device string, p *nic.Params) *calibration {
	has, rep := nic.RTL(), &calibration{Device: device}
	units := map[string]string{"nic.lines": "lines", "network.vc_depth": "flits"}
	for i, f := range p.Fields() {
		unit := units[f.Name]
		if unit == "" {
			unit = "cycles"
		}
		rep.Parameters = append(rep.Parameters, parameter{f.Name, unit, f.Value(), has.Fields()[i].Value(), calibrate.How[f.Name]})
	}
	return rep
}

func printCalibration(w io.Writer, device string, p *nic.Params) error {
	has := nic.RTL()
	fmt.Fprintf(w, "%s, two idle nodes; cycles, but nic.lines in lines and network.vc_depth in flits\n", device)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "parameter\tmeasured\tmodel has\tmeasured as")
	differ := 0
	for i, f := range p.Fields() {
		mark, known := "", has.Fields()[i].Value()
		if f.Value() != known {
			mark = " *"
			differ++
		}
		fmt.Fprintf(tw, "%s\t%d%s\t%d\t%s\n", f.Name, f.Value(), mark, known, calibrate.How[f.Name])
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if differ == 0 {
		fmt.Fprintln(w, "the model has what was measured")
	} else {
		fmt.Fprintf(w, "%d of %d differ (*); --write FILE keeps what was measured, model:?params=FILE takes it\n", differ, len(p.Fields()))
	}
	return nil
}

func writeCalibration(file string, p *nic.Params) error {
	text, err := p.Text()
	if err != nil {
		return err
	}
	return userfile.WriteBytes(file, text)
}
