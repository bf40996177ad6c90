package scan

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/nicloop/nicloop/drivers/regs"
)

// DefaultDriver gives a device to a program, behind an IOMMU.
const DefaultDriver = "vfio-pci"

// None keeps all drivers from a device, which leaves its BARs to package pcie.
const None = "none"

// registerBAR is the BAR of the registers (rtl/board, nic_pcie).
const registerBAR = 0

func (h *Host) devices() string { return h.path("sys/bus/pci/devices") }

func (h *Host) pci() (list []Found, err error) {
	addresses, err := names(h.devices())
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if id := h.id(a); slices.Contains(h.ids(), id) {
			list = append(list, h.device(a, id))
		}
	}
	return list, nil
}

func (h *Host) ids() []ID {
	if h.IDs != nil {
		return h.IDs
	}
	return IDs
}

func (h *Host) id(address string) ID {
	dir := h.path("sys/bus/pci/devices", address)
	return ID{uint16(number(text(dir, "vendor"), 16, 16)), uint16(number(text(dir, "device"), 16, 16))}
}

func (h *Host) device(address string, id ID) Found {
	dir := h.path("sys/bus/pci/devices", address)
	f := Found{Name: address, ID: id.String(), Driver: target(dir, "driver"), Group: target(dir, "iommu_group"), BARs: bars(dir), State: Unknown}
	if w := text(dir, "max_link_width"); w != "" {
		f.Link = &Link{text(dir, "current_link_speed"), int(number(text(dir, "current_link_width"), 10, 16)), text(dir, "max_link_speed"), int(number(w, 10, 16))}
	}
	if f.Group != "" {
		members, _ := names(h.path("sys/kernel/iommu_groups", f.Group, "devices"))
		f.Others = slices.DeleteFunc(members, func(m string) bool { return m == address })
	}
	h.askPCI(&f, dir)
	h.judge(&f)
	return f
}

// bars parses the lines of the file resource: first and last address, flags.
func bars(dir string) (list []BAR) {
	for i, line := range strings.Split(text(dir, "resource"), "\n") {
		w := strings.Fields(line)
		if len(w) < 2 || i > 5 {
			continue
		}
		if first, last := number(w[0], 16, 64), number(w[1], 16, 64); last > first {
			list = append(list, BAR{i, last - first + 1})
		}
	}
	return list
}

// askPCI identifies a device if it has no driver and is enabled.
func (h *Host) askPCI(f *Found, dir string) {
	switch {
	case f.Driver != "":
		f.Said = "its registers were not read, since " + f.Driver + " has it"
		return
	case text(dir, "enable") == "0":
		f.Said = "its registers were not read: the device is off until a driver has it"
		return
	}
	words, err := readWords(fmt.Sprintf("%s/resource%d", dir, registerBAR), regs.Magic, regs.DescHash)
	switch {
	case err != nil && os.IsPermission(err):
		f.Said = "its registers can be read by root alone"
	case err != nil:
		f.Said = "its registers cannot be read: " + err.Error()
	case words[0] == ^uint64(0):
		f.State, f.Said = Foreign, "all reads are ones: it does not answer, or the bitstream has no PCIe that works"
	case words[0] != regs.MagicValue:
		f.State, f.Said = Foreign, fmt.Sprintf("MAGIC is 0x%016x, expected 0x%016x", words[0], regs.MagicValue)
	case words[1] != regs.DescHashValue:
		f.State, f.Said = Other, fmt.Sprintf("DESC_HASH is 0x%016x, this program's is 0x%016x: load a bitstream of this release", words[1], regs.DescHashValue)
	default:
		f.State = Ours
	}
}

// judge decides whether a device can be used, and what to do otherwise. It reports the first
// obstacle.
func (h *Host) judge(f *Found) {
	held := h.held(f)
	switch {
	case f.State == Foreign || f.State == Other:
		f.Why, f.Hint = f.Said, "look at the bitstream"
	case f.Driver == "" && f.State == Ours:
		f.Usable, f.URI, f.Said = true, "pcie:"+f.Name, "registers and send windows; the NIC finds memory of a program with "+DefaultDriver+", or as root with ?dma=hugepage"
	case f.Driver == "":
		f.Why, f.Hint = f.Said, "as root: nicloop device info --device pcie:"+f.Name+" switches it on and asks"
	case f.Driver == "uio_pci_generic":
		f.Usable, f.URI, f.Said = true, "pcie:"+f.Name+"?dma=hugepage", f.Driver+" has it: DMA in huge pages, without an IOMMU, and INTA"
	case f.Driver != DefaultDriver:
		f.Why, f.Hint = "the driver "+f.Driver+" has it", "nicloop device bind "+f.Name+" --driver none, then --device pcie:"+f.Name
	case len(held) > 0:
		f.Why = "others of IOMMU group " + f.Group + " are not given to programs: " + strings.Join(held, ", ")
		f.Hint = "bind these, too, or plug the board into a slot with a group of its own"
	default:
		f.Said = DefaultDriver + " has it: DMA behind the IOMMU, MSI-X"
		if f.Usable = h.access(f); f.Usable {
			f.URI = "pcie:" + f.Name
		}
	}
	if f.Link != nil && f.Link.Slower() {
		text := fmt.Sprintf("; the link is %s x%d, of %s x%d", f.Link.Speed, f.Link.Width, f.Link.MaxSpeed, f.Link.MaxWidth)
		if f.Usable {
			f.Said += text
		} else {
			f.Why += text
		}
	}
}

// held returns the other devices of the group whose drivers prevent its use.
func (h *Host) held(f *Found) (list []string) {
	for _, o := range f.Others {
		switch d := target(h.path("sys/bus/pci/devices", o, "driver")); d {
		case "", DefaultDriver, "pci-stub", "pcieport":
		default:
			list = append(list, o+" ("+d+")")
		}
	}
	return list
}

// access checks that this user may open the group's file, and says what to do otherwise.
func (h *Host) access(f *Found) bool {
	file := h.path("dev/vfio", f.Group)
	handle, err := os.OpenFile(file, os.O_RDWR, 0)
	switch {
	case err == nil:
		_ = handle.Close()
		return true
	case os.IsPermission(err):
		f.Why, f.Hint = "this user may not open "+file, "chown it to the user, or have udev do so: SUBSYSTEM==\"vfio\", GROUP=\"vfio\""
	case errors.Is(err, syscall.EBUSY):
		f.Why, f.Hint = "another program has it", "who it is: fuser -v "+file
	default:
		f.Why, f.Hint = err.Error(), "modprobe vfio-pci, and an IOMMU that is on: intel_iommu=on, or nicloop device bind "+f.Name+" --driver none and ?dma=hugepage"
	}
	return false
}
