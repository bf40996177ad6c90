package pcie

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// BARs (rtl/board, nic_pcie).
const (
	registerBAR = 0
	windowBAR   = 2
	registerEnd = 0x80000 // size of the register map
	windowBytes = 1 << 25 // send windows of one process
)

func init() {
	registry.Register(registry.Backend{Scheme: "pcie", Doc: "registers and send windows of boards in PCIe slots, or DMA and interrupts with vfio-pci: pcie:0000:03:00.0", Keys: []registry.Key{
		{Name: "dma", Value: "hugepage", Doc: "DMA without an IOMMU, as root: nothing keeps the board from other memory"},
		{Name: "nics", Value: "2", Doc: "NICs behind the BARs of each function: nodes in the order of addresses, then of NICs"},
		{Name: "root", Value: "DIR", Doc: "where the file system of devices is, for tests"},
	}, Open: open, Validate: validate, DiscoversNodes: true})
}

// validate checks that the boards exist.
func validate(path string, keys map[string]string) error {
	if path == "" {
		return fmt.Errorf("%w: pcie: expected the address of a PCI device, as in pcie:0000:03:00.0", drivers.ErrConfig)
	}
	for _, a := range strings.Split(path, ",") {
		if _, err := wayTo(keys, filepath.Base(a)); err != nil {
			return err
		}
	}
	return nil
}

// A System is one or more boards in PCIe slots.
type System struct {
	info  drivers.Info
	nodes []*device
}

func open(_ context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	addresses := strings.Split(path, ",")
	nics := 1
	if text, ok := keys["nics"]; ok {
		var err error
		if nics, err = strconv.Atoi(text); err != nil || nics < 1 || nics > maxNICs {
			return nil, fmt.Errorf("%w: pcie: nics=%s: expected 1 to %d", drivers.ErrConfig, text, maxNICs)
		}
	}
	switch {
	case opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil:
		return nil, fmt.Errorf("%w: traces, waves and checkpoints of a board", drivers.ErrNotSupported)
	case path == "" || opt.Nodes > len(addresses)*nics:
		return nil, fmt.Errorf("%w: expected the address of a PCI device for each of %d nodes, as in pcie:0000:03:00.0; found %q", drivers.ErrConfig, max(1, opt.Nodes), path)
	}
	s := &System{info: drivers.Info{
		URI: "pcie:" + path, Backend: "pcie", Nodes: len(addresses) * nics, VPIDs: regs.VPIDs, DescHash: regs.DescHashValue, Tool: "files of BARs",
	}}
	for _, a := range addresses {
		w, err := wayTo(keys, filepath.Base(a))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		for _, p := range parts(w, nics) {
			d, err := attach(p, len(s.nodes), opt)
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			s.nodes = append(s.nodes, d)
			s.info.VPIDs = min(s.info.VPIDs, max(1, len(d.windows)/windowBytes))
		}
	}
	return s, nil
}

// A way is a mode of access to a device.
type way interface {
	name() string
	begin() error
	bar(number, least int, combined bool) ([]byte, error)
	unmap(bar []byte) error
	// memory allocates DMA memory; nil if the mode has no DMA.
	memory(n int) (memory, error)
	// command sets and clears bits of the register COMMAND.
	command(set, clear uint16) error
	interrupts() (*interrupts, error) // nil: none
	index() int                       // of the NIC in its function
	close() error
}

// wayTo selects the mode by the driver that the device is bound to.
func wayTo(keys map[string]string, address string) (way, error) {
	root := keys["root"] + "/"
	dir := filepath.Join(root, "sys/bus/pci/devices", address)
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w: %w; nicloop device scan lists the boards that there are", drivers.ErrEnvironment, err)
	}
	driver, _ := os.Readlink(filepath.Join(dir, "driver")) // fails if there is none
	switch dma := keys["dma"]; dma {
	case "":
		if filepath.Base(driver) == vfioDriver {
			return &vfio{root: root, dir: dir}, nil
		}
		return &files{root: root, dir: dir}, nil
	case "hugepage":
		return &files{root: root, dir: dir, pages: true}, nil
	default:
		return nil, fmt.Errorf("%w: pcie: dma=%q: expected hugepage, or nothing", drivers.ErrConfig, dma)
	}
}

// Info describes the opened boards.
func (s *System) Info() drivers.Info { return s.info }

// Device returns the NIC of a node.
func (s *System) Device(node int) drivers.Device { return s.nodes[node] }

// Close unmaps the BARs and restores the state that the device had before.
func (s *System) Close() error {
	var all error
	for _, d := range s.nodes {
		all = errors.Join(all, d.close())
	}
	return all
}
