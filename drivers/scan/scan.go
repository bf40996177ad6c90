package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An ID is the vendor and device number of a PCI device.
type ID struct{ Vendor, Device uint16 }

func (id ID) String() string { return fmt.Sprintf("%04x:%04x", id.Vendor, id.Device) }

// ParseID reads "1234:4e4c".
func ParseID(s string) (ID, error) {
	v, d, ok := strings.Cut(s, ":")
	vendor, err := strconv.ParseUint(v, 16, 16)
	device, err2 := strconv.ParseUint(d, 16, 16)
	if !ok || err != nil || err2 != nil {
		return ID{}, fmt.Errorf("PCI number %q: expected VENDOR:DEVICE in hexadecimal digits, as in 1234:4e4c", s)
	}
	return ID{uint16(vendor), uint16(device)}, nil
}

// IDs are the default numbers of boards: those of the hard block, not registered to a vendor.
var IDs = []ID{{0x1234, 0x4e4c}}

// A Host is a machine as its kernel presents it.
type Host struct {
	Root string // prefix of /sys and /dev; "" is this machine
	IDs  []ID   // nil: those of the package
	// Write writes to a file of the kernel; nil: as to any file. Tests replace it.
	Write func(path, text string) error
	// Probe identifies the device behind a serial port; nil: ports are not probed. A device that is
	// not ours receives unexpected bytes.
	Probe func(device string) (State, error)
}

// State is the result of identifying a device.
type State string

// States.
const (
	Ours    State = "ours"
	Other   State = "other description" // a NIC of another release of this project
	Foreign State = "not ours"
	Unknown State = "not asked"
)

// Found is a device that is or may be a board.
type Found struct {
	Name    string   `json:"name"` // 0000:03:00.0, or ttyUSB0
	URI     string   `json:"uri,omitempty"`
	ID      string   `json:"id,omitempty"`      // of PCI
	Product string   `json:"product,omitempty"` // of USB
	Driver  string   `json:"driver,omitempty"`  // that it is bound to
	Link    *Link    `json:"link,omitempty"`
	Group   string   `json:"iommu_group,omitempty"`
	Others  []string `json:"iommu_group_others,omitempty"` // other devices in its group
	BARs    []BAR    `json:"bars,omitempty"`
	State   State    `json:"state"`
	Said    string   `json:"said,omitempty"` // why the state is unknown, or what was found
	Usable  bool     `json:"usable"`
	Why     string   `json:"why,omitempty"`  // why it cannot be used, or not fully
	Hint    string   `json:"hint,omitempty"` // what to do
}

// A Link is the negotiated and the maximum state of a PCIe link.
type Link struct {
	Speed    string `json:"speed"` // as reported by the kernel: "8.0 GT/s PCIe"
	Width    int    `json:"width"`
	MaxSpeed string `json:"max_speed"`
	MaxWidth int    `json:"max_width"`
}

// Slower reports whether a link runs below what both ends support.
func (l *Link) Slower() bool { return l.Width < l.MaxWidth || l.Speed != l.MaxSpeed }

// A BAR is a region of a PCI device.
type BAR struct {
	Number int    `json:"number"`
	Bytes  uint64 `json:"bytes"`
}

// Scan lists PCI devices, then serial ports, in the order of their names.
func (h *Host) Scan() ([]Found, error) {
	list, err := h.pci()
	if err != nil {
		return nil, err
	}
	ports, err := h.ports()
	return append(list, ports...), err
}

func (h *Host) path(parts ...string) string {
	return filepath.Join(append([]string{h.Root + "/"}, parts...)...)
}

// names lists a directory; a missing one is empty.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	slices.Sort(list)
	return list, err
}

// text returns the content of a file of one line, or "".
func text(parts ...string) string {
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// target returns the last element of a link's target, or "".
func target(parts ...string) string {
	to, err := os.Readlink(filepath.Join(parts...))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

func number(s string, base, bits int) uint64 {
	v, _ := strconv.ParseUint(strings.TrimPrefix(s, "0x"), base, bits)
	return v
}
