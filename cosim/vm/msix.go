package vm

import "encoding/binary"

// pendingAt is the offset of the pending bits behind the table.
const pendingAt = 0x800

// An msixTable holds the messages and the pending bits, like pcie_msix.
type msixTable struct {
	entries []byte // 16 of each vector
	pending uint64
}

func newMSIXTable(vectors int) (t msixTable) {
	t.entries = make([]byte, 16*vectors)
	for v := range vectors {
		t.entries[16*v+12] = 1 // masked
	}
	return t
}

func (t *msixTable) read(off uint32, n int) (v uint64) {
	for i := range uint32(n) {
		v |= uint64(t.byteAt(off+i)) << (8 * i)
	}
	return v
}

func (t *msixTable) byteAt(off uint32) byte {
	switch {
	case off < uint32(len(t.entries)):
		return t.entries[off]
	case off >= pendingAt && off < pendingAt+8:
		return byte(t.pending >> (8 * (off - pendingAt)))
	}
	return 0
}

// write accepts whole 32-bit words.
func (t *msixTable) write(off uint32, n int, v uint64) {
	if off%4 != 0 || n < 4 || int(off)+n > len(t.entries) {
		return
	}
	for i := range n {
		t.entries[int(off)+i] = byte(v >> (8 * i))
	}
}

// message returns the message of a vector, if it is enabled and unmasked.
func (t *msixTable) message(vector int) (address uint64, data uint32, ok bool) {
	e := t.entries[16*vector:]
	return binary.LittleEndian.Uint64(e) &^ 3, binary.LittleEndian.Uint32(e[8:]), e[12]&1 == 0
}
