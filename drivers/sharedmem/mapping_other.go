//go:build !linux

package sharedmem

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

var errNone = fmt.Errorf("%w: memory is lent on Linux only", drivers.ErrNotSupported)

// Lay cannot be.
func Lay([]byte, uint64, uint64, *os.File, uint64) error { return errNone }

// File cannot be.
func File(uint64) (*os.File, error) { return nil, errNone }

// Map cannot be.
func Map(*os.File, uint64) ([]byte, error) { return nil, errNone }
