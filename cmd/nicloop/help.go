package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/nicloop/nicloop/docs"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/spf13/cobra"
)

// newHelp replaces cobra's help, because it also prints pages of the book.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB…|TOPIC]",
		Short: "Print help on a verb, or a page of the book",
		Example: `  nicloop help run
  nicloop help device selftest
  nicloop help getting-started`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				if err := root.Help(); err != nil {
					return err
				}
				return printTopics(cmd.OutOrStdout())
			}
			if page, ok := docs.Page(args[0]); ok && len(args) == 1 && args[0] != "README" {
				_, err := io.WriteString(cmd.OutOrStdout(), plainText(page))
				return err
			}
			verb, rest, err := root.Find(args)
			if err != nil || verb == root || len(rest) > 0 {
				return usageError{fmt.Errorf("no verb or topic %q%s", strings.Join(args, " "), suggest.Nearest(args[0], helpWords(root)))}
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
	}
}

func printTopics(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\nTopics, printed by nicloop help TOPIC:\n")
	for _, t := range docs.Topics() {
		fmt.Fprintf(&b, "  %-16s %s\n", t.Name, t.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// helpWords returns the names of verbs and topics.
func helpWords(root *cobra.Command) (words []string) {
	for _, c := range root.Commands() {
		words = append(words, c.Name())
	}
	for _, t := range docs.Topics() {
		words = append(words, t.Name)
	}
	return words
}

func completeHelp(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	verb, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	add := func(word, doc string) {
		if strings.HasPrefix(word, begun) {
			words = append(words, cobra.CompletionWithDesc(word, doc))
		}
	}
	for _, c := range verb.Commands() {
		if c.IsAvailableCommand() {
			add(c.Name(), c.Short)
		}
	}
	if len(args) == 0 {
		for _, t := range docs.Topics() {
			add(t.Name, t.Title)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
