package main

import (
	"math"
	"slices"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
)

// given is the first of some flags that was typed, or "".
func given(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// notNegative checks times.
func notNegative(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if d, err := cmd.Flags().GetDuration(name); err == nil && d < 0 {
			return misused("--%s %v: expected a time of 0 or more", name, d)
		}
	}
	return nil
}

// checkSeeds: n seeds from the first on must be numbers that there are.
func checkSeeds(first int64, n int) error {
	if first > math.MaxInt64-int64(n-1) {
		return misused("--seed %d --seeds %d: the last seed would be beyond %d", first, n, int64(math.MaxInt64))
	}
	return nil
}

// checkFlow: flags of a flow control that there is not.
func checkFlow(cmd *cobra.Command, flow velo.Flow) error {
	if name := given(cmd, "credit-slots", "piggyback"); name != "" && flow == velo.None {
		return misused("--%s: without flow control there are no credits: add --flow static or dynamic", name)
	}
	return nil
}

// idle names a flag that says something about what this run does not do: a person who typed it
// expects otherwise.
func (f *runFlags) idle(cmd *cobra.Command, c *bench.Config) error {
	if err := notNegative(cmd, "timeout"); err != nil {
		return err
	}
	if err := checkFlow(cmd, c.Velo.Flow); err != nil {
		return err
	}
	wl, err := bench.FindWorkload(c.Workload)
	if err != nil {
		return err
	}
	sizes := c.Sizes
	if len(sizes) == 0 {
		sizes = wl.Sizes
	}
	short := len(c.NVM) == 0 && !slices.ContainsFunc(sizes, func(n int) bool { return n > host.EagerMax })
	switch {
	case given(cmd, "iterations") != "" && c.Iterations < 1:
		return misused("--iterations %d: expected at least 1", c.Iterations)
	case f.size != nil && given(cmd, "sizes") != "":
		return misused("--size and --sizes are the same: expected one of them")
	case short && given(cmd, "rendezvous", "chunk", "outstanding", "eager-threshold") != "":
		return misused("--%s says how messages beyond %d bytes travel: add --size", given(cmd, "rendezvous", "chunk", "outstanding", "eager-threshold"), host.EagerMax)
	case !slices.Contains(f.protocols(cmd, c), host.Chunked) && given(cmd, "chunk", "outstanding") != "" && len(f.outstanding) == 1:
		return misused("--%s belongs to the chunked rendezvous: add --rendezvous chunked", given(cmd, "chunk", "outstanding"))
	case !slices.Contains(f.protocols(cmd, c), host.Spec) && given(cmd, "speculate") != "":
		return misused("--speculate belongs to the rendezvous spec: add --rendezvous spec")
	case c.Chunk < 1:
		return misused("--chunk %d: expected at least 1 byte", c.Chunk)
	case slices.ContainsFunc(f.outstanding, func(n int) bool { return n < 1 }):
		return misused("--outstanding %v: expected at least 1", f.outstanding)
	case len(c.NVM) == 0 && given(cmd, "nvm-depth", "hot") != "":
		return misused("--%s is about slow memory: add --nvm", given(cmd, "nvm-depth", "hot"))
	}
	if err := f.idleInApps(cmd, c.Workload); err != nil {
		return err
	}
	return f.idleInOverlap(cmd, c)
}

// group makes a command that only holds others: what it does not know is a mistake, not a wish for
// help.
func group(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(verbs...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var known []string
		for _, v := range verbs {
			known = append(known, v.Name())
		}
		return misused("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggest.Nearest(args[0], known))
	}
	return cmd
}

// positive checks a time that must not be 0 either.
func positive(name string, d time.Duration) error {
	if d <= 0 {
		return misused("--%s %v: expected a time above 0", name, d)
	}
	return nil
}
