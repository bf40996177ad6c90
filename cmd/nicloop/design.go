package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/nicloop/nicloop/cosim/design"
)

func newDesign() *cobra.Command {
	return group(&cobra.Command{
		Use: "design", Short: "Put your own hardware design behind the bridge: describe it, check the description",
	}, newDesignInit(), newDesignCheck())
}

func newDesignInit() *cobra.Command {
	var file string
	var include []string
	cmd := &cobra.Command{
		Use: "init TOP FILE…", Short: "Write the description of a design from the ports of its top module", Args: checked(cobra.MinimumNArgs(2)),
		Long: `Elaborate the module TOP of some Verilog or SystemVerilog files, recognise its
clocks, resets, buses and interrupts, and write a description of it, which
--device design:FILE opens. Inputs that are not recognised are tied to 0.`,
		Example: "  nicloop design init dma_top rtl/*.v\n  nicloop device peek 0 --device design:dma_top.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				file = args[0] + ".yaml"
			}
			text, err := design.Init(cmd.Context(), file, args[0], args[1:], include)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if errors.Is(err, fs.ErrExist) {
				return usageError{fmt.Errorf("%s exists: remove it, or write another with -o", file)}
			}
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nwritten: %s; next: nicloop design check %[2]s\n", text, file)
			return err
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "the description; default: TOP.yaml")
	cmd.Flags().StringArrayVarP(&include, "include", "I", nil, "a folder of files that the sources include")
	return cmd
}

func newDesignCheck() *cobra.Command {
	var wrapper bool
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Compare a description with the ports of its design", Args: checked(cobra.ExactArgs(1)),
		Long: `Elaborate a design and compare its ports with the description: ports that are
missing, have the wrong direction or are not connected are named, with the nearest
name. Exit code 2 means that the design cannot be opened.`,
		Example: "  nicloop design check dma_top.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := design.Load(args[0])
			if err != nil {
				return err
			}
			m, err := d.Map()
			if err != nil {
				return err
			}
			ports, err := d.Ports(cmd.Context())
			if err != nil {
				return err
			}
			c, err := d.Check(ports)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if wrapper {
				_, err = fmt.Fprint(out, c.Wrapper)
				return err
			}
			for _, note := range c.Notes {
				fmt.Fprintln(out, "note:", note)
			}
			_, err = fmt.Fprintf(out, "%s: %d ports are connected, the register bus has %d bits, %d registers have names\n",
				d.Name, len(ports)-len(c.Notes), c.Width, len(m.Registers()))
			return err
		},
	}
	cmd.Flags().BoolVar(&wrapper, "wrapper", false, "print the SystemVerilog that connects the design")
	return cmd
}
