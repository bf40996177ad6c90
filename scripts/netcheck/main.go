// Command netcheck checks the registers of a netlist that yosys flattened (scripts/cdc runs both):
//
//	netcheck [-rules FILE] TOP NETLIST.json
//
// Clock-domain crossings: a wire from a register of one clock to one of another must end in a
// synchroniser, which is two registers or more in a row with nothing in front of the first and no
// other use of it; an asynchronous reset must come from a register of the same clock or end with an
// edge of it. What else crosses is listed, with its reason, in FILE. Power-up: every register can
// leave an unknown power-up value.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
)

// A rule allows a crossing: patterns (path.Match) of the names of its ends, and why it is safe.
type rule struct{ top, from, to, reason string }

func readRules(file string) (rules []rule, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) != 4 || strings.TrimSpace(fields[3]) == "" {
			return nil, fmt.Errorf("%s:%d: expected top | from | to | reason", file, n)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		rules = append(rules, rule{fields[0], fields[1], fields[2], fields[3]})
	}
	return rules, lines.Err()
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "netcheck:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("netcheck", flag.ContinueOnError)
	file := flags.String("rules", "", "crossings that are allowed: top | from | to | reason")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("usage: netcheck [-rules FILE] TOP NETLIST.json")
	}
	top := flags.Arg(0)
	n, err := readNetlist(flags.Arg(1), top)
	if err != nil {
		return err
	}
	var rules []rule
	if *file != "" {
		all, err := readRules(*file)
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.top == top {
				rules = append(rules, r)
			}
		}
	}
	c := checkCrossings(n, rules)
	faults := c.found
	for i, r := range rules {
		if !c.used[i] {
			faults = append(faults, fmt.Sprintf("%s -> %s: no such crossing; remove it from %s", r.from, r.to, *file))
		}
	}
	faults = append(faults, checkPowerUp(n)...)
	for _, f := range faults {
		fmt.Printf("%s: %s\n", top, f)
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s: %d faults", top, len(faults))
	}
	fmt.Printf("netcheck: %s: ok, %d bits cross through synchronisers, %d kinds of crossing are listed\n", top, c.safe, len(rules))
	return nil
}
