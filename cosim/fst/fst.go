package fst

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pierrec/lz4/v4"
)

// Types of blocks.
const (
	blockHeader    = 0
	blockNames     = 4 // gzip
	blockNamesLZ4  = 6
	blockNamesLZ4x = 7 // compressed twice
	blockChanges   = 8 // value changes, with aliases of signals

	headerTimescale = 64 // offset of the timescale in the header block's body
)

// Elements of the hierarchy.
const (
	tagScope   = 254
	tagUpscope = 255
	tagAttr    = 252
	tagAttrEnd = 253
)

// Types of variables whose values are not bits.
const (
	varReal          = 3
	varRealParameter = 4
	varRealTime      = 8
	varString        = 21
	varShortReal     = 29
)

// A Signal is one name of a variable. Several names may have the same handle.
type Signal struct {
	Name   string // with scopes, as GTKWave prints it: "top.unit.data[63:0]"
	Handle int    // from 0 on
	Width  int    // in bits; 0: a real number or a string
}

// A File is an opened waveform file.
type File struct {
	Signals []Signal
	// Exponent is the unit of time as a power of ten of seconds.
	Exponent int8

	r      io.ReaderAt
	sizes  []int // bytes of each handle's value in a frame
	blocks []section
}

// A section is a block of value changes.
type section struct{ at, size int64 }

// Open reads the names of all signals and finds the blocks of value changes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r}
	isNamed := false
	for at := int64(0); at < size; {
		var lead [9]byte
		if _, err := r.ReadAt(lead[:], at); err != nil {
			return nil, err
		}
		length := int64(binary.BigEndian.Uint64(lead[1:]))
		if length < 8 || length > size-at-1 {
			return nil, errors.New("the waveform file is truncated")
		}
		body := section{at + 9, length - 8}
		switch kind := lead[0]; kind {
		case blockHeader:
			var unit [1]byte
			if _, err := r.ReadAt(unit[:], body.at+headerTimescale); err != nil {
				return nil, err
			}
			f.Exponent = int8(unit[0])
		case blockChanges:
			f.blocks = append(f.blocks, body)
		case blockNames, blockNamesLZ4, blockNamesLZ4x:
			if err := f.readNames(kind, body); err != nil {
				return nil, fmt.Errorf("signal names of the waveform file: %w", err)
			}
			isNamed = true
		}
		at += 1 + length
	}
	if !isNamed {
		return nil, errors.New("the waveform file has no signal names")
	}
	return f, nil
}

func (f *File) read(s section) ([]byte, error) {
	b := make([]byte, s.size)
	_, err := f.r.ReadAt(b, s.at)
	return b, err
}

func (f *File) readNames(kind byte, s section) error {
	body, err := f.read(s)
	if err != nil {
		return err
	}
	text, err := unpackNames(kind, body)
	if err != nil {
		return err
	}
	return f.parseHierarchy(text)
}

// maxRatio exceeds the maximum compression of deflate (1032) and LZ4 (255).
const maxRatio = 1100

// checkSize refuses sizes that cannot result from decompression, before memory is allocated.
func checkSize(size uint64, packed int) error {
	if size > 1<<30 || size > maxRatio*uint64(packed) {
		return fmt.Errorf("%d bytes claim to contain %d", packed, size)
	}
	return nil
}

// unpackNames decompresses a block of names.
func unpackNames(kind byte, body []byte) ([]byte, error) {
	if len(body) < 8 {
		return nil, io.ErrUnexpectedEOF
	}
	size, body := binary.BigEndian.Uint64(body), body[8:]
	if kind == blockNamesLZ4x {
		c := cursor{b: body}
		once := c.uvarint()
		packed, err := unpackLZ4(c.b, once)
		if err != nil || c.isShort {
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
		body = packed
	}
	if kind != blockNames {
		return unpackLZ4(body, size)
	}
	if err := checkSize(size, len(body)+8); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(z, text)
	return text, err
}

func unpackLZ4(packed []byte, size uint64) ([]byte, error) {
	if err := checkSize(size, len(packed)+8); err != nil {
		return nil, err
	}
	text := make([]byte, size)
	n, err := lz4.UncompressBlock(packed, text)
	return text[:n], err
}

// parseHierarchy parses scopes and signals.
func (f *File) parseHierarchy(text []byte) error {
	var scopes []string
	c := cursor{b: text}
	for len(c.b) > 0 && !c.isShort {
		switch tag := c.byte(); tag {
		case tagScope:
			c.byte()
			scopes = append(scopes, c.word())
			c.word()
		case tagUpscope:
			if len(scopes) == 0 {
				return errors.New("more scopes end than begin")
			}
			scopes = scopes[:len(scopes)-1]
		case tagAttr:
			c.take(2)
			c.word()
			c.uvarint()
		case tagAttrEnd:
		default:
			c.byte()
			name := strings.Join(scopes, ".") + "." + strings.ReplaceAll(c.word(), " ", "")
			width, alias := c.uvarint(), c.uvarint()
			if err := f.addSignal(name, tag, width, alias); err != nil && !c.isShort {
				return err
			}
		}
	}
	if c.isShort {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// maxWidth is the largest supported width of a signal, in bits.
const maxWidth = 1 << 24

// addSignal adds a name of a new variable (alias is 0) or of an existing one.
func (f *File) addSignal(name string, kind byte, width, alias uint64) error {
	handle := int(alias) - 1
	if alias == 0 {
		handle = len(f.sizes)
		if width > maxWidth {
			return fmt.Errorf("%s has %d bits", name, width)
		}
		f.sizes = append(f.sizes, int(width))
	}
	if handle < 0 || handle >= len(f.sizes) {
		return fmt.Errorf("%s is an alias of signal %d of %d", name, alias, len(f.sizes))
	}
	s := Signal{Name: name, Handle: handle, Width: f.sizes[handle]}
	switch kind {
	case varReal, varRealParameter, varRealTime, varString, varShortReal:
		s.Width = 0
	}
	f.Signals = append(f.Signals, s)
	return nil
}
