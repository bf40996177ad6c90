package regmap

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const fileLimit = 64 << 20 // SVD files of large microcontrollers have some 10 MB

// Load reads a register map: YAML, or XML that is CMSIS-SVD or IP-XACT.
func Load(name string) (*Map, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > fileLimit {
		return nil, fmt.Errorf("%s: expected a file of at most %d bytes", name, fileLimit)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.Name == "" {
		m.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	return m, nil
}

// Decode is Load of a file that has been read.
func Decode(text []byte) (*Map, error) {
	decode := decodeYAML
	if bytes.HasPrefix(bytes.TrimLeft(text, "\ufeff \t\r\n"), []byte("<")) {
		decode = decodeXML
	}
	m, err := decode(text)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Hash = binary.BigEndian.Uint64(sum[:])
	slices.SortStableFunc(m.table, byOffset)
	return m, m.validate()
}

// yamlFile is the form of drivers/regs/gen's description, whose keys without registers are skipped,
// and of a design without pages.
type yamlFile struct {
	Name      string              `yaml:"name"`
	Width     int                 `yaml:"width"` // of registers that give none, in bits
	Pages     pairs[yamlPage]     `yaml:"pages"`
	Registers pairs[yamlRegister] `yaml:"registers"`

	Magic     yaml.Node `yaml:"magic"`
	Version   yaml.Node `yaml:"version"`
	Constants yaml.Node `yaml:"constants"`
	Enums     yaml.Node `yaml:"enums"`
	Formats   yaml.Node `yaml:"formats"`
}

type yamlPage struct {
	Base      number              `yaml:"base"`
	Stride    number              `yaml:"stride"`
	Count     number              `yaml:"count"`
	Index     string              `yaml:"index"`
	Doc       string              `yaml:"doc"`
	Registers pairs[yamlRegister] `yaml:"registers"`
}

type yamlRegister struct {
	Off      number          `yaml:"off"`
	Width    int             `yaml:"width"` // bits
	Count    number          `yaml:"count"`
	Stride   number          `yaml:"stride"`
	Access   string          `yaml:"access"`
	Reset    number          `yaml:"reset"`
	Volatile bool            `yaml:"volatile"`
	Doc      string          `yaml:"doc"`
	Fields   pairs[yamlBits] `yaml:"fields"`
}

// number accepts a value that a decoder of signed numbers would refuse: 0x8000_0000_0000_0000.
type number uint64

func (v *number) UnmarshalYAML(n *yaml.Node) error {
	u, err := strconv.ParseUint(n.Value, 0, 64)
	if err != nil {
		return fmt.Errorf("line %d: %q: expected a number of at most 64 bits", n.Line, n.Value)
	}
	*v = number(u)
	return nil
}

// yamlBits is [LSB, WIDTH], "MSB:LSB" or the number of a single bit.
type yamlBits Bits

func (b *yamlBits) UnmarshalYAML(n *yaml.Node) error {
	var lsb, width int
	if n.Kind == yaml.SequenceNode {
		var pair []int
		if err := n.Decode(&pair); err != nil || len(pair) != 2 {
			return fmt.Errorf("line %d: expected [LSB, WIDTH]", n.Line)
		}
		lsb, width = pair[0], pair[1]
	} else {
		if err := decodeRange(n.Value, b); err != nil {
			return fmt.Errorf("line %d: %w", n.Line, err)
		}
		return nil
	}
	return b.set(lsb, width, n.Line)
}

func (b *yamlBits) set(lsb, width, line int) error {
	if lsb < 0 || width < 1 || lsb+width > 64 {
		return fmt.Errorf("line %d: bits %d to %d: expected a range within 0 to 63", line, lsb, lsb+width-1)
	}
	*b = yamlBits(MakeBits(lsb, width))
	return nil
}

// decodeRange reads MSB:LSB or the number of a single bit.
func decodeRange(text string, b *yamlBits) error {
	msb, low, isRange := strings.Cut(text, ":")
	if !isRange {
		low = msb
	}
	high, err1 := strconv.Atoi(msb)
	least, err2 := strconv.Atoi(low)
	if err1 != nil || err2 != nil || least < 0 || high < least || high > 63 {
		return fmt.Errorf("bits %q: expected MSB:LSB or a bit number, 0 to 63", text)
	}
	*b = yamlBits(MakeBits(least, high-least+1))
	return nil
}

// pairs is a mapping in the order of the file. A key that appears twice is an error.
type pairs[T any] []pair[T]

type pair[T any] struct {
	name  string
	line  int
	value T
}

func (p *pairs[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expected a mapping of names", n.Line)
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if first, ok := lines[key.Value]; ok {
			return fmt.Errorf("line %d: %q is defined twice, first on line %d", key.Line, key.Value, first)
		}
		lines[key.Value] = key.Line
		one := pair[T]{name: key.Value, line: key.Line}
		if err := strictly(n.Content[i+1], &one.value); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
		*p = append(*p, one)
	}
	return nil
}

// strictly decodes a node; unlike yaml.Node.Decode it rejects keys that the type does not have.
func strictly(n *yaml.Node, out any) error {
	text, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(out); err != nil {
		return fmt.Errorf("line %d: %s", n.Line, lineNumber.ReplaceAllString(err.Error(), ""))
	}
	return nil
}

// lineNumber matches the positions in errors about a part of a file, which count from its start.
var lineNumber = regexp.MustCompile(`(?s)yaml: (unmarshal errors:\s*)?|line \d+: `)

func decodeYAML(text []byte) (*Map, error) {
	var f yamlFile
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	m := &Map{Name: f.Name}
	for _, p := range f.Pages {
		for _, r := range p.value.Registers {
			reg, err := r.value.register(r.name, f.Width)
			if err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", r.line, r.name, err)
			}
			if c := p.value.Count; c != 0 {
				if reg.Count != 1 {
					return nil, fmt.Errorf("line %d: %s: copies of a register in a page with copies", r.line, r.name)
				}
				reg.Count, reg.Stride = uint32(c), uint32(p.value.Stride)
			}
			reg.Offset += uint32(p.value.Base)
			m.table = append(m.table, reg)
		}
	}
	for _, r := range f.Registers {
		reg, err := r.value.register(r.name, f.Width)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", r.line, r.name, err)
		}
		m.table = append(m.table, reg)
	}
	return m, nil
}

func (y *yamlRegister) register(name string, width int) (Register, error) {
	r := Register{Name: name, Offset: uint32(y.Off), Count: 1, Doc: y.Doc, Reset: uint64(y.Reset), Volatile: y.Volatile}
	if uint64(y.Off) != uint64(r.Offset) {
		return r, fmt.Errorf("offset %#x: expected at most 32 bits", uint64(y.Off))
	}
	var err error
	if r.Access, err = accessOf(y.Access); err != nil {
		return r, err
	}
	if y.Width != 0 {
		width = y.Width
	}
	if r.Width, err = widthOf(width); err != nil {
		return r, err
	}
	if y.Count > 1 {
		r.Count, r.Stride = uint32(y.Count), uint32(y.Stride)
		if r.Stride == 0 {
			r.Stride = uint32(r.Bytes())
		}
	}
	for _, f := range y.Fields {
		r.Fields = append(r.Fields, Field{f.name, Bits(f.value)})
	}
	return r, nil
}

func accessOf(text string) (Access, error) {
	if text == "" {
		return RW, nil
	}
	if i := slices.Index(accessNames, text); i >= 0 {
		return Access(i), nil
	}
	return 0, fmt.Errorf("access %q: expected ro, rw, w1c or wo", text)
}

// widthOf converts bits to bytes: 0 stays 0, the default.
func widthOf(bits int) (uint8, error) {
	switch bits {
	case 0, 32, 64:
		return uint8(bits / 8), nil
	case 8, 16:
		return 4, nil // the bus has words of 32 bits at least
	}
	return 0, fmt.Errorf("width of %d bits: expected 32 or 64", bits)
}

// validate checks what the formats have in common.
func (m *Map) validate() error {
	if len(m.table) == 0 {
		return fmt.Errorf("no register is described")
	}
	names := map[string]bool{}
	owner := map[uint32]string{}
	for i := range m.table {
		r := &m.table[i]
		if names[r.Name] {
			return fmt.Errorf("register %s is described twice", r.Name)
		}
		names[r.Name] = true
		if r.Offset%4 != 0 || r.Stride%4 != 0 {
			return fmt.Errorf("register %s at offset %#x, stride %#x: expected multiples of 4", r.Name, r.Offset, r.Stride)
		}
		if r.Count > 1<<20 || uint64(r.Offset)+uint64(r.Stride)*uint64(r.Count) > 1<<32 {
			return fmt.Errorf("register %s: %d copies %#x bytes apart do not fit an address of 32 bits", r.Name, r.Count, r.Stride)
		}
		for c := range int(r.Count) {
			at := r.Address(c)
			if other, taken := owner[at]; taken {
				return fmt.Errorf("registers %s and %s are both at %#x", other, r.Name, at)
			}
			owner[at] = r.Name
		}
		for _, f := range r.Fields {
			if f.Bits.LSB()+f.Bits.Width() > 8*r.Bytes() {
				return fmt.Errorf("field %s.%s ends at bit %d of a register of %d bits",
					r.Name, f.Name, f.Bits.LSB()+f.Bits.Width()-1, 8*r.Bytes())
			}
		}
	}
	return nil
}
