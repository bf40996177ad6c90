package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	hdl "github.com/nicloop/nicloop/rtl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var planted = flag.String("planted", "velo_completer,rma_requester", "modules of testdata/planted whose bugs are looked for, or all")

// A plant is a line of testdata/planted.
type plant struct{ module, test, file, edit string }

func plants(t *testing.T, file string) (list []plant) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, " | ", 4)
		require.Len(t, f, 4, line)
		list = append(list, plant{f[0], f[1], f[2], f[3]})
	}
	return list
}

// tree is a copy of the RTL with the bug in it.
func (p plant) tree(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, hdl.Sources))
	file := filepath.Join(dir, filepath.FromSlash(p.file))
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(file, 0o644))
	out, err := exec.Command("sed", "-E", "-i", p.edit, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEqual(t, string(before), string(after), "the bug of %s is not planted: %s", p.module, p.edit)
	return dir
}

// TestPlantsApply: every bug that is planted somewhere, here or for a proof, still changes the file
// that it is for. To see that it is found takes hours.
func TestPlantsApply(t *testing.T) {
	list := slices.Concat(plants(t, "testdata/planted"), plants(t, "testdata/planted_pcie"), plants(t, "testdata/planted_axi"), plants(t, "testdata/planted_credits"))
	text, err := os.ReadFile("../../rtl/formal/mutants")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if f := strings.SplitN(line, " | ", 3); len(f) == 3 && !strings.HasPrefix(line, "#") {
			list = append(list, plant{module: f[0], file: f[1], edit: f[2]})
		}
	}
	require.Greater(t, len(list), 100)
	for _, p := range list {
		before, err := os.ReadFile(filepath.Join("../../rtl", filepath.FromSlash(p.file)))
		require.NoError(t, err)
		after, err := exec.Command("sed", "-E", p.edit, filepath.Join("../../rtl", filepath.FromSlash(p.file))).Output()
		require.NoError(t, err, p.edit)
		assert.False(t, string(before) == string(after), "%s: nothing is planted in %s by %s", p.module, p.file, p.edit)
	}
}

// TestPlanted: bugs in blocks of the RTL are laid to the block that has them, in at least eight of
// ten (all of them: go test ./bench/regress -run TestPlanted -planted all -v).
func TestPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("builds simulators")
	}
	found, all := 0, 0
	var table strings.Builder
	for _, p := range plants(t, "testdata/planted") {
		if *planted != "all" && !strings.Contains(","+*planted+",", ","+p.module+",") {
			continue
		}
		all++
		out := p.run(t)
		module, what := "-", "not seen"
		if out.Parted != nil {
			module, what = out.Parted.Module(), fmt.Sprintf("cycle %d, node %d, %s: %s", out.Parted.Cycle, out.Parted.Node, out.Parted.Block, out.Parted.What)
			require.FileExists(t, out.Parted.Waves)
			require.FileExists(t, out.Parted.Gtkw)
			require.NotEmpty(t, out.Parted.Drawing.Signals, "reports draw the signals of the block")
		}
		if module == p.module {
			found++
		}
		fmt.Fprintf(&table, "%-18s %-24s %-5s %-18s %s\n", p.module, p.test, out.Status, module, what)
		t.Logf("%s: %v", p.module, out.Err)
	}
	t.Logf("%d of %d named\nbug in             test                     alone named              where\n%s", found, all, table.String())
	require.GreaterOrEqual(t, 10*found, 8*all)
}

// TestPlantedPCIe: the tests of the bus's faults fail where a block of PCIe, or the root complex,
// has a bug (-planted all or pcie: seven simulators are built).
func TestPlantedPCIe(t *testing.T) {
	plantedBehind(t, "pcie", "rtl:?bus=pcie")
}

// TestPlantedAXI: tests over a node behind AXI fail where a block between the host's clock and the
// core's has a bug (-planted all or axi: seven simulators are built).
func TestPlantedAXI(t *testing.T) {
	plantedBehind(t, "axi", "rtl:?bus=axi&bus_seed=3")
}

// TestPlantedCredits: a block that loses a credit now and then only makes traffic slower. The
// assertion on the credits of idle hardware finds it.
func TestPlantedCredits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, p := range plants(t, "testdata/planted_credits") {
		out := p.run(t)
		require.ErrorIs(t, out.Err, drivers.ErrAssertion, "%s: %s", p.module, p.edit)
		require.ErrorContains(t, out.Err, " of 16 credits")
	}
}

func plantedBehind(t *testing.T, bus, device string) {
	if *planted != "all" && *planted != bus {
		t.Skip("builds a simulator for each bug: -planted " + bus)
	}
	for _, p := range plants(t, "testdata/planted_"+bus) {
		t.Run(p.module+"/"+p.test, func(t *testing.T) {
			tests, err := regress.Select(List(), []string{p.test})
			require.NoError(t, err)
			list, err := regress.Run(context.Background(), tests, regress.Options{Device: device + "&src=" + p.tree(t), NoWaves: true, NoLockstep: true, Seed: 1, Jobs: 1, Timeout: 2 * time.Minute, Dir: t.TempDir()})
			require.NoError(t, err)
			t.Log(list[0].Err)
			require.NotEqual(t, regress.Passed, list[0].Status, "the bug was not seen: %s", p.edit)
		})
	}
}

// run runs the test on the tree: by itself and, where it fails, beside the model; where it passes,
// beside it from the start. Status is that of the first.
func (p plant) run(t *testing.T) *regress.Outcome {
	tests, err := regress.Select(List(), []string{p.test})
	require.NoError(t, err)
	o := regress.Options{Device: "rtl:?src=" + p.tree(t), Seed: 1, Jobs: 1, Timeout: 2 * time.Minute, Dir: t.TempDir()}
	list, err := regress.Run(context.Background(), tests, o)
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	alone := list[0].Status
	if alone == regress.Passed {
		o.Lockstep, o.Dir = true, t.TempDir()
		list, err = regress.Run(context.Background(), tests, o)
		require.NoError(t, err)
	}
	list[0].Status = alone
	return &list[0]
}
