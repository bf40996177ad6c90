package lockstep

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

// Blocks of an FST file with signal names, and their elements.
const (
	fstHeader   = 0
	fstNames    = 4 // gzip
	fstNamesLZ4 = 6

	tagScope   = 254
	tagUpscope = 255
	tagAttr    = 252
	tagAttrEnd = 253

	timescaleAt = 73 // offset in the header block's body
)

// names returns the full names of all signals of a wave file, as used by GTKWave. exponent is its
// time unit, as a power of ten of seconds.
func names(r io.ReaderAt, size int64) (list []string, exponent int8, err error) {
	for at := int64(0); at < size; {
		var lead [9]byte
		if _, err := r.ReadAt(lead[:], at); err != nil {
			return nil, 0, err
		}
		length := int64(binary.BigEndian.Uint64(lead[1:]))
		if length < 8 || length > size-at-1 {
			return nil, 0, errors.New("the wave file is not whole")
		}
		switch lead[0] {
		case fstHeader:
			var unit [1]byte
			if _, err := r.ReadAt(unit[:], at+1+timescaleAt-1); err != nil {
				return nil, 0, err
			}
			exponent = int8(unit[0])
		case fstNames, fstNamesLZ4:
			body := make([]byte, length-8)
			if _, err := r.ReadAt(body, at+9); err != nil {
				return nil, 0, err
			}
			text, err := unpacked(lead[0], body)
			if err != nil {
				return nil, 0, fmt.Errorf("names of the wave file: %w", err)
			}
			list, err = hierarchy(text)
			return list, exponent, err
		}
		at += 1 + length
	}
	return nil, 0, errors.New("the wave file names no signals")
}

// mostRatio exceeds the maximum compression of deflate (1032) and LZ4 (255).
const mostRatio = 1100

// unpacked decompresses a block of names.
func unpacked(kind byte, body []byte) ([]byte, error) {
	if len(body) < 8 {
		return nil, io.ErrUnexpectedEOF
	}
	size := binary.BigEndian.Uint64(body)
	if size > 1<<30 || size > mostRatio*uint64(len(body)) {
		return nil, fmt.Errorf("%d bytes claim to hold %d", len(body), size)
	}
	text := make([]byte, size)
	if kind == fstNamesLZ4 {
		n, err := lz4.UncompressBlock(body[8:], text)
		return text[:n], err
	}
	z, err := gzip.NewReader(bytes.NewReader(body[8:]))
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(z, text)
	return text, err
}

// hierarchy parses scopes and signals.
func hierarchy(text []byte) (list []string, err error) {
	var scopes []string
	defer func() {
		if recover() != nil { // an index beyond the end
			err = io.ErrUnexpectedEOF
		}
	}()
	word := func() string {
		n := bytes.IndexByte(text, 0)
		s := string(text[:n])
		text = text[n+1:]
		return s
	}
	number := func() {
		_, n := binary.Uvarint(text)
		text = text[n:]
	}
	for len(text) > 0 {
		tag := text[0]
		text = text[1:]
		switch tag {
		case tagScope:
			text = text[1:]
			scopes = append(scopes, word())
			word()
		case tagUpscope:
			scopes = scopes[:len(scopes)-1]
		case tagAttr:
			text = text[2:]
			word()
			number()
		case tagAttrEnd:
		default:
			text = text[1:]
			name := word()
			number()
			number()
			list = append(list, strings.Join(scopes, ".")+"."+strings.ReplaceAll(name, " ", ""))
		}
	}
	return list, nil
}
