package build

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// Files whose interface a tree of RTL must share with the program that drives it.
const (
	packageFile = "nicloop_pkg.sv"      // the description: registers, packets, numbers
	topFile     = "sim/sim_node.sv"     // its ports are the inputs and outputs of node.h
	importsFile = "sim/nicloop_dpi.svh" // DPI imports
)

// CheckBoundary compares the interface of a tree of RTL with that of the one compiled into this
// program: description, ports of sim_node, DPI imports. Everything behind it may differ. The error
// names the first difference.
func CheckBoundary(tree, own fs.FS) error {
	for _, check := range []struct {
		file, what string
		items      func(text string) []item
	}{
		{packageFile, "the description", constants},
		{topFile, "the ports of sim_node", portsOf},
		{importsFile, "the DPI imports", imports},
	} {
		have, err := fs.ReadFile(tree, check.file)
		if err != nil {
			return err
		}
		want, err := fs.ReadFile(own, check.file)
		if err != nil {
			return err
		}
		if diff := firstDifference(check.items(string(have)), check.items(string(want))); diff != "" {
			return fmt.Errorf("%s: not %s of this program: %s; take a tree with the same, or run the program of that tree (go run ./cmd/nicloop)",
				check.file, check.what, diff)
		}
	}
	return nil
}

// An item is a constant, a port or an import: its name and its normalised text.
type item struct{ name, text string }

// firstDifference describes where have deviates from want.
func firstDifference(have, want []item) string {
	there := map[string]string{}
	for _, i := range have {
		there[i.name] = i.text
	}
	for _, i := range want {
		text, ok := there[i.name]
		switch {
		case !ok:
			return fmt.Sprintf("expected `%s`, found no %s", i.text, i.name)
		case text != i.text:
			return fmt.Sprintf("expected `%s`, found `%s`", i.text, text)
		}
		delete(there, i.name)
	}
	for _, i := range have {
		if text, ok := there[i.name]; ok {
			return fmt.Sprintf("found `%s`, which this program does not know", text)
		}
	}
	return ""
}

var (
	comment   = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	spaces    = regexp.MustCompile(`\s+`)
	constant  = regexp.MustCompile(`localparam\s+[^;=]*?(\w+)\s*=\s*[^;]*|(\w+)\s*=\s*\d+'d\d+`) // or a value of an enum
	dpiImport = regexp.MustCompile(`import\s+"DPI-C"[^;]*`)
	dpiName   = regexp.MustCompile(`(\w+)\s*\(`)
	lastWord  = regexp.MustCompile(`\w+\s*$`)
)

func clean(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(comment.ReplaceAllString(text, " "), " "))
}

func constants(text string) (list []item) {
	for _, m := range constant.FindAllStringSubmatch(clean(text), -1) {
		if name := cmp.Or(m[1], m[2]); name != "DESC_HASH_VALUE" { // follows from the rest and does not help a reader
			list = append(list, item{name, m[0]})
		}
	}
	for _, m := range descHash.FindAllStringSubmatch(text, -1) {
		list = append(list, item{"DESC_HASH_VALUE", m[0]})
	}
	return list
}

func imports(text string) (list []item) {
	for _, m := range dpiImport.FindAllString(clean(text), -1) {
		if name := dpiName.FindStringSubmatch(m); name != nil {
			list = append(list, item{name[1], m})
		}
	}
	return list
}

// portsOf returns the ports of the first module of a file and the names of its overridable
// parameters.
func portsOf(text string) (list []item) {
	_, rest, found := strings.Cut(clean(text), "module sim_node")
	if !found {
		return nil
	}
	rest = strings.TrimSpace(rest)
	if after, ok := strings.CutPrefix(rest, "#"); ok {
		var parameters string
		parameters, rest = inParentheses(strings.TrimSpace(after))
		for _, p := range topLevel(parameters) {
			name, _, _ := strings.Cut(p, "=")
			if strings.HasPrefix(p, "parameter") {
				list = append(list, item{lastWord.FindString(name), strings.TrimSpace(name)})
			}
		}
	}
	ports, _ := inParentheses(strings.TrimSpace(rest))
	for _, p := range topLevel(ports) {
		list = append(list, item{lastWord.FindString(p), p})
	}
	return list
}

// inParentheses splits "(a, b) c" into "a, b" and " c"; both are empty without parentheses.
func inParentheses(text string) (inside, rest string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return strings.TrimPrefix(text[:i], "("), text[i+1:]
		}
	}
	return "", ""
}

// topLevel splits at commas outside brackets.
func topLevel(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text + "," {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			list = append(list, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return list
}
