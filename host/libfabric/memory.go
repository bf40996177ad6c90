package libfabric

import (
	"fmt"
	"syscall"
	"unsafe"
)

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
