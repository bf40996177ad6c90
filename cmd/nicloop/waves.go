package main

import (
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
)

// lastCycles is how much before a failure its waves show.
const lastCycles = 20000

// setWaves takes the flags about waveforms in: of a window, or of the end of a run that failed.
func (f *runFlags) setWaves(cmd *cobra.Command, c *bench.Config) error {
	if f.waves == "" {
		if name := given(cmd, "waves-node", "waves-from", "waves-to", "checkpoint", "waves-last"); name != "" {
			return usageError{fmt.Errorf("--%s says more about waveforms: add --waves FILE", name)}
		}
		return nil
	}
	if err := f.mayWrite(f.waves); err != nil {
		return err
	}
	if f.checkpoint == 0 {
		if given(cmd, "waves-last", "checkpoint") != "" {
			return usageError{fmt.Errorf("--waves-last and --checkpoint: expected at least one cycle from a checkpoint to the next, such as --checkpoint 100000")}
		}
		c.Waves = &drivers.WaveWindow{File: f.waves, From: drivers.Cycle(f.wavesFrom), To: drivers.Cycle(f.wavesTo), Nodes: f.wavesNodes}
		return nil
	}
	if name := given(cmd, "waves-from", "waves-to"); name != "" {
		return usageError{fmt.Errorf("--%s: with --checkpoint the waves show the end of a run that failed: see --waves-last", name)}
	}
	c.Checkpoints = &drivers.Checkpoints{Every: drivers.Cycle(f.checkpoint), Last: drivers.Cycle(f.last), File: f.waves, Nodes: f.wavesNodes}
	c.Repeated = func(r drivers.Repeated, err error) {
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "no waves of the failure: %v\n", err)
			return
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "waves of the cycles %d to %d, repeated from the checkpoint at %d: %s\n", r.From, r.To, r.Checkpoint, r.File)
	}
	return nil
}
