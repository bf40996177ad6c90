package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// benchesOf names the benches of a block that has none of its own name.
var benchesOf = map[string]string{}

func init() {
	for benches, blocks := range map[string]string{
		"router": "credit_counter voq route_xyz route_table router_input router_output router_output_vc",
		"link":   "link_session link_tx link_rx link_rx_vc", "mesh": "inject eject nic_core",
		"regfile":        "mailbox_table domain_table link_regs writes_under_way",
		"pio_window":     "rma_window velo_requester",
		"velo_completer": "velo_slot crc32_receiver", "rma_requester": "rma_sender access_epoch fragments_in_flight",
		"rma_completer": "rma_collect", "rma_notifier": "lrs_arbiter",
		"phy_link": "sync_level sync_pulse phy_tx phy_rx phy_lane",
		"gtp_link": "gtp_reset",
		"nic_axi": "reset_sync function_reset core_reset axi_front axi_regs axi_windows axi_dma " +
			"sync_line nic_rma rma_regs atu_commands",
		"nic_uart":     "nic_velo",
		"nic_pcie":     "mmio_read mmio_write pcie_write msix_table tlp_narrow tlp_widen tlp_rx",
		"nic_pcie_phy": "pcie7x_shim pcie7x_rx litepcie_shim litepcie_rx pcie_stream_tx tlp_swap",
		// interrupts and resets need the scripted cases as well as random traffic
		"nic_pcie nic_pcie_cases": "nic_pcie pcie_read pcie_read_requests pcie_read_tags " +
			"pcie_read_completions pcie_read_order pcie_msix request_gate tlp_tx",
		"uart_bridge":  "uart_frame uart_unframe uart_rx uart_tx uart_crc",
		"acorn_pcie7x": "nic_pair pcie_nics pcie7x_config tlp_gate",
	} {
		for _, block := range strings.Fields(blocks) {
			benchesOf[block] = benches
		}
	}
}

func (b *block) benches() []string {
	if names, ok := benchesOf[b.name]; ok {
		return strings.Fields(names)
	}
	return []string{b.name}
}

// A group is the blocks that share their benches. One build of a bench contains the mutants of all
// of them.
type group struct {
	options
	benches []string
	judges  []*judge
}

// groups puts blocks with the same benches together, in the order of the blocks.
func groups(judges []*judge, o options) (all []*group) {
	for _, j := range judges {
		i := slices.IndexFunc(all, func(g *group) bool { return slices.Equal(g.benches, j.benches()) })
		if i < 0 {
			i = len(all)
			all = append(all, &group{options: o, benches: j.benches()})
		}
		all[i].judges = append(all[i].judges, j)
	}
	return all
}

// A candidate is a mutant of a group's builds; number selects it there.
type candidate struct {
	*judge
	mutant
	number int
}

// A program is one built configuration of a bench.
type program struct {
	name, path string
}

func (g *group) run() error {
	if g.has("bench") {
		if err := g.simulateAll(); err != nil {
			return fmt.Errorf("bench %s: %w", strings.Join(g.benches, ", "), err)
		}
	}
	for _, j := range g.judges {
		if err := j.judge(); err != nil {
			return err
		}
	}
	return nil
}

// simulateAll runs configuration after configuration, each only with the mutants that the ones
// before did not find.
func (g *group) simulateAll() error {
	tree, err := filepath.Abs(filepath.Join(g.dir, "bench-"+g.benches[0]))
	if err != nil {
		return err
	}
	left, err := g.plant(tree)
	if err != nil || len(left) == 0 {
		return err
	}
	for _, bench := range g.benches {
		list := command(tree, time.Minute, nil, "scripts/rtl-test", "--list", bench)
		if !list.ok {
			return fmt.Errorf("scripts/rtl-test --list %s: %s", bench, list.out)
		}
		for i, line := range strings.Split(strings.TrimSpace(list.out), "\n") {
			if len(left) == 0 || g.late() {
				break
			}
			fmt.Printf("mutate: bench %s with %d mutants\n", strings.SplitN(line, " ", 2)[1], len(left))
			p, err := buildBench(tree, bench, i+1, strings.Fields(line)[0])
			if err != nil {
				return err
			}
			if left, err = g.simulate(p, left); err != nil {
				return err
			}
		}
	}
	if g.late() { // later configurations may still find the rest
		return nil
	}
	for _, c := range left {
		if err := c.note(c.mutant, "survived bench"); err != nil {
			return err
		}
	}
	return nil
}

// plant writes all pending mutants of the group's blocks into a copy of the tree.
func (g *group) plant(tree string) (all []candidate, err error) {
	valid := map[*judge][]mutant{}
	for _, j := range g.judges {
		pending := j.pending("bench")
		if valid[j], err = j.compiling(pending); err != nil {
			return nil, err
		}
		fmt.Printf("mutate: %s: bench of %d mutants\n", j.name, len(valid[j]))
	}
	if err := copyTree(tree); err != nil {
		return nil, err
	}
	number := 0
	for _, j := range g.judges {
		for i := range valid[j] {
			number++
			valid[j][i].id = number
			all = append(all, candidate{j, valid[j][i], number})
		}
		if len(valid[j]) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(tree, j.file), []byte(j.together(valid[j])), 0o644); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// compiling drops the mutants that Verilator does not accept. Halving the list finds them with few
// runs of it.
func (j *judge) compiling(mutants []mutant) ([]mutant, error) {
	if len(mutants) == 0 {
		return nil, nil
	}
	changed := filepath.Join(j.dir, j.name+".sv")
	if err := os.WriteFile(changed, []byte(j.together(mutants)), 0o644); err != nil {
		return nil, err
	}
	files, err := j.sources()
	if err != nil {
		return nil, err
	}
	args := []string{"--lint-only", "-Wno-lint", "-Wno-style", "-Wno-fatal", "--assert", "--top-module", j.name}
	for _, f := range files {
		if f == j.file {
			f = changed
		}
		args = append(args, f)
	}
	switch {
	case command(".", time.Minute, nil, "verilator", args...).ok:
		return mutants, nil
	case len(mutants) == 1:
		return nil, j.note(mutants[0], "invalid")
	}
	half := len(mutants) / 2
	one, err := j.compiling(slices.Clone(mutants[:half]))
	if err != nil {
		return nil, err
	}
	two, err := j.compiling(slices.Clone(mutants[half:]))
	return append(one, two...), err
}

// buildBench builds a configuration of a bench, unless the build of the same sources is still
// there.
func buildBench(tree, bench string, number int, folder string) (program, error) {
	builds := tree + "-build"
	p := program{folder, filepath.Join(builds, folder, "V"+bench)}
	stamp := filepath.Join(builds, folder+".stamp")
	state, err := treeState(filepath.Join(tree, "rtl"))
	if err != nil {
		return p, err
	}
	if old, err := os.ReadFile(stamp); err == nil && string(old) == state && fileExists(p.path) {
		return p, nil
	}
	env := []string{"NICLOOP_RTL_BUILD=" + builds, "NICLOOP_RTL_FLAGS=-Wno-fatal"}
	r := command(tree, time.Hour, env, "scripts/rtl-test", "--configuration", fmt.Sprint(number), bench)
	if !r.ok {
		return p, fmt.Errorf("the bench fails without a fault:\n%s", r.out)
	}
	return p, os.WriteFile(stamp, []byte(state), 0o644)
}

func treeState(folder string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		h.Write(text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// simulate runs a bench with each mutant and returns those that it did not find. A mutant may take
// three times the processor time of the bench without a fault; elapsed time depends on what else
// the machine does.
func (g *group) simulate(p program, mutants []candidate) ([]candidate, error) {
	base := runBench(p.path, 0, 3600)
	if !base.ok {
		return nil, fmt.Errorf("%s fails without a fault:\n%s", p.path, base.out)
	}
	limit := int(3*base.cpu.Seconds()) + 2
	found := make([]bool, len(mutants))
	indices := make([]int, len(mutants))
	for i := range indices {
		indices[i] = i
	}
	err := parallel(g.options, indices, func(_, i int) error {
		c := mutants[i]
		if runBench(p.path, c.number, limit).ok {
			return nil
		}
		found[i] = true
		return c.note(c.mutant, "bench "+p.name)
	})
	var left []candidate
	for i, c := range mutants {
		if !found[i] {
			left = append(left, c)
		}
	}
	return left, err
}

func runBench(path string, mutant, seconds int) result {
	return command(".", time.Hour, nil, "bash", "-c", `ulimit -t "$1" -v 8000000; shift; exec "$@"`, "bench", fmt.Sprint(seconds),
		path, "+seed=1", "+verilator+rand+reset+2", "+verilator+seed+2", fmt.Sprintf("+mutant=%d", mutant))
}
