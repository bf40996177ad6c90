// Command prose checks that prose has at most 100 columns: Markdown, and lines of Go,
// SystemVerilog, C++ and shell that hold nothing but a comment. Table cells of the documents for
// people have at most 80 characters. Usage, in the folder of the module:
//
//	go run ./scripts/prose [-w] [FILE…]
//
// With -w paragraphs with longer lines are wrapped anew. Without files it takes all of git's.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// most is the number of columns that a line of prose may have.
const most = 100

// A finding is a line that breaks a rule.
type finding struct {
	line int // from 1
	why  string
}

func main() {
	write := flag.Bool("w", false, "wrap paragraphs with longer lines")
	flag.Parse()
	if err := run(*write, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(write bool, files []string) error {
	if len(files) == 0 {
		var err error
		if files, err = ofGit(); err != nil {
			return err
		}
	}
	bad := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) { // deleted, but not yet in a commit
			continue
		}
		if err != nil {
			return err
		}
		wrap, check := rulesFor(name, text)
		if wrap == nil {
			continue
		}
		if write {
			if wrapped := wrap(text); !bytes.Equal(wrapped, text) {
				if err := os.WriteFile(name, wrapped, 0o644); err != nil {
					return err
				}
				text = wrapped
			}
		}
		for _, f := range check(name, text) {
			fmt.Printf("%s:%d: %s\n", name, f.line, f.why)
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d lines; repair: go run ./scripts/prose -w, and shorten what remains", bad)
	}
	return nil
}

func ofGit() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return strings.Fields(string(out)), nil // no file of the tree has a space in its name
}

type (
	wrapper func(text []byte) []byte
	checker func(name string, text []byte) []finding
)

// rulesFor returns how a file is wrapped and checked, or nil if its prose is not checked.
func rulesFor(name string, text []byte) (wrapper, checker) {
	if generated(text) || name == "docs/json.md" { // made of Go types, see cmd/nicloop
		return nil, nil
	}
	switch filepath.Ext(name) {
	case ".md":
		return wrapMarkdown, checkMarkdown
	case ".go":
		c := commentLanguage{mark: "//", goes: true}
		return c.wrap, c.check
	case ".sv", ".svh", ".cpp", ".h":
		c := commentLanguage{mark: "//"}
		return c.wrap, c.check
	case "":
		if bytes.HasPrefix(text, []byte("#!")) && filepath.Dir(name) == "scripts" {
			c := commentLanguage{mark: "#"}
			return c.wrap, c.check
		}
	}
	return nil, nil
}

// generated reports whether a generator wrote the file: its first line says so.
func generated(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(first, []byte("Code generated")) && bytes.Contains(first, []byte("DO NOT EDIT"))
}
