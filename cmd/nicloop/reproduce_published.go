package main

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/reproduce"
	"github.com/spf13/cobra"
)

// recordReport adds the verdicts of a report to the file of --record.
func (f *reproduceFlags) recordReport(cmd *cobra.Command, rep *paper.Report) error {
	if f.record == "" {
		return nil
	}
	records, err := reproduce.ReadRecords(f.record)
	if err != nil {
		return err
	}
	v := thisVersion()
	commit := v.Commit
	if v.Modified {
		commit = "" // the program is not that of the commit
	}
	if commit == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "nicloop: the verdicts are recorded without a commit: build nicloop from a clean tree with -buildvcs=true")
	}
	return reproduce.WriteRecords(f.record, reproduce.Merge(records, reproduce.RecordOf(rep, commit)))
}

// verifyPublished repeats published experiments in the configuration in which they were published.
func (f *reproduceFlags) verifyPublished(cmd *cobra.Command, patterns []string) error {
	if name := given(cmd, "device", "machine", "seed", "samples", "record", "why", "resume", "out", "json"); name != "" {
		return misused("--%s does not apply to --verify, which repeats the published configuration", name)
	}
	records, err := reproduce.Published()
	if err != nil {
		return err
	}
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	experiments, err := reproduce.Find(patterns)
	if err != nil {
		return err
	}
	if err := f.jobs(cmd.Flags().Changed("jobs")); err != nil {
		return err
	}
	verified, changed := 0, 0
	for _, r := range records {
		at := slices.IndexFunc(experiments, func(x *paper.Experiment) bool { return x.IDs[0] == r.ID })
		if at < 0 || cmd.Flags().Changed("scale") && string(r.Scale) != f.scale {
			continue
		}
		env := r.Env()
		env.Jobs, env.Cores = f.env.Jobs, f.env.Cores
		bar := newBar(cmd.ErrOrStderr(), r.ID)
		env.Step, env.Building = bar.set, bar.describe
		rep, err := experiments[at].Run(cmd.Context(), env)
		bar.finish()
		if err != nil {
			return err
		}
		verified++
		changes := r.Compare(rep.Claims)
		changed += len(changes)
		fmt.Fprintf(cmd.OutOrStdout(), "%s, scale %s: %d claims, %d changed\n", r.ID, r.Scale, len(r.Claims), len(changes))
		for _, c := range changes {
			fmt.Fprintf(cmd.OutOrStdout(), "  %v\n", c)
		}
	}
	switch {
	case verified == 0:
		return misused("no published verdict of %v at this scale; nicloop reproduce --list shows them", patterns)
	case changed > 0:
		return errFailed
	}
	return nil
}
