package translog

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A Failure is the logged part of an error that a call returned: its text, its sentinel, and the
// refused accesses.
type Failure struct {
	Text  string
	Class uint8 // index into classes, plus 1; 0: none of them
	Bus   []drivers.BusError
	DMA   []drivers.DMAError
}

// classes may only grow at the end: logs contain the indices.
var classes = [...]error{
	drivers.ErrClosed, drivers.ErrNotSupported, drivers.ErrPeerDied, drivers.ErrProtocol,
	drivers.ErrAssertion, drivers.ErrStarved, drivers.ErrEnvironment, drivers.ErrConfig,
}

// NewFailure converts err; nil stays nil.
func NewFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Text: err.Error()}
	for i, class := range classes {
		if errors.Is(err, class) {
			f.Class = uint8(i + 1)
			break
		}
	}
	f.collect(err)
	return f
}

func (f *Failure) collect(err error) {
	switch e := err.(type) {
	case *drivers.BusError:
		f.Bus = append(f.Bus, *e)
	case *drivers.DMAError:
		f.DMA = append(f.DMA, *e)
	case interface{ Unwrap() error }:
		f.collect(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, e := range e.Unwrap() {
			f.collect(e)
		}
	}
}

// AsError converts a nil *Failure to a nil error.
func (f *Failure) AsError() error {
	if f == nil {
		return nil
	}
	return f
}

func (f *Failure) Error() string { return f.Text }

// Unwrap returns the errors that errors.Is and errors.As found in the original error.
func (f *Failure) Unwrap() (list []error) {
	if f.Class > 0 && int(f.Class) <= len(classes) {
		list = append(list, classes[f.Class-1])
	}
	for i := range f.Bus {
		list = append(list, &f.Bus[i])
	}
	for i := range f.DMA {
		list = append(list, &f.DMA[i])
	}
	return list
}

// A FormatError reports that a log is invalid from Offset on.
type FormatError struct {
	Offset  int
	Problem string
}

// Unwrap returns drivers.ErrConfig: the user must name another file.
func (e *FormatError) Unwrap() error { return drivers.ErrConfig }

func (e *FormatError) Error() string {
	return fmt.Sprintf("transaction log: at byte %d: %s", e.Offset, e.Problem)
}
