package scan

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
)

// A BindError reports that a device was not bound to the driver. Undone is the result of undoing
// the earlier steps.
type BindError struct {
	Device, Step string
	Err          error
	Undone       error // nil: the previous state has been restored
}

func (e *BindError) Error() string {
	state := "all is as it was"
	if e.Undone != nil {
		state = "and that could not be undone: " + e.Undone.Error()
	}
	return fmt.Sprintf("%s: %s: %v; %s", e.Device, e.Step, e.Err, state)
}

func (e *BindError) Unwrap() []error { return []error{e.Err, drivers.ErrEnvironment} }

// Plan describes the changes that Bind and Unbind will make, for a confirmation.
func (h *Host) Plan(address, driver string) (string, error) {
	if err := h.ours(address); err != nil {
		return "", err
	}
	has := h.driver(address)
	if has == driver && driver != "" || has == "" && driver == None && h.overridden(address) == None {
		return "", nil
	}
	text := fmt.Sprintf("take %s from %s", address, has)
	if has == "" {
		text = fmt.Sprintf("give %s, which no driver has,", address)
	}
	switch driver {
	case None:
		return text + " and let no driver have it", nil
	case "":
		return text + " and let the kernel choose who has it", nil
	}
	if others := h.device(address, h.id(address)).Others; len(others) > 0 {
		return fmt.Sprintf("%s to %s (in its IOMMU group: %s)", text, driver, strings.Join(others, ", ")), nil
	}
	return text + " to " + driver, nil
}

// Bind binds a device to a driver, or prevents binding to any with [None]. A device that is already
// bound stays bound.
func (h *Host) Bind(address, driver string) error {
	if err := h.ours(address); err != nil {
		return err
	}
	if _, err := os.Stat(h.path("sys/bus/pci/drivers", driver)); err != nil && driver != None {
		return &BindError{Device: address, Step: "looking for the driver " + driver, Err: fmt.Errorf("%w; load it: modprobe %s", err, driver)}
	}
	return h.move(address, driver)
}

// Unbind unbinds a device and lets the kernel choose a driver, if any.
func (h *Host) Unbind(address string) error {
	if err := h.ours(address); err != nil {
		return err
	}
	return h.move(address, "")
}

// ours refuses devices that are not boards of this project, such as disks.
func (h *Host) ours(address string) error {
	if address == "" || strings.ContainsAny(address, "/\n") {
		return fmt.Errorf("%w: PCI device %q: expected an address as in 0000:03:00.0", drivers.ErrConfig, address)
	}
	if _, err := os.Stat(h.path("sys/bus/pci/devices", address)); err != nil {
		return fmt.Errorf("%w: no PCI device %s; nicloop device scan lists those that there are", drivers.ErrEnvironment, address)
	}
	if id := h.id(address); !slices.Contains(h.ids(), id) {
		return fmt.Errorf("%w: %s is a %v: expected one of %v (--id, if it is a board all the same)", drivers.ErrConfig, address, id, h.ids())
	}
	return nil
}

func (h *Host) driver(address string) string {
	return target(h.path("sys/bus/pci/devices", address, "driver"))
}

// overridden returns the driver in driver_override, or "".
func (h *Host) overridden(address string) string {
	if name := text(h.path("sys/bus/pci/devices", address, "driver_override")); name != "(null)" {
		return name
	}
	return ""
}

// move has three steps; if one fails, it undoes the earlier ones.
func (h *Host) move(address, driver string) error {
	had := h.driver(address)
	override := h.overridden(address)
	if had == driver && driver != "" {
		return nil
	}
	fail := func(step string, err error) error {
		return &BindError{Device: address, Step: step, Err: err, Undone: h.back(address, had, override)}
	}
	if err := h.override(address, driver); err != nil {
		return fail("writing driver_override", err)
	}
	if had != "" {
		if err := h.release(address); err != nil {
			return fail("taking it from "+had, err)
		}
	}
	if driver == None {
		return nil
	}
	if err := h.write("sys/bus/pci/drivers_probe", address); err != nil && driver != "" {
		return fail("having the kernel look for "+driver, err)
	}
	if has := h.driver(address); driver != "" && has != driver {
		return fail("looking who has it", fmt.Errorf("expected %s, found %q; the kernel's reason: dmesg | tail", driver, has))
	}
	return nil
}

// back returns a device to its previous driver.
func (h *Host) back(address, had, override string) error {
	if err := h.override(address, override); err != nil {
		return err
	}
	if h.driver(address) == had {
		return nil
	}
	if h.driver(address) != "" {
		if err := h.release(address); err != nil {
			return err
		}
	}
	if had == "" {
		return nil
	}
	if err := h.write("sys/bus/pci/drivers/"+had+"/bind", address); err != nil {
		return err
	}
	if has := h.driver(address); has != had {
		return fmt.Errorf("expected %s to have it again, found %q", had, has)
	}
	return nil
}

// override writes driver_override; "" clears it.
func (h *Host) override(address, driver string) error {
	if driver == "" {
		driver = "\n" // clears it
	}
	return h.write("sys/bus/pci/devices/"+address+"/driver_override", driver)
}

func (h *Host) release(address string) error {
	return h.write("sys/bus/pci/devices/"+address+"/driver/unbind", address)
}

func (h *Host) write(file, text string) error {
	if h.Write != nil {
		return h.Write(h.path(file), text)
	}
	f, err := os.OpenFile(h.path(file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
