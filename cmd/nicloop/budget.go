package main

import (
	"fmt"
	"io"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

func newBudget() *cobra.Command {
	c := bench.BudgetConfig{Cost: host.DefaultCost()}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Break down the latency of one packet, from call to receipt",
		Long: `Send one VELO packet and one RMA put between two nodes on an otherwise idle network
and print their latency stage by stage, as measured on the RTL: the sender's call,
the bus, every unit, router and link, the write to memory, the receiver's poll.
Each stage begins where the previous one ends, so the rows add up to the total.
Time that overlaps with a later stage counts for the later one.

Classes: host is software (host cost model), bus is the path between the NIC and
processor or memory, NIC its units, network routers and links. A VELO packet
ends in the receiver's mailbox, a put with the notification at the target.
"nicloop run pingpong" shows the mean of many packets, also under load.`,
		Example: `  nicloop budget
  nicloop budget --size 56 --hops 3
  nicloop budget --size 256 --cold      the first access to a page: translations come from memory
  nicloop budget --json`,
		Args: checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			progress := newBar(cmd.ErrOrStderr(), "budget")
			c.Building = progress.describe
			b, err := bench.MeasureBudget(cmd.Context(), c)
			progress.finish()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), b)
			}
			printBudget(cmd.OutOrStdout(), b)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&c.Device, "device", "rtl:", "device to measure: rtl:[?KEY=VALUE&…]")
	sizeVar(fs, &c.Size, "size", 8, "bytes of the packet, at most one fragment of a put")
	fs.IntVar(&c.Hops, "hops", 1, "links between the two nodes")
	fs.BoolVar(&c.Cold, "cold", false, "send no packet before the measured one, so that no translation is cached")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// printBudget prints a table.
func printBudget(w io.Writer, b *bench.Budget) {
	fmt.Fprintf(w, "one packet, idle network; bytes %d, hops %d, %s, clock %d ps\n", b.Bytes, b.Hops, b.Device, b.ClockPS)
	for i := range b.Trips {
		t := &b.Trips[i]
		most := drivers.Time(0)
		for _, s := range t.Stages {
			most = max(most, s.Time)
		}
		fmt.Fprintf(w, "\n%s\n", t.Name)
		for _, s := range t.Stages {
			budgetLine(w, b, string(s.Class), s.Name, s.Time, bar(float64(s.Time), float64(most)))
		}
		budgetLine(w, b, "", "total", t.Total, "")
		for _, c := range t.Classes {
			budgetLine(w, b, "", "of it "+string(c.Class), c.Time, fmt.Sprintf("%4.1f %%", 100*float64(c.Time)/float64(t.Total)))
		}
	}
}

func budgetLine(w io.Writer, b *bench.Budget, class, name string, t drivers.Time, more string) {
	fmt.Fprintf(w, "  %-8s %-30s %8.1f ns %7.2f cycles  %s\n", class, name, t.Nanoseconds(), float64(t)/float64(b.ClockPS), more)
}
