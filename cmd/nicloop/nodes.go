package main

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// takeNodes sets the number of nodes that a device such as mixed:?rtl=5,9&nodes=64 prescribes,
// unless --nodes is set.
func takeNodes(cmd *cobra.Command, device string, nodes *int) {
	_, query, _ := strings.Cut(device, "?")
	if keys, err := url.ParseQuery(query); err == nil && !cmd.Flags().Changed("nodes") {
		if n, err := strconv.Atoi(keys.Get("nodes")); err == nil {
			*nodes = n // validated when the device is opened
		}
	}
}
