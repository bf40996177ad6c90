// Command nicloop runs RTL of an EXTOLL-style NIC behind a Go socket bridge and
// host software on top of it. `nicloop help` is its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/nicloop/nicloop/drivers/all"
)

func main() { os.Exit(command()) }

// command runs what was typed, until it ends or a signal comes.
func command() int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
