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
		Short: "Look at the cache of simulators, check it, clean it, fill it",
		Long: `Simulators are built once and kept, by a hash of all they were built from, in
$XDG_CACHE_HOME/nicloop or ~/.cache/nicloop. One that was damaged there is built
again by itself when it is needed; what was not used for 30 days, or is beyond
4 GB, is forgotten when another is built. Where all is there that a command needs,
no Verilator is.`,
	}, newCacheList(), newCacheVerify(), newCacheClean(), newCachePrebuild())
}

func newCacheList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what is there, what was used last first", Args: checked(cobra.NoArgs),
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
		Use: "verify", Short: "Compare every file with what was built", Args: checked(cobra.NoArgs),
		Long: `Hash every file of the cache and compare it with what was built. What is not as
it was is built again when it is needed, or goes with nicloop cache clean.

` + exitText + ` Here 3: something is damaged.`,
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
		Use: "clean", Short: "Remove what is not needed, or all", Args: checked(cobra.NoArgs),
		Example: "  nicloop cache clean --unused 168h     what was not used for a week\n  nicloop cache clean                   all but what is being built",
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
	cmd.Flags().DurationVar(&unused, "unused", 0, "only what was not used for so long")
	return cmd
}

func newCachePrebuild() *cobra.Command {
	var device string
	cmd := &cobra.Command{
		Use: "prebuild [PATTERN…]", Short: "Build what the regression, or some tests of it, need",
		Example: "  nicloop cache prebuild                what nicloop regress needs\n  nicloop cache prebuild smoke --device 'rtl:?inside=1'",
		RunE: func(cmd *cobra.Command, patterns []string) error {
			if err := registry.Check(device); err != nil {
				return err
			}
			tests, err := regress.Select(regress.List(), patterns)
			if err != nil {
				return err
			}
			if len(patterns) == 0 {
				tests = regress.Everyday(tests)
			}
			begin := time.Now()
			n, err := regress.Prebuild(cmd.Context(), tests, device, newBar(cmd.ErrOrStderr(), "prebuild").describe)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d kinds of machine are built, in %.1f s\n", n, time.Since(begin).Seconds())
			return err
		},
	}
	cmd.Flags().StringVar(&device, "device", "rtl:", "what stands behind the driver (nicloop device list)")
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
