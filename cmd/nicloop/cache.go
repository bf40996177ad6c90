package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
)

func newCache() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cache",
		Short: "List, verify, clean and fill the cache of simulators",
		Long: `Simulators are built once and cached under a hash of all their inputs, in
$XDG_CACHE_HOME/nicloop or ~/.cache/nicloop. A damaged entry is rebuilt when it is
needed. A build evicts entries that were not used for 30 days, and the least
recently used ones beyond 4 GB. A command whose simulators are all cached does not
need Verilator.`,
	}, newCacheList(), newCacheVerify(), newCacheClean(), newCachePrebuild())
}

func newCacheList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the cached simulators, most recently used first", Args: checked(cobra.NoArgs),
		Example: "  nicloop cache list\n  nicloop cache list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := build.ListStock()
			if err != nil {
				return err
			}
			return showStock(cmd.OutOrStdout(), list, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func newCacheVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify every file against its recorded hash", Args: checked(cobra.NoArgs),
		Long: `Hash every file of the cache and compare it with the hash recorded at build time.
Damaged entries are rebuilt when they are needed, or removed by nicloop cache clean.

` + exitText + ` Here 3: an entry is damaged.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := build.VerifyStock()
			if err != nil {
				return err
			}
			if err := showStock(cmd.OutOrStdout(), list, asJSON); err != nil {
				return err
			}
			bad := 0
			for _, s := range list {
				if s.Wrong != "" {
					bad++
				}
			}
			if bad > 0 {
				return fmt.Errorf("%w: whole simulators: %d of %d are damaged, see above", drivers.ErrEnvironment, bad, len(list))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func newCacheClean() *cobra.Command {
	var unused time.Duration
	cmd := &cobra.Command{
		Use: "clean", Short: "Remove entries", Args: checked(cobra.NoArgs),
		Example: "  nicloop cache clean --unused 168h     entries that were not used for a week\n  nicloop cache clean                   all entries except those being built",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notNegative(cmd, "unused"); err != nil {
				return err
			}
			removed, err := build.CleanStock(unused)
			var bytes int64
			for _, s := range removed {
				bytes += s.Bytes
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d entries removed, %.1f MB\n", len(removed), float64(bytes)/1e6)
			return err
		},
	}
	cmd.Flags().DurationVar(&unused, "unused", 0, "remove only entries that were not used for this long")
	return cmd
}

func newCachePrebuild() *cobra.Command {
	var o regress.Options
	own := &testsFlags{}
	cmd := &cobra.Command{
		Use: "prebuild [PATTERN…]", Short: "Build the simulators that the regression, or some of its tests, need",
		Example: "  nicloop cache prebuild                for nicloop regress\n  nicloop cache prebuild smoke --device 'rtl:?inside=1'\n  nicloop cache prebuild --tests ./tests   for tests of your own",
		RunE: func(cmd *cobra.Command, patterns []string) error {
			dir, err := own.selectTests(cmd, &o)
			if err == nil && dir != "" {
				err = handOver(cmd, dir)
			}
			if err == nil {
				err = registry.Check(o.Device)
			}
			if err != nil {
				return err
			}
			tests, err := selected(patterns)
			if err != nil {
				return err
			}
			if tests, err = withoutDeep(cmd.ErrOrStderr(), tests, patterns); err != nil {
				return err
			}
			begin := time.Now()
			n, err := regress.Prebuild(cmd.Context(), tests, o.Device, newBar(cmd.ErrOrStderr(), "prebuild").describe)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d simulators built in %.1f s\n", n, time.Since(begin).Seconds())
			return err
		},
	}
	cmd.Flags().StringVar(&o.Device, "device", "rtl:", "device to run on (see nicloop device list)")
	cmd.Flags().StringVar(&own.dir, "tests", "", testsFlagText)
	return cmd
}

func showStock(w io.Writer, list []build.Stock, asJSON bool) error {
	if asJSON {
		return writeJSON(w, &simulators{list})
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "HASH\tMB\tLAST USED\tWHAT\t")
	var bytes int64
	for _, s := range list {
		fmt.Fprintf(tw, "%s\t%.1f\t%s\t%s\t%s\n", s.Hash[:min(12, len(s.Hash))], float64(s.Bytes)/1e6, s.Used.Format(time.DateTime), s.What, s.Wrong)
		bytes += s.Bytes
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	dir, err := build.CacheDir()
	fmt.Fprintf(w, "%d entries, %.1f MB, in %s\n", len(list), float64(bytes)/1e6, dir)
	return err
}
