package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
)

// Cycles around a failed assertion that the waves of its rerun line show.
const (
	assertedBefore = 2000
	assertedBehind = 10
)

// tellAgain says how to see an assertion that failed: the same line with waves around it.
func (f *runFlags) tellAgain(cmd *cobra.Command, w io.Writer, failed error) {
	var asserted *drivers.AssertionError
	if !errors.As(failed, &asserted) {
		return
	}
	line := "nicloop"
	for _, word := range os.Args[1:] {
		line += " " + regress.Quoted(word)
	}
	if given(cmd, "waves", "checkpoint") == "" {
		line += fmt.Sprintf(" --waves assertion.fst --waves-from %d --waves-to %d", asserted.Cycle-min(asserted.Cycle, assertedBefore), asserted.Cycle+assertedBehind)
		if asserted.Node >= 0 {
			line += " --waves-node " + strconv.Itoa(asserted.Node)
		}
	}
	fmt.Fprintf(w, "seed %d; to see it: %s\n", f.c.Seed, line)
}
