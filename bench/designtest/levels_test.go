package designtest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/designtest"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// A level is the part of a user's work that an error blames.
type level string

const (
	inDescription level = "description"
	inMap         level = "register map"
	inPorts       level = "ports of the description" // what the wrapper connects
	inSources     level = "sources"
	inDesign      level = "behaviour of the design"
	inTest        level = "test"
)

// levelOf derives the level from an error alone, as a reader does.
func levelOf(err error, file string) level {
	var rule *drivers.AssertionError
	var access *drivers.DMAError
	text := err.Error()
	switch config := errors.Is(err, drivers.ErrConfig); {
	case errors.As(err, &rule) || errors.As(err, &access):
		return inDesign
	case !config:
		return inTest
	case strings.Contains(text, "verilator cannot elaborate prober:\n"):
		return inSources
	case strings.Contains(text, file+" does not fit the ports of prober:\n"):
		return inPorts
	case strings.Contains(text, file+": registers: "):
		return inMap
	case strings.Contains(text, file+": "):
		return inDescription
	}
	return ""
}

// proberWith is a copy of the prober in which one mistake is planted.
func proberWith(t *testing.T, name, from, to string) (description string) {
	t.Helper()
	dir := t.TempDir()
	for _, n := range []string{"prober.yaml", "prober_registers.yaml", "prober.sv"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "cosim", "harness", "testdata", n))
		require.NoError(t, err)
		if n == name {
			require.Contains(t, string(text), from)
			text = []byte(strings.Replace(string(text), from, to, 1))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), text, 0o666))
	}
	return filepath.Join(dir, "prober.yaml")
}

// A mistake in the files of a design is attributed to the file and the part that has it.
func TestMistakesOfFiles(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		at             level
		want           string
	}{
		{"prober.yaml", "idle: quiet", "idel: quiet", inDescription, "field idel not found"},
		{"prober.yaml", "rst: high", "rst: hihg", inDescription, `resets: rst: "hihg": expected high or low`},
		{"prober.yaml", "sources: [prober.sv]", "sources: [probe.sv]", inDescription, "no file matches"},
		{"prober.yaml", "map: prober_registers", "map: prober_register", inMap, "no such file"},
		{"prober_registers.yaml", "access: wo}", "access: wr}", inMap, `access "wr": expected ro, rw, w1c or wo`},
		{"prober.yaml", "masters: [a, b]", "masters: [a]", inPorts, "is not connected"},
		{"prober.yaml", "clk: 3333ps", "clock: 3333ps", inPorts, `did you mean "clk"`},
		{"prober.sv", "endmodule", "endmodul", inSources, "prober.sv:"},
		{"prober.yaml", "top: prober", "top: prober\nparameters: {NO_SUCH: 1}", inSources, "NO_SUCH"},
	} {
		t.Run(c.to, func(t *testing.T) {
			file := proberWith(t, c.name, c.from, c.to)
			_, err := registry.Open(t.Context(), "design:"+file, drivers.Options{Nodes: 1})
			require.Error(t, err)
			require.Equal(t, c.at, levelOf(err, file), "%v", err)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A mistake in the behaviour of the design is told from one of the test.
func TestMistakesOfRuns(t *testing.T) {
	write := func(address, beats uint64) func(*designtest.System) error { // of 4 bytes each
		return func(sys *designtest.System) error {
			const size, incr = 2, 1 // AxSIZE, AxBURST
			node := sys.Node(0)
			node.Set("A_ADDR", address).Set("A_SHAPE", beats-1|size<<8|incr<<12)
			node.Set("A_STRB", 0xffff).Set("A_GO", 1)
			return sys.Wait(300)
		}
	}
	for want, c := range map[string]struct {
		at   level
		body func(*designtest.System) error
	}{
		"a burst crosses a boundary of 4096 bytes": {inDesign, write(0xff8, 3)},
		"0x40000000": {inDesign, write(1<<30, 1)},
		"has not answered the read of register 0x00008000": {inDesign, func(sys *designtest.System) error {
			sys.Node(0).Get("SILENT")
			return nil
		}},
		`node 0: WORSD: unknown register "WORSD", did you mean "WORDS"`: {inTest, func(sys *designtest.System) error {
			sys.Node(0).Get("WORSD")
			return nil
		}},
		"node 0: WORDS is 0x0, expected 0x1":                {inTest, func(sys *designtest.System) error { return sys.Node(0).Expect("WORDS", 1) }},
		"node 0: WORDS = 0x1: not within 100 cycles":        {inTest, func(sys *designtest.System) error { return sys.Until(sys.Node(0).Equals("WORDS", 1), 100) }},
		"panic: runtime error: slice bounds out of range [": {inTest, func(sys *designtest.System) error { _ = sys.Node(0).Memory()[:1<<40]; return nil }},
	} {
		t.Run(want, func(t *testing.T) {
			const file = "../../cosim/harness/testdata/prober.yaml"
			x := regress.Test{Name: "prober/mistake", Run: func(rt *regress.T) error {
				sys, err := designtest.Open(rt, 1, 1<<16)
				if err != nil {
					return err
				}
				return c.body(sys)
			}}
			list, err := regress.Run(t.Context(), []regress.Test{x}, regress.Options{
				Device: "design:" + file, Seed: 1, Seeds: 1, Jobs: 1, Timeout: time.Minute, Dir: t.TempDir(), NoWaves: true, NoLockstep: true,
			})
			require.NoError(t, err)
			require.Equal(t, regress.Failed, list[0].Status)
			require.ErrorContains(t, list[0].Err, want)
			require.Equal(t, c.at, levelOf(list[0].Err, file), "%v", list[0].Err)
		})
	}
}
