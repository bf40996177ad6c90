package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/spf13/cobra"
)

// A step is one line of a script for a device.
type step struct {
	line  int
	verb  string
	off   uint32
	value uint64
}

// stepWords is the number of words after each verb: a register and a value, or one of them.
var stepWords = map[string]int{"peek": 1, "poke": 2, "expect": 2, "run": 1, "node": 1}

func (f *deviceFlags) script() *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use: "script FILE", Short: "Run a script of register accesses in one session", Args: checked(cobra.ExactArgs(1)),
		Long: `Run a script in one session with the device, so registers keep their values between
lines. A line is one of

  peek REGISTER            read and print
  poke REGISTER VALUE      write, print nothing
  expect REGISTER VALUE    read; another value ends the script with exit code 1
  run CYCLES               advance a simulated device
  node N                   select the node of the following lines

# begins a comment. FILE may be - for standard input. The whole script is checked
before the device is opened.

--against runs the script on another version of a design too, and reports the first
DMA write, stream beat, register value or interrupt that differs.`,
		Example: "  nicloop device script bring-up.txt --nodes 4\n  printf 'poke SCRATCH 7\\nexpect SCRATCH 7\\n' | nicloop device script -",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return usageError{err}
				}
				defer file.Close()
				in = file
			}
			if against != "" {
				var err error
				if f.uri, err = withVersion(f.uri, against); err != nil {
					return err
				}
			}
			m, err := registry.Registers(f.uri)
			if err != nil {
				return usageError{err}
			}
			steps, err := parseScript(in, args[0], f.nodes, m)
			if err != nil {
				return err
			}
			return f.with(cmd, func(sys drivers.System, dev drivers.Device) error {
				for _, s := range steps {
					if s.verb == "node" {
						if there := sys.Info().Nodes; s.value >= uint64(there) {
							return usageError{fmt.Errorf("%s:%d: node %d: %s has %d", args[0], s.line, s.value, f.uri, there)}
						}
						dev = sys.Device(int(s.value))
						continue
					}
					if err := s.do(cmd.OutOrStdout(), m, sys, dev); err != nil {
						return fmt.Errorf("%s:%d: %w", args[0], s.line, err)
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "compare with another version of a design, such as design:old.yaml")
	return cmd
}

// withVersion adds the key against to the URI of a design.
func withVersion(uri, other string) (string, error) {
	const scheme = "design:"
	path, ok := strings.CutPrefix(other, scheme)
	if !ok || !strings.HasPrefix(uri, scheme) {
		return "", misused("--device %s --against %s: expected two designs, design:new.yaml and design:old.yaml", uri, other)
	}
	if path == "" || strings.Contains(path, "?") {
		return "", misused("--against %s: expected the description without keys: both versions have those of --device", other)
	}
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + "against=" + url.QueryEscape(path), nil
}

// parseScript parses and checks a script.
func parseScript(in io.Reader, name string, nodes int, m *regmap.Map) (steps []step, err error) {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		s, err := parseStep(words, nodes, m)
		if err != nil {
			return nil, usageError{fmt.Errorf("%s:%d: %w", name, n, err)}
		}
		s.line = n
		steps = append(steps, s)
	}
	return steps, lines.Err()
}

func parseStep(words []string, nodes int, m *regmap.Map) (s step, err error) {
	s.verb = words[0]
	more, known := stepWords[s.verb]
	switch {
	case !known:
		return s, fmt.Errorf("%q: expected peek, poke, expect, run or node%s", s.verb, suggest.Nearest(s.verb, []string{"peek", "poke", "expect", "run", "node"}))
	case len(words)-1 != more:
		return s, fmt.Errorf("%s with %d words: expected %d", s.verb, len(words)-1, more)
	}
	last := words[len(words)-1]
	if s.verb != "run" && s.verb != "node" {
		if s.off, err = m.Parse(words[1]); err != nil || s.verb == "peek" {
			return s, err
		}
	}
	if s.value, err = strconv.ParseUint(last, 0, 64); err != nil {
		return s, fmt.Errorf("%q: expected a number of at most 64 bits, such as 0xcafe", last)
	}
	if s.verb == "node" && s.value >= uint64(nodes) {
		return s, fmt.Errorf("node %d: expected 0 to %d, because --nodes is %d", s.value, nodes-1, nodes)
	}
	return s, nil
}

func (s *step) do(out io.Writer, m *regmap.Map, sys drivers.System, dev drivers.Device) error {
	switch s.verb {
	case "poke":
		return dev.WriteReg(s.off, s.value)
	case "run":
		timed, ok := sys.(drivers.Timed)
		if !ok {
			return fmt.Errorf("%w: run CYCLES needs a device with simulated time", drivers.ErrNotSupported)
		}
		var stop drivers.Stop
		for end := timed.Now() + drivers.Cycle(s.value); timed.Now() < end; {
			if err := timed.Run(end, &stop); err != nil {
				return err
			}
		}
		return nil
	}
	v, err := dev.ReadReg(s.off)
	if err != nil {
		return err
	}
	if s.verb == "expect" && v != s.value {
		return fmt.Errorf("%s is 0x%x, expected 0x%x", m.Describe(s.off), v, s.value)
	}
	if s.verb == "peek" {
		_, err = fmt.Fprintf(out, "%s 0x%x\n", m.Describe(s.off), v)
	}
	return err
}
