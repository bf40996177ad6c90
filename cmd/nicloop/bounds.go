package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// boundOf maps a flag's name to the largest magnitude of its value. Flags that are not listed are
// bounded by their type; flags of any value, such as seeds, have no bound.
var boundOf = map[string]float64{
	"iterations": limits.Count, "iter": limits.Count, "warmup": limits.Count, "rounds": limits.Count,
	"transactions": limits.Count, "samples": limits.Count, "count": limits.Count, "starts": limits.Count,
	"seeds": limits.Seeds, "repeat": limits.Seeds, "retry-failed": limits.Seeds,
	"local": limits.WireCycles, "global": limits.WireCycles, "router-cycles": limits.WireCycles,
	"ack-cycles": limits.WireCycles, "threshold": limits.WireCycles, "bias": limits.WireCycles,
	"window": limits.Cycles, "waves-from": limits.Cycles, "around": limits.Cycles,
	"checkpoint": limits.Cycles, "waves-last": limits.Cycles, "slower-than": limits.Cycles,
	"most":     limits.Count,
	"seed":     math.Inf(1),
	"waves-to": math.Inf(1), // the default is the largest cycle
	"hold":     math.Inf(1), // checked against its register
}

// checkBounds rejects numbers and times with which arithmetic would overflow, and empty file names.
func checkBounds(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil {
			err = errors.Join(checkBound(f), checkFileName(f))
		}
	})
	return err
}

// checkFileName rejects an empty file name, usually an unset variable of a script. Otherwise the
// user would notice only after the run that the output was not written.
func checkFileName(f *pflag.Flag) error {
	kind, usage := pflag.UnquoteUsage(f)
	if (kind == "FILE" || kind == "DIR") && f.Value.String() == "" && !strings.Contains(usage, "empty:") {
		return misused("--%s '': expected the name of a %s", f.Name, map[string]string{"FILE": "file", "DIR": "directory"}[kind])
	}
	return nil
}

func checkBound(f *pflag.Flag) error {
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	switch f.Value.Type() {
	case "duration":
		if d, err := time.ParseDuration(values[0]); err != nil || d > limits.Duration || d < -limits.Duration {
			return misused("--%s %s: expected at most %v", f.Name, values[0], time.Duration(limits.Duration))
		}
	case "int", "int64", "uint64", "intSlice", "float64", "float64Slice":
		bound, ok := boundOf[f.Name]
		if !ok {
			bound = limits.Number
		}
		for _, text := range values {
			if v, err := strconv.ParseFloat(text, 64); err != nil || !(math.Abs(v) <= bound) {
				return misused("--%s %s: expected at most %.0f", f.Name, text, bound)
			}
		}
	}
	return nil
}

// checkDeviceOutputs rejects a device that would overwrite a file, such as record:FILE!DEVICE. It
// is called once per command, before the device is opened, because some commands open it several
// times.
func checkDeviceOutputs(cmd *cobra.Command) error {
	force, _ := cmd.Flags().GetBool("force") // false if the command has no such flag
	for _, name := range []string{"device", "against"} {
		f := cmd.Flags().Lookup(name)
		if f == nil {
			continue
		}
		for _, file := range registry.Outputs(f.Value.String()) {
			if err := userfile.Check(file, force); errors.Is(err, userfile.ErrExists) {
				return misused("--%s %s writes %s, which exists: choose another name, or remove the file", name, f.Value, file)
			}
		}
	}
	return nil
}
