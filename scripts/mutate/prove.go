package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	equivalenceLimit = 30 * time.Second // for one set of parameters
	proofLimit       = 60 * time.Second // a proof that takes longer on the original is not run on mutants
	proofBudget      = 90 * time.Second // of one mutant, for all proofs
)

var instance = regexp.MustCompile(`(?m)\b([a-z]\w*)\s*(?:#\s*\(|\bu_\w+\s*\()`)

// sources lists the package, the blocks below this one, and this one.
func (b *block) sources() ([]string, error) {
	below := []string{b.file}
	for i := 0; i < len(below); i++ {
		text, err := os.ReadFile(below[i])
		if err != nil {
			return nil, err
		}
		for _, name := range instance.FindAllStringSubmatch(blank(string(text), comment), -1) {
			for _, folder := range []string{"core", "board"} {
				f := filepath.Join("rtl", folder, name[1]+".sv")
				if fileExists(f) && !slices.Contains(below, f) {
					below = append(below, f)
				}
			}
		}
	}
	slices.Reverse(below)
	return append([]string{"rtl/nicloop_pkg.sv", "rtl/core/hw_pkg.sv"}, below...), nil
}

// worker gives a folder of its own to one that runs proofs, with the block changed by one mutant.
func (j *judge) worker(w int, m mutant) (string, error) {
	tree := filepath.Join(j.dir, fmt.Sprintf("tree-%d", w))
	if !fileExists(filepath.Join(tree, "go.sum")) {
		if err := copyTree(tree); err != nil {
			return "", err
		}
	}
	return tree, os.WriteFile(filepath.Join(tree, j.file), []byte(j.alone(m)), 0o644)
}

// A proofLine is a line of rtl/formal/list.
type proofLine struct {
	name       string
	parameters []string
	below      []string
}

func proofLines() (all []proofLine, err error) {
	list, err := os.ReadFile("rtl/formal/list")
	for line := range strings.Lines(string(list)) {
		if fields := strings.Split(line, "|"); !strings.HasPrefix(line, "#") && len(fields) >= 6 {
			all = append(all, proofLine{strings.TrimSpace(fields[0]), strings.Fields(fields[1]), strings.Fields(fields[2])})
		}
	}
	return all, err
}

// proofs lists those that contain the block, its own first. Proofs of a whole node are left out:
// they take minutes.
func (j *judge) proofs() (names []string, err error) {
	if slices.Contains([]string{"fifo", "skid", "credit_counter"}, j.name) { // small proofs of scripts/formal
		names = append(names, j.name)
	}
	lines, err := proofLines()
	for _, own := range []bool{true, false} {
		for _, p := range lines {
			isOwn := p.name == j.name || strings.HasPrefix(p.name, j.name+"_")
			if isOwn == own && (isOwn || slices.Contains(p.below, j.name) && len(p.below) <= 12) && !slices.Contains(names, p.name) {
				names = append(names, p.name)
			}
		}
	}
	return names, err
}

// longer is a limit of elapsed time on this machine.
func (o *options) longer(limit time.Duration) time.Duration {
	return time.Duration(max(o.patience, 1)) * limit
}

// duration is how long a proof takes on the original; 0 if it fails or takes too long. It is kept
// below -dir.
func (j *judge) duration(name string) (time.Duration, error) {
	j.durations.Lock() // a proof is timed once
	defer j.durations.Unlock()
	file := filepath.Join(j.dir, "durations.json")
	known := map[string]time.Duration{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &known); err != nil {
			return 0, err
		}
	}
	if d, ok := known[name]; ok {
		return d, nil
	}
	tree := filepath.Join(j.dir, "tree-original")
	if !fileExists(filepath.Join(tree, "go.sum")) {
		if err := copyTree(tree); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	known[name] = 0
	if command(tree, j.longer(proofLimit), nil, "scripts/formal", "--quick", name).ok {
		known[name] = time.Since(start)
	} else {
		fmt.Printf("mutate: %s: proof %s is not used: it took more than %v, or failed\n", j.name, name, j.longer(proofLimit))
	}
	text, err := json.Marshal(known)
	return known[name], errors.Join(err, os.WriteFile(file, text, 0o644))
}

func (j *judge) proof(mutants []mutant) error {
	names, err := j.proofs()
	if err != nil {
		return err
	}
	return j.each(mutants, func(w int, m mutant) (string, error) {
		tree, err := j.worker(w, m)
		if err != nil {
			return "", err
		}
		budget := j.longer(proofBudget)
		for _, name := range names {
			usual, err := j.duration(name)
			if err != nil {
				return "", err
			}
			if usual == 0 {
				continue
			}
			if budget -= usual; budget < 0 {
				break
			}
			// Only a proof that failed has found the mutant, not one that was ended or a tool that died.
			r := command(tree, 3*usual+5*time.Second, nil, "scripts/formal", "--quick", name)
			if !r.ok && !r.timeout && strings.Contains(r.out, "FAIL  ") && !strings.Contains(r.out, "undecided") {
				return "proof " + name, nil
			}
		}
		return "survived proof", nil
	})
}

// shapes lists the parameters for which a mutant must equal the original: the defaults, and those
// of the block's own benches and proofs. With the defaults alone, every mutant of a generate branch
// that they exclude would be equal.
func (j *judge) shapes() (all [][]string, err error) {
	all = [][]string{nil}
	add := func(parameters []string) {
		var own []string
		for _, p := range parameters {
			name, _, _ := strings.Cut(p, "=")
			if regexp.MustCompile(`\bparameter\b[^=;]*\b` + name + `\s*=`).MatchString(j.text[:j.body]) {
				own = append(own, p)
			}
		}
		if len(own) > 0 && !slices.ContainsFunc(all, func(o []string) bool { return slices.Equal(o, own) }) {
			all = append(all, own)
		}
	}
	lines, err := proofLines()
	for _, p := range lines {
		if p.name == j.name {
			add(p.parameters)
		}
	}
	list := command(".", time.Minute, nil, "scripts/rtl-test", "--list", j.name)
	for line := range strings.Lines(list.out) {
		if fields := strings.Fields(line); len(fields) > 2 {
			add(fields[2:])
		}
	}
	return all, err
}

// half gives the script of yosys that reads one of two versions of the block and writes it to a
// file.
func (j *judge) half(file, name string, shape []string, out string) (string, error) {
	files, err := j.sources()
	if err != nil {
		return "", err
	}
	files[len(files)-1] = file
	parameters := ""
	for _, p := range shape {
		parameters += " -set " + strings.Replace(p, "=", " ", 1)
	}
	if parameters != "" {
		parameters = fmt.Sprintf("chparam%s %s; ", parameters, j.name)
	}
	return fmt.Sprintf("read_verilog -sv -DSYNTHESIS %s; %shierarchy -top %s; proc; flatten; memory_map; opt -fast; rename -top %s; write_rtlil %s",
		strings.Join(files, " "), parameters, j.name, name, out), nil
}

// clocks finds the clocks among the ports: with several, each may rise at any step.
var clocks = regexp.MustCompile(`(?m)^\s*input\s+logic\s[^/\n]*\b(clk\w*|\w+_clk)\b`)

// equal compares two versions in all states that power-up with zeros and any inputs lead to
// (property directed reachability). Values beside a valid that is low do not count, see gateOf. An
// unproved comparison counts as different.
func (j *judge) equal(gold, gate, base string) bool {
	ffs := "formalff -clk2ff"
	if len(clocks.FindAllString(j.text[:j.body], 2)) > 1 || strings.Contains(j.text[:j.body], "_clk") {
		ffs = "clk2fflogic"
	}
	rtlil, err := os.ReadFile(gold)
	if err != nil || os.WriteFile(base+".miter.v", []byte(j.miter(portsOf(string(rtlil)))), 0o644) != nil {
		return false
	}
	r := command(".", j.longer(equivalenceLimit), nil, "yosys", "-q", "-p", fmt.Sprintf("read_rtlil %s; read_rtlil %s; read_verilog %s.miter.v; "+
		"hierarchy -top miter; proc; flatten; setundef -undriven -zero -init; %s; opt -fast; opt -fast; "+
		"setundef -undriven -zero -init; techmap; dffunmap; opt -fast; aigmap; opt_clean; write_aiger -zinit %s.aig", gold, gate, base, ffs, base))
	if !r.ok {
		return false
	}
	r = command(".", j.longer(equivalenceLimit), nil, "yosys-abc", "-c", fmt.Sprintf("read_aiger %s.aig; strash; scorr; dc2; scorr; pdr -T %d", base, 15*max(j.patience, 1)))
	return strings.Contains(r.out, "Property proved")
}

// equivalence finds mutants that no test could find.
func (j *judge) equivalence(mutants []mutant) error {
	shapes, err := j.shapes()
	if err != nil {
		return err
	}
	for i, shape := range shapes {
		script, err := j.half(j.file, "gold", shape, filepath.Join(j.dir, fmt.Sprintf("gold-%d.il", i)))
		if err != nil {
			return err
		}
		if r := command(".", 2*time.Minute, nil, "yosys", "-q", "-p", script); !r.ok {
			return errors.New(r.out)
		}
	}
	return j.each(mutants, func(w int, m mutant) (string, error) {
		base := filepath.Join(j.dir, fmt.Sprintf("mutant-%d", w))
		if err := os.WriteFile(base+".sv", []byte(j.alone(m)), 0o644); err != nil {
			return "", err
		}
		for i, shape := range shapes {
			script, err := j.half(base+".sv", "gate", shape, base+".il")
			if err != nil {
				return "", err
			}
			if !command(".", j.longer(equivalenceLimit), nil, "yosys", "-q", "-p", script).ok ||
				!j.equal(filepath.Join(j.dir, fmt.Sprintf("gold-%d.il", i)), base+".il", base) {
				return "survived equivalence", nil
			}
		}
		return "harmless", nil
	})
}

func (j *judge) regressions(mutants []mutant) error {
	return j.each(mutants, func(w int, m mutant) (string, error) {
		tree, err := j.worker(w, m)
		if err != nil {
			return "", err
		}
		absolute, err := filepath.Abs(tree)
		if err != nil {
			return "", err
		}
		args := append([]string{"run", "./cmd/nicloop", "regress"}, strings.Fields(j.regress)...)
		args = append(args, "--device", "rtl:?src="+absolute)
		if r := command(".", time.Hour, nil, "go", args...); !r.ok && !r.timeout {
			return "regress", nil
		}
		return "survived regress", nil
	})
}
