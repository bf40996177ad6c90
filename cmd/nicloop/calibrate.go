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
		Short: "Measure the latencies of the RTL's blocks: the parameters of the model",
		Long: `Measure the parameters of the model on the RTL: the cycles of routers, links,
credits and of the NIC's units, in small experiments on an otherwise idle pair of
nodes. The model uses the built-in parameters of cosim/nic/rtl.json;
"model:?params=FILE" loads others.

Exit code 1: the measured parameters differ from the built-in ones, and --write was
not given.`,
		Example: `  nicloop calibrate
  nicloop calibrate --device 'rtl:?host_rd_latency=60' --write board.json
  nicloop run alltoall --nodes 64 --procs 16 --device 'model:?params=board.json'
  nicloop calibrate --write cosim/nic/rtl.json        after the RTL has changed`,
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
	fs.StringVar(&c.Device, "device", "rtl:", "device to measure: rtl:[?KEY=VALUE&…]; the experiments set the keys vc_depth and dims")
	fs.StringVar(&write, "write", "", "write the measured parameters to `FILE`")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// compared compares the measured parameters with those of the model.
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
	fmt.Fprintln(tw, "parameter\tmeasured\tmodel\tmethod")
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
		fmt.Fprintln(w, "all parameters of the model agree with the measurement")
	} else {
		fmt.Fprintf(w, "%d of %d differ (*); --write FILE saves the measured ones, model:?params=FILE loads them\n", differ, len(p.Fields()))
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
