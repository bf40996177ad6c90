package bridge

import (
	"context"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A peer executes the frames: a simulator process (remote), or the model in this process (local).
// It is used under Session.mu, except hangUp.
type peer interface {
	// start performs the handshake; greet reads the first answer. Cancelling ctx ends it.
	start(ctx context.Context, greet func() error) error
	// expect precedes a message that requests an answer; answered follows the answer, with the
	// number of simulated cycles.
	expect()
	answered(cycles drivers.Cycle)
	send(message []byte) error
	// receive returns the next message, which is valid until the next call.
	receive() ([]byte, error)
	// diagnose converts an error of send or receive to the error that ends the session.
	diagnose(err error) error
	// hangUp ends all waits and makes every later call fail. It may be called from any goroutine.
	hangUp()
	// end frees everything; grace is the time for an orderly exit.
	end(grace time.Duration)
	// pid is the process of the model; 0 if it has none of its own.
	pid() int
}
