// Package journal keeps what has been measured, a line of JSON each, in a file that a killed
// program leaves usable.
//
// # What it promises
//
//   - A line is written at once, behind the last whole one: half a line, of a program that was
//     killed, is cut off when the file is opened again.
//   - A line that is no JSON, or not what its reader expects, is an error that names the byte;
//     nothing is lost by it.
//
// # What the caller must do
//
//   - Call it from one goroutine at a time.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/userfile"
)

// A File is one journal.
type File struct{ f *os.File }

// Open opens the file, or makes it with perm. With resume, line is given each line that it has;
// else what it has is forgotten.
func Open(name string, perm os.FileMode, resume bool, line func([]byte) error) (*File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, perm)
	if err != nil {
		return nil, err
	}
	end := 0
	if resume {
		end, err = read(f, line)
	}
	if err == nil {
		err = f.Truncate(int64(end))
	}
	if err == nil {
		_, err = f.Seek(int64(end), io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{f}, nil
}

// read gives out the lines of the file and tells where the last whole one ends.
func read(f *os.File, line func([]byte) error) (end int, err error) {
	all, err := userfile.ReadAll(f, userfile.LogLimit)
	for err == nil {
		n := bytes.IndexByte(all[end:], '\n') + 1
		if n == 0 {
			return end, nil
		}
		if err := line(all[end : end+n]); err != nil {
			return 0, fmt.Errorf("%w: %s: expected a line of JSON for each run at byte %d: %w; --force measures all anew",
				drivers.ErrConfig, f.Name(), end, err)
		}
		end += n
	}
	return end, err
}

// Append writes a line.
func (f *File) Append(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.f.Write(append(line, '\n'))
	return err
}

// Sync has what was written reach the disk.
func (f *File) Sync() error { return f.f.Sync() }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
