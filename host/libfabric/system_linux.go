package libfabric

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const (
	futexWait = 0
	futexWake = 1
)

// sleepOnFutex waits until another process wakes the word, or its value is not v, or for at most t.
func sleepOnFutex(word *uint32, v uint32, t time.Duration) {
	ts := syscall.NsecToTimespec(int64(t))
	_, _, _ = syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(v),
		uintptr(unsafe.Pointer(&ts)), 0, 0)
}

func wakeFutex(word *uint32) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

// anonymousFile makes memory that other processes can map and that is no file.
func anonymousFile() (*os.File, error) {
	const closeOnExec = 1
	name := []byte("nicloop\x00")
	fd, _, errno := syscall.RawSyscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name[0])), closeOnExec, 0)
	if errno != 0 {
		return nil, errno
	}
	return os.NewFile(fd, "memfd"), nil
}

// launcherAttributes keep interrupts of the terminal from mpirun, and end it when this process
// dies.
func launcherAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// The numbers of the system calls on amd64 and arm64 differ; package syscall lacks them.
type iovec struct {
	base uintptr
	len  uintptr
}

// readProgram copies bytes of another process.
func readProgram(pid int, address uint64, into []byte) error {
	return moveProgram(sysProcessVMReadv, "reading", pid, address, into)
}

// writeProgram copies bytes into another process.
func writeProgram(pid int, address uint64, from []byte) error {
	return moveProgram(sysProcessVMWritev, "writing", pid, address, from)
}

func moveProgram(call uintptr, what string, pid int, address uint64, here []byte) error {
	for len(here) > 0 {
		local := iovec{uintptr(unsafe.Pointer(unsafe.SliceData(here))), uintptr(len(here))}
		remote := iovec{uintptr(address), uintptr(len(here))}
		n, _, errno := syscall.Syscall6(call, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		switch {
		case errno != 0:
			return fmt.Errorf("%s %d bytes of process %d at 0x%x: %w", what, len(here), pid, address, errno)
		case n == 0:
			return fmt.Errorf("%s %d bytes of process %d at 0x%x: no byte moved", what, len(here), pid, address)
		}
		here, address = here[n:], address+uint64(n)
	}
	return nil
}
