// Command arrows checks that no package imports what stands above it: lower
// folders stay usable, testable and replaceable without the higher ones. It
// holds tests to the same rule, but for what [tests] lists. Run it anywhere
// inside the module.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const module = "github.com/nicloop/nicloop/"

// allowed lists, from the ground up, what the packages of each top folder may
// import besides their own folder. Entries name a folder and all below it.
// Only bench and cmd join the protocols with what stands in for a board.
var allowed = map[string][]string{
	"rtl":     {},
	"drivers": {},
	"cosim":   {"rtl", "drivers"},
	"mailbox": {"drivers/regs", "drivers/peererror"}, // pure: word layouts and an error, but no device
	"velo":    {"drivers", "mailbox"},
	"rma":     {"drivers", "mailbox"},
	"host":    {"drivers", "mailbox", "velo", "rma"},
	"bench":   {"rtl", "drivers", "cosim", "mailbox", "velo", "rma", "host"},
	"cmd":     {"rtl", "drivers", "cosim", "mailbox", "velo", "rma", "host", "bench", "docs"},
	"scripts": {},
	"docs":    {}, // the pages that nicloop help prints
}

// everyBackend registers all backends for programs of users. Whoever imports it imports cosim.
const everyBackend = "drivers/all"

// floors lists folders whose packages import less than their top folder may. The first entry that a
// package is in decides. A package may always import those below itself and its own cores.
var floors = []struct {
	folder string
	may    []string // of its top folder
}{
	// The explorer knows no protocol.
	{"mailbox/modelcheck", nil},
	// The description of machines knows nothing that simulates them, and the model no build of RTL.
	{"cosim/machine", nil},
	{"cosim/model", []string{"cosim/fabric", "cosim/fabric/topology", "cosim/freerun", "cosim/machine", "cosim/nic"}},
	// A path knows neither the other paths nor ranks.
	{"host/path/", []string{"host/path", "host/match", "host/rendezvous", "host/threshold", "host/reuse"}},
	{"host/path", []string{"host/match"}},
	// The protocol cores know no path, no clock and no hardware.
	{"host/match", nil},
	{"host/rendezvous", []string{"host/match"}},
	{"host/threshold", []string{"host/match"}},
	{"host/portals/rdrp", []string{"host/portals", "host/portals/rportals", "mailbox/modelcheck"}},
	{"host/portals", nil},
	{"host/portals/rportals", []string{"host/portals"}},
	{"host/portals/offload", []string{"host/portals", "mailbox/modelcheck"}},
	// The runner of the regression knows no test, and a topic no other topic: only faults and board
	// use the random messages of messages.
	{"bench/regress", []string{"bench", "bench/coverage"}},
	{"bench/suite/nictest", []string{"bench/regress"}},
	{"bench/suite/faults", []string{"bench", "bench/regress", "bench/suite/messages", "bench/suite/nictest"}},
	{"bench/suite/board", []string{"bench", "bench/regress", "bench/suite/messages"}},
	{"bench/suite/", []string{"bench", "bench/regress", "bench/suite/nictest"}},
	// A paper knows no other paper.
	{"bench/paper/judge", []string{"bench/steady"}},
	{"bench/paper/dgram", []string{"bench/figure", "bench/iwarpperf", "bench/paper", "bench/paper/judge"}},
	{"bench/paper/", []string{
		"bench", "bench/figure", "bench/imb", "bench/load", "bench/paper", "bench/paper/judge", "bench/steady",
	}},
	// The method of steady states knows nothing that is measured.
	{"bench/steady", nil},
	{"host/reuse", []string{"host/match"}},
}

// refusedFloor gives an error for each import within the top folder that the floors do not permit.
func refusedFloor(from string, imports []string) (errs []error) {
	for _, f := range floors {
		if from != f.folder && !strings.HasPrefix(from, strings.TrimSuffix(f.folder, "/")+"/") {
			continue
		}
		for _, imp := range imports {
			to, ours := strings.CutPrefix(imp, module)
			if !ours || top(to) != top(from) || to == from || below(from, to) || slices.Contains(f.may, to) {
				continue
			}
			errs = append(errs, fmt.Errorf("%s imports %s; it may import only [%s] of its folder", from, to, strings.Join(f.may, " ")))
		}
		break
	}
	return errs
}

// below tells whether one of two packages lies in the folder of the other: a core and its explorer.
func below(from, to string) bool {
	return strings.HasPrefix(from, to+"/") && strings.Contains(to, "/") && to != "host/path"
}

// tests may import these besides: a test of the host software wants a NIC
// behind it, and cosim/ideal is one that needs no RTL and no model. tsharktest only runs tshark,
// whose dissectors are an independent check of wire formats.
var tests = map[string][]string{
	"drivers": {"cosim/ideal"},
	"velo":    {"cosim/ideal"},
	"rma":     {"cosim/ideal"},
	"host":    {"cosim/ideal", "cosim/capture/tsharktest"},
}

type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "arrows:", err)
		os.Exit(1)
	}
}

func run() error {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	pkgs, err := decode(bytes.NewReader(out))
	if err != nil {
		return err
	}
	if len(pkgs) == 0 {
		return errors.New("go list names no package of " + module)
	}
	return check(pkgs)
}

func decode(r io.Reader) (pkgs []pkg, err error) {
	for dec := json.NewDecoder(r); ; {
		var p pkg
		switch err := dec.Decode(&p); err {
		case nil:
			pkgs = append(pkgs, p)
		case io.EOF:
			return pkgs, nil
		default:
			return nil, fmt.Errorf("output of go list: %w", err)
		}
	}
}

func check(pkgs []pkg) error {
	var errs []error
	for _, p := range pkgs {
		from := strings.TrimPrefix(p.ImportPath, module)
		rules, known := allowed[top(from)]
		if !known {
			errs = append(errs, fmt.Errorf("%s: folder %q does not stand in the order; give it one in scripts/arrows", from, top(from)))
			continue
		}
		errs = append(errs, refused(from, p.Imports, rules)...)
		errs = append(errs, refusedFloor(from, p.Imports)...)
		errs = append(errs, refused(from, slices.Concat(p.TestImports, p.XTestImports), slices.Concat(rules, tests[top(from)]))...)
	}
	return errors.Join(errs...)
}

// refused gives an error for each import of package from that rules do not permit.
func refused(from string, imports, rules []string) (errs []error) {
	imports = slices.Clone(imports)
	slices.Sort(imports)
	for _, imp := range slices.Compact(imports) {
		to, ours := strings.CutPrefix(imp, module)
		switch {
		case !ours || from == everyBackend:
		case to == everyBackend && !permitted(top(from), "cosim", rules):
			errs = append(errs, fmt.Errorf("%s imports %s, and with it cosim, which %s may not import", from, to, top(from)))
		case !permitted(top(from), to, rules):
			errs = append(errs, fmt.Errorf("%s imports %s; %s may import only its own folder and [%s]",
				from, to, top(from), strings.Join(rules, " ")))
		}
	}
	return errs
}

func permitted(folder, to string, rules []string) bool {
	return top(to) == folder || slices.ContainsFunc(rules, func(r string) bool {
		return to == r || strings.HasPrefix(to, r+"/")
	})
}

func top(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}
