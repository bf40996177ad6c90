// Command nicloop simulates the RTL of an EXTOLL-style NIC together with host software, and
// controls boards that contain it. Its manual is nicloop help.
package main

import (
	"os"

	"github.com/nicloop/nicloop/cmd/signals"
	_ "github.com/nicloop/nicloop/drivers/all"
)

func main() { os.Exit(command()) }

// command runs the command line until it ends or a signal arrives.
func command() int {
	return run(signals.Context(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
