package main

import (
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/reproduce"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/spf13/cobra"
)

// A choice is a completion: a word and its description.
type choice struct{ word, doc string }

// completing offers the words of a verb's arguments to shell completion, each once.
func completing(cmd *cobra.Command, most int, list func() []choice) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		for _, c := range list() {
			if most > 0 && len(args) >= most {
				break
			}
			if strings.HasPrefix(c.word, begun) {
				words = append(words, cobra.CompletionWithDesc(c.word, c.doc))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	completeFlags(cmd)
	if cmd.Flags().Lookup("device") == nil {
		return
	}
	// The only errors are a missing flag and a second registration.
	_ = cmd.RegisterFlagCompletionFunc("device", func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return deviceWords(begun), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
}

// completeFlags completes the flags with a fixed set of values, where a verb has them.
func completeFlags(cmd *cobra.Command) {
	for name, values := range map[string][]string{
		"flow": {"none", "static", "dynamic"}, "rendezvous": {"rget", "rput", "chunked", "spec"},
		"scale": {"small", "medium", "large", "paper"}, "executor": executors, "same": {sameCycles, samePackets},
	} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

func experimentChoices() (list []choice) {
	for _, x := range reproduce.All() {
		for _, id := range x.IDs {
			list = append(list, choice{id, ""})
		}
	}
	return list
}

func registerChoices() (list []choice) {
	for _, name := range regs.Map().Names() {
		list = append(list, choice{name, ""})
	}
	return list
}

// deviceWords completes schemes and, after ? and &, the keys of a scheme.
func deviceWords(begun string) (words []cobra.Completion) {
	cut := strings.LastIndexAny(begun, "?&") + 1
	for _, b := range registry.Backends() {
		if cut == 0 {
			words = append(words, cobra.CompletionWithDesc(b.Scheme+":", b.Doc))
			continue
		}
		if !strings.HasPrefix(begun, b.Scheme+":") {
			continue
		}
		for _, k := range b.Keys {
			if k.Doc != "" && strings.HasPrefix(k.Name, begun[cut:]) {
				words = append(words, cobra.CompletionWithDesc(begun[:cut]+k.Name+"=", k.Doc))
			}
		}
	}
	return words
}

func workloadChoices() (list []choice) {
	for _, w := range bench.Workloads() {
		list = append(list, choice{w.Name, w.Doc})
	}
	return list
}

// testChoices completes tests and their tags.
func testChoices(tests func() []regress.Test) func() []choice {
	return func() (list []choice) {
		tags := map[string]bool{}
		for _, t := range tests() {
			list = append(list, choice{t.Name, t.Doc})
			for _, tag := range t.Tags {
				if !tags[tag] {
					tags[tag] = true
					list = append(list, choice{tag, "a tag"})
				}
			}
		}
		return list
	}
}

func imbChoices() (list []choice) {
	for _, name := range imb.Names() {
		list = append(list, choice{name, ""})
	}
	return list
}
