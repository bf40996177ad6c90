package pcie

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// vfioDriver is the driver that gives a device to a program, behind an IOMMU.
const vfioDriver = "vfio-pci"

// ioctls of VFIO (linux/vfio.h).
const (
	vfioSetIOMMU    = 0x3b66
	vfioGroupStatus = 0x3b67
	vfioContainer   = 0x3b68
	vfioDevice      = 0x3b6a
	vfioRegion      = 0x3b6c
	vfioIRQInfo     = 0x3b6d
	vfioSetIRQs     = 0x3b6e
	vfioMap         = 0x3b71
)

// Constants of these.
const (
	vfioType1       = 1
	vfioViable      = 1 << 0
	vfioConfig      = 7 // region index of the configuration space
	vfioMSIX        = 2
	vfioTrigger     = 1<<2 | 1<<5 // set an eventfd
	vfioReadWrite   = 1<<0 | 1<<1
	vfioMappable    = 1 << 2
	vfioFirstVector = 0
)

type vfioRegionInfo struct {
	size, flags, index, _ uint32
	bytes, offset         uint64
}

type vfioMapping struct {
	size, flags          uint32
	address, iova, bytes uint64
}

type vfioEvents struct {
	size, flags, index, start, count uint32
	files                            [maxNICs * vectorsPerNIC]int32
}

type vfioVectors struct{ size, flags, index, count uint32 }

// firstIOVA is the device address of memory; address 0 stays unmapped.
const firstIOVA = 1 << 20

// vfio accesses a device with the driver vfio-pci: the IOMMU restricts its DMA to this program's
// memory.
type vfio struct {
	root, dir, group         string
	container, member, board *os.File
}

func (v *vfio) name() string { return filepath.Base(v.dir) }

func call(f *os.File, number uintptr, argument uintptr) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), number, argument)
	if errno != 0 {
		return 0, os.NewSyscallError("ioctl", errno)
	}
	return int(n), nil
}

// begin opens container, group and device.
func (v *vfio) begin() (err error) {
	group, err := os.Readlink(filepath.Join(v.dir, "iommu_group"))
	if err != nil {
		return fmt.Errorf("%w: %s has no IOMMU group: %w; switch the IOMMU on (intel_iommu=on), or: nicloop device bind %s --driver none and ?dma=hugepage",
			drivers.ErrEnvironment, v.name(), err, v.name())
	}
	v.group = filepath.Base(group)
	if v.container, err = openDevice(filepath.Join(v.root, "dev/vfio/vfio")); err != nil {
		return err
	}
	if v.member, err = openDevice(filepath.Join(v.root, "dev/vfio", v.group)); err != nil {
		return v.helped("opening", err)
	}
	status := [2]uint32{8}
	if _, err := call(v.member, vfioGroupStatus, uintptr(unsafe.Pointer(&status))); err != nil {
		return v.helped("asking", err)
	}
	if status[1]&vfioViable == 0 {
		return fmt.Errorf("%w: others of IOMMU group %s have drivers that keep programs out: nicloop device scan", drivers.ErrEnvironment, v.group)
	}
	fd := int32(v.container.Fd())
	if _, err := call(v.member, vfioContainer, uintptr(unsafe.Pointer(&fd))); err != nil {
		return v.helped("joining", err)
	}
	if _, err := call(v.container, vfioSetIOMMU, vfioType1); err != nil {
		return fmt.Errorf("%w: the IOMMU: %w; modprobe vfio_iommu_type1; without interrupt remapping with allow_unsafe_interrupts=1", drivers.ErrEnvironment, err)
	}
	name := append([]byte(v.name()), 0)
	n, err := call(v.member, vfioDevice, uintptr(unsafe.Pointer(&name[0])))
	if err != nil {
		return v.helped("taking the device from", err)
	}
	v.board = os.NewFile(uintptr(n), v.name())
	return nil
}

func openDevice(name string) (*os.File, error) {
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, helped(&os.PathError{Op: "open", Path: name, Err: err})
	}
	return os.NewFile(uintptr(fd), name), nil
}

// helped adds the reason to an error of opening a group.
func (v *vfio) helped(what string, err error) error {
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%w: %s IOMMU group %s: %w: another program has it; who it is: fuser -v /dev/vfio/%s", drivers.ErrEnvironment, what, v.group, err, v.group)
	}
	return fmt.Errorf("%w: %s IOMMU group %s: %w; its file is /dev/vfio/%s, which root may open, or whom it belongs to", drivers.ErrEnvironment, what, v.group, err, v.group)
}

func (v *vfio) region(index int) (vfioRegionInfo, error) {
	r := vfioRegionInfo{size: uint32(unsafe.Sizeof(vfioRegionInfo{})), index: uint32(index)}
	_, err := call(v.board, vfioRegion, uintptr(unsafe.Pointer(&r)))
	return r, err
}

func (v *vfio) bar(number, least int, _ bool) ([]byte, error) {
	r, err := v.region(number)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("BAR %d of %s", number, v.name())
	if r.bytes < uint64(least) || r.flags&vfioMappable == 0 {
		return nil, tooShort(name, int64(r.bytes), least)
	}
	m, err := unix.Mmap(int(v.board.Fd()), int64(r.offset), int(r.bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return m, nil
}

// memory is one segment for the NIC, in large pages if available.
func (v *vfio) memory(n int) (m memory, err error) {
	bytes := max(1, (n+largePage-1)/largePage) * largePage
	const how = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	m.bytes, err = unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, how|unix.MAP_HUGETLB|unix.MAP_HUGE_2MB)
	if err != nil {
		m.bytes, err = unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, how)
	}
	if err != nil {
		return m, os.NewSyscallError("mmap", err)
	}
	a := vfioMapping{size: uint32(unsafe.Sizeof(vfioMapping{})), flags: vfioReadWrite, address: uint64(uintptr(unsafe.Pointer(&m.bytes[0]))), iova: firstIOVA, bytes: uint64(bytes)}
	if _, err := call(v.container, vfioMap, uintptr(unsafe.Pointer(&a))); err != nil {
		_ = m.free()
		return m, fmt.Errorf("%w: %d bytes for DMA: %w; the limit of locked memory is ulimit -l", drivers.ErrEnvironment, bytes, err)
	}
	m.segments = []drivers.Segment{{Addr: firstIOVA, Bytes: uint64(bytes)}}
	return m, nil
}

func (v *vfio) command(set, clear uint16) error {
	r, err := v.region(vfioConfig)
	if err != nil {
		return err
	}
	return changeCommand(v.board, int64(r.offset), set, clear)
}

// interrupts are MSI-X messages, with an eventfd per vector. One that arrived before the wait shows
// in IRQ_STATUS.
func (v *vfio) interrupts() (*interrupts, error) {
	have := vfioVectors{size: uint32(unsafe.Sizeof(vfioVectors{})), index: vfioMSIX}
	if _, err := call(v.board, vfioIRQInfo, uintptr(unsafe.Pointer(&have))); err != nil {
		return nil, fmt.Errorf("%w: MSI-X: %w", drivers.ErrEnvironment, err)
	}
	e := vfioEvents{flags: vfioTrigger, index: vfioMSIX, start: vfioFirstVector}
	e.count = min(max(have.count, 1), uint32(len(e.files)))
	e.size = uint32(unsafe.Offsetof(e.files)) + 4*e.count
	q := &interrupts{size: 8, vectored: true, arm: (*device).causes}
	for i := range e.count {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return nil, errors.Join(os.NewSyscallError("eventfd", err), q.closeFiles())
		}
		e.files[i] = int32(fd)
		q.files = append(q.files, os.NewFile(uintptr(fd), fmt.Sprintf("vector %d", i)))
	}
	if _, err := call(v.board, vfioSetIRQs, uintptr(unsafe.Pointer(&e))); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: MSI-X: %w", drivers.ErrEnvironment, err), q.closeFiles())
	}
	return q, nil
}

func (v *vfio) index() int { return 0 }

func (v *vfio) unmap(m []byte) error { return unix.Munmap(m) }

// close closes mappings, interrupts and files, and resets the function.
func (v *vfio) close() error {
	var all error
	for _, f := range []*os.File{v.board, v.member, v.container} {
		if f != nil {
			all = errors.Join(all, f.Close())
		}
	}
	return all
}
