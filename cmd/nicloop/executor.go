package main

import (
	"strings"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/pflag"
)

// executorFlags say where many runs are performed.
type executorFlags struct{ name string }

var executors = []string{"local"}

func (x *executorFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&x.name, "executor", "local", "where: local")
}

func (x *executorFlags) check() error {
	for _, known := range executors {
		if x.name == known {
			return nil
		}
	}
	return misused("--executor %q: expected one of %v%s", x.name, executors, drivers.Nearest(x.name, executors))
}

// shellWords are arguments as a shell takes them.
func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = regress.Quoted(a)
	}
	return strings.Join(words, " ")
}
