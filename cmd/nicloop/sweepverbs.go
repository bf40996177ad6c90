package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/bench/sweep"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbs are the verbs that a sweep may run: all that print a document.
type verbs struct{}

// notSwept excludes verbs that read results of others, or are sweeps themselves.
func notSwept(verb string) bool {
	return strings.HasPrefix(verb, "runs ") || strings.HasPrefix(verb, "cache ") || verb == "bisect" || verb == "sweep"
}

// Find returns the verb at the beginning of words.
func (verbs) Find(words []string) (v sweep.Verb, rest []string, err error) {
	var known []string
	for _, d := range documents {
		for _, verb := range d.verbs {
			if notSwept(verb) {
				continue
			}
			known = append(known, verb)
			n := len(strings.Fields(verb))
			if len(words) >= n && strings.Join(words[:n], " ") == verb {
				v.Name, rest = verb, words[n:]
				v.Forms = append(v.Forms, reflect.TypeOf(d.form))
			}
		}
	}
	if v.Name == "" {
		slices.Sort(known)
		known = slices.Compact(known)
		first := strings.Join(words[:min(1, len(words))], "")
		return v, nil, fmt.Errorf("unknown verb %q%s; known: %s", strings.Join(words, " "), suggest.Nearest(first, known), strings.Join(known, ", "))
	}
	cmd, _, err := newRoot().Find(strings.Fields(v.Name))
	if err != nil {
		return v, nil, err
	}
	add := func(f *pflag.Flag) {
		v.Flags = append(v.Flags, f.Name)
		switch f.Name {
		case "device":
			v.Device = f.DefValue
		case "nodes":
			v.Nodes = f.DefValue
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return v, rest, nil
}

// Check parses a command, and validates its flags and arguments as far as that is possible without
// running it.
func (verbs) Check(args []string) error {
	cmd, rest, err := newRoot().Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nearestFlag(cmd, err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	switch args[0] {
	case "run":
		return checkRun(args[1:])
	case "imb":
		return checkIMB(args[1:])
	}
	if f := cmd.Flags().Lookup("device"); f != nil && f.Value.Type() == "string" && f.Value.String() != "" {
		return registry.Validate(f.Value.String())
	}
	return nil
}

// checkRun validates the arguments of nicloop run.
func checkRun(args []string) error {
	cmd := &cobra.Command{}
	f := addRunFlags(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	workload := cmd.Flags().Arg(0)
	if _, err := bench.FindWorkload(workload); err != nil {
		return err
	}
	c, err := f.config(cmd, workload)
	if err != nil {
		return err
	}
	slowMemory := workload == "hotspot" && len(c.NVM) > 0
	if err := f.checkSweep(&c, slowMemory); err != nil || slowMemory || bench.MeasuresOverlap(workload) {
		return errors.Join(err, registry.Validate(c.Device))
	}
	c.Outstanding = f.outstanding[0]
	return bench.Check(c)
}

// checkIMB validates the arguments of nicloop imb.
func checkIMB(args []string) error {
	cmd := &cobra.Command{}
	f := &imbFlags{c: imb.Default()}
	f.add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	c := f.c
	c.Benchmarks, c.Run.Velo.Flow, c.Run.Rendezvous = cmd.Flags().Args(), velo.Flow(f.flow), host.Rendezvous(f.rendezvous)
	if err := errors.Join(f.lengths(&c), f.placement(&c)); err != nil {
		return err
	}
	return errors.Join(c.Check(), registry.Validate(c.Run.Device))
}

// packetsOf estimates the packets of a command, if that is possible.
func packetsOf(args []string) (float64, bool) {
	cmd := &cobra.Command{}
	switch args[0] {
	case "run":
		f := addRunFlags(cmd)
		if cmd.ParseFlags(args[1:]) != nil || cmd.Flags().NArg() != 1 {
			return 0, false
		}
		c := f.c
		c.Workload = cmd.Flags().Arg(0)
		c.Sizes = append(c.Sizes, f.size...)
		takeNodes(cmd, c.Device, &c.Nodes)
		return bench.Packets(c), true
	case "imb":
		f := &imbFlags{c: imb.Default()}
		f.add(cmd)
		if cmd.ParseFlags(args[1:]) != nil {
			return 0, false
		}
		c := f.c
		c.Benchmarks = cmd.Flags().Args()
		if f.lengths(&c) != nil || f.placement(&c) != nil {
			return 0, false
		}
		return imb.Packets(c), true
	}
	return 0, false
}
