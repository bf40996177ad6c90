package main

import (
	"io"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/spf13/cobra"
)

func newDissector() *cobra.Command {
	return &cobra.Command{
		Use:   "dissector",
		Short: "Print the Wireshark dissector (Lua) for captures written with --pcap",
		Example: `  nicloop dissector > nicloop.lua
  tshark -X lua_script:nicloop.lua -r out.pcapng`,
		Args: checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), capture.Dissector())
			return err
		},
	}
}
