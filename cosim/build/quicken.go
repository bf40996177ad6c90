package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What quicken changes of what Verilator wrote: a member of the node, and the call that evaluates
// what follows from the inputs. Verilator 5.006 makes that call each time; node.h, which sets the
// inputs, knows when none has changed.
const (
	headerAnchor = "    // INTERNAL VARIABLES\n"
	headerMember = "    bool nl_unchanged = false;  // no input but the clock has changed since the last evaluation\n"
	inputsGuard  = "if (!vlSelf->nl_unchanged) "
)

// quicken has a node evaluate what follows from its inputs only if one has changed. What follows
// from state as well is evaluated after a clock edge, too. Where Verilator wrote something else
// nothing is touched, and node.h finds no member.
func quicken(obj, top string) error {
	root := "V" + top + "___024root"
	inputsCall := root + "___eval_ico(vlSelf);"
	sources, err := filepath.Glob(filepath.Join(obj, root+"*.cpp"))
	if err != nil {
		return err
	}
	calls, caller, source := 0, "", ""
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), " "+inputsCall); n > 0 {
			calls, caller, source = calls+n, name, string(text)
		}
	}
	header := filepath.Join(obj, root+".h")
	text, err := os.ReadFile(header)
	if err != nil {
		return fmt.Errorf("verilated node: %w", err)
	}
	if calls != 1 || strings.Count(string(text), headerAnchor) != 1 {
		return nil
	}
	member := strings.Replace(string(text), headerAnchor, headerAnchor+headerMember, 1)
	if err := os.WriteFile(header, []byte(member), 0o644); err != nil {
		return err
	}
	return os.WriteFile(caller, []byte(strings.Replace(source, inputsCall, inputsGuard+inputsCall, 1)), 0o644)
}
