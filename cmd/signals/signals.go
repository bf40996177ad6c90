// Package signals turns the signals that end a command into the cancellation of a context.
//
// They are caught from the initialisation of this package on, and until the process has exited. It
// imports little, so it is initialised before the packages of a command: a command that is
// interrupted while it starts, on a busy machine, ends with its own exit code and not by the
// signal.
package signals

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Received is the cause of a context that a signal has cancelled.
type Received struct{ Signal os.Signal }

func (r Received) Error() string { return r.Signal.String() + " signal received" }

// Is makes it a cancellation.
func (Received) Is(err error) bool { return err == context.Canceled }

var received = make(chan os.Signal, 1)

func init() {
	if !strings.HasSuffix(os.Args[0], ".test") { // a test ends by its signals
		catch()
	}
}

func catch() {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		list = append(list, syscall.SIGHUP)
	}
	signal.Notify(received, list...)
}

// Context returns a context that ends with the first signal. Further signals have no effect, also
// after the command has ended: a signal that is sent twice, as timeout(1) does, would otherwise
// replace the exit code if the second one came late.
func Context() context.Context {
	catch()
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { cancel(Received{<-received}) }()
	return ctx
}
