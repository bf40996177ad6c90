package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// description is the parsed rtl/desc/nicloop.yaml. Every map keeps the order of the file, so that
// the outputs are deterministic and read like the source.
type description struct {
	Magic     uint64               `yaml:"magic"`
	Version   uint64               `yaml:"version"`
	Constants ordered[constant]    `yaml:"constants"`
	Enums     ordered[enumeration] `yaml:"enums"`
	Formats   ordered[layout]      `yaml:"formats"`
	Pages     ordered[page]        `yaml:"pages"`

	records ordered[record] // of rtl/desc/records.yaml
	hash    uint64          // first 64 bits of the SHA-256 of the file
}

// record is what blocks of the hardware hand each other or keep: its fields from the lowest bit up.
type record struct {
	Doc    string         `yaml:"doc"`
	Fields ordered[piece] `yaml:"fields"`
}

type piece struct {
	Bits int    `yaml:"bits"`
	Doc  string `yaml:"doc"`
}

// width is that of all fields.
func (r record) width() (w int) {
	for _, f := range r.Fields {
		w += f.Val.Bits
	}
	return w
}

type constant struct {
	Value uint64 `yaml:"value"`
	Doc   string `yaml:"doc"`
}

type enumeration struct {
	Doc    string          `yaml:"doc"`
	Values ordered[uint64] `yaml:"values"`
}

// enumWidth is the width of the fields that hold a value of an enumeration, 0 where no format has
// one.
func (d *description) enumWidth(name string) int {
	for _, f := range d.Formats {
		for _, fl := range f.Val.Fields {
			if fl.Val.Enum == name {
				return fl.Val.At.width()
			}
		}
	}
	return 0
}

type layout struct {
	Doc    string         `yaml:"doc"`
	Width  int            `yaml:"width"`
	Fields ordered[field] `yaml:"fields"`
}

type field struct {
	At     span   `yaml:"at"`
	Enum   string `yaml:"enum"`
	Number bool   `yaml:"number"` // a single bit that is a number, not a yes or no
	Doc    string `yaml:"doc"`
}

// span is the bit position of a field: its least significant bit and its width.
type span [2]int

func (s span) lsb() int     { return s[0] }
func (s span) width() int   { return s[1] }
func (s span) mask() uint64 { return ^uint64(0) >> (64 - s[1]) << s[0] }
func (s span) bits() string {
	if s.width() == 1 {
		return fmt.Sprintf("%d", s.lsb())
	}
	return fmt.Sprintf("%d:%d", s.lsb()+s.width()-1, s.lsb())
}

type page struct {
	Base      uint64            `yaml:"base"`
	Stride    uint64            `yaml:"stride"`
	Count     uint64            `yaml:"count"`
	Index     string            `yaml:"index"` // what a copy belongs to; default: vpid
	Doc       string            `yaml:"doc"`
	Registers ordered[register] `yaml:"registers"`
}

func (p page) strided() bool { return p.Count > 0 }

func (p page) index() string {
	if p.Index == "" {
		return "vpid"
	}
	return p.Index
}

// size is the number of bytes of address space that the page covers.
func (p page) size() uint64 {
	if p.strided() {
		return p.Stride * p.Count
	}
	return p.extent()
}

// extent is the offset after the last register of one copy of the page.
func (p page) extent() uint64 {
	var end uint64
	for _, r := range p.Registers {
		end = max(end, r.Val.Off+regBytes)
	}
	return end
}

type register struct {
	Off    uint64        `yaml:"off"`
	Access string        `yaml:"access"`
	Doc    string        `yaml:"doc"`
	Fields ordered[span] `yaml:"fields"`
}

// entry is one key of a mapping, with the line it stands on for error messages.
type entry[T any] struct {
	Name string
	Val  T
	line int
}

// ordered is a YAML mapping that keeps the order of its keys and refuses a key that comes twice.
type ordered[T any] []entry[T]

func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: expected a mapping", n.Line)
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if first, dup := seen[key.Value]; dup {
			return fmt.Errorf("line %d: %q was already given on line %d", key.Line, key.Value, first)
		}
		seen[key.Value] = key.Line
		e := entry[T]{Name: key.Value, line: key.Line}
		if err := strictDecode(val, &e.Val); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
		*o = append(*o, e)
	}
	return nil
}

// strictDecode decodes a node and refuses keys that a struct does not know: decoding a node
// forgets the strictness of the decoder it came from.
func strictDecode(n *yaml.Node, out any) error {
	if t := reflect.TypeOf(out).Elem(); t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if !hasKey(t, n.Content[i].Value) {
				return fmt.Errorf("line %d: unknown key %q", n.Content[i].Line, n.Content[i].Value)
			}
		}
	}
	return n.Decode(out)
}

func hasKey(t reflect.Type, key string) bool {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == key {
			return true
		}
	}
	return false
}

func load(path string) (*description, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func parse(text []byte) (*description, error) {
	d := new(description)
	if err := decode(text, d); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	d.hash = binary.BigEndian.Uint64(sum[:])
	return d, d.validate()
}

// loadRecords adds what the hardware keeps to itself.
func (d *description) loadRecords(path string) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = d.parseRecords(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (d *description) parseRecords(text []byte) error {
	var file struct {
		Records ordered[record] `yaml:"records"`
	}
	if err := decode(text, &file); err != nil {
		return err
	}
	d.records = file.Records
	return d.validateTypes()
}

func decode(text []byte, out any) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	return dec.Decode(out)
}
