package design

import (
	"fmt"
	"strconv"
	"strings"
)

// PCI describes the PCI function as which a virtual machine finds the design (nicloop vm).
type PCI struct {
	ID       string `yaml:"id,omitempty"` // vendor:device, in hexadecimal
	Class    uint32 `yaml:"class,omitempty"`
	Revision uint8  `yaml:"revision,omitempty"`
	// Bar is the number of bytes of BAR 0, which has the registers.
	Bar int `yaml:"bar,omitempty"`
	// Widths are the bytes of the accesses that the registers accept; empty: 4 and 8.
	Widths []int `yaml:"widths,omitempty"`
	// MSIX is the number of vectors. Interrupt i has vector i; the last one has all others, too.
	MSIX int `yaml:"msix,omitempty"`
	// Reset are the registers that a reset of the function writes, in order of their names.
	Reset map[string]uint64 `yaml:"reset,omitempty"`
}

const (
	leastBar   = 4096
	mostBar    = 1 << 28
	maxVectors = 64
)

func (p *PCI) validate() error {
	if p.ID == "" {
		return nil // not described
	}
	if _, _, err := p.IDs(); err != nil {
		return err
	}
	if p.Bar == 0 {
		p.Bar = leastBar
	}
	if p.Bar < leastBar || p.Bar > mostBar || p.Bar&(p.Bar-1) != 0 {
		return fmt.Errorf("pci: bar: %d: expected a power of two from %d to %d bytes", p.Bar, leastBar, mostBar)
	}
	if p.Class > 0xffffff {
		return fmt.Errorf("pci: class: 0x%x: expected 24 bits, such as 0x020000 for Ethernet", p.Class)
	}
	if p.MSIX == 0 {
		p.MSIX = 1
	}
	if p.MSIX < 0 || p.MSIX > maxVectors {
		return fmt.Errorf("pci: msix: %d: expected 1 to %d vectors", p.MSIX, maxVectors)
	}
	if len(p.Widths) == 0 {
		p.Widths = []int{4, 8}
	}
	for _, w := range p.Widths {
		if w != 4 && w != 8 {
			return fmt.Errorf("pci: widths: %d: expected 4 or 8 bytes", w)
		}
	}
	return nil
}

// IDs returns the IDs of the vendor and of the device.
func (p *PCI) IDs() (vendor, device uint16, err error) {
	v, d, ok := strings.Cut(p.ID, ":")
	first, err1 := strconv.ParseUint(v, 16, 16)
	second, err2 := strconv.ParseUint(d, 16, 16)
	if !ok || err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("pci: id: %q: expected vendor:device in hexadecimal, such as 1234:d3a0", p.ID)
	}
	return uint16(first), uint16(second), nil
}

// A RegisterWrite is a write that a reset of the function performs.
type RegisterWrite struct {
	Offset uint32
	Value  uint64
}

// ResetWrites looks the registers of PCI.Reset up in the register map.
func (d *Description) ResetWrites() (list []RegisterWrite, err error) {
	m, err := d.Map()
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(d.PCI.Reset) {
		off, err := m.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%s: pci: reset: %w", d.file, err)
		}
		list = append(list, RegisterWrite{off, d.PCI.Reset[name]})
	}
	return list, nil
}
