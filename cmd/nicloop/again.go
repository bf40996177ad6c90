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

// Cycles before and after a failed assertion that the waves of its rerun command show.
const (
	assertedBefore = 2000
	assertedBehind = 10
)

// printRerun prints the command that shows a failed assertion: the same one, with waves around it.
func (f *runFlags) printRerun(cmd *cobra.Command, w io.Writer, failed error) {
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
	fmt.Fprintf(w, "seed %d; to see it in waves: %s\n", f.c.Seed, line)
}
