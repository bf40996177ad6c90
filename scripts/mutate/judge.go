package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// benchOf names the bench of a block that has none of its own name.
var benchOf = map[string]string{
	"credit_counter": "router", "voq": "router", "route_xyz": "router", "route_table": "router", "router_input": "router",
	"router_output": "router", "link_session": "link", "link_tx": "link", "link_rx": "link", "mailbox_table": "regfile",
	"domain_table": "regfile", "link_regs": "regfile", "writes_under_way": "regfile", "rma_window": "pio_window",
	"velo_requester": "pio_window", "rma_sender": "rma_requester", "rma_collect": "rma_completer", "velo_slot": "velo_completer",
	"crc32_receiver": "velo_completer", "access_epoch": "rma_requester", "async_fifo": "phy_link", "sync_level": "phy_link",
	"sync_pulse": "phy_link", "phy_tx": "phy_link", "phy_rx": "phy_link", "phy_lane": "phy_link", "reset_sync": "nic_axi",
	"reset_sequencer": "nic_axi", "function_reset": "nic_axi", "core_reset": "nic_axi", "axi_front": "nic_axi",
	"axi_regs": "nic_axi", "axi_windows": "nic_axi", "axi_dma": "nic_axi", "axi_page": "nic_axi", "axil_issue": "nic_axi",
	"tlp_rx": "nic_pcie", "tlp_tx": "nic_pcie", "tlp_narrow": "nic_pcie", "tlp_widen": "nic_pcie", "mmio_read": "nic_pcie",
	"mmio_write": "nic_pcie", "pcie_read": "nic_pcie", "pcie_write": "nic_pcie", "pcie_msix": "nic_pcie", "msix_table": "nic_pcie",
	"uart_frame": "uart_bridge", "uart_unframe": "uart_bridge", "uart_rx": "uart_bridge", "uart_tx": "uart_bridge",
	"uart_crc": "uart_bridge", "inject": "mesh", "eject": "mesh",
}

// A verdict is how a mutant ended: found by a stage, harmless, invalid (it does not compile) or survived.
type verdict struct {
	Key, File, Change string
	Line              int
	Verdict           string
}

type judge struct {
	*block
	options
	dir, tree string
	mutex     sync.Mutex
	known     map[string]verdict
}

func (b *block) judge(mutants []mutant, o options) error {
	j := &judge{block: b, options: o, known: map[string]verdict{}}
	state, err := j.stateOf()
	if err != nil {
		return err
	}
	j.dir = filepath.Join(o.dir, b.name+"-"+state)
	j.tree = filepath.Join(j.dir, "tree")
	if err := j.load(); err != nil {
		return err
	}
	stages := []struct {
		name string
		run  func([]mutant) error
	}{{"bench", j.bench}, {"equivalence", j.equivalence}, {"proof", j.proof}, {"regress", j.regressions}}
	for _, s := range stages {
		if !o.has(s.name) {
			continue
		}
		// Marked once a stage is complete, so that a survivor is one of this stage, too.
		left := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
			v, ok := j.known[m.key()]
			return ok && (v.Verdict != "" && !strings.HasPrefix(v.Verdict, "survived ") || strings.Contains(v.Verdict+",", s.name+","))
		})
		fmt.Printf("mutate: %s: %s of %d mutants\n", b.name, s.name, len(left))
		if len(left) == 0 {
			continue
		}
		if err := s.run(left); err != nil {
			return fmt.Errorf("%s: %s: %w", b.name, s.name, err)
		}
	}
	return j.report(mutants)
}

// stateOf changes with what the results depend on.
func (j *judge) stateOf() (string, error) {
	h := sha256.New()
	for _, pattern := range []string{j.file, "rtl/tb/" + j.benchName() + "_*", "rtl/formal/*" + j.name + "*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			h.Write(text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:8], nil
}

func (j *judge) benchName() string {
	if name, ok := benchOf[j.name]; ok {
		return name
	}
	return j.name
}

func (j *judge) load() error {
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(j.dir, "results"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var v verdict
		if json.Unmarshal([]byte(line), &v) == nil { // the last line may be cut
			j.known[v.Key] = v
		}
	}
	return err
}

func (j *judge) note(m mutant, how string) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	v := verdict{m.key(), m.file, m.change, m.line, how}
	if old := j.known[v.Key].Verdict; strings.HasPrefix(how, "survived ") && old != "" {
		v.Verdict = old + "," + strings.TrimPrefix(how, "survived ")
	}
	j.known[v.Key] = v
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(j.dir, "results"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// each runs judge for every mutant, some at a time. worker numbers those at a time.
func (j *judge) each(mutants []mutant, judge func(worker int, m mutant) (string, error)) error {
	queue := make(chan mutant, len(mutants))
	for _, m := range mutants {
		queue <- m
	}
	close(queue)
	errs := make(chan error, j.jobs)
	for w := range j.jobs {
		go func() {
			for m := range queue {
				if j.late() {
					break
				}
				how, err := judge(w, m)
				if err == nil {
					err = j.note(m, how)
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range j.jobs {
		all = errors.Join(all, <-errs)
	}
	return all
}

// copyTree makes a folder of what builds benches and proofs.
func copyTree(to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, folder := range []string{"rtl", "scripts", "cosim/dpi"} {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(folder)); err != nil {
			return err
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program in a folder; timeout tells that it was ended.
func command(folder string, limit time.Duration, name string, args ...string) (out string, ok, timeout bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.WaitDelay = time.Second
	text, err := cmd.CombinedOutput()
	return string(text), err == nil, ctx.Err() != nil
}

// bench builds each configuration of the bench once, with all mutants in it, and runs it for each. Mutants that do not
// compile are found by lint, one by one, only if all together do not.
func (j *judge) bench(mutants []mutant) error {
	if err := copyTree(j.tree); err != nil {
		return err
	}
	source := filepath.Join(j.tree, j.file)
	build := func(list []mutant) (string, bool) {
		if err := os.WriteFile(source, []byte(j.together(list)), 0o644); err != nil {
			return err.Error(), false
		}
		out, ok, _ := command(j.tree, time.Hour, "scripts/rtl-test", j.benchName())
		return out, ok
	}
	if _, ok := build(mutants); !ok {
		var valid []mutant
		for _, m := range mutants {
			if err := os.WriteFile(source, []byte(j.together([]mutant{m})), 0o644); err != nil {
				return err
			}
			if _, ok, _ := command(j.tree, time.Minute, "bash", "-c",
				"verilator --lint-only -Wno-lint -Wno-style --assert --top-module "+j.name+" $(go run ./rtl/list board)"); !ok {
				if err := j.note(m, "invalid"); err != nil {
					return err
				}
			} else {
				valid = append(valid, m)
			}
		}
		mutants = valid
		if len(mutants) == 0 {
			return nil
		}
		if out, ok := build(mutants); !ok {
			return fmt.Errorf("the bench fails without a fault:\n%s", out)
		}
	}
	programs, err := filepath.Glob(filepath.Join(j.tree, "build/rtl-test/*/V"+j.benchName()))
	if err != nil || len(programs) == 0 {
		return errors.Join(err, errors.New("no bench was built"))
	}
	limits := make([]time.Duration, len(programs))
	for i, p := range programs {
		start := time.Now()
		if out, ok := simulate(p, 0, 10*time.Minute); !ok {
			return fmt.Errorf("%s fails without a fault:\n%s", p, out)
		}
		limits[i] = 10*time.Since(start) + 10*time.Second
	}
	return j.each(mutants, func(_ int, m mutant) (string, error) {
		for i, p := range programs {
			if _, ok := simulate(p, m.id, limits[i]); !ok {
				return "bench " + filepath.Base(filepath.Dir(p)), nil
			}
		}
		return "survived bench", nil
	})
}

func simulate(program string, mutant int, limit time.Duration) (string, bool) {
	out, ok, _ := command(".", limit, program, "+seed=1", "+verilator+rand+reset+2", "+verilator+seed+2", fmt.Sprintf("+mutant=%d", mutant))
	return out, ok
}

// worker gives a folder of its own to one that runs proofs, with the block changed by one mutant.
func (j *judge) worker(w int, m mutant) (string, error) {
	tree := filepath.Join(j.dir, fmt.Sprintf("tree-%d", w))
	if _, err := os.Stat(filepath.Join(tree, "go.sum")); err != nil {
		if err := copyTree(tree); err != nil {
			return "", err
		}
	}
	return tree, os.WriteFile(filepath.Join(tree, j.file), []byte(j.alone(m)), 0o644)
}

// proofs lists those in which the block is.
func (j *judge) proofs() ([]string, error) {
	list, err := os.ReadFile("rtl/formal/list")
	if err != nil {
		return nil, err
	}
	var names []string
	if slices.Contains([]string{"fifo", "skid", "credit_counter"}, j.name) {
		names = append(names, j.name)
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.Split(line, "|")
		if strings.HasPrefix(line, "#") || len(fields) < 6 {
			continue
		}
		name := strings.TrimSpace(fields[0])
		if (name == j.name || slices.Contains(strings.Fields(fields[2]), j.name)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	// the block's own come first
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Index(b+" ", j.name) - strings.Index(a+" ", j.name)
	})
	return names, nil
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
		for _, name := range names {
			// "FAIL" says that a proof failed; one that was ended, or a tool that died, has found nothing
			out, ok, timeout := command(tree, 10*time.Minute, "scripts/formal", "--quick", name)
			if !ok && !timeout && strings.Contains(out, "FAIL  ") && !strings.Contains(out, "undecided") {
				return "proof " + name, nil
			}
		}
		return "survived proof", nil
	})
}

// equivalence compares with the original, with the block's default parameters.
func (j *judge) equivalence(mutants []mutant) error {
	out, ok, _ := command(".", time.Minute, "go", "run", "./rtl/list", "board")
	if !ok {
		return errors.New(out)
	}
	var others []string
	for _, f := range strings.Fields(out) {
		if f != j.file {
			others = append(others, f)
		}
	}
	return j.each(mutants, func(w int, m mutant) (string, error) {
		changed := filepath.Join(j.dir, fmt.Sprintf("mutant-%d.sv", w))
		if err := os.WriteFile(changed, []byte(j.alone(m)), 0o644); err != nil {
			return "", err
		}
		half := func(file, name string) string {
			return fmt.Sprintf("read_verilog -sv -DSYNTHESIS %s %s; hierarchy -top %s; proc; flatten; memory_map; opt -fast; "+
				"rename -top %s; design -stash %s; ", strings.Join(others, " "), file, j.name, name, name)
		}
		script := half(j.file, "gold") + half(changed, "gate") +
			"design -copy-from gold gold; design -copy-from gate gate; equiv_make gold gate equiv; hierarchy -top equiv; " +
			"opt -fast; equiv_simple -undef -seq 3; equiv_induct -undef -seq 4; equiv_status -assert"
		if _, ok, _ := command(".", 2*time.Minute, "yosys", "-q", "-p", script); ok {
			return "harmless", nil
		}
		return "survived equivalence", nil
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
		if _, ok, timeout := command(".", time.Hour, "go", args...); !ok && !timeout {
			return "regress", nil
		}
		return "survived regress", nil
	})
}
