//go:build !linux

package mapping

import (
	"fmt"
	"os"

	"github.com/nicloop/nicloop/drivers"
)

// Supported tells whether memory of this system can be lent.
const Supported = false

// New gives n bytes.
func New(n int) ([]byte, error) { return make([]byte, n), nil }

// Free ends what New began.
func Free([]byte) {}

// Lay cannot be.
func Lay([]byte, uint64, uint64, *os.File) error {
	return fmt.Errorf("%w: memory is lent on Linux only", drivers.ErrNotSupported)
}
