package pcie

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// COMMAND register: offset and bits.
const (
	commandAt        = 4
	commandMemory    = 1 << 1
	commandBusMaster = 1 << 2
	commandNoINTx    = 1 << 10
)

// files accesses a device through its files in /sys.
type files struct {
	root, dir string
	pages     bool     // DMA memory in pages of 2 MB
	switched  bool     // the device was enabled by this program
	lock      *os.File // held by the program that uses DMA
}

// noDriver are the drivers that leave a device's BARs to other programs.
const noDriver = "uio_pci_generic"

func (f *files) name() string { return filepath.Base(f.dir) }

func (f *files) begin() error {
	if driver, err := os.Readlink(filepath.Join(f.dir, "driver")); err == nil && filepath.Base(driver) != noDriver {
		return fmt.Errorf("%w: the driver %s is bound to %s, expected no driver; nicloop device unbind %s", drivers.ErrEnvironment,
			filepath.Base(driver), f.name(), f.name())
	}
	on, err := os.ReadFile(filepath.Join(f.dir, "enable"))
	if err == nil && strings.TrimSpace(string(on)) == "0" {
		if err = f.enable("1"); err != nil {
			return helped(err)
		}
		f.switched = true
	}
	return nil
}

func (f *files) enable(v string) error {
	file, err := os.OpenFile(filepath.Join(f.dir, "enable"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(v)
	return errors.Join(err, file.Close())
}

// bar maps a whole BAR, write-combined if permitted and supported by the kernel.
func (f *files) bar(number, least int, combined bool) ([]byte, error) {
	name := fmt.Sprintf("%s/resource%d", f.dir, number)
	if combined {
		if m, err := mapFile(name+"_wc", least); err == nil {
			return m, nil
		}
	}
	return mapFile(name, least)
}

func mapFile(name string, least int) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < int64(least) {
		return nil, tooShort(name, st.Size(), least)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return m, nil
}

func tooShort(name string, bytes int64, least int) error {
	return fmt.Errorf("%w: %s has %d bytes: expected %d or more; a BAR of another design", drivers.ErrConfig, name, bytes, least)
}

// memory allocates memory for DMA by physical address, which requires exclusive use of the board.
func (f *files) memory(n int) (m memory, err error) {
	if !f.pages {
		return m, nil
	}
	name := filepath.Join(f.dir, "resource0")
	if f.lock, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return m, helped(err)
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return m, fmt.Errorf("%w: another program does DMA with %s: expected to have it alone; who it is: fuser -v %s", drivers.ErrEnvironment, f.name(), name)
	}
	return hugePages(n)
}

// command sets and clears bits of COMMAND.
func (f *files) command(set, clear uint16) error {
	file, err := os.OpenFile(filepath.Join(f.dir, "config"), os.O_RDWR, 0)
	if err != nil {
		return helped(err)
	}
	defer file.Close()
	return changeCommand(file, 0, set, clear)
}

// changeCommand changes COMMAND in a file that has the configuration space at the given offset.
func changeCommand(f *os.File, at int64, set, clear uint16) error {
	var b [2]byte
	if _, err := f.ReadAt(b[:], at+commandAt); err != nil {
		return helped(err)
	}
	was := binary.LittleEndian.Uint16(b[:])
	is := was&^clear | set
	if is == was {
		return nil
	}
	binary.LittleEndian.PutUint16(b[:], is)
	_, err := f.WriteAt(b[:], at+commandAt)
	return helped(err)
}

func (f *files) index() int { return 0 }

// interrupts returns interrupts if the driver supports them.
func (f *files) interrupts() (*interrupts, error) {
	if driver, err := os.Readlink(filepath.Join(f.dir, "driver")); err != nil || filepath.Base(driver) != noDriver {
		return nil, nil
	}
	return uioInterrupts(f.root, f.dir)
}

func (f *files) unmap(m []byte) error { return unix.Munmap(m) }

func (f *files) close() error {
	var all error
	if f.lock != nil {
		all = f.lock.Close()
	}
	if f.switched {
		f.switched = false
		all = errors.Join(all, f.enable("0"))
	}
	return all
}
