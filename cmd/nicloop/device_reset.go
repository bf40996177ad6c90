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
		Use: "reset", Short: "Close all processes of a node and restore its registers", Args: checked(cobra.NoArgs),
		Long: `Restore the reset state of a node as far as software can: every process leaves its
domain, which closes its mailbox, ring and windows and waits for pending writes;
bases, tables, routes, ranges and masks get their reset values. With --links the
node's ends of all links are reset, too, and a new session is negotiated. Counters
keep their values.

Programs that use the device are not asked. You are, unless --yes is given.`,
		Example: "  nicloop device reset --device uart:/dev/ttyUSB0\n  nicloop device reset --device uart:/dev/ttyUSB0,/dev/ttyUSB1 --node 1 --links --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(sys drivers.System, dev drivers.Device) error {
				what := fmt.Sprintf("node %d of %s: close all its processes and restore its registers", f.node, sys.Info().URI)
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
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&links, "links", false, "reset this end of all links, too")
	return cmd
}

// ask asks the user to confirm an action that affects other programs. No answer means no.
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
	return misused("not confirmed, nothing was changed: answer y, or use --yes in scripts")
}
