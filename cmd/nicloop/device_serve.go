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
		Use: "serve", Short: "Own a device, and let other programs of this user have processes of it", Args: checked(cobra.NoArgs),
		Long: `Own a device and serve it at a socket, until interrupted. Programs open shared:PATH and claim processes; each has these
processes' registers and windows and memory of its own, and nothing else. What belongs to the node, such as the
translation tables, this command does for them. When a program dies its processes are shut and free again.

Time passes by itself (clock=wall). The socket is this user's alone.`,
		Example: `  nicloop device serve --device rtl: --nodes 2 --socket /tmp/nic
  nicloop ranks alltoall --programs 4 --device shared:/tmp/nic      in another terminal
  nicloop device info --device shared:/tmp/nic`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Socket == "" {
				return misused("--socket: expected the path of a socket to serve at")
			}
			const least, most = 1, 1 << 14
			if memory < least || memory > most {
				return misused("--memory %d: expected %d to %d MB", memory, least, most)
			}
			if c.Hold < 1 || c.Hold > broker.HoldForGood {
				return misused("--hold %d: expected 1 to %d cycles, the last of which is for good", c.Hold, broker.HoldForGood)
			}
			bar := newBar(cmd.ErrOrStderr(), "device")
			b, end, err := serveDevice(cmd.Context(), f.uri, f.nodes, memory<<20, c, bar.describe)
			bar.finish()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "serving %d nodes of %d processes at shared:%s\n", f.nodes, regs.VPIDs, c.Socket)
			select {
			case <-cmd.Context().Done(): // that is how it ends
				return end()
			case <-b.Done():
				err := b.Err()
				_ = end() // it has failed already
				return err
			}
		},
	}
	cmd.Flags().StringVar(&c.Socket, "socket", "", "`PATH` of the socket to serve at")
	mebibytesVar(cmd.Flags(), &memory, "memory", 64, "DMA memory of each node, for all programs; a number without a unit counts MiB")
	cmd.Flags().Uint64Var(&c.Hold, "hold", broker.DefaultHold, "cycles that the full mailbox or ring of one process may hold others up, altogether")
	return cmd
}
