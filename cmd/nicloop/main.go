// Command nicloop runs RTL of an EXTOLL-style NIC behind a Go socket bridge and
// host software on top of it. `nicloop help` is its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/nicloop/nicloop/cosim/mixed"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	_ "github.com/nicloop/nicloop/drivers/ideal"
	_ "github.com/nicloop/nicloop/drivers/replay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
