package regmap_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

// The description of this project's NIC, read at run time, is the map that was generated from it.
func TestOwnNIC(t *testing.T) {
	m, err := regmap.Load("../../rtl/desc/nicloop.yaml")
	require.NoError(t, err)
	require.Equal(t, uint64(regs.DescHashValue), m.Hash)
	require.Equal(t, regs.Registers(), m.Registers())
}

const dmaYAML = `
name: dma
width: 32
registers:
  STATUS: {off: 0x4, access: ro, reset: 0x1, fields: {IDLE: 0, COUNT: "15:8"}, doc: "state"}
  ID:     {off: 0x0, access: ro}
  SRC:    {off: 0x10, count: 2, stride: 8}
  ADDR:   {off: 0x20, width: 64, fields: {PAGE: [12, 52]}}
`

const dmaSVD = `<?xml version="1.0"?>
<device><name>dma</name><size>32</size><access>read-write</access>
<peripherals><peripheral><name>DMA</name><baseAddress>0x40000000</baseAddress><registers>
 <register><name>ID</name><addressOffset>0x0</addressOffset><access>read-only</access></register>
 <register><name>STATUS</name><description>state</description><addressOffset>0x4</addressOffset>
  <access>read-only</access><resetValue>#1</resetValue><fields>
  <field><name>IDLE</name><bitOffset>0</bitOffset><bitWidth>1</bitWidth></field>
  <field><name>COUNT</name><bitRange>[15:8]</bitRange></field></fields></register>
 <register><dim>2</dim><dimIncrement>8</dimIncrement><name>SRC[%s]</name><addressOffset>0x10</addressOffset></register>
 <register><name>ADDR</name><addressOffset>0x20</addressOffset><size>64</size><fields>
  <field><name>PAGE</name><lsb>12</lsb><msb>63</msb></field></fields></register>
</registers></peripheral></peripherals></device>`

const dmaIPXACT = `<?xml version="1.0"?>
<ipxact:component xmlns:ipxact="http://www.accellera.org/XMLSchema/IPXACT/1685-2014">
<ipxact:name>dma</ipxact:name><ipxact:memoryMaps><ipxact:memoryMap><ipxact:addressBlock>
 <ipxact:name>csr</ipxact:name><ipxact:baseAddress>'h0</ipxact:baseAddress><ipxact:width>32</ipxact:width>
 <ipxact:register><ipxact:name>ID</ipxact:name><ipxact:addressOffset>0x0</ipxact:addressOffset>
  <ipxact:size>32</ipxact:size><ipxact:access>read-only</ipxact:access></ipxact:register>
 <ipxact:register><ipxact:name>STATUS</ipxact:name><ipxact:description>state</ipxact:description>
  <ipxact:addressOffset>'h4</ipxact:addressOffset><ipxact:access>read-only</ipxact:access>
  <ipxact:field><ipxact:name>IDLE</ipxact:name><ipxact:bitOffset>0</ipxact:bitOffset>
   <ipxact:resets><ipxact:reset><ipxact:value>1'b1</ipxact:value></ipxact:reset></ipxact:resets>
   <ipxact:bitWidth>1</ipxact:bitWidth></ipxact:field>
  <ipxact:field><ipxact:name>COUNT</ipxact:name><ipxact:bitOffset>8</ipxact:bitOffset><ipxact:bitWidth>8</ipxact:bitWidth></ipxact:field>
 </ipxact:register>
 <ipxact:register><ipxact:name>SRC</ipxact:name><ipxact:array><ipxact:dim>2</ipxact:dim><ipxact:stride>8</ipxact:stride></ipxact:array>
  <ipxact:addressOffset>0x10</ipxact:addressOffset></ipxact:register>
 <ipxact:register><ipxact:name>ADDR</ipxact:name><ipxact:addressOffset>0x20</ipxact:addressOffset><ipxact:size>64</ipxact:size>
  <ipxact:field><ipxact:name>PAGE</ipxact:name><ipxact:bitOffset>12</ipxact:bitOffset><ipxact:bitWidth>52</ipxact:bitWidth></ipxact:field></ipxact:register>
</ipxact:addressBlock></ipxact:memoryMap></ipxact:memoryMaps></ipxact:component>`

// The three formats of one map give the same registers, and each a hash of its own.
func TestFormatsAgree(t *testing.T) {
	own, err := regmap.Decode([]byte(dmaYAML))
	require.NoError(t, err)
	require.Equal(t, []string{"ADDR", "ID", "SRC", "STATUS"}, own.Names())
	for name, text := range map[string]string{"SVD": dmaSVD, "IP-XACT": dmaIPXACT} {
		m, err := regmap.Decode([]byte(text))
		require.NoError(t, err, name)
		require.Equal(t, "dma", m.Name, name)
		require.Equal(t, withWidths(own.Registers()), withWidths(m.Registers()), name)
		require.NotEqual(t, own.Hash, m.Hash, name)
	}
}

func withWidths(list []regmap.Register) (out []regmap.Register) {
	for _, r := range list {
		r.Width = uint8(r.Bytes())
		out = append(out, r)
	}
	return out
}

func TestNames(t *testing.T) {
	m, err := regmap.Decode([]byte(dmaYAML))
	require.NoError(t, err)
	require.Equal(t, "SRC[1]", m.Describe(0x18))
	require.Equal(t, "0x14?", m.Describe(0x14))
	for text, want := range map[string]uint32{"SRC[1]": 0x18, "STATUS": 4, "0x20": 0x20} {
		off, err := m.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, off, text)
	}
	_, err = m.Parse("NOTHING_LIKE_IT")
	require.EqualError(t, err, `unknown register "NOTHING_LIKE_IT"; nicloop device dump lists all`)
	for text, want := range map[string]string{
		"STATSU": `did you mean "STATUS"?`, "SRC[2]": "expected index 0 to 1", "SRC[": "expected NAME",
	} {
		_, err := m.Parse(text)
		require.ErrorContains(t, err, want, text)
	}
	status, _ := m.ByName("STATUS")
	count, ok := status.Field("COUNT")
	require.True(t, ok)
	require.Equal(t, uint64(0x12), count.Of(0x1200))
	require.Equal(t, uint64(0x3401), count.In(0x1201, 0x34))
}

// Each mistake in a description is rejected, with the name of the register.
func TestRejected(t *testing.T) {
	for text, want := range map[string]string{
		"registers: {A: {off: 0}, A: {off: 4}}":                  `"A" is defined twice`,
		"registers: {A: {off: 0}, B: {off: 0}}":                  "A and B are both at 0x0",
		"registers: {A: {off: 2}}":                               "multiples of 4",
		"registers: {A: {off: 0, acess: ro}}":                    "acess",
		"registers: {A: {off: 0, access: rx}}":                   "expected ro, rw, w1c or wo",
		"registers: {A: {off: 0, width: 12}}":                    "expected 32 or 64",
		"registers: {A: {off: 0, width: 32, fields: {F: 32}}}":   "field A.F ends at bit 32",
		"registers: {A: {off: 0, fields: {F: \"8:15\"}}}":        "expected MSB:LSB",
		"registers: {A: {off: 0, count: 2}, B: {off: 8}}":        "A and B are both at 0x8",
		"registers: {A: {off: 0x100000000}}":                     "at most 32 bits",
		"name: x":                                                "no register",
		"<html/>":                                                "expected CMSIS-SVD",
		"<device><peripherals/></device>":                        "no register",
		"registers: {A: {off: 0, count: 9999999999, stride: 4}}": "do not fit",
	} {
		_, err := regmap.Decode([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// A map survives JSON, as in the log of a recording; one that could not have been loaded does not.
func TestJSON(t *testing.T) {
	m, err := regmap.Decode([]byte("name: x\nwidth: 32\nregisters:\n  A: {off: 0, access: ro, reset: 0xffffffff, volatile: true, fields: {F: \"7:4\"}}\n  B: {off: 8, count: 3, doc: d}\n"))
	require.NoError(t, err)
	text, err := json.Marshal(m)
	require.NoError(t, err)
	var got regmap.Map
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, m, &got)
	for bad, want := range map[string]string{
		`{"registers":[]}`: "no register",
		`{"registers":[{"name":"A","count":1,"width":200}]}`:                                   "expected 4 or 8",
		`{"registers":[{"name":"A","count":0}]}`:                                               "expected 1 to",
		`{"registers":[{"name":"A","offset":8,"count":1},{"name":"B","count":1}]}`:             "order of address",
		`{"registers":[{"name":"A","count":1,"fields":[{"name":"F","bits":65280}]}]}`:          "field A.F ends",
		`{"registers":[{"name":"A","count":1048576,"stride":4},{"name":"B","count":1048576}]}`: "more than",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(bad), &got), want, bad)
	}
}
