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
	"github.com/spf13/pflag"
)

// given returns the first of some flags that the user has set, or "".
func given(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// notNegative rejects negative durations.
func notNegative(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if d, err := cmd.Flags().GetDuration(name); err == nil && d < 0 {
			return misused("--%s %v: expected a time of 0 or more", name, d)
		}
	}
	return nil
}

// checkSeeds rejects a range of n seeds that overflows.
func checkSeeds(first int64, n int) error {
	if first > math.MaxInt64-int64(n-1) {
		return misused("--seed %d --seeds %d: the last seed would be beyond %d", first, n, int64(math.MaxInt64))
	}
	return nil
}

// addFlow adds the flags of end-to-end flow control. Their defaults are what c has.
func addFlow(fs *pflag.FlagSet, flow *string, c *velo.Config) {
	fs.StringVar(flow, "flow", string(c.Flow), "end-to-end flow control: none, static or dynamic")
	fs.IntVar(&c.Slots, "slots", c.Slots, "mailbox slots per peer, credit slots included")
	fs.IntVar(&c.CreditSlots, "credit-slots", c.CreditSlots, "mailbox slots per peer that are reserved for credit packets")
	fs.BoolVar(&c.Piggyback, "piggyback", c.Piggyback, "return credits in data packets with free space")
}

// checkFlow rejects flags of a flow control that is off.
func checkFlow(cmd *cobra.Command, flow velo.Flow) error {
	if name := given(cmd, "credit-slots", "piggyback"); name != "" && flow == velo.None {
		return misused("--%s: without flow control there are no credits: add --flow static or dynamic", name)
	}
	return nil
}

// idle returns an error for a flag that has no effect on this run, since the user expects one.
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
		return misused("--size and --sizes have the same meaning: expected one of them")
	case short && given(cmd, "rendezvous", "chunk", "outstanding", "eager-threshold") != "":
		return misused("--%s applies to messages longer than %d bytes: set --size", given(cmd, "rendezvous", "chunk", "outstanding", "eager-threshold"), host.EagerMax)
	case !slices.Contains(f.protocols(cmd, c), host.Chunked) && given(cmd, "chunk", "outstanding") != "" && len(f.outstanding) == 1:
		return misused("--%s applies to the chunked rendezvous: add --rendezvous chunked", given(cmd, "chunk", "outstanding"))
	case !slices.Contains(f.protocols(cmd, c), host.Spec) && given(cmd, "speculate") != "":
		return misused("--speculate applies to the rendezvous spec: add --rendezvous spec")
	case c.Chunk < 1:
		return misused("--chunk %d: expected at least 1 byte", c.Chunk)
	case slices.ContainsFunc(f.outstanding, func(n int) bool { return n < 1 }):
		return misused("--outstanding %v: expected at least 1", f.outstanding)
	case len(c.NVM) == 0 && given(cmd, "nvm-depth", "hot") != "":
		return misused("--%s applies to slow memory: add --nvm", given(cmd, "nvm-depth", "hot"))
	}
	if err := f.idleInApps(cmd, c.Workload); err != nil {
		return err
	}
	return f.idleInOverlap(cmd, c)
}

// group makes a command that consists of subcommands. An unknown word is an error, not a request
// for help.
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

// positive rejects a duration of 0 or less.
func positive(name string, d time.Duration) error {
	if d <= 0 {
		return misused("--%s %v: expected a time above 0", name, d)
	}
	return nil
}
