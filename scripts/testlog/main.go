// Command testlog reads what `go test -json` writes, shows of it what `go test` would have shown
// (lines of packages, the output of tests that failed), and in the end writes how long each test
// took to the file that it is given, as lines "SECONDS NAME".
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json … | testlog FILE")
		os.Exit(2)
	}
	times, err := os.Create(os.Args[1])
	if err == nil {
		err = copyLog(os.Stdin, os.Stdout, times)
		if cerr := times.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

// An event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func copyLog(in io.Reader, out, times io.Writer) error {
	kept := map[string]*strings.Builder{} // by package and test: shown if it fails
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // of a tool that is not go test
			continue
		}
		if err := e.show(out, times, kept); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (e *event) show(out, times io.Writer, kept map[string]*strings.Builder) (err error) {
	key := e.Package + " " + e.Test
	switch {
	case e.Action == "build-output", e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
		_, err = io.WriteString(out, e.Output)
	case e.Action == "output" && e.Test != "":
		if kept[key] == nil {
			kept[key] = &strings.Builder{}
		}
		kept[key].WriteString(e.Output)
	case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		if e.Action == "fail" && kept[key] != nil {
			_, err = io.WriteString(out, kept[key].String())
		}
		delete(kept, key)
		if err == nil && !strings.Contains(e.Test, "/") {
			_, err = fmt.Fprintf(times, "%.2f %s %s\n", e.Elapsed, path.Base(e.Package), e.Test)
		}
	case e.Action == "fail": // a package that died takes tests with it
		for k, text := range kept {
			if strings.HasPrefix(k, e.Package+" ") && err == nil {
				_, err = io.WriteString(out, text.String())
				delete(kept, k)
			}
		}
	}
	return err
}
