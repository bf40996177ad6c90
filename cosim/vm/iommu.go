package vm

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Registers of the virtual IOMMU (VT-d) in its single page.
const (
	iommuRoot       = 0xfed90000 + 0x20
	iommuInterrupts = 0xfed90000 + 0xb8
)

const (
	functionNumber = 2 << 3 // slot 2 of bus 0
	pageBytes      = 1 << 12
	addressBits    = 1<<52 - pageBytes
	largeLeaf      = 1 << 7
	canAccess      = 1<<0 | 1<<1
)

// A mapped is a range of device addresses that is mapped to a range of the guest's memory. Read and
// write permissions are not distinguished.
type mapped struct{ device, guest, bytes uint64 }

// tables reads the guest's IOMMU tables from its memory.
type tables struct {
	mem   []byte // the guest's
	limit uint64 // upper limit of device addresses
}

func (t *tables) word(at uint64) (uint64, error) {
	if at%8 != 0 || at+8 > uint64(len(t.mem)) || at+8 < at {
		return 0, fmt.Errorf("%w: a table of the guest's IOMMU at 0x%x, outside its memory", drivers.ErrProtocol, at)
	}
	return binary.LittleEndian.Uint64(t.mem[at:]), nil
}

// mappings returns everything that the device may access below the limit, starting at the root
// table.
func (t *tables) mappings(root uint64) (list []mapped, err error) {
	entry, err := t.word(root & addressBits) // of bus 0
	if err != nil || entry&1 == 0 {
		return nil, err
	}
	context := entry&addressBits + functionNumber*16
	low, err := t.word(context)
	if err != nil || low&1 == 0 {
		return nil, err
	}
	high, err := t.word(context + 8)
	if err != nil {
		return nil, err
	}
	if kind := low >> 2 & 3; kind == 2 { // pass-through
		return []mapped{{0, 0, t.limit}}, nil
	}
	levels := int(high&7) + 2
	if levels < 3 || levels > 5 {
		return nil, fmt.Errorf("%w: page tables of %d levels in the guest's IOMMU", drivers.ErrProtocol, levels)
	}
	err = t.walk(low&addressBits, levels-1, 0, &list)
	return list, err
}

// walk adds the mappings of a table of the given level; level 0 has small pages.
func (t *tables) walk(table uint64, level int, device uint64, list *[]mapped) error {
	size := uint64(pageBytes) << (9 * level)
	for i := range uint64(512) {
		at := device + i*size
		if at >= t.limit {
			return nil
		}
		e, err := t.word(table + 8*i)
		switch {
		case err != nil:
			return err
		case e&canAccess == 0:
		case level == 0 || e&largeLeaf != 0:
			add(list, mapped{at, e & addressBits &^ (size - 1), size})
		default:
			if err := t.walk(e&addressBits, level-1, at, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// add merges adjacent mappings.
func add(list *[]mapped, m mapped) {
	if n := len(*list); n > 0 {
		last := &(*list)[n-1]
		if last.device+last.bytes == m.device && last.guest+last.bytes == m.guest {
			last.bytes += m.bytes
			return
		}
	}
	*list = append(*list, m)
}

// remapped translates an interrupt message by the interrupt remapping table.
func (t *tables) remapped(table, address uint64, data uint32) (uint64, uint32, error) {
	const isIndex, hasSub, present = 1 << 4, 1 << 3, 1
	if address&isIndex == 0 {
		return address, data, nil
	}
	index := address>>5&0x7fff | address>>2&1<<15
	if address&hasSub != 0 {
		index += uint64(data & 0xffff)
	}
	if index >= 2<<(table&0xf) {
		return 0, 0, fmt.Errorf("%w: entry %d of the guest's table of interrupts", drivers.ErrProtocol, index)
	}
	e, err := t.word(table&addressBits + 16*index)
	if err != nil || e&present == 0 {
		return 0, 0, err // a disabled interrupt
	}
	to := e >> 40 & 0xff
	if table&(1<<11) != 0 { // x2APIC
		to = e >> 32 & 0xff
	}
	address = 0xfee00000 | to<<12 | e>>3&1<<3 | e>>2&1<<2
	return address, uint32(e>>16&0xff | e>>5&7<<8 | e>>4&1<<15), nil
}
