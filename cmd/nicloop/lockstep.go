package main

import (
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// lockstepFlags compare a device with another one.
type lockstepFlags struct {
	on, off bool
	against string
	same    string
}

func (f *lockstepFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&f.on, "lockstep", false, "run every test on the device and on its model in lockstep, skip those that have none, and stop at the first divergence (see also --against)")
	fs.StringVar(&f.against, "against", "", "compare with this `DEVICE` instead of the model, such as 'rtl:?src=../old'")
	fs.StringVar(&f.same, "same", sameCycles, "what --lockstep compares: cycles, or packets (the contents of each flow, at any time)")
	fs.BoolVar(&f.off, "no-lockstep", false, "do not compare with the model: neither every test that has one, which is the default, nor failures")
}

// set copies the flags into the options of a regression.
func (f *lockstepFlags) set(cmd *cobra.Command, o *regress.Options) error {
	switch {
	case f.on && f.off:
		return misused("--lockstep and --no-lockstep: expected one of them")
	case !f.on && given(cmd, "against", "same") != "":
		return misused("--%s applies to --lockstep: add --lockstep", given(cmd, "against", "same"))
	}
	o.Lockstep, o.NoLockstep, o.Against = f.on, f.off, f.against
	var err error
	if o.Same, err = parseMode(f.same); err != nil || f.against == "" {
		return err
	}
	return registry.Validate(f.against)
}

// Values of --same.
const (
	sameCycles  = "cycles"
	samePackets = "packets"
)

func parseMode(same string) (lockstep.Mode, error) {
	switch same {
	case sameCycles:
		return lockstep.Cycles, nil
	case samePackets:
		return lockstep.Packets, nil
	}
	return 0, misused("--same %q: expected %s or %s", same, sameCycles, samePackets)
}
