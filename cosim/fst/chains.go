package fst

import (
	"errors"
	"strings"
)

// unpackZlib reads the initial values of all signals: sizes, number of signals, data.
func unpackZlib(c *cursor) ([]byte, error) {
	size, packed := c.uvarint(), c.uvarint()
	c.uvarint() // number of signals
	if c.isShort || packed > uint64(len(c.b)) {
		return nil, errCorrupt
	}
	return inflate(c.take(int(packed)), size)
}

// addFrame adds the values with which a block begins.
func (f *File) addFrame(frame []byte, handles []int, at uint64, all map[int][]Change) {
	offsets := make([]int, len(f.sizes)+1)
	for i, size := range f.sizes {
		offsets[i+1] = offsets[i] + size
	}
	for _, h := range handles {
		if h < 0 || h >= len(f.sizes) || f.sizes[h] == 0 || offsets[h+1] > len(frame) || len(all[h]) > 0 {
			continue
		}
		all[h] = add(nil, Change{at, string(frame[offsets[h]:offsets[h+1]])}, at)
	}
}

// Packings of chains.
const packLZ4 = '4'

// chains locates the changes of each signal in a block.
type chains struct {
	data   []byte // positions count from its first byte, which is the kind of packing
	bounds [][2]int
}

// splitChains parses the table of positions at the end of a block.
func splitChains(b []byte, signals int) (*chains, error) {
	if len(b) < 9 {
		return nil, errCorrupt
	}
	tail := cursor{b: b[len(b)-8:]}
	size := tail.uint64()
	b = b[:len(b)-8]
	if size >= uint64(len(b)) {
		return nil, errCorrupt
	}
	all := &chains{data: b[:uint64(len(b))-size]}
	return all, all.parseTable(cursor{b: b[uint64(len(b))-size:]}, signals)
}

// parseTable parses positions. An odd number is a new position (a positive distance from the
// previous one), an alias of an earlier signal (negative), or the same alias once more (zero). An
// even number counts signals without changes. A table with more than the file's signals is corrupt.
func (t *chains) parseTable(c cursor, signals int) error {
	position, last, alias := 0, -1, 0
	for len(c.b) > 0 && !c.isShort {
		if len(t.bounds) > signals {
			return errCorrupt
		}
		if c.b[0]&1 == 0 {
			skip := c.uvarint() >> 1
			if skip > uint64(signals-len(t.bounds)) {
				return errCorrupt
			}
			t.bounds = append(t.bounds, make([][2]int, skip)...)
			continue
		}
		v := int(c.varint() >> 1)
		if v <= 0 {
			if v < 0 {
				alias = -v - 1
			}
			if alias >= len(t.bounds) {
				return errCorrupt
			}
			t.bounds = append(t.bounds, [2]int{-1, alias})
			continue
		}
		position += v
		if v > len(t.data) || position > len(t.data) {
			return errCorrupt
		}
		if last >= 0 {
			t.bounds[last][1] = position
		}
		last = len(t.bounds)
		t.bounds = append(t.bounds, [2]int{position, len(t.data)})
	}
	if c.isShort {
		return errCorrupt
	}
	return nil
}

// unpack returns the changes of a signal; nil if it has none.
func (t *chains) unpack(handle int) ([]byte, error) {
	if handle < 0 || handle >= len(t.bounds) {
		return nil, nil
	}
	at := t.bounds[handle]
	if at[0] < 0 {
		at = t.bounds[at[1]]
	}
	if at[0] <= 0 {
		return nil, nil
	}
	c := cursor{b: t.data[at[0]:at[1]]}
	switch size := c.uvarint(); {
	case c.isShort:
		return nil, errCorrupt
	case size == 0:
		return c.b, nil
	case t.data[0] == packLZ4:
		return unpackLZ4(c.b, size)
	case t.data[0] == 'F':
		return nil, errors.New("value changes are packed with FastLZ, which is not supported")
	default:
		return inflate(c.b, size)
	}
}

// bitNames are the values of a single bit that are neither 0 nor 1.
const bitNames = "xzhuwl-?"

// chain adds the changes of a signal in a block.
func (f *File) chain(t *chains, handle int, times []uint64, from, to uint64, list []Change) ([]Change, error) {
	b, err := t.unpack(handle)
	if err != nil || handle < 0 || handle >= len(f.sizes) || f.sizes[handle] == 0 {
		return list, err
	}
	c, width, i := cursor{b: b}, f.sizes[handle], uint64(0)
	for len(c.b) > 0 {
		var value string
		v := c.uvarint()
		switch {
		case width == 1 && v&1 == 0:
			value, v = string('0'+byte(v>>1&1)), v>>2
		case width == 1:
			value, v = bitNames[v>>1&7:v>>1&7+1], v>>4
		case v&1 == 0:
			value, v = bits(c.take((width+7)/8), width), v>>1
		default:
			value, v = string(c.take(width)), v>>1
		}
		i += v
		if c.isShort || i >= uint64(len(times)) {
			return nil, errCorrupt
		}
		if times[i] > to {
			break
		}
		list = add(list, Change{times[i], value}, from)
	}
	return list, nil
}

// bits converts packed bits, most significant first, to characters.
func bits(packed []byte, width int) string {
	var b strings.Builder
	for i := range width {
		if i/8 < len(packed) {
			b.WriteByte('0' + packed[i/8]>>(7-i%8)&1)
		}
	}
	return b.String()
}
