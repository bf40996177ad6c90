package main

import (
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// lastCycles is the default number of cycles before a failure in its waves.
const lastCycles = 20000

// addWaveWindow adds the flags that select nodes and cycles of the waveforms.
func (f *runFlags) addWaveWindow(fs *pflag.FlagSet) {
	fs.IntSliceVar(&f.wavesNodes, "waves-node", nil, "nodes whose internal signals are in the waveforms (default: all)")
	fs.Uint64Var(&f.wavesFrom, "waves-from", 0, "first cycle of the waveforms")
	fs.Uint64Var(&f.wavesTo, "waves-to", uint64(drivers.Forever), "last cycle of the waveforms")
	fs.Lookup("waves-to").DefValue = "the end"
}

// setWaves applies the flags of waveforms: of a window, or of the end of a failed run.
func (f *runFlags) setWaves(cmd *cobra.Command, c *bench.Config) error {
	if f.waves == "" {
		if name := given(cmd, "waves-node", "waves-from", "waves-to", "checkpoint", "waves-last"); name != "" {
			return usageError{fmt.Errorf("--%s applies to waveforms: add --waves FILE", name)}
		}
		return nil
	}
	if err := f.mayWrite(f.waves); err != nil {
		return err
	}
	if f.checkpoint == 0 {
		if given(cmd, "waves-last", "checkpoint") != "" {
			return usageError{fmt.Errorf("--waves-last needs --checkpoint of at least one cycle, such as --checkpoint 100000")}
		}
		c.Waves = &drivers.WaveWindow{File: f.waves, From: drivers.Cycle(f.wavesFrom), To: drivers.Cycle(f.wavesTo), Nodes: f.wavesNodes}
		return nil
	}
	if name := given(cmd, "waves-from", "waves-to"); name != "" {
		return usageError{fmt.Errorf("--%s: with --checkpoint the waves show the end of a failed run: use --waves-last", name)}
	}
	c.Checkpoints = &drivers.Checkpoints{Every: drivers.Cycle(f.checkpoint), Last: drivers.Cycle(f.last), File: f.waves, Nodes: f.wavesNodes}
	c.Repeated = func(r drivers.Repeated, err error) {
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "no waves of the failure: %v\n", err)
			return
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "waves of cycles %d to %d, repeated from the checkpoint at cycle %d: %s\n", r.From, r.To, r.Checkpoint, r.File)
	}
	return nil
}
