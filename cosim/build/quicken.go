package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Parts of Verilator's output that quicken changes: a member of the node, and the call that
// evaluates logic that depends on inputs. Verilator 5.006 makes that call in every evaluation;
// node.h, which sets the inputs, knows when none has changed.
const (
	headerAnchor = "    // INTERNAL VARIABLES\n"
	headerMember = "    bool nl_unchanged = false;  // no input but the clock has changed since the last evaluation\n"
	inputsGuard  = "if (!vlSelf->nl_unchanged) "
)

// quicken makes a node evaluate logic that depends only on inputs if one has changed. Logic that
// also depends on state is evaluated after a clock edge, too. If Verilator's output has another
// form, nothing is changed, and node.h finds no member.
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
