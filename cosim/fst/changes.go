package fst

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Change is a new value of a signal: one character for each bit, most significant first ('0',
// '1', 'x', 'z' ...).
type Change struct {
	Time  uint64
	Value string
}

// errCorrupt: a block of value changes is inconsistent.
var errCorrupt = errors.New("the waveform file is corrupt")

// Changes returns the changes of signals, by handle, from one time to another (inclusive). The
// first entry of each list is the value at the first time, if the signal has one by then.
func (f *File) Changes(handles []int, from, to uint64) (map[int][]Change, error) {
	all := map[int][]Change{}
	for i := range f.blocks {
		if err := f.addChanges(f.blocks[i], handles, from, to, all); err != nil {
			return nil, fmt.Errorf("block %d of value changes: %w", i, err)
		}
	}
	return all, nil
}

// add appends a change; those before the range replace each other.
func add(list []Change, c Change, from uint64) []Change {
	c.Time = max(c.Time, from)
	if n := len(list); n > 0 && list[n-1].Time == c.Time {
		list[n-1] = c
		return list
	}
	return append(list, c)
}

// Sizes of the fixed parts of a block: begin, end and needed memory in front; sizes of the time
// table at the end.
const (
	changesLead = 24
	changesTail = 24
)

// addChanges adds the changes of one block.
func (f *File) addChanges(s section, handles []int, from, to uint64, all map[int][]Change) error {
	if s.size < changesLead+changesTail+8 {
		return errCorrupt
	}
	lead, err := f.read(section{s.at, changesLead})
	if err != nil {
		return err
	}
	if begin, end := binary.BigEndian.Uint64(lead), binary.BigEndian.Uint64(lead[8:]); begin > to || end < from {
		return nil
	}
	body, err := f.read(section{s.at + changesLead, s.size - changesLead})
	if err != nil {
		return err
	}
	times, body, err := splitTimes(body)
	if err != nil {
		return err
	}
	c := cursor{b: body}
	frame, err := unpackZlib(&c)
	if err != nil {
		return err
	}
	f.addFrame(frame, handles, max(binary.BigEndian.Uint64(lead), from), all)
	c.uvarint() // number of signals
	b, err := splitChains(c.b, len(f.sizes))
	if err != nil || c.isShort {
		return errors.Join(err, errCorrupt)
	}
	for _, h := range handles {
		list, err := f.chain(b, h, times, from, to, all[h])
		if err != nil {
			return err
		}
		all[h] = list
	}
	return nil
}

// splitTimes returns the time table at the end of a block, and what precedes it.
func splitTimes(body []byte) (times []uint64, rest []byte, err error) {
	tail := cursor{b: body[len(body)-changesTail:]}
	size, packed, n := tail.uint64(), tail.uint64(), tail.uint64()
	body = body[:len(body)-changesTail]
	if packed > uint64(len(body)) || n > size {
		return nil, nil, errCorrupt
	}
	table, err := inflate(body[uint64(len(body))-packed:], size)
	if err != nil {
		return nil, nil, err
	}
	c := cursor{b: table}
	times = make([]uint64, n)
	at := uint64(0)
	for i := range times {
		at += c.uvarint()
		times[i] = at
	}
	if c.isShort {
		return nil, nil, errCorrupt
	}
	return times, body[:uint64(len(body))-packed], nil
}

// inflate decompresses zlib data. Data of the full size are not compressed.
func inflate(packed []byte, size uint64) ([]byte, error) {
	if size == uint64(len(packed)) {
		return packed, nil
	}
	if err := checkSize(size, len(packed)); err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	_, err = io.ReadFull(z, b)
	return b, err
}
