package vm

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// A chipset is a guest's memory that contains IOMMU tables.
type chipset struct{ tables }

func (c *chipset) put(at, v uint64) { binary.LittleEndian.PutUint64(c.mem[at:], v) }

func newChipset() *chipset {
	c := &chipset{tables{mem: make([]byte, 1<<20), limit: 64 << 20}}
	c.tableOf(0x5000)
	c.put(0x4008, 0x1200083) // 2 MB in one
	return c
}

// tableOf creates a table of small pages for the first 2 MB.
func (c *chipset) tableOf(small uint64) {
	c.put(0x1000, 0x2001)                   // root table, bus 0
	c.put(0x2000+functionNumber*16, 0x3001) // context: tables at 0x3000
	c.put(0x2008+functionNumber*16, 1)      // of 3 levels
	c.put(0x3000, 0x4003)                   // 1 GB each
	c.put(0x4000, small|3)                  // 2 MB each
}

func TestMappings(t *testing.T) {
	c := newChipset()
	c.put(0x5000+8*3, 0x7003)
	c.put(0x5000+8*4, 0x8003)     // adjacent on both sides
	c.put(0x5000+8*5, 0x7001)     // read only
	c.put(0x5000+8*6, 0x9000)     // not present
	c.put(0x4000+8*40, 0x1400083) // beyond the limit
	list, err := c.mappings(0x1000)
	require.NoError(t, err)
	require.Equal(t, []mapped{{0x3000, 0x7000, 0x2000}, {0x5000, 0x7000, 0x1000}, {0x200000, 0x1200000, 0x200000}}, list)

	c.put(0x2000+functionNumber*16, 0x3001|2<<2)
	list, err = c.mappings(0x1000)
	require.NoError(t, err)
	require.Equal(t, []mapped{{0, 0, 64 << 20}}, list, "passed through")
	c.put(0x2000+functionNumber*16, 0)
	list, err = c.mappings(0x1000)
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = c.mappings(0x7ffffff000)
	require.ErrorIs(t, err, drivers.ErrProtocol)
}

// TestNonsenseTables: invalid tables end the walk without further effect.
func TestNonsenseTables(t *testing.T) {
	for seed := range int64(200) {
		c := newChipset()
		r := rand.New(rand.NewSource(seed))
		for range 2000 {
			c.put(uint64(r.Intn(0x6000))&^7, uint64(r.Intn(1<<21)))
		}
		_, _ = c.mappings(0x1000)
		_, _, _ = c.remapped(uint64(r.Intn(1<<20)), uint64(0xfee00000+r.Intn(1<<20)), uint32(r.Intn(1<<16)))
	}
}

func TestRemapped(t *testing.T) {
	c := newChipset()
	c.put(0x6000+16*5, 0x0000_0300_0031_0001) // to processor 3, vector 0x31
	address, data, err := c.remapped(0x6000|7, 0xfee00000|1<<4|5<<5, 0)
	require.NoError(t, err)
	require.EqualValues(t, 0xfee03000, address)
	require.EqualValues(t, 0x31, data)
	address, data, err = c.remapped(0x6000|7, 0xfee00000|1<<4|1<<3|3<<5, 2)
	require.NoError(t, err)
	require.EqualValues(t, 0xfee03000, address, "by number behind the first")
	require.EqualValues(t, 0x31, data)
	address, _, err = c.remapped(0x6000|7, 0xfee00000|1<<4|6<<5, 0)
	require.NoError(t, err)
	require.Zero(t, address, "off")
	address, data, err = c.remapped(0x6000|7, 0xfee01000, 0x41)
	require.NoError(t, err)
	require.EqualValues(t, 0xfee01000, address)
	require.EqualValues(t, 0x41, data)
	_, _, err = c.remapped(0x6000|1, 0xfee00000|1<<4|5<<5, 0)
	require.ErrorIs(t, err, drivers.ErrProtocol)
}
