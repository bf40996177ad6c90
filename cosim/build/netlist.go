package build

import (
	"context"
	_ "embed" // lutModel
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// Inputs of a netlist and of its simulation.
const (
	synthesisScript = "board/ice40.ys"
	netlistFile     = "netlist.v"
	modelsFile      = "ice40_cells.v"                    // yosys' own cell models
	modelsOfYosys   = "../share/yosys/ice40/cells_sim.v" // relative to the directory of its program, where yosys looks
	lutFile         = "ice40_lut.sv"                     // lutModel, in the directory of a build
)

// lutModel replaces yosys' model of SB_LUT4, which Verilator turns into branches.
//
//go:embed ice40_lut.sv
var lutModel []byte

// synthesisArgs returns the arguments of yosys. Nets are split into bits, because Verilator
// mistakes a carry chain in one vector for a combinational loop. Look-up tables are instances of
// lutModel.
func synthesisArgs(files []string) []string {
	return []string{"-q", "-p", "read_verilog -sv -DSYNTHESIS " + strings.Join(files, " ") + "; script " + synthesisScript +
		"; chtype -set ice40_lut t:SB_LUT4; splitnets; write_verilog -noattr " + netlistFile}
}

// findYosys adds the tools for a netlist.
func (t *tools) findYosys(ctx context.Context) (err error) {
	if t.yosys, err = exec.LookPath("yosys"); err != nil {
		return fmt.Errorf("%w: yosys, needed for a netlist (not in PATH); apt-get install yosys", drivers.ErrEnvironment)
	}
	t.yosysVersion, err = firstLine(ctx, t.yosys, "-V")
	return err
}

// synthesize generates the netlist in the directory of the sources, and copies the models of its
// cells there.
func (s *Spec) synthesize(ctx context.Context, t *tools, log *buildLog, r *report, dir string) error {
	program, err := filepath.EvalSymlinks(t.yosys)
	if err != nil {
		return fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	models, err := os.ReadFile(filepath.Join(filepath.Dir(program), modelsOfYosys))
	if err != nil {
		return fmt.Errorf("%w: models of the cells of an iCE40, which come with yosys: %w; apt-get install yosys", drivers.ErrEnvironment, err)
	}
	for name, text := range map[string][]byte{modelsFile: models, lutFile: lutModel} {
		if err := writeFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return r.took(&r.verilating, func() error { return log.run(ctx, dir, t.yosys, synthesisArgs(s.Files)...) })
}

// time is the approximate duration of a build.
func (s *Spec) time() string {
	if s.Netlist {
		return "a minute or two"
	}
	return "some 20 s"
}
