package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/explore"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func newCheck() *cobra.Command {
	return group(&cobra.Command{Use: "check", Short: "Model-check the protocol code: explore every interleaving"}, newCheckMailbox(), newCheckRendezvous(), newCheckThreshold(), newCheckIWARP(), newCheckPortals(), newCheckRportals(), newCheckRDRP(), newCheckOffload())
}

func newCheckMailbox() *cobra.Command {
	var bound, jobs int
	var deep, asJSON bool
	cmd := &cobra.Command{
		Use:   "mailbox",
		Short: "Prove the flow controls and refute the paper's formulae (a) and (b)",
		Long: `Run the real static and dynamic flow controls through every interleaving of
sends, deliveries and retrievals in small worlds. Proved properties: no region of a
mailbox overflows, no deadlock, credits are conserved, every packet is delivered
once and in order. The thresholds of formulae (a) and (b) (FC paper, Table 1) must
be refuted; their shortest counterexamples are printed as scenario scripts in the
language of mailbox/testdata, which can be replayed.

The exploration is repeated with planted mistakes around the flow controls; each
must be found.

Explorations run side by side (-j) and need up to 100 bytes of memory per state.
Independent events are explored in one order only.

Exit codes: 0 as expected, 1 a proof or a refutation failed.`,
		Example: "  nicloop check mailbox\n  nicloop check mailbox --bound 4 --json\n  nicloop check mailbox --deep -j 2   # adds a world of three processes with 1.3e7 states: minutes, 5 GB",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bound < 1 {
				return usageError{fmt.Errorf("--bound %d: expected a quota of 1 or more", bound)}
			}
			if jobs < 1 {
				return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
			}
			suite := explore.Suite(bound)
			if deep {
				suite = append(suite, explore.Deep()...)
			}
			return checkMailbox(cmd, suite, jobs, asJSON)
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "include the explorations that take minutes")
	cmd.Flags().IntVar(&bound, "bound", 6, "largest quota to explore")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "number of concurrent explorations")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// refuted lists the paper's wrong thresholds, which the exploration must refute.
var refuted = []explore.Options{
	{Procs: 2, Quota: 3, CreditSlots: 1, Flow: explore.Static, Formula: mailbox.FormulaA},
	{Procs: 2, Quota: 100, CreditSlots: 1, Flow: explore.Static, Formula: mailbox.FormulaA, Senders: [][2]int{{0, 1}}},
	{Procs: 2, Quota: 3, CreditSlots: 2, Flow: explore.Static, Formula: mailbox.FormulaB},
}

// exploration is one line of the report.
type exploration struct {
	World   string  `json:"world"`
	Want    string  `json:"expected"`
	Got     string  `json:"verdict"`
	States  int     `json:"states"`
	Steps   int     `json:"transitions"`
	Depth   int     `json:"depth"`
	Seconds float64 `json:"real_s"`
	Bound   string  `json:"left_out,omitempty"`
	Found   string  `json:"violation,omitempty"`
	Script  string  `json:"counterexample,omitempty"`
}

func (e *exploration) asExpected() bool { return e.Want == e.Got }

func checkMailbox(cmd *cobra.Command, suite []explore.Options, jobs int, asJSON bool) error {
	planted := explore.Planted()
	all := slices.Concat(suite, refuted, planted)
	err := checkAll(cmd, len(all), jobs, asJSON, func(ctx context.Context, i int) (exploration, error) {
		r, err := explore.Run(ctx, all[i])
		return explored(all[i].String(), i < len(suite), r), err
	})
	if err == nil && !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "found: %d planted mistakes of %d\n", len(planted), len(planted))
	}
	return err
}

// checkAll runs n explorations, some at the same time, and reports whether all ended as expected.
func checkAll(cmd *cobra.Command, n, jobs int, asJSON bool, run func(ctx context.Context, i int) (exploration, error)) error {
	list, err := runAll(cmd, n, jobs, run)
	if err != nil {
		return err
	}
	if asJSON {
		if err := writeJSON(cmd.OutOrStdout(), &explorations{list}); err != nil {
			return err
		}
	} else {
		printExplorations(cmd, list)
	}
	for _, e := range list {
		if !e.asExpected() {
			return errFailed
		}
	}
	return nil
}

// runAll keeps jobs explorations running. It starts with the last ones, which are the largest of a
// suite, so that none of them runs alone at the end. An error cancels all.
func runAll(cmd *cobra.Command, n, jobs int, run func(ctx context.Context, i int) (exploration, error)) ([]exploration, error) {
	bar := newBar(cmd.ErrOrStderr(), "explore")
	defer bar.finish()
	list := make([]exploration, n)
	var done atomic.Int64
	g, ctx := errgroup.WithContext(cmd.Context())
	g.SetLimit(jobs)
	for i := n - 1; i >= 0 && ctx.Err() == nil; i-- {
		g.Go(func() (err error) {
			if list[i], err = run(ctx, i); err == nil {
				list[i].log()
				bar.set(int(done.Add(1)), n)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return list, cmd.Context().Err()
}

func (e *exploration) log() {
	logrus.WithFields(logrus.Fields{
		"layer": "check", "world": e.World, "verdict": e.Got, "expected": e.Want, "states": e.States, "transitions": e.Steps, "depth": e.Depth, "seconds": e.Seconds,
	}).Debug("world explored")
}

// explored returns the report line of a world, which the command new of its scripts describes.
func explored(command string, wantProof bool, r modelcheck.Result) exploration {
	want := modelcheck.Refuted
	if wantProof {
		want = modelcheck.Proved
	}
	return exploration{
		World: strings.TrimPrefix(command, "new "), Want: want.String(), Got: r.Verdict.String(),
		States: r.States, Steps: r.Transitions, Depth: r.Depth, Seconds: r.Duration.Seconds(),
		Bound: r.Bound, Found: r.Violation, Script: r.Script,
	}
}

func printExplorations(cmd *cobra.Command, list []exploration) {
	out := cmd.OutOrStdout()
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "WORLD\tVERDICT\tSTATES\tDEPTH\tTIME\tLIMIT")
	var states, bad int
	var seconds float64
	for _, e := range list {
		verdict := e.Got
		if !e.asExpected() {
			verdict += ", expected " + e.Want
			bad++
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%.2f s\t%s\n", e.World, verdict, e.States, e.Depth, e.Seconds, e.Bound)
		states, seconds = states+e.States, seconds+e.Seconds
	}
	tw.Flush()
	for _, e := range list {
		if e.Script != "" {
			fmt.Fprintf(out, "\ncounterexample for %s: %s\n  %s\n", e.World, e.Found, strings.ReplaceAll(strings.TrimSpace(e.Script), "\n", "\n  "))
		}
	}
	fmt.Fprintf(out, "\n%d states in %v: %d explorations as expected, %d not\n", states, time.Duration(seconds*float64(time.Second)).Round(10*time.Millisecond), len(list)-bad, bad)
}
