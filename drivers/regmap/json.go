package regmap

import (
	"encoding/json"
	"fmt"
	"slices"
)

// copiesLimit bounds the registers of a map that comes from a file which is not its description.
const copiesLimit = 1 << 20

// jsonMap is a Map in a log or a report. The hash is text because JSON numbers have 53 bits.
type jsonMap struct {
	Name      string     `json:"name"`
	Hash      uint64     `json:"hash,string"`
	Registers []Register `json:"registers"`
}

// MarshalJSON writes the map with all its registers, so that a log can be read without the
// description.
func (m *Map) MarshalJSON() ([]byte, error) { return json.Marshal(jsonMap{m.Name, m.Hash, m.table}) }

// UnmarshalJSON reads what MarshalJSON has written, and rejects a map that could not be loaded.
func (m *Map) UnmarshalJSON(text []byte) error {
	var j jsonMap
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	copies := 0
	for _, r := range j.Registers {
		if r.Width != 0 && r.Width != 4 && r.Width != 8 {
			return fmt.Errorf("register %s of %d bytes: expected 4 or 8", r.Name, r.Width)
		}
		if r.Count < 1 || r.Count > copiesLimit {
			return fmt.Errorf("register %s: %d copies: expected 1 to %d", r.Name, r.Count, copiesLimit)
		}
		if copies += int(r.Count); copies > copiesLimit {
			return fmt.Errorf("more than %d registers", copiesLimit)
		}
	}
	if !slices.IsSortedFunc(j.Registers, byOffset) {
		return fmt.Errorf("registers of %s are not in order of address", j.Name)
	}
	read := Map{j.Name, j.Hash, j.Registers}
	if err := read.validate(); err != nil {
		return err
	}
	*m = read
	return nil
}

// Near describes an address like Describe; one outside the map by its distance from the nearest
// register.
func (m *Map) Near(addr uint32) string {
	if _, _, ok := m.ByAddress(addr); ok {
		return m.Describe(addr)
	}
	for d := uint32(1); d < 0x1000; d++ {
		if _, _, ok := m.ByAddress(addr - d); ok {
			return fmt.Sprintf("0x%x (%s+0x%x)", addr, m.Describe(addr-d), d)
		}
		if _, _, ok := m.ByAddress(addr + d); ok {
			return fmt.Sprintf("0x%x (%s-0x%x)", addr, m.Describe(addr+d), d)
		}
	}
	return fmt.Sprintf("0x%x (no register near)", addr)
}
