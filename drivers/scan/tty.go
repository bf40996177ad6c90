package scan

import (
	"os"
	"path/filepath"
	"strings"
)

// ports lists the serial ports. Virtual terminals have no device; absent ports of the PC's UART
// have type 0.
func (h *Host) ports() (list []Found, err error) {
	const class = "sys/class/tty"
	all, err := names(h.path(class))
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		dir := h.path(class, name)
		if _, err := os.Stat(filepath.Join(dir, "device")); err != nil || text(dir, "type") == "0" {
			continue
		}
		f := Found{Name: name, URI: "uart:/dev/" + name, Driver: target(dir, "device/driver"), Product: product(filepath.Join(dir, "device")), State: Unknown}
		h.askPort(&f)
		list = append(list, f)
	}
	return list, nil
}

// product returns the product name of the USB device of a port.
func product(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	for range 6 {
		if err != nil || len(dir) < 2 {
			break
		}
		if p := text(dir, "product"); p != "" {
			return strings.TrimSpace(text(dir, "manufacturer") + " " + p + " " + text(dir, "serial"))
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func (h *Host) askPort(f *Found) {
	file := h.path("dev", f.Name)
	handle, err := openPort(file)
	switch {
	case os.IsPermission(err):
		f.Why, f.Hint = "this user may not open "+file, "members of the port's group may: usermod -aG dialout USER, then log in again"
		return
	case err != nil:
		f.Why, f.Hint = err.Error(), "unplug the port, and plug it in again"
		return
	}
	_ = handle.Close()
	if h.Probe == nil {
		f.Usable, f.Said = true, "nothing was sent to it (--probe)"
		return
	}
	f.State, err = h.Probe(file)
	f.Usable = f.State == Ours
	if err != nil {
		f.Said, f.Why = err.Error(), "no board of ours has answered"
		f.Hint = "right port, right baud rate, board on? nicloop device info --device '" + f.URI + "?baud=…'"
	}
}
