package userfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
)

// Limits by kind of file, in bytes.
const (
	TextLimit = 64 << 20 // parameters, sweep files, dumps of registers
	LogLimit  = 16 << 30 // transaction logs, journals
)

// Read reads a regular file, pipe or socket of at most limit bytes. Devices are refused: /dev/zero
// never ends.
func Read(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrConfig, err)
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll reads an open file as Read does.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%w: %s is a directory: expected a file", drivers.ErrConfig, f.Name())
	case info.Mode()&fs.ModeDevice != 0:
		return nil, fmt.Errorf("%w: %s is a device: expected a regular file or a pipe", drivers.ErrConfig, f.Name())
	case info.Size() > limit:
		return nil, fmt.Errorf("%w: %s has %s: expected at most %s", drivers.ErrConfig, f.Name(),
			limits.FormatBytes(float64(info.Size())), limits.FormatBytes(float64(limit)))
	}
	if err := limits.CheckMemory("reading "+f.Name(), float64(info.Size()), "the size of the file"); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", drivers.ErrConfig, f.Name(), err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: %s has more than %s", drivers.ErrConfig, f.Name(), limits.FormatBytes(float64(limit)))
	}
	return data, nil
}
