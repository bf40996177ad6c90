//go:build !linux

package libfabric

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

func sleepOnFutex(_ *uint32, _ uint32, t time.Duration) { time.Sleep(t) }

func wakeFutex(*uint32) {}

func anonymousFile() (*os.File, error) {
	return nil, fmt.Errorf("%w: programs of libfabric need Linux", drivers.ErrNotSupported)
}

func launcherAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func readProgram(int, uint64, []byte) error { return drivers.ErrNotSupported }

func writeProgram(int, uint64, []byte) error { return drivers.ErrNotSupported }
