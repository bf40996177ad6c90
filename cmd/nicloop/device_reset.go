package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/spf13/cobra"
)

func (f *deviceFlags) reset() *cobra.Command {
	var yes, links bool
	cmd := &cobra.Command{
		Use: "reset", Short: "Shut all processes of a node and put its registers back", Args: checked(cobra.NoArgs),
		Long: `Bring a node to where it is after reset, as far as software can: every process leaves its domain,
which shuts its mailbox, ring and windows and waits for what is being written; bases, tables,
routes, ranges and masks get their first values. With --links its ends of all links are reset,
too, and agree anew with the others. Counters go on.

Programs that use the device are not asked: so you are, but with --yes.`,
		Example: "  nicloop device reset --device uart:/dev/ttyUSB0\n  nicloop device reset --device uart:/dev/ttyUSB0,/dev/ttyUSB1 --node 1 --links --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(sys drivers.System, dev drivers.Device) error {
				what := fmt.Sprintf("node %d of %s: end all its processes and put its registers back", f.node, sys.Info().URI)
				if err := ask(cmd, what, yes); err != nil {
					return err
				}
				changed, err := process.ResetNIC(dev, links)
				for _, c := range changed {
					fmt.Fprintln(cmd.OutOrStdout(), c)
				}
				if err == nil {
					fmt.Fprintf(cmd.OutOrStdout(), "%d changes\n", len(changed))
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&links, "links", false, "reset this end of all links, too")
	return cmd
}

// ask has a person agree to what others will notice. Whoever does not answer has not agreed.
func ask(cmd *cobra.Command, what string, yes bool) error {
	if yes {
		return nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s? [y/N] ", what)
	answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	fmt.Fprintln(cmd.ErrOrStderr())
	return misused("nothing was done: expected y, or --yes where nobody can be asked")
}
