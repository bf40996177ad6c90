package sharedmem

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// Supported tells whether memory of this system can be lent.
const Supported = true

const pageBytes = 4096

// New gives n bytes, zeros, at least whole pages of them, that can lie elsewhere piece by piece.
func New(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, (n+pageBytes-1)&^(pageBytes-1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return mem[:n], nil
}

// Free ends what New began.
func Free(mem []byte) { _ = unix.Munmap(mem[:cap(mem)]) }

// File makes a file in memory of n bytes, whole pages, that nobody can make shorter or longer.
func File(n uint64) (*os.File, error) {
	fd, err := unix.MemfdCreate("nicloop-piece", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "nicloop-piece")
	if err = f.Truncate(int64(n)); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		f.Close()
		return nil, os.NewSyscallError("sealing a memfd", err)
	}
	return f, nil
}

// Map maps the first n bytes of a file, which must be so long. [Free] ends that.
func Map(file *os.File, n uint64) ([]byte, error) {
	if err := holds(file, n); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(file.Fd()), 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	return mem, os.NewSyscallError("mmap", err)
}

// holds: else whoever touches what is missing dies of it.
func holds(file *os.File, n uint64) error {
	info, err := file.Stat()
	if err == nil && (n == 0 || n > 1<<40 || uint64(info.Size()) < n) {
		err = fmt.Errorf("%w: 0x%x bytes in a file of 0x%x", drivers.ErrConfig, n, info.Size())
	}
	return err
}

// Lay has [off, off+n) of memory that was mapped lie in a file, from at on.
func Lay(mem []byte, off, n uint64, file *os.File, at uint64) error {
	size := uint64(len(mem))
	if off%pageBytes != 0 || n%pageBytes != 0 || at%pageBytes != 0 || n == 0 || off > size || n > size-off || at > 1<<40 {
		return fmt.Errorf("%w: lending 0x%x bytes at 0x%x: expected whole pages inside the 0x%x bytes of memory", drivers.ErrConfig, n, off, size)
	}
	if err := holds(file, at+n); err != nil {
		return err
	}
	_, err := unix.MmapPtr(int(file.Fd()), int64(at), unsafe.Pointer(&mem[off]), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return os.NewSyscallError("mmap", err)
}
