package scan

import (
	"os"
	"syscall"
)

// openPort sees whether a port may be opened, without waiting for a carrier or becoming its
// session's terminal.
func openPort(file string) (*os.File, error) {
	return os.OpenFile(file, os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
}
