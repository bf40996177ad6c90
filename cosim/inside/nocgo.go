//go:build !cgo

package inside

import (
	"fmt"
	"os"

	"github.com/nicloop/nicloop/drivers"
)

// Supported says whether this program can load a model, and what to do if not.
func Supported() error {
	return fmt.Errorf("%w: a model inside the host's process: this program was built without cgo; build it with CGO_ENABLED=1 and gcc, "+
		"or leave inside=1 out", drivers.ErrNotSupported)
}

// A Model cannot be had.
type Model struct{}

// Open fails.
func Open(string, []string, []byte, []byte, *os.File) (*Model, error) { return nil, Supported() }

// Hello of no model.
func (*Model) Hello() []byte { return nil }

// Reply of no model.
func (*Model) Reply() []byte { return nil }

// Exchange with no model.
func (*Model) Exchange([]byte) error { return Supported() }

// Stop of no model.
func (*Model) Stop() {}

// Close of no model.
func (*Model) Close() {}
