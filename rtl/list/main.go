// Command list prints the RTL files in compile order, for scripts:
//
//	list design|simulation|pcie|axi|board
package main

import (
	"fmt"
	"os"
	"path"

	"github.com/nicloop/nicloop/rtl"
)

func main() {
	lists := map[string]func() []string{"design": rtl.DesignFiles, "simulation": rtl.SimulationFiles, "pcie": rtl.PCIeFiles, "axi": rtl.AXIFiles, "board": rtl.BoardFiles}
	if len(os.Args) != 2 || lists[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: list design|simulation|pcie|axi|board")
		os.Exit(2)
	}
	for _, f := range lists[os.Args[1]]() {
		fmt.Println(path.Join("rtl", f))
	}
}
