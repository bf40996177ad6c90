package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A kernel is a tree of files that reacts as sysfs does, with faults on request.
type kernel struct {
	t    *testing.T
	root string
	wont map[string]bool // drivers that refuse every device
	fail string          // a write to a file of this name fails, once
	told []string
}

func newKernel(t *testing.T) *kernel {
	return &kernel{t: t, root: t.TempDir(), wont: map[string]bool{}}
}

func (k *kernel) host() *Host { return &Host{Root: k.root, Write: k.write} }

func (k *kernel) file(path, text string) {
	path = filepath.Join(k.root, path)
	require.NoError(k.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(k.t, os.WriteFile(path, []byte(text), 0o644))
}

func (k *kernel) link(path, to string) {
	path = filepath.Join(k.root, path)
	require.NoError(k.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(k.t, os.Symlink(to, path))
}

const devices = "sys/bus/pci/devices/"

// board adds a PCI device with registers that say magic and hash.
func (k *kernel) board(address, id string, magic, hash uint64) {
	vendor, device, _ := strings.Cut(id, ":")
	dir := devices + address + "/"
	k.file(dir+"vendor", "0x"+vendor+"\n")
	k.file(dir+"device", "0x"+device+"\n")
	k.file(dir+"enable", "1\n")
	k.file(dir+"driver_override", "(null)\n")
	k.file(dir+"max_link_width", "4\n")
	k.file(dir+"current_link_width", "4\n")
	k.file(dir+"max_link_speed", "5.0 GT/s PCIe\n")
	k.file(dir+"current_link_speed", "5.0 GT/s PCIe\n")
	k.file(dir+"resource", "0x00000000f0000000 0x00000000f00fffff 0x0000000000040200\n0x0 0x0 0x0\n0x0000000100000000 0x000000011fffffff 0x000000000014220c\n")
	bar := make([]byte, 4096)
	binary.LittleEndian.PutUint64(bar[regs.Magic:], magic)
	binary.LittleEndian.PutUint64(bar[regs.DescHash:], hash)
	k.file(dir+"resource0", string(bar))
	for _, d := range []string{"vfio-pci", "wrong"} {
		require.NoError(k.t, os.MkdirAll(filepath.Join(k.root, "sys/bus/pci/drivers", d), 0o755))
	}
}

func (k *kernel) group(group string, addresses ...string) {
	for _, a := range addresses {
		k.link(devices+a+"/iommu_group", "../../../../kernel/iommu_groups/"+group)
		k.file("sys/kernel/iommu_groups/"+group+"/devices/"+a, "")
	}
}

func (k *kernel) held(address, driver string) {
	require.NoError(k.t, os.MkdirAll(filepath.Join(k.root, "sys/bus/pci/drivers", driver), 0o755))
	k.link(devices+address+"/driver", "../../../../bus/pci/drivers/"+driver)
	k.file(devices+address+"/driver/unbind", "")
}

// write does what the kernel does.
func (k *kernel) write(path, text string) error {
	name, err := filepath.Rel(k.root, path)
	require.NoError(k.t, err)
	k.told = append(k.told, name+" "+strings.TrimSpace(text))
	if filepath.Base(name) == k.fail {
		k.fail = ""
		return errors.New("the kernel refuses")
	}
	switch {
	case strings.HasSuffix(name, "/driver_override"):
		return os.WriteFile(path, []byte(strings.TrimSpace(text)+"\n"), 0o644)
	case strings.HasSuffix(name, "/driver/unbind"):
		return os.Remove(filepath.Dir(path))
	case name == "sys/bus/pci/drivers_probe":
		want, _ := os.ReadFile(filepath.Join(k.root, devices, text, "driver_override"))
		k.bind(text, strings.TrimSpace(string(want)))
		return nil
	case strings.HasSuffix(name, "/bind"):
		k.bind(text, filepath.Base(filepath.Dir(name)))
		return nil
	}
	return fmt.Errorf("%s: no such file", name)
}

func (k *kernel) bind(address, driver string) {
	if driver != "" && driver != "(null)" && !k.wont[driver] {
		_ = os.Symlink("../../../../bus/pci/drivers/"+driver, filepath.Join(k.root, devices, address, "driver"))
	}
}

const (
	our   = "1234:4e4c"
	at    = "0000:03:00.0"
	other = "0000:03:00.1"
)

func one(t *testing.T, h *Host) Found {
	list, err := h.Scan()
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func TestScanStates(t *testing.T) {
	for _, c := range []struct {
		name        string
		magic, hash uint64
		change      func(k *kernel)
		state       State
		why, hint   string
	}{
		{"ours, nobody's", regs.MagicValue, regs.DescHashValue, func(*kernel) {}, Ours, "", ""},
		{"another release", regs.MagicValue, 7, func(*kernel) {}, Other, "DESC_HASH is 0x0000000000000007", "bitstream"},
		{"something else", 7, 7, func(*kernel) {}, Foreign, "MAGIC is 0x0000000000000007", "bitstream"},
		{"a dead link", ^uint64(0), ^uint64(0), func(*kernel) {}, Foreign, "all reads are ones", "bitstream"},
		{"held by another driver", regs.MagicValue, regs.DescHashValue, func(k *kernel) { k.held(at, "wrong") }, Unknown, "the driver wrong has it", "device bind"},
		{"off", regs.MagicValue, regs.DescHashValue, func(k *kernel) { k.file(devices+at+"/enable", "0\n") }, Unknown, "the device is off", "device info --device pcie:" + at},
		{"given to programs", regs.MagicValue, regs.DescHashValue, func(k *kernel) {
			k.held(at, "vfio-pci")
			k.file("dev/vfio/7", "")
		}, Unknown, "", ""},
		{"given to nobody", regs.MagicValue, regs.DescHashValue, func(k *kernel) { k.held(at, "vfio-pci") }, Unknown, "dev/vfio/7: no such file", "modprobe vfio-pci"},
		{"group with others", regs.MagicValue, regs.DescHashValue, func(k *kernel) {
			k.held(at, "vfio-pci")
			k.board(other, "8086:1234", 0, 0)
			k.held(other, "e1000e")
			k.group("7", other)
		}, Unknown, "others of IOMMU group 7 are not given to programs: " + other + " (e1000e)", "bind these, too"},
		{"half of its width", regs.MagicValue, regs.DescHashValue, func(k *kernel) { k.file(devices+at+"/current_link_width", "2\n") }, Ours, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKernel(t)
			k.board(at, our, c.magic, c.hash)
			k.group("7", at)
			k.board("0000:00:1f.2", "8086:2922", regs.MagicValue, regs.DescHashValue) // a stranger, whatever it says
			c.change(k)
			f := one(t, k.host())
			require.Equal(t, at, f.Name)
			require.Equal(t, c.state, f.State, f.Said)
			require.Contains(t, f.Why, c.why)
			require.Contains(t, f.Hint, c.hint)
			require.Equal(t, c.why == "", f.Usable)
			if f.Usable {
				require.Equal(t, "pcie:"+at, f.URI)
			}
			require.Equal(t, c.name == "half of its width", strings.Contains(f.Said, "x2, of 5.0 GT/s PCIe x4"))
			require.Equal(t, "7", f.Group)
			require.Equal(t, []BAR{{0, 1 << 20}, {2, 1 << 29}}, f.BARs)
			require.Empty(t, k.told, "looking writes nothing")
		})
	}
	k := newKernel(t)
	k.board(at, our, regs.MagicValue, regs.DescHashValue)
	require.Empty(t, (&Host{Root: t.TempDir()}).devicesOf(t), "a machine without PCI")
	h := k.host()
	h.IDs = []ID{{0x8086, 1}}
	require.Empty(t, h.devicesOf(t))
}

func (h *Host) devicesOf(t *testing.T) []Found {
	list, err := h.Scan()
	require.NoError(t, err)
	return list
}

func TestScanPorts(t *testing.T) {
	k := newKernel(t)
	usb := "sys/devices/usb1/1-2/"
	k.file(usb+"product", "FT232R\n")
	k.file(usb+"manufacturer", "FTDI\n")
	k.file(usb+"serial", "A9\n")
	k.file(usb+"1-2:1.0/ttyUSB0/name", "")
	k.link(usb+"1-2:1.0/ttyUSB0/driver", "../../../../../bus/usb-serial/drivers/ftdi_sio")
	k.link("sys/class/tty/ttyUSB0/device", "../../../devices/usb1/1-2/1-2:1.0/ttyUSB0")
	k.file("sys/class/tty/tty1/active", "") // virtual: no device
	k.file("sys/class/tty/ttyS3/device/x", "")
	k.file("sys/class/tty/ttyS3/type", "0\n") // a chip that is not there
	k.file("dev/ttyUSB0", "")
	h := k.host()
	f := one(t, h)
	require.Equal(t, Found{Name: "ttyUSB0", URI: "uart:/dev/ttyUSB0", Driver: "ftdi_sio", Product: "FTDI FT232R A9", State: Unknown, Usable: true,
		Said: "nothing was sent to it (--probe)"}, f)

	h.Probe = func(string) (State, error) { return Ours, nil }
	require.Equal(t, Ours, one(t, h).State)
	h.Probe = func(string) (State, error) { return Foreign, errors.New("silence") }
	f = one(t, h)
	require.False(t, f.Usable)
	require.Equal(t, "silence", f.Said)
	require.Contains(t, f.Hint, "baud")

	require.NoError(t, os.Remove(filepath.Join(k.root, "dev/ttyUSB0")))
	require.Contains(t, one(t, h).Why, "no such file")
}

func TestBind(t *testing.T) {
	k := newKernel(t)
	k.board(at, our, regs.MagicValue, regs.DescHashValue)
	k.board(other, "8086:1", 0, 0)
	k.group("7", at, other)
	k.held(at, "wrong")
	h := k.host()
	plan, err := h.Plan(at, "vfio-pci")
	require.NoError(t, err)
	require.Equal(t, "take "+at+" from wrong to vfio-pci (in its IOMMU group: "+other+")", plan)
	require.NoError(t, h.Bind(at, "vfio-pci"))
	require.Equal(t, []string{
		devices + at + "/driver_override vfio-pci", devices + at + "/driver/unbind " + at, "sys/bus/pci/drivers_probe " + at,
	}, k.told)
	require.Equal(t, "vfio-pci", h.driver(at))
	k.told = nil
	require.NoError(t, h.Bind(at, "vfio-pci"), "it has it")
	require.Empty(t, k.told)
	require.NoError(t, h.Unbind(at))
	require.Empty(t, h.driver(at))

	k.held(at, "wrong")
	require.NoError(t, h.Bind(at, None))
	require.Empty(t, h.driver(at))
	plan, err = h.Plan(at, None)
	require.NoError(t, err)
	require.Empty(t, plan, "nobody has it, and nobody may")

	require.ErrorIs(t, h.Bind(other, "vfio-pci"), drivers.ErrConfig, "a stranger's device")
	require.ErrorIs(t, h.Bind("0000:09:00.0", "vfio-pci"), drivers.ErrEnvironment)
	require.ErrorIs(t, h.Bind("../x", "vfio-pci"), drivers.ErrConfig)
	err = h.Bind(at, "nouio")
	require.ErrorContains(t, err, "modprobe nouio")
	require.ErrorIs(t, err, drivers.ErrEnvironment)
}

// Whatever step fails, who had the device has it again.
func TestBindIsUndone(t *testing.T) {
	for _, had := range []string{"", "wrong"} {
		for _, fail := range []string{"driver_override", "unbind", "drivers_probe", "refuses"} {
			if had == "" && fail == "unbind" {
				continue
			}
			t.Run(had+" "+fail, func(t *testing.T) {
				k := newKernel(t)
				k.board(at, our, regs.MagicValue, regs.DescHashValue)
				if had != "" {
					k.held(at, had)
				}
				k.fail = fail
				k.wont["vfio-pci"] = fail == "refuses"
				h := k.host()
				err := h.Bind(at, "vfio-pci")
				var b *BindError
				require.ErrorAs(t, err, &b)
				require.NoError(t, b.Undone)
				require.ErrorContains(t, err, "all is as it was")
				require.Equal(t, had, h.driver(at))
				override, err := os.ReadFile(filepath.Join(k.root, devices, at, "driver_override"))
				require.NoError(t, err)
				require.Contains(t, []string{"\n", "(null)\n"}, string(override))
			})
		}
	}
	// What cannot be undone is said, too.
	k := newKernel(t)
	k.board(at, our, regs.MagicValue, regs.DescHashValue)
	k.held(at, "wrong")
	k.wont["vfio-pci"], k.wont["wrong"] = true, true
	err := k.host().Bind(at, "vfio-pci")
	require.ErrorContains(t, err, "and that could not be undone: expected wrong to have it again, found \"\"")
}

func TestParseID(t *testing.T) {
	id, err := ParseID("1234:4e4c")
	require.NoError(t, err)
	require.Equal(t, IDs[0], id)
	require.Equal(t, "1234:4e4c", id.String())
	for _, bad := range []string{"", "1234", "1234:", "12345:1", "x:y"} {
		_, err := ParseID(bad)
		require.ErrorContains(t, err, "expected VENDOR:DEVICE", bad)
	}
}
