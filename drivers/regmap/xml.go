package regmap

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// An xmlNode is an element without its namespace: IP-XACT has one per edition (spirit, ipxact).
type xmlNode struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []xmlNode  `xml:",any"`
}

// child finds an element by a path of names; nil if there is none.
func (n *xmlNode) child(path ...string) *xmlNode {
	for _, name := range path {
		next := n.all(name)
		if len(next) == 0 {
			return nil
		}
		n = next[0]
	}
	return n
}

func (n *xmlNode) all(name string) (list []*xmlNode) {
	if n == nil {
		return nil
	}
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == name {
			list = append(list, &n.Nodes[i])
		}
	}
	return list
}

// text is that of an element, on one line; "" if there is none.
func (n *xmlNode) text(path ...string) string {
	if c := n.child(path...); c != nil {
		return strings.Join(strings.Fields(c.Text), " ")
	}
	return ""
}

func (n *xmlNode) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number reads a child as a number: 16, 0x10, #10000, 0b10000, 'h10, 8'h10. absent stands for none.
func (n *xmlNode) number(absent uint64, path ...string) (uint64, error) {
	text := n.text(path...)
	if text == "" {
		return absent, nil
	}
	plain := strings.ReplaceAll(strings.ToLower(text), "_", "")
	base := 0
	switch _, rest, verilog := strings.Cut(plain, "'"); {
	case verilog && rest != "":
		base = map[byte]int{'h': 16, 'd': 10, 'b': 2, 'o': 8}[rest[0]]
		plain = rest[1:]
	case strings.HasPrefix(plain, "#"):
		base, plain = 2, plain[1:]
	case len(plain) > 1 && plain[0] == '0' && strings.Trim(plain, "0123456789") == "":
		base = 10 // 010 is ten, not eight
	}
	v, err := strconv.ParseUint(plain, base, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q: expected a number", strings.Join(path, "/"), text)
	}
	return v, nil
}

func decodeXML(text []byte) (*Map, error) {
	var root xmlNode
	if err := xml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	m := &Map{Name: root.text("name")}
	switch root.XMLName.Local {
	case "device":
		return m, m.addSVD(&root)
	case "component":
		return m, m.addIPXACT(&root)
	}
	return nil, fmt.Errorf("an XML file of <%s>: expected CMSIS-SVD (<device>) or IP-XACT (<component>)", root.XMLName.Local)
}

// context is what an element inherits from those around it.
type context struct {
	prefix string
	base   uint64
	size   uint64 // bits
	access string
	count  uint64 // copies of the element around, and the bytes between them
	stride uint64
}

// addSVD adds the registers of all peripherals. Offsets count from the lowest base address, and
// names have the peripheral's in front if there are several.
func (m *Map) addSVD(root *xmlNode) error {
	peripherals := root.child("peripherals").all("peripheral")
	byName := map[string]*xmlNode{}
	lowest := ^uint64(0)
	for _, p := range peripherals {
		byName[p.text("name")] = p
		base, err := p.number(0, "baseAddress")
		if err != nil {
			return err
		}
		lowest = min(lowest, base)
	}
	for _, p := range peripherals {
		base, err := p.number(0, "baseAddress")
		if err != nil {
			return err
		}
		c := context{base: base - lowest, size: 32, access: root.text("access")}
		if len(peripherals) > 1 {
			c.prefix = p.text("name") + "_"
		}
		source := p
		if from := p.attr("derivedFrom"); from != "" && p.child("registers") == nil {
			if source = byName[from]; source == nil {
				return fmt.Errorf("peripheral %s is derived from %s, which is not described", p.text("name"), from)
			}
		}
		if c, err = c.inherit(root); err == nil {
			c, err = c.inherit(source)
		}
		if err == nil {
			err = m.addAll(source.child("registers"), c, "cluster")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addIPXACT adds the registers of all address blocks.
func (m *Map) addIPXACT(root *xmlNode) error {
	for _, mm := range root.child("memoryMaps").all("memoryMap") {
		blocks := mm.all("addressBlock")
		for _, b := range blocks {
			base, err := b.number(0, "baseAddress")
			if err != nil {
				return err
			}
			size, err := b.number(32, "width")
			if err != nil {
				return err
			}
			c := context{base: base, size: size, access: b.text("access")}
			if len(blocks) > 1 {
				c.prefix = b.text("name") + "_"
			}
			if err := m.addAll(b, c, "registerFile"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c context) inherit(n *xmlNode) (context, error) {
	var err error
	c.size, err = n.number(c.size, "size")
	c.access = cmp.Or(n.text("access"), c.access)
	return c, err
}

// addAll adds the registers inside an element, and those of the groups in it.
func (m *Map) addAll(in *xmlNode, c context, group string) error {
	for _, r := range in.all("register") {
		if err := m.addXML(r, c); err != nil {
			return fmt.Errorf("register %s%s: %w", c.prefix, r.text("name"), err)
		}
	}
	for _, g := range in.all(group) {
		inner, err := c.inherit(g)
		if err != nil {
			return err
		}
		off, err := g.number(0, "addressOffset")
		if err != nil {
			return err
		}
		inner.base += off
		inner.prefix += cleanName(g.text("name")) + "_"
		count, stride, err := copies(g, 0)
		if err != nil {
			return err
		}
		if count > 1 {
			if c.count > 1 {
				return fmt.Errorf("%s %s: copies of groups inside copies are not supported", group, g.text("name"))
			}
			inner.count, inner.stride = count, stride
		}
		if err := m.addAll(g, inner, group); err != nil {
			return err
		}
	}
	return nil
}

// copies reads how many copies an element has and their distance; bytes is that of adjacent ones.
func copies(n *xmlNode, bytes uint64) (count, stride uint64, err error) {
	dims := n
	if a := n.child("array"); a != nil { // IP-XACT of 2022
		dims = a
	}
	if count, err = dims.number(1, "dim"); err != nil || count <= 1 {
		return 1, 0, err
	}
	if stride, err = dims.number(bytes, "dimIncrement"); err == nil {
		stride, err = dims.number(stride, "stride")
	}
	if err == nil && stride == 0 {
		stride, err = n.number(0, "range")
	}
	return count, stride, err
}

// cleanName removes the place of the index from the name of a register with copies.
func cleanName(name string) string {
	return strings.TrimSuffix(strings.NewReplacer("[%s]", "", "%s", "").Replace(name), "_")
}

func (m *Map) addXML(n *xmlNode, c context) error {
	c, err := c.inherit(n)
	if err != nil {
		return err
	}
	off, err := n.number(0, "addressOffset")
	if err != nil {
		return err
	}
	if off += c.base; off > 1<<32-1 {
		return fmt.Errorf("offset %#x: expected at most 32 bits", off)
	}
	r := Register{Name: c.prefix + cleanName(n.text("name")), Offset: uint32(off), Count: 1, Doc: n.text("description")}
	if r.Width, err = widthOf(int(c.size)); err != nil {
		return err
	}
	r.Access = xmlAccess(c.access, n)
	count, stride, err := copies(n, uint64(r.Bytes()))
	switch {
	case err != nil:
		return err
	case count > 1 && c.count > 1:
		return fmt.Errorf("copies of a register in a group with copies are not supported")
	case count > 1:
		r.Count, r.Stride = uint32(count), uint32(stride)
	case c.count > 1:
		r.Count, r.Stride = uint32(c.count), uint32(c.stride)
	}
	if r.Reset, err = n.number(0, "resetValue"); err != nil {
		return err
	}
	if reset := n.child("reset"); reset != nil {
		if r.Reset, err = reset.number(0, "value"); err != nil {
			return err
		}
	}
	fields := append(n.child("fields").all("field"), n.all("field")...)
	for _, f := range fields {
		bits, err := xmlBits(f)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.text("name"), err)
		}
		r.Fields = append(r.Fields, Field{f.text("name"), bits})
		if reset := f.child("resets", "reset"); reset != nil {
			v, err := reset.number(0, "value")
			if err != nil {
				return err
			}
			r.Reset = bits.In(r.Reset, v)
		}
	}
	m.table = append(m.table, r)
	return nil
}

// xmlAccess joins the access of a register with what a write of a one does.
func xmlAccess(text string, n *xmlNode) Access {
	if n.text("modifiedWriteValues") == "oneToClear" || n.text("modifiedWriteValue") == "oneToClear" {
		return W1C
	}
	switch {
	case text == "read-only":
		return RO
	case strings.HasPrefix(text, "write"): // write-only, writeOnce
		return WO
	}
	return RW
}

// xmlBits reads the position of a field: bitOffset and bitWidth, lsb and msb, or [MSB:LSB].
func xmlBits(f *xmlNode) (Bits, error) {
	lsb, err := f.number(0, "bitOffset")
	if err != nil {
		return 0, err
	}
	width, err := f.number(1, "bitWidth")
	if err != nil {
		return 0, err
	}
	if text := strings.Trim(f.text("bitRange"), "[]"); text != "" {
		var b yamlBits
		if err := decodeRange(text, &b); err != nil {
			return 0, err
		}
		return Bits(b), nil
	}
	if f.child("msb") != nil {
		msb, err := f.number(0, "msb")
		if err != nil {
			return 0, err
		}
		if lsb, err = f.number(0, "lsb"); err != nil {
			return 0, err
		}
		width = msb - lsb + 1
	}
	if width < 1 || width > 64 || lsb > 63 || lsb+width > 64 {
		return 0, fmt.Errorf("bits from %d, %d of them: expected a range within 0 to 63", lsb, width)
	}
	return MakeBits(int(lsb), int(width)), nil
}
