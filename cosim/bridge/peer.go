package bridge

import (
	"context"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A peer holds the model and speaks the frames: a simulator process (remote), or the model in this
// process (local). It is used under Session.mu, except hangUp.
type peer interface {
	// start shakes hands and has greet read the first answer. Cancelling ctx ends it.
	start(ctx context.Context, greet func() error) error
	// expect comes before a message that asks for an answer, answered behind that, with the cycles it
	// took.
	expect()
	answered(cycles drivers.Cycle)
	send(message []byte) error
	// receive gives the next message; it stays valid until the next call.
	receive() ([]byte, error)
	// diagnose makes an error of send or receive the error that ends the session.
	diagnose(err error) error
	// hangUp ends whatever waits, and makes every later call fail. From any goroutine.
	hangUp()
	// end frees everything; grace is how long an orderly end may take.
	end(grace time.Duration)
	// pid is the process of the model, 0 if it has none of its own.
	pid() int
}
