// Command words checks that the tree keeps to the words of docs/glossary.md: a word that stood for several
// things, or for one that the field calls otherwise, names nothing in the code, and is no term in comments and
// documents. Run it anywhere inside the module.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// instead has, for each word that names nothing, what to say.
var instead = map[string]string{
	"pool":  "free list, or input VC",
	"lane":  "output VC, ring, queue or message buffer",
	"cell":  "entry, slot or run",
	"ways":  "routes, algorithms, policies or VOQs",
	"place": "entry, slot, position, offset or index",
	"rota":  "arbiter",
	"door":  "barrier, or doorbell",
	"depot": "free list",
	"turn":  "grant, or time slice",
}

// plurals are the same word.
var plurals = map[string]string{
	"pools": "pool", "lanes": "lane", "cells": "cell", "places": "place", "placed": "place", "rotas": "rota", "doors": "door", "depots": "depot", "turns": "turn",
}

// terms is what comments, messages and documents do not say either. Most of the words are ordinary English
// besides: what is in place, takes place or turns up is no term.
var terms = regexp.MustCompile(`(?i)\b((pool|lane|rota|depot)s?|doors?|(a|no|free|each|every|buffer|two|[0-9]+|another) places?|places (are|per|of)|whose turn|takes? turns)\b`)

// An exception is a word that a file may have, and why.
type exception struct {
	files *regexp.Regexp
	word  string
	why   string
}

var exceptions = []exception{
	{regexp.MustCompile(`^bench/(sweep|reproduce)/|^bench/runs/`), "cell", "of a table, as everybody calls it"},
	{regexp.MustCompile(`^scripts/(timing|netcheck)/`), "cell", "of a netlist, as yosys calls it"},
	{regexp.MustCompile(`^rtl/(core|formal)/link[a-z_]*\.sv$`), "place", "the port of link_tx and link_rx with the free entries; it changes when their ports do"},
	{regexp.MustCompile(`^rtl/(board|tb|formal)/(phy_|gtp_|acorn_|litex/|vivado/|README|BRINGUP|constraints/)|^rtl/sim/xilinx_models|^rtl/synth\.md$|^docs/decisions/0022|^scripts/rtl-test$|^rtl/(formal/(list|mutants)|board\.flist|README\.md)$|^(CHANGELOG|README)\.md$`), "lane", "of a serial PHY, as its standards call it"},
	{regexp.MustCompile(`^scripts/words/`), "", "has the words themselves"},
	{regexp.MustCompile(`^docs/glossary\.md$|^LICENSE$`), "", "has the words themselves, or is not ours"},
	{regexp.MustCompile(`^go\.(mod|sum)$`), "", "names of others"},
}

// excepted tells whether a file may have a word.
func excepted(file, word string) bool {
	for _, e := range exceptions {
		if (e.word == "" || e.word == word) && e.files.MatchString(file) {
			return true
		}
	}
	return false
}

// A finding is a word where it must not be.
type finding struct {
	file string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.text) }

// check finds the words in a file.
func check(file string, content []byte) (list []finding) {
	for _, w := range split(filepath.Base(file)) {
		if banned(w) != "" && !excepted(file, banned(w)) {
			list = append(list, finding{file, 0, fmt.Sprintf("the file's name has %q; say %s", w, instead[banned(w)])})
		}
	}
	code, prose := parts(file, content)
	for i, line := range strings.Split(code, "\n") {
		for _, name := range identifier.FindAllString(line, -1) {
			for _, w := range split(name) {
				if b := banned(w); b != "" && !excepted(file, b) {
					list = append(list, finding{file, i + 1, fmt.Sprintf("%s: %q names nothing here; say %s", name, b, instead[b])})
				}
			}
		}
	}
	for i, line := range strings.Split(prose, "\n") {
		for _, t := range terms.FindAllString(line, -1) {
			if !excepted(file, banned(last(t))) {
				list = append(list, finding{file, i + 1, fmt.Sprintf("%q is no term; see docs/glossary.md", t)})
			}
		}
	}
	return list
}

// banned is the word in question as instead has it, or "".
func banned(w string) string {
	if p := plurals[w]; p != "" {
		return p
	}
	if instead[w] != "" {
		return w
	}
	return ""
}

// last is the word of a term that matters.
func last(term string) string {
	for _, w := range strings.Fields(strings.ToLower(term)) {
		if banned(w) != "" {
			return w
		}
	}
	return ""
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	dir := strings.TrimSpace(string(root))
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = dir
	names, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	found := 0
	for _, name := range strings.Split(strings.TrimRight(string(names), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || bytes.IndexByte(content, 0) >= 0 {
			continue // removed and not yet committed, a link to a folder, or no text
		}
		for _, f := range check(name, content) {
			fmt.Println(f)
			found++
		}
	}
	if found > 0 {
		return fmt.Errorf("%d words that docs/glossary.md does without", found)
	}
	return nil
}
