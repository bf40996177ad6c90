// Package journal stores results as lines of JSON, in a file that stays usable if the program is
// killed.
//
// # Guarantees
//
//   - A line is written at once, after the last complete one. An incomplete line, left by a killed
//     program, is removed when the file is opened again.
//   - A line that is not JSON, or that its reader refuses, is an error that names its offset; the
//     file is left as it is.
//
// # Requirements for the caller
//
//   - Methods are called from one goroutine at a time.
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

// Open opens or creates the file, with permissions perm. With resume, line is called with each
// existing line; without, the file is emptied.
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

// read calls line with each line of the file, and returns where the last complete one ends.
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

// Sync flushes the file to the disk.
func (f *File) Sync() error { return f.f.Sync() }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
