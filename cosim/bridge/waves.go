package bridge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nicloop/nicloop/drivers"
)

// The wave library does not check whether writes succeeded, so the file is checked afterwards: an
// FST file is a chain of blocks, each with its length.
const (
	fstHeader   = 0
	fstChanges  = 1
	fstGeometry = 3
	fstNames    = 4
	fstMoreFrom = 5 // later types of change and name blocks
	fstMoreTo   = 8
	fstLead     = 1 + 8 // type and length of a block; the length includes itself
)

// checkWaves checks the waves of a session that ended orderly at cycle s.now.
func (s *Session) checkWaves() error {
	w := s.cfg.Waves
	if w == nil {
		return nil
	}
	if s.now <= w.From {
		_ = os.Remove(w.File) // created in advance, and empty
		if w.Maybe {
			return nil
		}
		return fmt.Errorf("%w: waves from cycle %d on: there are none, the run ended at cycle %d", drivers.ErrConfig, w.From, s.now)
	}
	return wholeWaves(w.File)
}

// wholeWaves returns an error if a file contains no complete waves.
func wholeWaves(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("wave file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = walkFST(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("%w: room or right to write waves: %s is not whole: %w", drivers.ErrEnvironment, name, err)
	}
	return nil
}

// walkFST follows the blocks of a file to its end. There must be changes, and the signals that they
// refer to.
func walkFST(f io.ReaderAt, size int64) error {
	if size == 0 {
		return errors.New("it is empty")
	}
	var changes, names, geometry bool
	for at := int64(0); at < size; {
		var lead [fstLead]byte
		if _, err := f.ReadAt(lead[:], at); err != nil {
			return fmt.Errorf("it ends in the middle of a block, at byte %d", size)
		}
		kind, length := lead[0], int64(binary.BigEndian.Uint64(lead[1:]))
		if (kind == fstHeader) != (at == 0) || length < 8 || length > size-at-1 {
			return fmt.Errorf("the block at byte %d of %d does not end in it", at, size)
		}
		changes = changes || kind == fstChanges || kind == fstMoreFrom || kind == fstMoreTo
		names = names || kind >= fstNames && kind != fstMoreFrom && kind < fstMoreTo
		geometry = geometry || kind == fstGeometry
		at += 1 + length
	}
	if !changes || !names || !geometry {
		return errors.New("it has no signals, or none that changed")
	}
	return nil
}
