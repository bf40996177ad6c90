package main

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/broker"
	"github.com/spf13/cobra"
)

func (f *deviceFlags) serve() *cobra.Command {
	var c broker.Config
	var memory int
	cmd := &cobra.Command{
		Use: "serve", Short: "Share a device among programs of this user", Args: checked(cobra.NoArgs),
		Long: `Own a device and serve it at a Unix socket until interrupted. Programs open
shared:PATH and claim processes. Each program accesses only the registers, windows
and memory of its own processes. This command manages the resources of the node, such
as the translation tables, on their behalf. When a program exits, its processes are
closed and become available again.

The device is free-running (clock=wall). The socket is accessible to this user only.`,
		Example: `  nicloop device serve --device rtl: --nodes 2 --socket /tmp/nic
  nicloop ranks alltoall --programs 4 --device shared:/tmp/nic      in another terminal
  nicloop device info --device shared:/tmp/nic`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Socket == "" {
				return misused("--socket is missing: expected the path of the socket")
			}
			const least, most = 1, 1 << 14
			if memory < least || memory > most {
				return misused("--memory %d: expected %d to %d MB", memory, least, most)
			}
			if c.Hold < 1 || c.Hold > broker.HoldForGood {
				return misused("--hold %d: expected 1 to %d cycles, the last of which means no limit", c.Hold, broker.HoldForGood)
			}
			bar := newBar(cmd.ErrOrStderr(), "device")
			b, end, err := serveDevice(cmd.Context(), f.uri, f.nodes, memory<<20, c, bar.describe)
			bar.finish()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "serving %d nodes of %d processes at shared:%s\n", f.nodes, regs.VPIDs, c.Socket)
			select {
			case <-cmd.Context().Done(): // the normal end
				return end()
			case <-b.Done():
				err := b.Err()
				_ = end() // the first error is reported
				return err
			}
		},
	}
	cmd.Flags().StringVar(&c.Socket, "socket", "", "`PATH` of the socket")
	mebibytesVar(cmd.Flags(), &memory, "memory", 64, "DMA memory of each node, for all programs; a number without a unit counts MiB")
	cmd.Flags().Uint64Var(&c.Hold, "hold", broker.DefaultHold, "cycles in total for which the full mailbox or ring of one process may stall others")
	return cmd
}
